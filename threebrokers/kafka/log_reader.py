"""Reading a topic's log as it stands, without joining a group."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

from confluent_kafka import (
    TIMESTAMP_LOG_APPEND_TIME,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from threebrokers.errors import LabError
from threebrokers.kafka import client_settings, rights
from threebrokers.waiting import POLL_SECONDS

T = TypeVar("T")

# How long brokers have in all, for one call of a client, and before a reader is taken for stuck.
ANSWER_SECONDS, CALL_SECONDS, SILENT_SECONDS = 10.0, 1.0, 3.0
# For so long the first consumer asks: it keeps to the leader that it knows, and a new one leads after 2 s.
# Each next one asks twice as long: on a busy machine, or far away, the way in alone takes seconds.
ONE_SECONDS = 2.5
# consume() waits out its time unless it gets the full number, so both are small, and no more is asked for
# than can be left.
BATCH, BATCH_SECONDS = 500, 0.05
UNKNOWN = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)
UNSETTLED = (
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError._TIMED_OUT,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._DESTROY_BROKER,
)


@dataclass(frozen=True)
class Record:
    """One record of a log. `timestamp` is in ms; `timestamp_type` is 'create' or 'append'."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int
    timestamp_type: str
    headers: tuple[tuple[str, bytes | None], ...] = ()


class MissingTopicError(KafkaException):
    """The brokers know no such topic; `topic` is its name."""

    def __init__(self, fault: KafkaError, topic: str) -> None:
        super().__init__(fault)
        self.topic = topic


class _SilenceError(Exception):
    """Nobody sends what should be there."""


class _Patience:
    """Until when one reader is followed by another: 10 s after more records came than ever before.

    `seconds` is how long the present one asks the same.
    """

    def __init__(self) -> None:
        self._most, self._end = 0, time.monotonic() + ANSWER_SECONDS
        self.seconds = ONE_SECONDS

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self._end

    def came(self, records: int) -> None:
        """Note how many records a reader has so far."""
        if records > self._most:
            self._most, self._end = records, time.monotonic() + ANSWER_SECONDS


class Log(list[Record]):
    """Records by partition and offset; `partitions` are those that were read, the empty ones too."""

    def __init__(self, records: Iterable[Record], partitions: Iterable[int]) -> None:
        super().__init__(records)
        self.partitions = tuple(partitions)


def read_log(
    bootstrap: str, topic: str, *, partitions: list[int] | None = None, isolation: str = "read_committed"
) -> Log:
    """Return every record that the topic holds now, in order of partition, then of offset.

    Reads up to the end that each partition has at the start of the call. Raises LabError if nobody sends
    records for 10 s, MissingTopicError if the topic does not exist.
    """
    return _by_fresh(bootstrap, isolation, topic, partial(_read, topic=topic, partitions=partitions))


def _by_fresh(bootstrap: str, isolation: str, topic: str, read: Callable[[Consumer, _Patience], T]) -> T:
    """Read with a consumer, and with the next one if it could not, while more comes within 10 s."""
    patience = _Patience()
    while True:
        consumer = _reader(bootstrap, isolation)
        try:
            return read(consumer, patience)
        except _SilenceError as silence:
            # A consumer keeps to a leader that was paused; a fresh one asks who leads now.
            if patience.is_over:
                raise LabError(
                    f"Topic '{topic}' could not be read to its end ({silence})",
                    "see with `threebrokers status` whether all brokers are up",
                ) from None
            patience.seconds *= 2
        finally:
            consumer.close()
        time.sleep(POLL_SECONDS)


def _read(consumer: Consumer, patience: _Patience, *, topic: str, partitions: list[int] | None) -> Log:
    ends = _offsets(consumer, patience.seconds, topic, partitions)
    missing = {p: range(low, high) for p, (low, high) in ends.items() if high > low}
    consumer.assign([TopicPartition(topic, p, offsets.start) for p, offsets in missing.items()])
    records: list[Record] = []
    heard = time.monotonic()
    while missing:
        left = sum(map(len, missing.values()))
        messages = consumer.consume(min(BATCH, left), timeout=BATCH_SECONDS)
        # Of a partition that is read to its end, new records may come all the time.
        if any(message.partition() in missing for message in messages):
            heard = time.monotonic()
        elif time.monotonic() - heard > SILENT_SECONDS:
            raise _SilenceError(f"partitions {sorted(missing)}")
        for message in messages:
            _take(message, missing, records)
        patience.came(len(records))
    return Log(sorted(records, key=lambda r: (r.partition, r.offset)), ends)


