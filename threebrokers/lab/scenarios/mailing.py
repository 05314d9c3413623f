"""Three readers of thirteen partitions, in one group or in three, for lab 07: who gets what?"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.members import HEARTBEAT_MS
from threebrokers.lab.scenarios.sharing import gathered, read_all

PARTITIONS = 13


@dataclass(frozen=True)
class Read:
    """What each reader has got, in the order in which it came, and the full name of its group."""

    got: dict[str, list[str]]
    groups: dict[str, str]


def mail(lab: Lab, count: int) -> str:
    """Return the topic `mail`, made afresh with 13 partitions and the letters m1, m2, …; keys are 1, 2, …"""
    topic = lab.fresh_topic("mail", partitions=PARTITIONS)
    producer = lab.producer()
    for number in range(1, count + 1):
        producer.produce(topic, f"m{number}", key=str(number))
    producer.flush()
    return topic


@contextmanager
def reading(lab: Lab, topic: str, groups: Mapping[str, str]) -> Iterator[Read]:
    """Let readers, each in a group, read all that a topic holds; they are members until the `with` ends.

    The groups are new each time. Each divides the partitions with `range`, by the names of the readers, and
    has committed what it has read.
    """
    run = time.time_ns()
    read = Read(
        {name: [] for name in groups},
        {name: f"{lab.group('mail')}-{run}-{group}" for name, group in groups.items()},
    )
    common = {"auto.offset.reset": "earliest", "heartbeat.interval.ms": HEARTBEAT_MS}
    readers = [
        lab.consumer(
            {"group.id": group, "client.id": name, "partition.assignment.strategy": "range", **common}
        )
        for name, group in read.groups.items()
    ]
    with gathered(lab, topic, readers):
        for place, message in read_all(lab, topic, readers):
            read.got[list(groups)[place]].append((message.value() or b"").decode())
            readers[place].commit(message=message, asynchronous=False)
        yield read
