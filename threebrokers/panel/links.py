"""The links between brokers as the panel draws them: a side of the triangle for each two brokers. Pure."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any

from threebrokers.cluster.actions import Action
from threebrokers.cluster.link_faults import TRAFFIC, Effect, Link, broken, effects
from threebrokers.kafka.state import ClusterState
from threebrokers.theme import state_look

# What a kind of traffic carries, for a link on which only that one is broken.
CARRIED = {"brokers": "records", "quorum": "metadata"}
WORDS = {"cut": "cut", "stall": "stalled", "slow": "slowed"}
SIGNS = {"cut": "✕", "stall": "‖", "slow": "≈"}

Side = dict[str, Any]


def sides(state: ClusterState, actions: Sequence[Action]) -> list[Side]:
    """Return a side for each two brokers: its ends, how it looks, and what it is in words."""
    wrong = effects(faults) if (faults := broken(actions, state.at)) else {}
    away = {b.id: state_look(b.state).word for b in state.brokers if b.state in ("down", "paused")}
    return [_side(ends, wrong, away) for ends in combinations([b.id for b in state.brokers], 2)]


def link_words(drawn: Collection[Side]) -> str:
    """Say in one line how all links are: "links: all whole" or "links: 1–2 cut, 1–3 cut, 2–3 whole"."""
    if all(side["look"] == "whole" for side in drawn):
        return "links: all whole"
    return f"links: {', '.join(side['words'] for side in drawn)}"


def is_broken(drawn: Collection[Side]) -> bool:
    """Tell whether any link is broken or slow; one to a broker that is away is neither."""
    return any(side["look"] in WORDS for side in drawn)


def _side(ends: tuple[int, int], wrong: Mapping[Link, Effect], away: Mapping[int, str]) -> Side:
    one, other = ends
    found: dict[str, str] = {}
    for listener, traffic in TRAFFIC.items():
        for link in ((str(one), other, listener), (str(other), one, listener)):
            if link in wrong:
                found[traffic] = wrong[link][0]
    name = f"{one}–{other}"
    if found:
        effect = next(effect for effect in WORDS if effect in found.values())
        only = [CARRIED[traffic] for traffic in TRAFFIC.values() if found.get(traffic) == effect]
        what = f" for {only[0]}" if len(only) == 1 else ""
        return _drawn(ends, effect, f"{name} {WORDS[effect]}{what}", SIGNS[effect])
    gone = [number for number in ends if number in away]
    if gone:
        return _drawn(ends, "idle", f"{name} idle: broker {gone[0]} is {away[gone[0]]}")
    return _drawn(ends, "whole", f"{name} whole")


def _drawn(ends: tuple[int, int], look: str, words: str, sign: str = "") -> Side:
    return {"ends": list(ends), "look": look, "words": words, "sign": sign}
