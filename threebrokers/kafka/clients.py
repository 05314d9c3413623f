"""Clients of a lab: confluent-kafka's own, with the lab's addresses and short time-outs filled in."""

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from threebrokers import clock
from threebrokers.errors import LabError
from threebrokers.kafka import client_settings, producer_ids
from threebrokers.kafka.batch import produce_each
from threebrokers.kafka.client_log import client_log
from threebrokers.kafka.interceptors import ConsumerInterceptor, ProducerInterceptor, ProducerRecord
from threebrokers.kafka.rebalances import LISTENERS, heard
from threebrokers.kafka.reports import Report, Reports, expect_two_arguments
from threebrokers.notebook import running_cell

# The names of produce()'s arguments after topic, value and key.
PLACES = ("partition", "callback", "on_delivery", "timestamp", "headers")
SETTLED = 1000  # moments that a producer remembers
CONSUMER: dict[str, Any] = {"session.timeout.ms": 6000}
# A close() is done within a second, and where brokers are away within the time of a request.
CLOSE_SECONDS = 15.0
MOST_EVENTS = 100  # errors that a client tells before a rebalance


class LabProducer(confluent_kafka.Producer):
    """confluent-kafka's Producer; `config` is what the learner passed, `interceptors` see its records.

    `flushed` is how long (s) the program's last flush() was allowed to take; -1 is without a bound.
    `sent_at` (s since 1970) is when it was last given a record, `settled_at` are the moments when a flush()
    or poll() left none of those without a delivery report. `has_listener` says whether the program has passed
    it a function for delivery reports.
    """

    def __init__(self, config: Mapping[str, Any], filled: Mapping[str, Any]) -> None:
        settings = {**filled, **config}
        self._default: Report | None = settings.pop("on_delivery", None)
        expect_two_arguments(self._default)
        super().__init__(settings)
        self.config = dict(config)
        self.interceptors: list[ProducerInterceptor] = []
        self.flushed: float | None = None
        self.sent_at = 0.0
        self.settled_at: deque[float] = deque(maxlen=SETTLED)
        self._open = False
        self.has_listener = self._default is not None
        self._reports = Reports()

    def produce(self, topic: str, value: Any = None, key: Any = None, *places: Any, **more: Any) -> None:
        """Produce as confluent-kafka does."""
        if places:
            more.update(zip(PLACES, places, strict=False))
        callback, report = more.pop("callback", None), more.pop("on_delivery", None)
        own = report if callback is None else callback
        theirs = self._default if own is None else own
        self.has_listener = self.has_listener or theirs is not None
        record = ProducerRecord(topic, value, key, more)
        heard = [interceptor.on_send(record) for interceptor in tuple(self.interceptors)]
        try:
            if heard or theirs is not None:
                more["on_delivery"] = self._reports.told_to(heard, theirs)
            super().produce(record.topic, record.value, record.key, **more)
        except BaseException as fault:
            for delivery in heard:
                delivery.on_refused(record, fault)
            raise
        self._reports.expect(topic)
        self.sent_at, self._open = clock.now(), True
        for delivery in heard:
            delivery.on_sent(record)

    def produce_batch(
        self,
        topic: str,
        messages: list[dict[str, Any]],
        partition: int = -1,
        callback: Report | None = None,
        on_delivery: Report | None = None,
    ) -> int:
        """Produce each message as produce() does: interceptors see every one."""
        shared: dict[str, Any] = {"callback": callback, "on_delivery": on_delivery}
        if partition >= 0:
            shared["partition"] = partition
        return produce_each(self.produce, topic, messages, shared)

    def poll(self, timeout: float = -1) -> int:
        """Poll as confluent-kafka does; what a delivery callback has raised is raised here."""
        served = int(super().poll(timeout))
        self._settle(len(self))
        return served

    def flush(self, timeout: float = -1) -> int:
        """Flush as confluent-kafka does; what a delivery callback has raised is raised here."""
        self.flushed = timeout
        left = int(super().flush(timeout))
        self._settle(left)
        return left

    def close(self) -> bool:
        """Close as confluent-kafka does; what a delivery callback has raised is raised here."""
        closed = bool(super().close())
        self._settle(len(self))
        return closed

    def __exit__(self, *fault: Any) -> None:
        super().__exit__(*fault)  # confluent-kafka's own end of a with block does not come by at close()
        try:
            self._settle(len(self))
        except BaseException:
            if fault[0] is None:  # what the block itself has raised goes on
                raise

    def _settle(self, left: int) -> None:
        if self._open and not left:
            self._open = False
            self.settled_at.append(clock.now())
        self._reports.settle(left)

    def unreported(self, topic: str = "") -> int:
        """Return how many records, of this topic or of all, the program has no delivery report of yet.

        It gets reports inside flush() and poll() only, so this is 0 after a flush() without a bound.
        """
        waiting = len(self)  # records, and the parcels in which their reports wait: it can be too many
        return min(waiting, self._reports.missing(topic))

    @property
    def reported(self) -> int:
        """How many delivery reports the program's own functions were given, since it was made."""
        return self._reports.told

    @property
    def reported_errors(self) -> frozenset[int]:
        """The codes of the errors that delivery reports have told the program, since it was made."""
        return frozenset(self._reports.errors)

    def given(self, topic: str) -> int:
        """Return how many records of this topic the program has given to it, stored or not."""
        return self._reports.given(topic)

    def unreported_topics(self) -> list[str]:
        """Return the topics of the records that have no delivery report yet."""
        return self._reports.open_topics()

    def discard(self) -> None:
        """Throw away what was not sent: it must not arrive later by surprise. No callback hears of it."""
        self._reports.mute()
        with suppress(RuntimeError):  # the program has closed it
            self.purge(in_queue=True, in_flight=True, blocking=False)
            super().flush(0)


