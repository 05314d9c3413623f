"""A day of departures that come in one by one, and an office that sends a voucher for each late one."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Self

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from threebrokers.data.topics import send
from threebrokers.errors import LabError
from threebrokers.kafka import client_settings
from threebrokers.kafka.background import in_words
from threebrokers.kafka.log_reader import MissingTopicError, end_offsets, read_log, start_offsets
from threebrokers.lab.lab import Lab

# In the course of a day this many are left for its end, when nobody works at the queries any more.
HELD, EVERY_SECONDS = 100, 0.04
FLUSH_SECONDS, END_SECONDS = 30.0, 60.0
BATCH, BATCH_SECONDS = 200, 0.1


@dataclass(frozen=True)
class Change:
    """The office began to read another topic: what that held then (keys), and which queries ran.

    `running` are ids of queries, each with that of its run; `arrived` counts the departures so far.
    """

    topic: str
    held: frozenset[str]
    running: dict[str, str]
    arrived: int


class Arrivals:
    """Departures that come into a topic, 25 in a second; the last 100 wait for `finish`."""

    def __init__(self, lab: Lab, topic: str, messages: Sequence[tuple[bytes, bytes]], before: int) -> None:
        self._lab, self._topic, self._before = lab, topic, before
        self._left = list(messages)[::-1]
        self._taken, self._fault = 0, ""
        self._over = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def count(self) -> int:
        """How many departures are in the topic, with those that were there before."""
        return self._before + self._taken

    def stop(self) -> None:
        """Let no more come in by themselves."""
        self._over.set()
        self._thread.join()

    def finish(self) -> None:
        """Let all others come in at once. Raises LabError, also if some of the earlier ones did not come."""
        self.stop()
        if self._fault:
            raise LabError(
                f"Not all departures came into '{self._topic}' ({self._fault})", "run the cell again"
            )
        send(self._lab, self._topic, self._left[::-1])
        self._taken += len(self._left)
        self._left.clear()

    def _run(self) -> None:
        try:
            self._send_some()
        except Exception as fault:  # nobody stands above a thread to show it
            self._fault = in_words(fault)

    def _send_some(self) -> None:
        settings = {"enable.idempotence": True, "on_delivery": self._report}
        producer = Producer(client_settings.shared(self._lab.bootstrap) | settings)
        while len(self._left) > HELD and not self._over.wait(EVERY_SECONDS):
            key, value = self._left.pop()
            producer.produce(self._topic, value, key)
            producer.poll(0)
        if waiting := producer.flush(FLUSH_SECONDS):
            self._fault = self._fault or f"{waiting} were still waiting after {FLUSH_SECONDS:g} s"

    def _report(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self._taken += 1
        else:
            self._fault = self._fault or error.str()


@dataclass
class _Sent:
    """The keys of the vouchers that were sent, in order, each with its topic; and what was left out."""

    keys: dict[str, str] = field(default_factory=dict)
    left_out: int = 0


class Office:
    """Sends each voucher once: those of the topic whose name stands in `topic`.

    A voucher is known by its key. In another topic the office begins with the first record, and leaves out
    what it has sent already. At the end of its block it sends what the topic holds by then.
    """

    def __init__(
        self, lab: Lab, name: str, running: Callable[[], dict[str, str]], arrived: Callable[[], int]
    ):
        self.topic = lab.topic(name)
        self.changes: list[Change] = []
        self._lab, self._running, self._arrived = lab, running, arrived
        self._done, self._over, self._fault = _Sent(), Event(), ""
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def reads(self, name: str) -> None:
        """Let the office read the topic of this name from now on. Raises LabError if there is none."""
        topic = self._lab.topic(name)
        try:
            held = frozenset(key_of(record.key) for record in read_log(self._lab.bootstrap, topic))
        except MissingTopicError as fault:
            raise LabError(f"The office cannot read '{topic}': there is no such topic") from fault
        if topic != self.topic:
            self.changes.append(Change(topic, held, self._running(), self._arrived()))
        self.topic = topic

    @property
    def sent(self) -> dict[str, str]:
        """The keys of the vouchers that were sent, in order, and the topic from which each one came."""
        return dict(self._done.keys)

    @property
    def left_out(self) -> int:
        """How many records the office left out, because it had sent a voucher with this key."""
        return self._done.left_out

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Send what the topic holds by now, and end. Raises LabError if the office could not."""
        self._over.set()
        self._thread.join(END_SECONDS)
        if self._thread.is_alive():
            self._fault = self._fault or f"it had not read '{self.topic}' to its end after {END_SECONDS:g} s"
        if self._fault and kind is None:  # what the block has raised is told first
            raise LabError(f"The office has not sent all vouchers ({self._fault})", "run the cell again")

    def _run(self) -> None:
        try:
            self._send_all()
        except Exception as fault:  # nobody stands above a thread to show it
            self._fault = in_words(fault)

    def _send_all(self) -> None:
        settings = client_settings.reader(self._lab.bootstrap, "office", "read_committed")
        with closing(Consumer(settings)) as consumer:
            reading, over = "", False
            while not (over and self._at_end(consumer, reading)):
                over = self._over.is_set()
                if reading != self.topic:
                    reading = self.topic
                    parts = end_offsets(self._lab.bootstrap, reading)
                    consumer.assign([TopicPartition(reading, part, 0) for part in parts])
                for message in consumer.consume(BATCH, BATCH_SECONDS):
                    self._take(reading, message)

    def _at_end(self, consumer: Consumer, topic: str) -> bool:
        ends = end_offsets(self._lab.bootstrap, topic)
        # A partition of which nothing was read has no position: its offset is below 0.
        starts = start_offsets(self._lab.bootstrap, topic)
        return all(
            max(starts[place.partition], place.offset) >= ends[place.partition]
            for place in _positions(consumer)
        )

    def _take(self, topic: str, message: Message) -> None:
        if message.error() is not None:
            return
        key = key_of(message.key())
        if key in self._done.keys:
            self._done.left_out += 1
        else:
            self._done.keys[key] = topic


def key_of(key: bytes | str | None) -> str:
    """Return a record's key as text."""
    return key.decode() if isinstance(key, bytes) else key or ""


def _positions(consumer: Consumer) -> list[TopicPartition]:
    return consumer.position(consumer.assignment())
