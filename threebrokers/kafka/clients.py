"""Clients of a lab: confluent-kafka's own, with the lab's addresses and short time-outs filled in."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import confluent_kafka
from confluent_kafka import KafkaError, Message

from threebrokers.files import set_aside
from threebrokers.kafka import client_settings
from threebrokers.kafka.interceptors import ConsumerInterceptor, Delivery, ProducerInterceptor, ProducerRecord
from threebrokers.notebook import running_cell

# The names of produce()'s arguments after topic, value and key.
PLACES = ("partition", "callback", "on_delivery", "timestamp", "headers")
CONSUMER: dict[str, Any] = {"session.timeout.ms": 6000}

Report = Callable[[KafkaError | None, Message], Any]


class LabProducer(confluent_kafka.Producer):
    """confluent-kafka's Producer; `config` is what the learner passed, `interceptors` see its records."""

    def __init__(self, config: Mapping[str, Any], filled: Mapping[str, Any]) -> None:
        super().__init__({**filled, **config})
        self.config = dict(config)
        self.interceptors: list[ProducerInterceptor] = []
        self.flushed: float | None = None
        self._last: tuple[Report | None, list[Delivery], Report] | None = None

    def produce(self, topic: str, value: Any = None, key: Any = None, *places: Any, **more: Any) -> None:
        """Produce as confluent-kafka does."""
        if not self.interceptors:
            super().produce(topic, value, key, *places, **more)
            return
        if places:
            more.update(zip(PLACES, places, strict=False))
        callback, report = more.pop("callback", None), more.pop("on_delivery", None)
        record = ProducerRecord(topic, value, key, more)
        heard = [interceptor.on_send(record) for interceptor in self.interceptors]
        report = self._report(heard, report if callback is None else callback)
        try:
            super().produce(record.topic, record.value, record.key, on_delivery=report, **record.more)
        except BaseException as fault:
            for delivery in heard:
                delivery.on_refused(record, fault)
            raise
        for delivery in heard:
            delivery.on_sent(record)

    def flush(self, timeout: float = -1) -> int:
        """Flush as confluent-kafka does, and keep in `flushed` how long (s) it was allowed to take."""
        self.flushed = timeout
        return int(super().flush(timeout))

    def _report(self, heard: list[Delivery], theirs: Report | None) -> Report:
        """Return what tells a delivery report to these and then to the program's function."""
        # Most programs pass the same function again and again, and a function for each record is not cheap.
        last = self._last
        if last is None or last[0] is not theirs or last[1] != heard:
            own: Report | None = self.config.get("on_delivery") if theirs is None else theirs

            def report(error: KafkaError | None, message: Message) -> None:
                for delivery in heard:
                    delivery.on_acknowledgement(error, message)
                if own is not None:
                    own(error, message)

            self._last = last = theirs, heard, report
        return last[2]


class LabConsumer(confluent_kafka.Consumer):
    """confluent-kafka's Consumer; `config` is what the learner passed, `subscribed` the topics now.

    `interceptors` see what it returns.
    """

    def __init__(self, config: Mapping[str, Any], filled: Mapping[str, Any]) -> None:
        super().__init__({**filled, **config})
        self.config = dict(config)
        self.interceptors: list[ConsumerInterceptor] = []
        self.subscribed: tuple[str, ...] = ()

    def poll(self, timeout: float = -1) -> Message | None:
        """Poll as confluent-kafka does."""
        message: Message | None = super().poll(timeout)
        if message is not None:
            for interceptor in self.interceptors:
                interceptor.on_consume((message,))
        return message

    def consume(self, num_messages: int = 1, timeout: float = -1) -> list[Message]:
        """Consume as confluent-kafka does."""
        messages: list[Message] = super().consume(num_messages, timeout)
        for interceptor in self.interceptors:
            interceptor.on_consume(messages)
        return messages

    def subscribe(self, topics: list[str], *listeners: Any, **named: Any) -> None:
        """Subscribe as confluent-kafka does."""
        super().subscribe(topics, *listeners, **named)
        self.subscribed = tuple(topics)

    def unsubscribe(self) -> None:
        """Unsubscribe as confluent-kafka does."""
        super().unsubscribe()
        self.subscribed = ()


C = TypeVar("C", LabProducer, LabConsumer)
Listener = Callable[[LabProducer | LabConsumer], Callable[[], None]]


# What Jupyter shows of a method is what confluent-kafka says of it.
LabProducer.produce.__doc__ = confluent_kafka.Producer.produce.__doc__
LabConsumer.poll.__doc__ = confluent_kafka.Consumer.poll.__doc__
LabConsumer.consume.__doc__ = confluent_kafka.Consumer.consume.__doc__


class Clients:
    """The clients made in this kernel. A cell that runs again has its earlier clients closed first."""

    def __init__(self, bootstrap: str, logs: Path) -> None:
        self._filled = client_settings.shared(bootstrap, _client_log(logs))
        self._made: list[tuple[tuple[str, int], LabProducer | LabConsumer]] = []
        self._listeners: list[Listener] = []

    def producer(self, config: Mapping[str, Any] | None = None) -> LabProducer:
        """Make a producer. Raises KafkaException or TypeError for a setting that does not exist."""
        self._replace()
        return self._keep(LabProducer(config or {}, self._filled))

    def consumer(self, config: Mapping[str, Any]) -> LabConsumer:
        """Make a consumer. Raises KafkaException or TypeError for a setting that does not exist."""
        # The new group protocol keeps its session on the broker and refuses this setting.
        own = {} if config.get("group.protocol") == "consumer" else CONSUMER
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


def _close(client: LabProducer | LabConsumer) -> None:
    if isinstance(client, LabConsumer):
        try:
            client.close()
        except RuntimeError:  # it was closed already
            return
    else:
        # What a forgotten producer still holds was never sent; it must not arrive later by surprise.
        client.purge(in_queue=True, in_flight=True, blocking=False)
        client.flush(0)


def _client_log(folder: Path) -> logging.Logger:
    # librdkafka would write to stderr, which a notebook shows as a red block in some later cell.
    logger = logging.getLogger("threebrokers.kafka.clients")
    logger.propagate = False
    path = folder / "clients.log"
    if not any(getattr(h, "baseFilename", None) == str(path) for h in logger.handlers):
        folder.mkdir(parents=True, exist_ok=True)
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
            handler.close()
        set_aside(path)
        handler = logging.FileHandler(path, delay=True)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logger.addHandler(handler)
    return logger
