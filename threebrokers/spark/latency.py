"""How long a record is on its way through a streaming query, for several triggers, measured in one run."""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count

from confluent_kafka import Consumer, Producer, TopicPartition
from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.data.replay import late_departures, replay_messages
from threebrokers.errors import LabError
from threebrokers.kafka import client_settings
from threebrokers.kafka.log_reader import end_offsets
from threebrokers.lab.lab import Lab
from threebrokers.spark.latency_picture import Latencies
from threebrokers.spark.queries import NEXT, java_there, reason
from threebrokers.spark.spark_session import fresh_folder
from threebrokers.waiting import shown

Trigger = Mapping[str, str]
Start = Callable[[Trigger, str], StreamingQuery]
RECORDS, EVERY_SECONDS = 100, 0.02
# A query's first batches are slower than all others.
WARM_RECORDS, WARM_EVERY_SECONDS = 20, 0.1
FIRST_SECONDS, ALL_SECONDS = 120.0, 60.0


def measure_latency(
    lab: Lab, topics: tuple[str, str], start: Start, triggers: Mapping[str, Trigger]
) -> Latencies:
    """Return how long records are on their way (ms) through a query with each of these triggers.

    `start(trigger, folder)` starts the query; it reads the first of the two topics from its end, and writes a
    record with the same key into the second one. Each query gets the same departures, 50 in a second; the
    time is that from `produce()` to the record's arrival at a consumer. Raises LabError.
    """
    found = {}
    for name, trigger in triggers.items():
        with java_there(), shown(f"a query with the trigger {name}", FIRST_SECONDS + ALL_SECONDS):
            found[name] = _through(lab, topics, start, trigger)
    return Latencies(found)


def _through(lab: Lab, topics: tuple[str, str], start: Start, trigger: Trigger) -> Sequence[float]:
    """Return the times (ms) of one query, which is stopped after it."""
    way = _Way(lab, *topics)
    try:
        try:
            query = start(trigger, fresh_folder("latency"))
        except PySparkException as fault:
            raise LabError(f"Spark refuses the query ({reason(fault)})", NEXT) from fault
        try:
            way.warm_up(query)
            return way.measured(query)
        finally:
            query.stop()
    finally:
        way.close()


class _Way:
    """From a producer through a query to a consumer: when each record was sent, and when it came."""

    def __init__(self, lab: Lab, source: str, results: str) -> None:
        # Keys go on when departures begin again: a record of the warm-up may come late.
        self._source, self._keys, self._departures = source, count(), count()
        self._sent: dict[bytes, float] = {}
        self._took: dict[bytes, float] = {}
        self._producer = Producer(client_settings.shared(lab.bootstrap) | {"linger.ms": 0})
        self._consumer = Consumer(client_settings.reader(lab.bootstrap, "latency", "read_committed"))
        self._partitions = len(end_offsets(lab.bootstrap, source))
        self._values = [value for _, value in replay_messages(late_departures())]
        ends = end_offsets(lab.bootstrap, results)
        self._consumer.assign([TopicPartition(results, part, end) for part, end in ends.items()])

    def warm_up(self, query: StreamingQuery) -> None:
        """Send a few records a second until enough of them have come back. Raises LabError."""
        # What is sent before the query knows where it begins never comes back.
        self._run(query, WARM_EVERY_SECONDS, lambda: len(self._took) >= WARM_RECORDS, FIRST_SECONDS)

    def measured(self, query: StreamingQuery) -> list[float]:
        """Return how long each of the records took that count (ms), sorted. Raises LabError."""
        self._sent.clear()
        self._took.clear()
        self._departures = count()
        self._run(query, EVERY_SECONDS, lambda: len(self._took) >= RECORDS, ALL_SECONDS, most=RECORDS)
        return sorted(1000 * seconds for seconds in self._took.values())

    def close(self) -> None:
        """Send what is left, and let go of the brokers."""
        self._producer.flush(10)
        self._consumer.close()

    def _run(
        self, query: StreamingQuery, every: float, done: Callable[[], bool], within: float, most: int = 10_000
    ) -> None:
        due = time.monotonic()
        end = due + within
        while not done():
            now = time.monotonic()
            if now > end:
                raise LabError(
                    f"Not all records came through the query within {within:g} s: each partition needs a "
                    "task slot of its own",
                    NEXT,
                )
            if now >= due and len(self._sent) < most:
                self._send()
                due += every
            self._receive()
            if not query.isActive:
                fault = query.exception()
                why = reason(fault) if fault is not None else "it was stopped"
                raise LabError(f"The query ended ({why.rstrip('.')})", NEXT)

    def _send(self) -> None:
        number = next(self._keys)
        key = str(number).encode()
        value = self._values[next(self._departures) % len(self._values)]
        self._sent[key] = time.perf_counter()
        self._producer.produce(self._source, value, key, partition=number % self._partitions)
        self._producer.poll(0)

    def _receive(self) -> None:
        message = self._consumer.poll(0.002)
        if message is None or message.error() is not None:
            return
        key = bytes(message.key() or b"")
        if key in self._sent:
            self._took[key] = time.perf_counter() - self._sent[key]