class LabConsumer(confluent_kafka.Consumer):
    """confluent-kafka's Consumer; `config` is what the learner passed, `subscribed` the topics now.

    `asked` says whether it was ever told what to read, by subscribe or assign; `held` are the (topic,
    partition) pairs that its group has given to it: assignment() tells the same, but called in one thread it
    waits for ever while another thread polls. `received` counts the records that it has returned;
    `interceptors` see them.
    """

    def __init__(self, config: Mapping[str, Any], filled: Mapping[str, Any]) -> None:
        super().__init__({**filled, **config})
        self.config = dict(config)
        self.interceptors: list[ConsumerInterceptor] = []
        self.subscribed: tuple[str, ...] = ()
        self.asked = False
        self.received = 0
        self.held: set[tuple[str, int]] = set()
        self._raised: BaseException | None = None
        self._listening: int | None = None

    def __repr__(self) -> str:
        topics = ", ".join(self.subscribed) or ("partitions of its own choice" if self.asked else "nothing")
        held = ", ".join(f"{topic} {partition}" for topic, partition in sorted(self.held)) or "none"
        return f"<consumer of group '{self.config.get('group.id')}': reads {topics}; its partitions: {held}>"

    def poll(self, timeout: float = -1) -> Message | None:
        """Poll as confluent-kafka does; what a rebalance listener has raised is raised here."""
        self._raise_kept()  # by the call before, if that had a record to return
        message: Message | None = super().poll(timeout)
        if message is None:
            self._raise_kept()
        else:
            self.received += message.error() is None
            for interceptor in tuple(self.interceptors):
                interceptor.on_consume((message,))
        return message

    def consume(self, num_messages: int = 1, timeout: float = -1) -> list[Message]:
        """Consume as confluent-kafka does; what a rebalance listener has raised is raised here."""
        self._raise_kept()
        messages: list[Message] = super().consume(num_messages, timeout)
        if not messages:
            self._raise_kept()
        self.received += sum(message.error() is None for message in messages)
        for interceptor in tuple(self.interceptors):
            interceptor.on_consume(messages)
        return messages

    def subscribe(self, topics: list[str], *listeners: Any, **named: Any) -> None:
        """Subscribe as confluent-kafka does; interceptors hear of every rebalance."""
        own = {**dict(zip(LISTENERS, listeners, strict=False)), **named}
        listeners_heard = heard(self.interceptors, own, self.held)
        super().subscribe(topics, **{name: self._kept(one) for name, one in listeners_heard.items()})
        self.subscribed = tuple(topics)
        self.asked = True

    def assign(self, partitions: list[TopicPartition]) -> None:
        """Assign as confluent-kafka does."""
        super().assign(partitions)
        self.asked = True

    def unsubscribe(self) -> None:
        """Unsubscribe as confluent-kafka does."""
        super().unsubscribe()
        self.subscribed = ()

    def close(self) -> None:
        """Close as confluent-kafka does; what a rebalance listener has raised is raised here.

        Raises LabError where confluent-kafka would hang for ever: in a listener, or as `_ended` says.
        """
        if self._listening == threading.get_ident():
            raise LabError(
                "close() in a function that the client calls during a rebalance would wait for ever",
                "close the consumer after its loop",
            )
        if not self._ended():
            raise LabError(
                f"The client has not closed this consumer within {CLOSE_SECONDS:g} s",
                "go on: its group gives its partitions to others when its session is over",
            )
        self._raise_kept()

    def __exit__(self, *_: object) -> None:
        self.close()  # confluent-kafka's own end of a with block does not come by there

    def discard(self) -> None:
        """Close without a word of what listeners raise."""
        self._ended()

    def _ended(self) -> bool:
        """Close as confluent-kafka does, and tell whether that has come to its end.

        Where librdkafka waits for ever all the same, no interruption ends that: it is left alone in a thread.
        """
        if not self.subscribed:
            super().close()
            return True

        def end() -> None:
            hear_of_rebalances(self, lambda: [TopicPartition(*place) for place in self.held])
            confluent_kafka.Consumer.close(self)

        return ends_within(end, CLOSE_SECONDS)

    def _kept(self, listener: Any) -> Any:
        """Return a listener that tells `close()` which thread is inside, and whose exception is kept.

        confluent-kafka makes a SystemError of some exceptions.
        """
        if not callable(listener):
            return listener  # confluent-kafka says so itself

        def call(consumer: confluent_kafka.Consumer, partitions: list[TopicPartition]) -> None:
            self._listening = threading.get_ident()
            try:
                listener(consumer, partitions)
            except BaseException as fault:
                self._raised = self._raised or fault
            finally:
                self._listening = None

        return call

    def _raise_kept(self) -> None:
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised


