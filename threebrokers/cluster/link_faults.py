"""What is wrong with the links between brokers and clients: plain values, and whom they concern.

A link leads from a source (a broker, or the clients) to one listener of a broker.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from threebrokers.cluster.actions import Action, action_kind
from threebrokers.cluster.settings import BROKERS, LISTENERS
from threebrokers.errors import LabError

Peer = str | int
Peers = Peer | list[Peer] | None
Link = tuple[str, int, str]  # source, target, listener
Effect = tuple[str, float, float]  # what happens; delays (ms) of what the source says, and of the answers

CLIENTS, UNKNOWN = "client", "broker"  # sources without a number
PEERS = {"clients": "the clients", "brokers": "the other brokers", "quorum": "the quorum"}
NAMED = re.compile("|".join([*PEERS.values(), r"broker (\d+)"]))
USUAL: tuple[Peer, ...] = ("brokers", "quorum")
# What each kind of traffic between brokers is called: records are copied over one, metadata over the other.
TRAFFIC = {"REPL": "brokers", "CONTROLLER": "quorum"}
LONGEST_MS = 10_000
ANSWERS = "answers only"
STRENGTH = {"cut": 2, "stall": 1, "slow": 0}


@dataclass(frozen=True)
class Fault:
    """Something wrong between one broker and its peers: 'cut', 'stall' or 'slow'.

    What is slow is late by `ms` each way, or only on the way back, as answers, if `answers`.
    """

    effect: str
    broker: int
    peers: tuple[Peer, ...] = USUAL
    ms: float = 0
    answers: bool = False

    @property
    def words(self) -> str:
        """Say between whom, for example "from the clients"."""
        named = [PEERS.get(str(peer), f"broker {peer}") for peer in self.peers]
        late = f"{self.ms:g} ms {ANSWERS if self.answers else 'each way'} " if self.ms else ""
        return f"{late}from {' and '.join(named)}"

    def concerns(self, link: Link) -> bool:
        """Tell whether this fault is on that link, in whichever direction it leads."""
        source, target, listener = link
        if source == str(target):
            return False  # a broker reaches itself without a network
        if source == CLIENTS:
            return target == self.broker and "clients" in self.peers
        others = {str(target), source} - {str(self.broker)}
        if len(others) != 1:
            return False
        return TRAFFIC.get(listener) in self.peers or bool(others & {str(peer) for peer in self.peers})


def told(action: Action) -> Fault:
    """Return the fault that such an action made, from its words."""
    peers = {words: peer for peer, words in PEERS.items()}
    named = [int(found[1]) if found[1] else peers[found[0]] for found in NAMED.finditer(action.more)]
    delay = re.match(r"([\d.e+-]+) ms", action.more)
    ms = float(delay[1]) if delay else 0
    return Fault(action.kind, action.broker, tuple(named) or USUAL, ms, ANSWERS in action.more)


def broken(actions: Iterable[Action], at: float) -> list[Fault]:
    """Return what was wrong with the links at this time, as the actions tell it."""
    found: list[Fault] = []
    for action in sorted(actions, key=lambda action: action.at):
        if action.at > at:
            break
        if action.kind in STRENGTH:
            found.append(told(action))
        elif action.kind == action_kind("cut").undo:  # told of each broker by itself
            found = [fault for fault in found if fault.broker != action.broker]
    return found


def chosen(broker: int, from_: Peers) -> tuple[Peer, ...]:
    """Return the peers that `from_` names. Raises LabError for one that there is not."""
    if from_ is None:
        return USUAL
    peers = tuple(from_) if isinstance(from_, list | tuple | set) else (from_,)
    for peer in peers:
        if isinstance(peer, bool) or peer == broker or peer not in (*PEERS, *BROKERS):
            raise LabError(
                f"Broker {broker} has no link from {peer!r}",
                "from_ is 'clients', 'brokers', 'quorum', another broker's number, or a list of these",
            )
    if not peers:
        raise LabError("from_ names nobody", "leave it out, or name 'clients', 'brokers' or 'quorum'")
    return peers


def slowness(broker: int, peers: tuple[Peer, ...], ms: float, *, answers: bool = False) -> Fault:
    """Return a delay. Raises LabError if it is no delay, or longer than a client waits."""
    if not 0 < ms <= LONGEST_MS:
        raise LabError(
            f"A link cannot be slower by {ms!r} ms", f"choose a number up to {LONGEST_MS}, or stall the link"
        )
    return Fault("slow", broker, peers, ms, answers)


def links() -> Iterator[Link]:
    """Yield every link that there can be; a broker whose number was not told is a source of its own."""
    yield from product((CLIENTS, UNKNOWN, *map(str, BROKERS)), BROKERS, LISTENERS)


def effects(faults: Iterable[Fault]) -> dict[Link, Effect]:
    """Return what happens on each link that is not healthy.

    Where faults meet, a cut is stronger than a stall, that than a delay, and a later delay than an earlier.
    """
    ordered = sorted(faults, key=lambda fault: STRENGTH[fault.effect])
    return {
        link: (found[-1].effect, 0 if found[-1].answers else found[-1].ms, found[-1].ms)
        for link in links()
        if (found := [fault for fault in ordered if fault.concerns(link)])
    }


def healed(faults: Iterable[Fault], broker: int | None) -> list[Fault]:
    """Return what stays of the faults when the links of this broker are mended (all, without a number)."""
    stay = [fault for fault in faults if broker is not None and fault.broker != broker]
    left = [replace(fault, peers=tuple(peer for peer in fault.peers if peer != broker)) for fault in stay]
    return [fault for fault in left if fault.peers]


def alone(faults: Iterable[Fault]) -> set[int]:
    """Return the brokers that reach no other voter, and so do not count in the quorum."""
    broken = {link for link, (effect, *_) in effects(faults).items() if effect != "slow"}
    apart = {frozenset((source, str(target))) for source, target, name in broken if name == "CONTROLLER"}
    return {
        one
        for one in BROKERS
        if all(frozenset((str(one), str(other))) in apart for other in BROKERS if other != one)
    }


def apart_since(actions: Iterable[Action], at: float) -> dict[int, float]:
    """Return since when (s since 1970) each broker is cut off from all the others, as it was at `at`."""
    found: dict[int, float] = {}
    for action in sorted(actions, key=lambda action: action.at):
        if action.at <= at and action.kind in ("cut", "stall"):
            if action.more == Fault(action.kind, action.broker).words:
                found.setdefault(action.broker, action.at)
        elif action.at <= at and action.kind == action_kind("cut").undo:
            found.pop(action.broker, None)
    return found
