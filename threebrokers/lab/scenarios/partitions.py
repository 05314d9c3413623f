"""One partition of a topic that must be there, and the brokers in an order that suits an outage."""

import time
from collections.abc import Mapping
from typing import Any, TypeVar

from threebrokers.errors import LabError
from threebrokers.kafka.state import ClusterState, PartitionState, TopicState
from threebrokers.lab.lab import Lab
from threebrokers.waiting import late, poll

T = TypeVar("T")
ANSWER_SECONDS = LEADER_SECONDS = 20.0


def partition_of(lab: Lab, topic: str, number: int = 0) -> PartitionState:
    """Return one partition of a topic as the brokers tell it now. Raises LabError if there is no topic."""
    return topic_of(lab, topic).partitions[number]


def leader_of(lab: Lab, topic: str, number: int = 0) -> int:
    """Return the broker that leads a partition, as soon as one does. Raises LabError if none does for 20 s.

    On a busy machine a broker may lose its session for a moment.
    """
    if (leader := partition_of(lab, topic, number).leader) is not None:
        return leader
    with late(f"a leader of '{topic}'", LEADER_SECONDS) as say:
        for state in poll(lambda: lab.cluster.state([topic]), LEADER_SECONDS):
            told = state.topic(topic)
            if told and (leader := told.partitions[number].leader) is not None:
                return leader
            say()
    raise LabError(
        f"Nobody leads partition {number} of '{topic}'", "see `threebrokers doctor`, then run the cell again"
    )


def topic_of(lab: Lab, name: str) -> TopicState:
    """Return a topic as the brokers tell it now, as soon as one that runs has time to answer.

    Raises LabError if there is none, or if nobody answers for 20 s.
    """
    end = time.monotonic() + ANSWER_SECONDS
    with late("a broker to answer", ANSWER_SECONDS) as say:
        while (state := lab.cluster.state([name])).last_response_at is None:
            say()
            runs = any(process.state == "up" for process in lab.cluster.processes().values())
            if not runs or time.monotonic() > end:
                said = f"No broker has answered for {ANSWER_SECONDS:g} s" if runs else "No broker is up"
                raise LabError(said, "see `threebrokers doctor`, then run the cell again")
    return existing(state.topic(name), name)


def existing(topic: T | None, name: str) -> T:
    """Return the topic that was found. Raises LabError if there was none."""
    if topic is None:
        raise LabError(f"There is no topic '{name}': run the cell that makes it again.")
    return topic


def fresh(lab: Lab, name: str, partitions: int, replicas: int, least: int) -> str:
    """Return the full name of a fresh topic of so many partitions and replicas.

    `least` is its min.insync.replicas.
    """
    config = {"min.insync.replicas": str(least)}
    return lab.fresh_topic(name, partitions=partitions, replication_factor=replicas, config=config)


def config_of(settings: Any) -> dict[str, str]:
    """Return a topic's settings as texts. Raises LabError for what is no dictionary."""
    if not isinstance(settings, Mapping):
        raise LabError(f"`settings` is {settings!r:.60}", "it should be a dictionary of the topic's settings")
    return {
        str(name): str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in settings.items()
    }


def controller_last(lab: Lab) -> list[int]:
    """Return the three brokers, the active controller as the last one."""
    quorum_leader = lab.cluster.state([]).quorum_leader
    return sorted(lab.cluster.brokers, key=lambda broker: broker == quorum_leader)


def wait_for_new_leaders(lab: Lab, gone: int, *topics: str) -> None:
    """Wait until all partitions of these topics have another leader, if they have another replica.

    That no broker answers for a while is no fault meanwhile. Raises LabError after 20 s.
    """

    def led() -> bool:
        state = lab.cluster.state(topics)
        if state.last_response_at is None:
            return False
        partitions = [p for name in topics for p in existing(state.topic(name), name).partitions]
        alone = [p for p in partitions if p.replicas == (gone,)]
        return all(p.leader != gone and (p.leader is not None or p in alone) for p in partitions)

    lab.wait_until(led, what="new leaders", within=LEADER_SECONDS)


def heirs(before: ClusterState, after: ClusterState, gone: int) -> list[dict[str, object]]:
    """Return the partitions that a broker led before it was gone, and who led them after that.

    Each with the next replica in its list that was in sync; "nobody" where there is none.
    """
    rows: list[dict[str, object]] = []
    for topic in before.topics:
        for p, now in zip(
            topic.partitions, existing(after.topic(topic.name), topic.name).partitions, strict=True
        ):
            if p.leader == gone:
                rest = [broker for broker in p.replicas if broker in p.isr and broker != gone]
                row: dict[str, object] = {
                    "partition": f"{p.topic}-{p.id}",
                    "replicas": list(p.replicas),
                    "in sync": list(p.isr),
                }
                row |= {
                    "next in the list": rest[0] if rest else "nobody",
                    "leads after": "nobody" if now.leader is None else now.leader,
                }
                rows.append(row)
    return rows


def leaderless_everywhere(lab: Lab, topic: str) -> bool:
    """Tell whether two brokers answer and both know of a partition that nobody leads.

    A producer may ask either of them.
    """
    views = [existing(view.topic(topic), topic) for view in lab.cluster.views([topic]).values()]
    return [None in {p.leader for p in view.partitions} for view in views] == [True, True]
