"""One look at the whole bench: every broker is asked at once, and the answers become one Sight."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, Protocol

from threebrokers import clock
from threebrokers.kafka import requests
from threebrokers.kafka.connection import Question, Wire
from threebrokers.kafka.groups import ask as ask_groups
from threebrokers.kafka.groups import read as read_groups
from threebrokers.kafka.merge import NO_ERROR, View, chief, merge_topics, read_view
from threebrokers.kafka.state import (
    BrokerState,
    ClusterState,
    GroupState,
    MetadataBroker,
    MetadataPartition,
    MetadataState,
    MetadataTopic,
)
from threebrokers.waiting import poll

ANSWER_SECONDS = 0.3
# A broker that is busy may miss one look; it is called silent after this time.
SILENT_SECONDS = 1.0

Addresses = Mapping[int, Mapping[str, str]]


class Process(Protocol):
    """A broker's process: 'up', 'paused' or 'down', and its memory (bytes)."""

    @property
    def id(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def rss(self) -> int: ...


class Looker:
    """Looks at a bench again and again. Used by one thread.

    `processes` tells how each broker's process is; `listening` where it listens (by listener). `silent` are
    the running brokers that did not answer all questions of the last look.
    """

    def __init__(
        self, processes: Callable[[], Mapping[int, Process]], listening: Callable[[], Addresses]
    ) -> None:
        self._processes, self._listening = processes, listening
        self._wire = Wire()
        self._answered: dict[int, float] = {}  # by time.monotonic(): what is told of them is how long ago
        self._last: ClusterState | None = None
        self.silent: frozenset[int] = frozenset()

    def look(self, topics: Sequence[str] | None, groups: Sequence[str] = ()) -> ClusterState:
        """Return what is to be seen now of these topics (all if None) and groups. Takes at most 0.7 s.

        A topic that is new needs two rounds of questions: first its partitions, then their offsets.
        """
        sight = self._round(topics, groups)
        if {t.name for t in sight.topics} - {t.name for t in (self._last.topics if self._last else ())}:
            self._last = sight
            sight = self._round(topics, groups)
        self._last = sight
        return sight

    def close(self) -> None:
        """Close all connections."""
        self._wire.close()

    def _round(self, topics: Sequence[str] | None, groups: Sequence[str]) -> ClusterState:
        processes, listening = self._processes(), self._listening()
        running = [n for n, process in processes.items() if process.state == "up" and n in listening]
        known = self._last.topics if self._last else ()
        places = {t.name: [p.id for p in t.partitions] for t in known if topics is None or t.name in topics}
        asked: list[Question] = [
            requests.metadata(topics),
            requests.offsets(places, requests.LATEST, requests.OWN_COPY),
            requests.offsets(places, requests.LATEST, requests.CONSUMER),
            requests.offsets(places, requests.EARLIEST, requests.CONSUMER),
            *ask_groups(groups),
        ]
        to_ask = {listening[n]["CLIENT"]: asked for n in running}
        controllers = {n: listening[n]["CONTROLLER"] for n in running if "CONTROLLER" in listening[n]}
        answers = self._wire.ask(
            to_ask | {address: [requests.quorum()] for address in controllers.values()}, ANSWER_SECONDS
        )
        now = clock.now()
        asked_at = {n: {listening[n]["CLIENT"], controllers.get(n, listening[n]["CLIENT"])} for n in running}
        self.silent = frozenset(n for n, asked_of in asked_at.items() if not asked_of <= answers.keys())
        told = {n: answers[listening[n]["CLIENT"]] for n in running if listening[n]["CLIENT"] in answers}
        leaders = [
            leader
            for address in controllers.values()
            if address in answers and (leader := requests.told_leader(answers[address][0]))
        ]
        epoch, quorum_leader = max(leaders, default=(-1, None))
        self._answered.update(dict.fromkeys(told, monotonic()))
        return self._sight(now, processes, listening, told, (epoch, quorum_leader), groups)

    def _sight(
        self,
        now: float,
        processes: Mapping[int, Process],
        listening: Addresses,
        told: Mapping[int, list[Any]],
        quorum: tuple[int, int | None],
        groups: Sequence[str],
    ) -> ClusterState:
        views: dict[int, View] = {
            n: read_view(answer[0], *map(requests.told_offsets, answer[1:4])) for n, answer in told.items()
        }
        first = chief(views, quorum[1])
        registered = views[first].registered if first else frozenset()
        before = self._last or ClusterState(now, ())
        told_groups = read_groups(groups, {n: answer[4:] for n, answer in told.items()})
        return ClusterState(
            at=now,
            brokers=tuple(
                self._broker(now, process, n in registered, listening.get(n, {}).get("CLIENT", ""))
                for n, process in sorted(processes.items())
            ),
            quorum_leader_epoch=quorum[0],
            quorum_leader=quorum[1],
            topics=merge_topics(views, first) if first else before.topics,
            groups=tuple(self._group(name, told_groups) for name in groups),
            last_response_at=now if first else before.last_response_at,
        )

    def _broker(self, now: float, process: Process, registered: bool, address: str) -> BrokerState:
        before = self._last.broker(process.id) if self._last else None
        heard = self._answered.get(process.id)
        silent = None if heard is None else monotonic() - heard
        state, since = process.state, now
        if state == "up" and (silent is None or silent > SILENT_SECONDS):
            state, since = "unknown", now - (silent or 0)
        if before and before.state == state:
            since = before.since
        return BrokerState(process.id, state, since, registered, address, process.rss)

    def _group(self, name: str, told: Mapping[str, GroupState]) -> GroupState:
        known = next((g for g in (self._last.groups if self._last else ()) if g.name == name), None)
        nobody = replace(known or GroupState(name, "", None), state="no coordinator", coordinator=None)
        return told.get(name, nobody)


def views(
    addresses: Mapping[int, str], topics: Sequence[str] | None, within: float
) -> dict[int, MetadataState]:
    """Return what the broker at each address says of the brokers and of these topics (all if None).

    One that does not answer is asked again, for so many seconds, and then left out.
    """
    wire, found = Wire(), dict[int, MetadataState]()
    question = [requests.metadata(topics)]
    try:
        for _ in poll(lambda: None, within):
            silent = {address: n for n, address in addresses.items() if n not in found}
            for address, [told] in wire.ask(dict.fromkeys(silent, question), ANSWER_SECONDS).items():
                found[silent[address]] = _state(told)
            if len(found) == len(addresses):
                break
    finally:
        wire.close()
    return dict(sorted(found.items()))


def _state(told: Any) -> MetadataState:
    return MetadataState(
        brokers=tuple(
            MetadataBroker(b.node_id, b.host, b.port) for b in sorted(told.brokers, key=lambda b: b.node_id)
        ),
        topics=tuple(
            MetadataTopic(topic.name, tuple(_partition(topic.name, p) for p in _in_order(topic.partitions)))
            for topic in sorted(told.topics, key=lambda topic: topic.name)
            if topic.error_code == NO_ERROR
        ),
    )


def _partition(topic: str, told: Any) -> MetadataPartition:
    leader = None if told.leader_id < 0 else told.leader_id
    return MetadataPartition(
        topic, told.partition_index, leader, tuple(told.replica_nodes), tuple(sorted(told.isr_nodes))
    )


def _in_order(partitions: Sequence[Any]) -> list[Any]:
    return sorted(partitions, key=lambda p: p.partition_index)
