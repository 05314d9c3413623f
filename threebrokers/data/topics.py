"""The topics that several labs read: all flights, sent once for the whole course."""

import json
import time
from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from threebrokers.data.flights import flight_messages
from threebrokers.errors import LabError
from threebrokers.kafka import client_settings, producer_ids
from threebrokers.kafka.log_reader import end_offsets, start_offsets
from threebrokers.lab.lab import Lab
from threebrokers.waiting import quiet_wait, shown

FLIGHTS = 336_776
SEND_SECONDS = 120.0
# The ten days of `send_ten_days()`, in the order in which they come in, and after how many the time is noted.
TEN_DAYS, NOTED_AFTER = (3, 1, 2, 5, 4, 7, 6, 9, 8, 10), 3
SLOW_CLOCK_MS = 30 * 60_000


def has_all_flights(lab: Lab) -> bool:
    """Tell whether the topic "flights" holds every flight; False also if there is no such topic."""
    return _kept(lab, lab.topic("flights")) == FLIGHTS


def ensure_flights(lab: Lab) -> str:
    """Return the full name of the topic "flights"; make it and send all flights if some are not there.

    Six partitions, three replicas, keyed by tail number, records as `data.flight_messages()` makes
    them, kept for ever. Sending takes about 10 s. Raises LabError.
    """
    if has_all_flights(lab):
        return lab.topic("flights")
    messages = flight_messages()
    topic = lab.fresh_topic("flights", partitions=6, replication_factor=3, config={"retention.ms": "-1"})
    with shown(f"all {FLIGHTS:,} flights to be in the topic '{topic}'", SEND_SECONDS):
        send(lab, topic, messages)
    return topic


def month_topic(lab: Lab, name: str, month: int) -> str:
    """Return the full name of a fresh topic that holds one month's flights, in three partitions."""
    topic = lab.fresh_topic(name, partitions=3, replication_factor=3, config={"retention.ms": "-1"})
    send(lab, topic, flight_messages(month))
    return topic


def send_ten_days(lab: Lab, topic: str) -> int:
    """Send ten days of January to a topic, one after the other; return the time (ms) noted after the third.

    Two programs take turns, a day each, and each gives its records its own time. The clock of the second
    program is half an hour slow: its days are the 1st, the 5th, the 7th, the 9th and the 10th.
    Raises LabError.
    """
    by_day: dict[int, list[tuple[bytes | None, bytes]]] = {day: [] for day in TEN_DAYS}
    for key, value in flight_messages(1):
        day = int(json.loads(value)["scheduled"][8:10])
        if day in by_day:
            by_day[day].append((key, value))
    noted = 0
    sender = _Sender(lab, topic)
    for turn, day in enumerate(TEN_DAYS):
        if turn == NOTED_AFTER:
            noted = _next_millisecond()
        sender.send(by_day[day], timestamp=_now() - (SLOW_CLOCK_MS if turn % 2 else 0))
    return noted


def send(lab: Lab, topic: str, messages: Iterable[tuple[bytes | None, bytes | None]]) -> None:
    """Send (key, value) messages and wait until the brokers have all of them. Raises LabError."""
    _Sender(lab, topic).send(messages)


class _Sender:
    """A producer of its own: one of the lab's clients would be thrown away when its cell runs again."""

    def __init__(self, lab: Lab, topic: str) -> None:
        self._topic, self._refused = topic, list[KafkaError]()
        settings = client_settings.shared(lab.bootstrap) | {
            "enable.idempotence": True,  # order inside a partition survives a repeated request
            "linger.ms": 50,
            "on_delivery": self._report,
        }
        self._producer = Producer(settings)
        producer_ids.hasten(self._producer, settings)

    def send(self, messages: Iterable[tuple[bytes | None, bytes | None]], *, timestamp: int = 0) -> None:
        """Send messages and wait for them; `timestamp` (ms) is what their producer says, 0 means now."""
        for key, value in messages:
            while True:
                try:
                    self._producer.produce(self._topic, value=value, key=key, timestamp=timestamp)
                    break
                except BufferError:
                    self._producer.poll(0.1)
        left = self._producer.flush(SEND_SECONDS)
        if not left and not self._refused:
            return
        why = f"{left} records were still waiting after {SEND_SECONDS:g} s"
        mend = "see with `threebrokers status` whether all brokers are up, then run this cell again"
        if self._refused:
            why = self._refused[0].str()
            if self._refused[0].code() in (KafkaError.INVALID_TIMESTAMP, KafkaError.INVALID_RECORD):
                mend = "look at the topic's settings, which refuse these records"
        raise LabError(f"The topic '{self._topic}' could not be filled ({why})", mend)

    def _report(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._refused.append(error)


def _now() -> int:
    return int(time.time() * 1000)


def _next_millisecond() -> int:
    """Return a time later than that of every record which was stored before, even in the same moment."""
    now = _now()
    quiet_wait(lambda: _now() > now, within=1)
    return now + 1


def _kept(lab: Lab, topic: str) -> int | None:
    # A difference of offsets is a number of records here only: no transactions, no compaction.
    try:
        first, last = start_offsets(lab.bootstrap, topic), end_offsets(lab.bootstrap, topic)
    except (KafkaException, LabError):  # no such topic, or nobody answers
        return None
    return sum(last.values()) - sum(first.values())
