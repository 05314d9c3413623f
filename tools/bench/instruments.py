"""What a recording and a panel cost: how much clients slow down, what share of a core is used, how large."""

import threading
import time
from contextlib import nullcontext
from pathlib import Path
from uuid import uuid4

from threebrokers.cluster import Cluster, topics
from threebrokers.kafka.clients import Clients
from threebrokers.panel import Panels
from threebrokers.recorder import Recorder

TOPIC, PARTITIONS = "bench-recorded", 13
RECORDS, VALUE = 200_000, b"x" * 150
BEAT_SECONDS, BEATS = 0.02, 500
FIVE_MINUTES = 300.0


class Bench:
    """A topic and clients that are used with a recording and without."""

    def __init__(self, cluster: Cluster, home: Path) -> None:
        topics.delete(cluster, [TOPIC])
        topics.create(cluster, TOPIC, PARTITIONS, 3, {})
        self._cluster, self._home, self._clients = cluster, home, Clients(cluster.bootstrap, home)

    def slowdown(self, recorded_first: bool) -> tuple[float, float]:
        """Return how much longer (%) a producer and a consumer take while recorded, from one pair of runs."""
        took = {}
        for recorded in (recorded_first, not recorded_first):
            with self._recording() if recorded else nullcontext():
                took[recorded] = self._send(), self._read()
        (sent, read), (sent_alone, read_alone) = took[True], took[False]
        return 100 * (sent / sent_alone - 1), 100 * (read / read_alone - 1)

    def share(self) -> float:
        """Return what share (%) of one core a recording takes, beside a heartbeat of 50 records a second."""
        alone = self._beat()
        with self._recording():
            return 100 * (self._beat() - alone)

    def panel_share(self) -> float:
        """Return what share (%) of one core a live panel takes beside that heartbeat."""
        alone = self._beat()
        panels = Panels()
        panels.watch(self._cluster, [TOPIC])
        try:
            return 100 * (self._beat() - alone)
        finally:
            panels.end()

    def size(self) -> float:
        """Return how large (MB) a recording of five minutes of that heartbeat is, from a part of it."""
        with self._recording() as recording:
            self._beat()
        data = recording.data
        written = recording.save(self._home / "recording.json.gz").stat().st_size
        return written / 1e6 * FIVE_MINUTES / (data.ended - data.began)

    def _recording(self) -> Recorder:
        return Recorder(self._cluster, self._clients, [TOPIC])

    def _send(self) -> float:
        failed = []
        producer = self._clients.producer(
            {"enable.idempotence": True, "queue.buffering.max.messages": RECORDS}
        )

        def report(error: object, message: object) -> None:
            if error is not None:
                failed.append(error)

        began = time.perf_counter()
        for number in range(RECORDS):
            producer.produce(TOPIC, VALUE, key=str(number % 1000), on_delivery=report)
        left = producer.flush(60)
        took = time.perf_counter() - began
        assert len(failed) + left == 0, f"{len(failed)} records failed, {left} are left"
        self._clients.close()
        return took

    def _read(self) -> float:
        consumer = self._clients.consumer({"group.id": f"bench-{uuid4()}", "auto.offset.reset": "earliest"})
        consumer.subscribe([TOPIC])
        while consumer.poll(1) is None:
            pass  # the first record says that the group has been joined
        length, began = 0, time.perf_counter()
        for _ in range(RECORDS - 1):
            message = consumer.poll(10)
            assert message is not None
            assert message.error() is None
            length += len(message.value() or b"")
        took = time.perf_counter() - began
        self._clients.close()
        return took

    def _beat(self) -> float:
        """Return the share of one core that this process uses during a heartbeat of ten seconds."""
        producer = self._clients.producer({"enable.idempotence": True, "linger.ms": 0})
        beat = threading.Event()
        used, began = time.process_time(), time.perf_counter()
        for number in range(BEATS):
            producer.produce(TOPIC, VALUE, key=str(number))
            producer.poll(0)
            beat.wait(began + number * BEAT_SECONDS - time.perf_counter())
        share = (time.process_time() - used) / (time.perf_counter() - began)
        self._clients.close()
        return share
