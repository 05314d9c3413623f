"""A producer whose requests are refused, and those behind them taken, for lab 05."""

from collections.abc import Mapping
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
    times: int = 1,
) -> Arrived:
    """Send 500 records that their leaders refuse until some were sent again; return what is stored.

    Their topic, of this name, wants three replicas in sync, and broker 3 has to be down; while requests are
    on their way it becomes content with two. This happens so many times, each with its part of the records.
    Once is not enough to be sure of an overtaking: on a busy machine a producer may have all answers, and has
    sent nothing again, just when the topic becomes content. Each of the producers sends to a partition of its
    own, and has a record there from before, which does not count, if it is `greeted`. Raises LabError if
    broker 3 is up, or if not all records are reported within 60 s.
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
    leaders = _Leaders(lab, topic, producers)
    for part in range(times):
        leaders.refuse()
        for number in range(SENT * part // times, SENT * (part + 1) // times):
            senders[number % producers].send(b"%d" % number)
        leaders.take()
        for sender in senders:  # a part that is still on its way would hide the next one's turn
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


class _Leaders:
    """The leaders of the topic's partitions, and whether they refuse records or take them."""

    def __init__(self, lab: Lab, topic: str, partitions: int) -> None:
        self._lab, self._topic, self._partitions = lab, topic, partitions
        self._errors: list[int | None] = []
        self._probe = lab.producer({**PROBE, "on_delivery": self._report})

    def refuse(self) -> None:
        """Have the topic want more replicas in sync than there are, and wait until each leader refuses."""
        self._want(REPLICAS)
        self._wait_until_refused()

    def take(self) -> None:
        """Have it want those that there are, once the leaders have refused what is sent."""
        for _ in range(PROBES):
            self._wait_until_refused()
        self._want(REPLICAS - 1)
        taken = [None] * self._partitions
        self._lab.wait_until(lambda: self._probed() == taken, what="the leaders to take records")

    def _want(self, replicas: int) -> None:
        config = {"min.insync.replicas": str(replicas)}
        change_config(self._lab.admin(), ResourceType.TOPIC, self._topic, config)

    def _wait_until_refused(self) -> None:
        # A record that is taken too late has no answer in time: that is another error.
        refused = [KafkaError.NOT_ENOUGH_REPLICAS] * self._partitions
        self._lab.wait_until(
            lambda: self._probed() == refused,
            what="the leaders to refuse records",
            within=REFUSED_SECONDS,
        )

    def _probed(self) -> list[int | None]:
        """Send a record to each partition, once, and return the codes of the errors that came back."""
        self._errors.clear()
        for partition in range(self._partitions):
            self._probe.produce(self._topic, b"", partition=partition)
        self._probe.flush(FLUSH_SECONDS)
        return list(self._errors)

    def _report(self, error: KafkaError | None, _: Message) -> None:
        # Its code: a KafkaError that is compared with None leaves an exception behind.
        self._errors.append(None if error is None else error.code())
