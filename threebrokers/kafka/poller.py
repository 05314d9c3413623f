"""Polling the whole cluster: every broker is asked at once, and the responses become one ClusterState."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from socket import socket
from time import monotonic
from typing import Any, Protocol

from threebrokers import clock
from threebrokers.kafka import requests
from threebrokers.kafka.connection import Connections, Request
from threebrokers.kafka.groups import ask as ask_groups
from threebrokers.kafka.groups import read as read_groups
from threebrokers.kafka.merge import View, authoritative_view, merge_topics, not_older, read_view
from threebrokers.kafka.state import BrokerState, ClusterState, GroupState
from threebrokers.waiting import quiet_wait

# How long brokers have to answer: to the first requests, and in all when new topics need a second round.
ANSWER_SECONDS = 0.3
QUICK_SECONDS = (ANSWER_SECONDS, 0.5)
# On a busy machine every broker may need longer than that, each time: who must have an answer waits so long.
PATIENT_SECONDS = (1.5, 2.0)
LEAST_SECONDS = 0.05  # a shorter round gets no answer
FAR_SECONDS = 3.0  # in place of all for a cluster elsewhere, whose brokers ask first who comes
# A broker that is busy may miss one poll; it is called silent after this time.
SILENT_SECONDS = 1.0
# If the active controller does not tell of topics itself, others may tell old news: for so long what was told
# before is kept. After that it may be that nobody can ask it.
UNINFORMED_SECONDS = 2.0
MARKER_SECONDS = 3.0
QUORUM, ENDING = requests.quorum(), requests.ending_transactions()

Addresses = Mapping[int, Mapping[str, str]]


class Process(Protocol):
    """A broker's process: 'up', 'paused' or 'down', and its memory (bytes)."""

    @property
    def id(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def rss(self) -> int: ...


@dataclass(frozen=True)
class _Answers:
    """What one round of requests has brought, and when it began and ended (s since 1970).

    `quorum` holds (epoch, leader) by the controller that says so, `groups` responses by broker.
    """

    asked_at: float
    at: float
    processes: Mapping[int, Process]
    listening: Addresses
    views: Mapping[int, View]
    quorum: Mapping[int, tuple[int, int]]
    groups: Mapping[int, list[Any]]


class ClusterPoller:
    """Asks every broker by itself, again and again. Used by one thread.

    `processes` tells how each broker's process is; `listening` where it listens (by listener). `silent` are
    the running brokers that did not answer all requests of the last poll. `enter` connects to an address of
    a cluster elsewhere, which has 3 s for each round of requests.
    """

    def __init__(
        self,
        processes: Callable[[], Mapping[int, Process]],
        listening: Callable[[], Addresses],
        enter: Callable[[str], socket] | None = None,
    ) -> None:
        self._processes, self._listening = processes, listening
        self._connections = Connections(enter)
        far = (FAR_SECONDS, 2 * FAR_SECONDS)
        self._seconds, self._patient = (far, far) if enter else (QUICK_SECONDS, PATIENT_SECONDS)
        self._answered: dict[int, float] = {}  # by time.monotonic(): what is told of them is how long ago
        self._known: dict[str, list[int]] = {}  # the partitions of each topic, as far as any broker told
        self._last: ClusterState | None = None
        self._informed = 0.0  # by time.monotonic(): when the active controller told of the topics itself
        self.silent: frozenset[int] = frozenset()

    def poll(
        self, topics: Sequence[str] | None, groups: Sequence[str] = (), *, patient: bool = False
    ) -> ClusterState:
        """Return the state of the brokers, these topics (all if None) and groups now.

        Takes at most 0.5 s, and 2 s if it is `patient`: on a busy machine an answer may take that long. A
        topic that is new needs two rounds of requests: first its partitions, then their offsets.
        """
        answers = self._ask(topics, groups, self._patient if patient else self._seconds)
        state, before = self._state(answers, answers.views, answers.quorum, groups), self._last
        if state.informed:
            self._informed = monotonic()
        elif before is not None and monotonic() - self._informed < UNINFORMED_SECONDS:
            state = replace(state, topics=not_older(before.topics, state.topics))
        self._last = state
        return state

    def views(self, topics: Sequence[str] | None, *, patient: bool = False) -> dict[int, ClusterState]:
        """Return what each broker that answers says by itself, in the time and the way of `poll`.

        It tells of the log start offset, the high watermark and the last stable offset only where it leads,
        of its own log end offsets, and of a leader of the quorum only if that is itself.
        """
        answers = self._ask(topics, (), self._patient if patient else self._seconds)
        return {
            n: self._state(answers, {n: view}, {c: told for c, told in answers.quorum.items() if c == n}, ())
            for n, view in answers.views.items()
        }

    def wait_for_markers(self) -> bool:
        """Wait, for 3 s at most, until every transaction that has been ended has its markers; tell whether.

        A commit is acknowledged when its coordinator has noted it. The markers, before which nobody who reads
        committed records gets any, come after that: half a second later if a leader was just elected.
        """
        return quiet_wait(lambda: not self._ending(), MARKER_SECONDS)

    def _ending(self) -> bool:
        """Tell whether markers are on their way, or may be: a broker that is counted has not answered."""
        state, listening = self.poll([], patient=True), self._listening()
        running = [b for b in state.brokers if b.state in ("up", "unknown") and b.id in listening]
        asked = {listening[b.id]["CLIENT"]: [ENDING] for b in running if b.registered}
        told = self._connections.ask(asked, self._patient[0])
        return len(told) < len(asked) or any(requests.read_ending(response) for [response] in told.values())

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    def _ask(
        self, topics: Sequence[str] | None, groups: Sequence[str], seconds: tuple[float, float]
    ) -> _Answers:
        first, both = seconds
        processes, listening, end = self._processes(), self._listening(), monotonic() + both
        answers = self._round(processes, listening, topics, groups, first)
        before = self._known
        if answers.views:  # else nobody has said that a topic is gone
            self._known = _partitions(answers.views)
        left = end - monotonic()
        # A round that has no time would only drop connections.
        if self._known.keys() - before.keys() and left > LEAST_SECONDS:
            return self._round(processes, listening, topics, groups, left)
        return answers

    def _round(
        self,
        processes: Mapping[int, Process],
        listening: Addresses,
        topics: Sequence[str] | None,
        groups: Sequence[str],
        within: float,
    ) -> _Answers:
        asked_at = clock.now()
        running = [n for n, process in processes.items() if process.state == "up" and n in listening]
        asked, of_groups = self._requests(topics, groups)
        to_ask = {listening[n]["CLIENT"]: [*asked.values(), *of_groups] for n in running}
        controllers = {n: listening[n]["CONTROLLER"] for n in running if "CONTROLLER" in listening[n]}
        responses = self._connections.ask(
            to_ask | {address: [QUORUM] for address in controllers.values()}, within
        )
        of = {n: responses[listening[n]["CLIENT"]] for n in running if listening[n]["CLIENT"] in responses}
        self._answered.update(dict.fromkeys(of, monotonic()))
        self.silent = frozenset(
            n for n in running if n not in of or controllers.get(n, listening[n]["CLIENT"]) not in responses
        )
        return _Answers(
            asked_at=asked_at,
            at=clock.now(),
            processes=processes,
            listening=listening,
            views={n: _view(dict(zip(asked, whole, strict=False))) for n, whole in of.items()},
            quorum={
                n: leader
                for n, address in controllers.items()
                if address in responses and (leader := requests.read_leader(responses[address][0]))
            },
            groups={n: whole[len(asked) :] for n, whole in of.items()},
        )

    def _requests(
        self, topics: Sequence[str] | None, groups: Sequence[str]
    ) -> tuple[dict[str, Request], list[Request]]:
        """Return what brokers are asked about topics, by the name that `_view` knows, and about groups."""
        places = tuple(
            (name, tuple(ids)) for name, ids in self._known.items() if topics is None or name in topics
        )
        return _made(None if topics is None else tuple(topics), places, tuple(groups))

    def _state(
        self,
        answers: _Answers,
        views: Mapping[int, View],
        quorum: Mapping[int, tuple[int, int]],
        groups: Sequence[str],
    ) -> ClusterState:
        epoch, quorum_leader = max(quorum.values(), default=(-1, None))
        first = authoritative_view(views, quorum_leader)
        before = self._last or ClusterState(answers.at, ())
        # While nobody answers, the others count those whom they counted last: so it is with topics.
        registered = (
            views[first].registered
            if first is not None
            else {b.id: b.address for b in before.brokers if b.registered}
        )
        told_groups = read_groups(groups, answers.groups)
        return ClusterState(
            at=answers.at,
            brokers=tuple(
                self._broker(answers.at, process, registered, answers.listening.get(n, {}).get("CLIENT", ""))
                for n, process in sorted(answers.processes.items())
            ),
            quorum_leader_epoch=epoch,
            quorum_leader=quorum_leader,
            topics=merge_topics(views, first) if first is not None else before.topics,
            groups=tuple(self._group(name, told_groups) for name in groups),
            last_response_at=answers.at if first is not None else before.last_response_at,
            asked_at=answers.asked_at,
            informed=first is not None and first == quorum_leader,
        )

    def _broker(
        self, now: float, process: Process, registered: Mapping[int, str], listens_at: str
    ) -> BrokerState:
        before = self._last.broker(process.id) if self._last else None
        heard = self._answered.get(process.id)
        silent = None if heard is None else monotonic() - heard
        state, since = process.state, now
        if state == "up" and (silent is None or silent > SILENT_SECONDS):
            state, since = "unknown", now - (silent or 0)
        if before and before.state == state:
            since = before.since
        # Who is not registered advertises nothing now: it was where it was, or is where it listens.
        address = registered.get(process.id) or (before.address if before else "") or listens_at
        return BrokerState(process.id, state, since, process.id in registered, address, process.rss)

    def _group(self, name: str, told: Mapping[str, GroupState]) -> GroupState:
        known = next((g for g in (self._last.groups if self._last else ()) if g.name == name), None)
        nobody = replace(known or GroupState(name, "", None), state="no coordinator", coordinator=None)
        return told.get(name, nobody)


def answering(addresses: Mapping[int, str]) -> set[int]:
    """Return the brokers that answer at these addresses, within 0.3 s."""
    connections = Connections()
    try:
        asked = {address: [requests.metadata([])] for address in addresses.values()}
        responses = connections.ask(asked, ANSWER_SECONDS)
    finally:
        connections.close()
    return {n for n, address in addresses.items() if address in responses}


@lru_cache(maxsize=8)
def _made(
    topics: tuple[str, ...] | None, places: tuple[tuple[str, tuple[int, ...]], ...], groups: tuple[str, ...]
) -> tuple[dict[str, Request], list[Request]]:
    """Make the requests about these topics (all if None), their partitions, and these groups.

    They are kept, because the same is mostly asked again and again; nobody may change them.
    """
    asked = {"metadata": requests.metadata(topics)}
    if topics is None or topics:
        asked["partitions"] = requests.topic_partitions(topics)
    if places:
        of, latest, consumer = dict(places), requests.LATEST, requests.CONSUMER
        asked["ends"] = requests.offsets(of, latest, requests.OWN_COPY)
        asked["high"] = requests.offsets(of, latest, consumer)
        asked["stable"] = requests.offsets(of, latest, consumer, requests.READ_COMMITTED)
        asked["start"] = requests.offsets(of, requests.EARLIEST, consumer)
    return asked, ask_groups(groups)


def _view(responses: Mapping[str, Any]) -> View:
    told = responses.get("partitions")
    elr, ids = (requests.read_elr(told), requests.read_topic_ids(told)) if told else ({}, {})
    ends, high, stable, start = (
        requests.read_offsets(responses[name]) if name in responses else {}
        for name in ("ends", "high", "stable", "start")
    )
    return read_view(responses["metadata"], elr, ends, high, stable, start, ids)


def _partitions(views: Mapping[int, View]) -> dict[str, list[int]]:
    found: dict[str, set[int]] = {}
    for view in views.values():
        for name, partitions in view.topics.items():
            found.setdefault(name, set()).update(p.id for p in partitions)
    return {name: sorted(ids) for name, ids in found.items()}