def start_offsets(bootstrap: str, topic: str) -> dict[int, int]:
    """Return the offset of the first record that each partition still keeps."""
    return {p: low for p, (low, _) in _closing(bootstrap, topic).items()}


def end_offsets(bootstrap: str, topic: str) -> dict[int, int]:
    """Return the offset that each partition's next record will get (its high watermark)."""
    return {p: high for p, (_, high) in _closing(bootstrap, topic).items()}


def _closing(bootstrap: str, topic: str) -> dict[int, tuple[int, int]]:
    return _by_fresh(bootstrap, "read_uncommitted", topic, partial(_closed, topic=topic))


def _closed(consumer: Consumer, patience: _Patience, *, topic: str) -> dict[int, tuple[int, int]]:
    return _offsets(consumer, patience.seconds, topic, None)


def _reader(bootstrap: str, isolation: str) -> Consumer:
    settings = client_settings.reader(bootstrap, f"reader-{uuid4()}", isolation)
    return Consumer(settings | {"auto.offset.reset": "earliest", "fetch.wait.max.ms": 50})


def _offsets(
    consumer: Consumer, seconds: float, topic: str, partitions: list[int] | None
) -> dict[int, tuple[int, int]]:
    told = _answer(lambda: consumer.list_topics(topic, timeout=CALL_SECONDS), topic, seconds).topics[topic]
    if told.error is not None and told.error.code() in UNKNOWN:
        raise MissingTopicError(told.error, topic)
    if told.error is not None:
        fault = KafkaException(told.error)
        raise rights.of_fault(fault, topic) or fault
    chosen = sorted(told.partitions) if partitions is None else partitions
    return {p: _watermarks(consumer, seconds, TopicPartition(topic, p)) for p in chosen}


def _watermarks(consumer: Consumer, seconds: float, place: TopicPartition) -> tuple[int, int]:
    def ask() -> tuple[int, int]:
        return consumer.get_watermark_offsets(place, timeout=CALL_SECONDS)

    return _answer(ask, f"partition {place.partition}", seconds)


def _answer(question: Callable[[], T], about: str, seconds: float) -> T:
    try:
        return asked(question, seconds)
    except KafkaException as fault:
        raise _or_silence(fault.args[0], about) from None


def _or_silence(fault: KafkaError, about: str) -> Exception:
    """Return _SilenceError if a broker has not heard of a partition that the topic has, as another one said.

    While leaders change, a broker can say so, and a client can go on asking one that is gone; who asks
    afresh hears who leads now, and whether the topic is gone.
    """
    if fault.code() in (*UNKNOWN, *UNSETTLED):
        return _SilenceError(f"{about}: {fault.str()}")
    return KafkaException(fault)


def asked(question: Callable[[], T], within: float = ANSWER_SECONDS) -> T:
    """Return what brokers answer; ask again for 10 s at most while nobody can. Raises KafkaException.

    Each call is short: neither Ctrl-C nor the end of a check's time ends one before it returns.
    """
    end = time.monotonic() + within
    while True:
        try:
            return question()
        except KafkaException as fault:
            # A leader that was just elected does not know its high watermark for a moment.
            if fault.args[0].code() not in UNSETTLED or time.monotonic() > end:
                raise
        time.sleep(POLL_SECONDS)


def _take(message: Message, missing: dict[int, range], records: list[Record]) -> None:
    """Add a message to the records; `missing` holds the offsets that are still to come, by partition."""
    # A message without error always has its place; the stubs cannot say so.
    place: tuple[Any, Any, Any] = (message.partition(), message.offset(), message.headers())
    (partition, offset, headers), fault = place, message.error()
    if fault is not None:
        if fault.code() != KafkaError._PARTITION_EOF:
            raise _or_silence(fault, f"partition {partition}")
        # A new leader's high watermark can be behind that of the one before for a moment.
        if partition in missing and offset >= missing[partition].stop:
            missing.pop(partition)
        return
    rest = missing.get(partition)
    if rest is None or offset >= rest.stop:
        missing.pop(partition, None)
        return
    if offset < rest.start:
        return  # read already
    kind, when = message.timestamp()
    records.append(
        Record(
            topic=str(message.topic()),
            partition=partition,
            offset=offset,
            key=message.key(),
            value=message.value(),
            timestamp=when,
            timestamp_type="append" if kind == TIMESTAMP_LOG_APPEND_TIME else "create",
            headers=tuple(headers or ()),
        )
    )
    if offset + 1 >= rest.stop:
        missing.pop(partition)
    else:
        missing[partition] = range(offset + 1, rest.stop)