def hear_of_rebalances(consumer: confluent_kafka.Consumer, held: Callable[[], list[TopicPartition]]) -> None:
    """Let a member of a group hear of rebalances that wait for its next poll(); it gets no record.

    Without that, close() has the client answer them, and librdkafka may lose that answer and wait for it for
    ever (its issue 4884), with Python's lock in its hand: the whole process stands still. So it was with
    members that their group had thrown out, and whose topic was deleted. `held` tells what is paused.
    """
    with suppress(KafkaException, RuntimeError):  # of a client that is closed, or that works no more
        for _ in range(MOST_EVENTS):
            consumer.pause(held())
            if confluent_kafka.Consumer.poll(consumer, 0) is None:
                return


def ends_within(work: Callable[[], None], within: float) -> bool:
    """Do this in a thread of its own, and tell whether it has ended in so many seconds; raise its error."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as fault:
            raised.append(fault)

    # A kernel that ends does not wait for it, and what listeners print belongs to this cell.
    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    thread.start()
    thread.join(within)
    if raised:
        raise raised[0]
    return not thread.is_alive()


C = TypeVar("C", LabProducer, LabConsumer)
Listener = Callable[[LabProducer | LabConsumer], Callable[[], None]]


# What Jupyter shows of a method is what confluent-kafka says of it.
LabProducer.produce.__doc__ = confluent_kafka.Producer.produce.__doc__
LabProducer.produce_batch.__doc__ = confluent_kafka.Producer.produce_batch.__doc__
LabProducer.close.__doc__ = confluent_kafka.Producer.close.__doc__
LabConsumer.poll.__doc__ = confluent_kafka.Consumer.poll.__doc__
LabConsumer.consume.__doc__ = confluent_kafka.Consumer.consume.__doc__
LabConsumer.assign.__doc__ = confluent_kafka.Consumer.assign.__doc__
LabConsumer.close.__doc__ = confluent_kafka.Consumer.close.__doc__


class Clients:
    """The clients made in this kernel. A cell that runs again has its earlier clients closed first."""

    def __init__(self, bootstrap: str, logs: Path) -> None:
        self._filled = client_settings.shared(bootstrap, client_log(logs))
        self._made: list[tuple[tuple[str, int], LabProducer | LabConsumer]] = []
        self._listeners: list[Listener] = []

    def producer(self, config: Mapping[str, Any] | None = None) -> LabProducer:
        """Make a producer. Raises KafkaException or TypeError for a setting that does not exist."""
        self._replace()
        made = LabProducer(config or {}, self._filled)
        producer_ids.hasten(made, made.config)
        return self._keep(made)

    def consumer(self, config: Mapping[str, Any]) -> LabConsumer:
        """Make a consumer. Raises KafkaException or TypeError for a setting that does not exist."""
        # The new group protocol keeps its session on the broker and refuses this setting.
        own = {} if client_settings.is_new_protocol(config) else CONSUMER
        self._replace()
        return self._keep(LabConsumer(config, {**self._filled, **own}))

    def made(self, kind: type[C]) -> list[C]:
        """Return the clients of one kind that are still open as far as this kernel knows, oldest first."""
        return [client for _, client in self._made if isinstance(client, kind)]

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have every client listened to, also those that are made later; return how to end that.

        `listener(client)` is called once for each client and returns how to end its own listening.
        """
        ends = [listener(client) for _, client in self._made]

        def later(client: LabProducer | LabConsumer) -> Callable[[], None]:
            ends.append(listener(client))
            return ends[-1]

        def end() -> None:
            self._listeners.remove(later)
            for one in ends:
                one()

        self._listeners.append(later)
        return end

    def close(self) -> None:
        """Close every client, consumers by leaving their group."""
        for _, client in self._made:
            _close(client)
        self._made.clear()

    def _replace(self) -> None:
        """Close the clients that an earlier run of the running cell made."""
        cell, run = running_cell()
        kept = []
        for (made_by, made_in), client in self._made:
            if cell and made_by == cell and made_in != run:
                _close(client)
            else:
                kept.append(((made_by, made_in), client))
        self._made = kept

    def _keep(self, client: C) -> C:
        self._made.append((running_cell(), client))
        for listener in list(self._listeners):
            listener(client)
        return client


@contextmanager
def refusal_told(settings: str = "these settings") -> Iterator[None]:
    """Say in one sentence that the client refuses its settings: a LabError in place of the KafkaException."""
    try:
        yield
    except KafkaException as fault:
        told = fault.args[0]
        said = str(told.str() if isinstance(told, KafkaError) else fault).rstrip(".")
        raise LabError(f"The client refuses {settings} ({said})", "change the one that it names") from None


def _close(client: LabProducer | LabConsumer) -> None:
    with suppress(RuntimeError):  # it was closed already
        client.discard()
