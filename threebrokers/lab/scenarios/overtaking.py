"""A producer whose requests are refused, and those behind them taken, for lab 05."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from confluent_kafka import KafkaError, Message
from confluent_kafka.admin import ResourceType

from threebrokers.errors import LabError
from threebrokers.kafka.admin import change_config
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import fresh, topic_of

SENT = 500
REPLICAS, AWAY = 3, 3  # replicas of the topic, and the broker that has to be away meanwhile
REFUSED_SECONDS, FLUSH_SECONDS = 30.0, 60.0
# One record a batch, so as many requests as records; and nearly no pause before one is sent again, so at any
# moment some are on their way.
ONE_BY_ONE = {
    "linger.ms": 0,
    "batch.num.messages": 1,
    "retry.backoff.ms": 1,
    "retry.backoff.max.ms": 1,
}
TRIPS = 3  # ways that take as long as all records are sent: a request and its answer are two
# Records that are refused one after the other show that leaders refuse, and have refused those before.
PROBES = 3
PROBE = {"enable.idempotence": False, "linger.ms": 0, "retries": 0, "request.timeout.ms": 500}


@dataclass(frozen=True)
class Arrived:
    """What became of the records: the numbers in the log of each partition, and those acknowledged."""

    logs: tuple[tuple[int, ...], ...]
    acknowledged: frozenset[int]

    @property
    def stored(self) -> int:
        """How many records are stored, each counted once."""
        return len(self._stored)

    @property
    def overtaken(self) -> int:
        """How many records stand behind one of their partition that was sent after them."""
        # A record that came twice counts where it came first.
        logs = [list(dict.fromkeys(log)) for log in self.logs]
        return sum(
            number < before for log in logs for number, before in zip(log, accumulate(log, max), strict=True)
        )

    @property
    def lost(self) -> int:
        """How many records were acknowledged, and are not stored."""
        return len(self.acknowledged - self._stored)

    @property
    def _stored(self) -> frozenset[int]:
        return frozenset(number for log in self.logs for number in log)


def refused_for_a_while(
    lab: Lab,
    settings: Mapping[str, Any],
    *,
    name: str = "overtaken",
    producers: int = 1,
    greeted: bool = True,
    delay_ms: float = 0,
) -> Arrived:
    """Send 500 records that their leaders refuse until some were sent again; return what is stored.

    Their topic, of this name, wants three replicas in sync, and broker 3 has to be down; while requests are
    on their way it becomes content with two. Each of the producers sends to a partition of its own, and has a
    record there from before, which does not count, if it is `greeted`.

    Until the topic is content, links from the clients are slower by `delay_ms` each way, and the records are
    sent over a longer time than a request and its answer take. So requests are on their way at any moment.
    Without a delay a producer on a busy machine may have all answers, and has sent nothing again, just when
    the topic becomes content: nothing is overtaken then. Raises LabError if broker 3 is up, or if not all
    records are reported within 60 s.
    """
    if lab.cluster.processes()[AWAY].state == "up":
        raise LabError(f"Broker {AWAY} is up, so nothing would be refused", f"lab.cluster.stop({AWAY})")
    topic = fresh(lab, name, producers, REPLICAS, REPLICAS - 1)
    lab.wait_until(
        lambda: all(len(p.isr) < REPLICAS for p in topic_of(lab, topic).partitions),
        what=f"the topic to be without broker {AWAY}",
    )
    senders = [_Sender(lab, topic, partition, settings) for partition in range(producers)]
    for sender in senders if greeted else ():
        sender.send(b"")
        sender.flush()
    _want(lab, topic, REPLICAS)
    _wait_until_refused(lab, topic, producers)
    with _slow_links(lab, delay_ms):
        for number in range(SENT):
            senders[number % producers].send(b"%d" % number)
            time.sleep(TRIPS * delay_ms / 1000 / SENT)  # the pace of their source
        for _ in range(PROBES):
            _wait_until_refused(lab, topic, producers)
        _want(lab, topic, REPLICAS - 1)
        lab.wait_until(lambda: _taken(lab, topic, producers), what="the leaders to take records")
    for sender in senders:
        sender.flush()
    acknowledged = frozenset[int]().union(*(sender.acknowledged for sender in senders))
    logs: list[list[int]] = [[] for _ in range(producers)]
    for record in read_log(lab.bootstrap, topic):
        if record.value:
            logs[record.partition].append(int(record.value))
    return Arrived(tuple(map(tuple, logs)), acknowledged)


class _Sender:
    """A producer for one partition, and which numbers it has heard to be stored."""

    def __init__(self, lab: Lab, topic: str, partition: int, settings: Mapping[str, Any]) -> None:
        self._topic, self._partition = topic, partition
        self.acknowledged: set[int] = set()
        self._producer = lab.producer({**ONE_BY_ONE, **settings, "on_delivery": self._report})

    def send(self, value: bytes) -> None:
        self._producer.produce(self._topic, value, partition=self._partition)

    def flush(self) -> None:
        """Wait for the reports. Raises LabError if they do not come."""
        if left := self._producer.flush(FLUSH_SECONDS):
            told = f"{left} records had no report within {FLUSH_SECONDS:g} s"
            raise LabError(told, "run the cell again")

    def _report(self, error: KafkaError | None, message: Message) -> None:
        if error is None and (value := message.value()):
            self.acknowledged.add(int(value))


def _wait_until_refused(lab: Lab, topic: str, partitions: int) -> None:
    lab.wait_until(
        lambda: _refused(lab, topic, partitions), what="the leaders to refuse records", within=REFUSED_SECONDS
    )


def _refused(lab: Lab, topic: str, partitions: int) -> bool:
    """Tell whether each partition refuses a record. One that is taken too late has no answer in time."""
    return [error and error.code() for error in _probed(lab, topic, partitions)] == [
        KafkaError.NOT_ENOUGH_REPLICAS
    ] * partitions


def _taken(lab: Lab, topic: str, partitions: int) -> bool:
    """Tell whether each partition takes a record."""
    return _probed(lab, topic, partitions) == [None] * partitions


def _probed(lab: Lab, topic: str, partitions: int) -> list[KafkaError | None]:
    """Send a record to each partition, once, and return what came back."""
    errors: list[KafkaError | None] = []
    probe = lab.producer({**PROBE, "on_delivery": lambda error, _: errors.append(error)})
    for partition in range(partitions):
        probe.produce(topic, b"", partition=partition)
    probe.flush(FLUSH_SECONDS)
    return errors


@contextmanager
def _slow_links(lab: Lab, ms: float) -> Iterator[None]:
    """Delay what clients and brokers that are up tell each other, by so many ms each way, in this block."""
    processes = lab.cluster.processes()
    slow = [broker for broker, process in processes.items() if ms and process.state == "up"]
    try:
        for broker in slow:
            lab.cluster.slow(broker, ms, "clients")
        yield
    finally:
        for broker in slow:
            lab.cluster.heal(broker)


def _want(lab: Lab, topic: str, replicas: int) -> None:
    config = {"min.insync.replicas": str(replicas)}
    change_config(lab.admin(), ResourceType.TOPIC, topic, config)
