"""Groups that share the records of a topic, or see all of them, for lab 07."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from confluent_kafka import ConsumerGroupTopicPartitions, Message, TopicPartition
from confluent_kafka.admin import NewPartitions

from threebrokers.errors import LabError
from threebrokers.kafka.client_settings import is_new_protocol
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import end_offsets
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.members import HEARTBEAT_MS
from threebrokers.lab.scenarios.partitions import topic_of
from threebrokers.lab.scenarios.readers import delete_before
from threebrokers.ledger import Ledger
from threebrokers.waiting import late, quiet_wait

CUSTOMERS, EACH = 100, 3
HOME, OTHERS = "NO", ("SE", "DK", "FI", "DE")
# A group that has not got everything yet may wait for its first records, or for the next ones while the
# machine is busy, as long as QUIET_SECONDS.
QUIET_SECONDS, WORK_SECONDS = 3.0, 12.0
# Members hear of a rebalance with a heartbeat, by default every 3 s; a cooperative group needs two of them.
GATHER_SECONDS = 15.0


@dataclass(frozen=True)
class Job:
    """One thing to do for a customer; `value` is what is sent."""

    number: int
    customer: str
    country: str

    @property
    def value(self) -> str:
        """The job as JSON."""
        return json.dumps({"job": self.number, "customer": self.customer, "country": self.country})


def jobs() -> list[Job]:
    """Return 300 jobs of 100 customers, the same each time; nine of ten customers are from one country."""
    homes = {f"customer {n}": HOME if n % 10 else OTHERS[n // 10 % len(OTHERS)] for n in range(CUSTOMERS)}
    names = list(homes) * EACH
    Random(7).shuffle(names)  # noqa: S311 (the same jobs each time)
    return [Job(number, name, homes[name]) for number, name in enumerate(names)]


def work_together(lab: Lab, topic: str, ledger: Ledger, workers: Sequence[LabConsumer]) -> list[int]:
    """Let workers do all that a topic holds, side by side; return how many records each has done.

    They begin when those of each group have shared out the partitions, at the latest after 15 s. They end
    when each group has everything, or nothing has come for 3 s; after 12 s in any case. All of them leave
    their groups. Raises LabError for a consumer that is not the lab's or the ledger's.
    """
    for worker in workers:
        if not isinstance(worker, LabConsumer):
            raise LabError(
                f"A worker is {worker!r:.60}",
                "it should be a consumer of the ledger, which can tell what it has got: ledger.consumer({…})",
            )
    done = dict.fromkeys(range(len(workers)), 0)
    with gathered(lab, topic, workers):
        for place, message in read_all(lab, topic, workers):
            ledger.processed(message)
            done[place] += 1
    return list(done.values())


@contextmanager
def gathered(lab: Lab, topic: str, workers: Sequence[LabConsumer]) -> Iterator[None]:
    """Subscribe consumers; begin when those of each group hold every partition, and close them at the end.

    Nobody gets a record before that: the first of them would have done everything meanwhile. Consumers that
    were given partitions by hand stay as they are.
    """
    partitions = len(topic_of(lab, topic).partitions)
    members = [worker for worker in workers if worker.subscribed or not worker.assignment()]
    by_group: dict[str, list[LabConsumer]] = {}
    for worker in members:
        by_group.setdefault(str(worker.config.get("group.id")), []).append(worker)
        worker.subscribe([topic], on_assign=_wait_with)

    def complete() -> bool:
        for worker in members:
            worker.poll(0.01)
        shares = [[len(worker.assignment()) for worker in group] for group in by_group.values()]
        return all(sum(one) == partitions and min(one) >= partitions // len(one) for one in shares)

    with late("the workers to share out the partitions", GATHER_SECONDS) as say:
        quiet_wait(lambda: complete() or say(), GATHER_SECONDS)
    for worker in members:
        worker.resume(worker.assignment())
    try:
        yield
    finally:
        for worker in workers:
            worker.close()


def _wait_with(consumer: LabConsumer, places: list[TopicPartition]) -> None:
    """Take partitions, and read nothing of them yet."""
    new = is_new_protocol(consumer.config)
    cooperative = "cooperative" in str(consumer.config.get("partition.assignment.strategy", ""))
    (consumer.incremental_assign if new or cooperative else consumer.assign)(places)
    consumer.pause(places)


def read_all(lab: Lab, topic: str, workers: Sequence[LabConsumer]) -> Iterator[tuple[int, Message]]:
    """Yield what the workers get, with the place of the worker, until each group has all that is stored.

    Or until nothing comes any more: who begins at the end of the log gets nothing.
    """
    stored = sum(end_offsets(lab.bootstrap, topic).values())
    left = {str(worker.config.get("group.id")): stored for worker in workers}
    began = last = time.monotonic()
    while any(count > 0 for count in left.values()):
        for place, worker in enumerate(workers):
            for message in worker.consume(20, timeout=0.02):
                if message.error() is None:
                    yield place, message
                    left[str(worker.config.get("group.id"))] -= 1
                    last = time.monotonic()
        now = time.monotonic()
        if now - last > QUIET_SECONDS or now - began > WORK_SECONDS:
            return


def shares(lab: Lab, how: str) -> list[int]:
    """Return how many partitions of two topics of eight each of three members gets, most first.

    `how` is a classic strategy, or "consumer" for the new protocol.
    """
    topics = [lab.fresh_topic(name, partitions=8) for name in ("range-a", "range-b")]
    way = {"group.protocol": how} if how == "consumer" else {"partition.assignment.strategy": how}
    fast = {} if how == "consumer" else {"heartbeat.interval.ms": HEARTBEAT_MS}
    group = f"{lab.group('assignors')}-{time.time_ns()}"
    members = [lab.consumer({"group.id": group, **way, **fast}) for _ in range(3)]
    for member in members:
        member.subscribe(topics)

    def settled() -> list[int]:
        for member in members:
            member.poll(0.02)
        counts = [len(member.assignment()) for member in members]
        return counts if sum(counts) == 16 and min(counts) > 3 else []

    found = lab.wait_until(settled, what="the group to share out its partitions", within=20)
    for member in members:
        member.close()
    return sorted(found, reverse=True)


class Part(NamedTuple):
    """A partition of `backlog`: its end and what is committed, now and an hour later; and its start."""

    end: int
    committed: int | None
    later_end: int
    later_committed: int | None
    start: int = 0  # what is below has been deleted


BACKLOG = (
    Part(500, 100, 520, 400),  # far behind, and catching up
    Part(300, 290, 420, 320),  # near, and falling behind
    Part(200, 200, 260, 260),  # at the end
    Part(100, None, 120, None, start=60),  # never committed, and its first records are gone
    Part(250, 200, 270, 220),  # behind, and steady
)
OTHERS_PLACES = (450, 280, 195, None, 210)


def new_backlog(lab: Lab, name: str = "backlog") -> tuple[str, str]:
    """Return the names of a topic of five partitions and of a group that has read it, more or less far."""
    topic = lab.fresh_topic(name, partitions=len(BACKLOG))
    group = f"{lab.group(name)}-{time.time_ns()}"
    _store(lab, topic, [part.end for part in BACKLOG])
    for partition, part in enumerate(BACKLOG):
        if part.start:
            delete_before(lab, topic, part.start, partition)
    _commit(lab, topic, group, [part.committed for part in BACKLOG])
    return topic, group


def an_hour_later(lab: Lab, topic: str, group: str) -> None:
    """Let an hour of `new_backlog` pass: more is stored, and the group has read on."""
    _store(lab, topic, [part.later_end - part.end for part in BACKLOG])
    _commit(lab, topic, group, [part.later_committed for part in BACKLOG])


def other_reader(lab: Lab, topic: str) -> str:
    """Return the name of one more group that has read `new_backlog`: `OTHERS_PLACES` is what it committed."""
    group = f"{lab.group('backlog')}-{time.time_ns()}"
    _commit(lab, topic, group, OTHERS_PLACES)
    return group


def _store(lab: Lab, topic: str, counts: Sequence[int]) -> None:
    producer = lab.producer({"linger.ms": 0})
    for partition, count in enumerate(counts):
        for _ in range(count):
            producer.produce(topic, b"work", partition=partition)
    producer.flush()


def _commit(lab: Lab, topic: str, group: str, offsets: Sequence[int | None]) -> None:
    places = [TopicPartition(topic, p, offset) for p, offset in enumerate(offsets) if offset is not None]
    asked = [ConsumerGroupTopicPartitions(group, places)]
    for future in lab.admin().alter_consumer_group_offsets(asked, request_timeout=10).values():
        future.result()


HIRED = 60


def staff(lab: Lab, teams: Mapping[str, str]) -> dict[str, int]:
    """Run programs that read the topic `hired`, each in the group named; return how many records each got.

    The topic is made afresh, with 60 records in four partitions. Each group is new: its full name is
    `staff_group(lab, run, name)`. The programs begin at the start and commit what they have read.
    """
    topic = lab.fresh_topic("hired", partitions=4)
    _store(lab, topic, [HIRED // 4] * 4)
    common = {"auto.offset.reset": "earliest", "heartbeat.interval.ms": HEARTBEAT_MS}
    run = time.time_ns()
    readers = [
        lab.consumer({"group.id": staff_group(lab, run, team), "client.id": program, **common})
        for program, team in teams.items()
    ]
    got = dict.fromkeys(teams, 0)
    with gathered(lab, topic, readers):
        for place, _ in read_all(lab, topic, readers):
            got[list(teams)[place]] += 1
        # The commit of a close is lost now and then, if another member has just left.
        for reader, count in zip(readers, got.values(), strict=True):
            if count:
                reader.commit(asynchronous=False)
    return got


def staff_group(lab: Lab, run: int | str, name: str) -> str:
    """Return the full name of a group of `staff`; `run` grows with each call."""
    return f"{lab.group('hired')}-{run}-{name}"


CUSTOMER_NAMES = tuple(f"customer {number}" for number in range(100))
FEW, MORE = 6, 8


def first_round(lab: Lab) -> str:
    """Return the topic `customers`, made afresh with six partitions and one record of each customer."""
    topic = lab.fresh_topic("customers", partitions=FEW)
    _send_each(lab, topic)
    return topic


def second_round(lab: Lab, topic: str) -> None:
    """Give the topic two partitions more, and send one more record of each customer."""
    asked = lab.admin().create_partitions([NewPartitions(topic, MORE)], request_timeout=10)
    asked[topic].result()

    def known() -> bool:
        views = lab.cluster.views([topic])
        told = [found for view in views.values() if (found := view.topic(topic)) is not None]
        everybody = {n for n, process in lab.cluster.processes().items() if process.state == "up"}
        return everybody <= views.keys() and [len(found.partitions) for found in told] == [MORE] * len(views)

    lab.wait_until(known, what="every broker to know the new partitions")
    _send_each(lab, topic)


def _send_each(lab: Lab, topic: str) -> None:
    producer = lab.producer({"linger.ms": 0})  # a new one, for one that is older knows the old partitions
    for name in CUSTOMER_NAMES:
        producer.produce(topic, b"letter", key=name)
    producer.flush()
