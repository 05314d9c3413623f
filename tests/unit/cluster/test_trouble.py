"""Brokers that are away, in words, and what brings them back without taking away an experiment."""

from collections.abc import Sequence

import pytest

from tests.states import broker, state
from threebrokers.cluster.actions import Action
from threebrokers.cluster.link_faults import Fault
from threebrokers.cluster.process import BrokerProcess
from threebrokers.cluster.trouble import Trouble, trouble
from threebrokers.errors import LabError


class Stand:
    """Stands in for a cluster."""

    access = None

    def __init__(
        self, states: str = "up up up", faults: Sequence[Fault] = (), actions: Sequence[Action] = ()
    ) -> None:
        self.states, self._faults, self._actions = states.split(), faults, actions
        self.registered = [True, True, True]

    def processes(self) -> dict[int, BrokerProcess]:
        return {n: BrokerProcess(n, how) for n, how in enumerate(self.states, 1)}

    def faults(self) -> Sequence[Fault]:
        return self._faults

    def actions(self, since: float = 0.0) -> Sequence[Action]:
        return self._actions

    def state(self, topics: object) -> object:
        return state(1.0, brokers=[broker(n, registered=is_in) for n, is_in in enumerate(self.registered, 1)])


def told(stand: Stand, since: float = 0.0) -> Trouble | None:
    return trouble(stand, since)  # type: ignore[arg-type]


def test_healthy_brokers_are_no_trouble() -> None:
    assert told(Stand()) is None


@pytest.mark.parametrize(
    ("stand", "what", "cure"),
    [
        (Stand("up paused up"), "broker 2 is paused", "`lab.cluster.resume(2)`"),
        (Stand("up down up"), "broker 2 is down", "`lab.cluster.start(2)`"),
        (
            Stand("up down up", actions=[Action(1, "stop", 2), Action(2, "start", 2), Action(3, "kill", 2)]),
            "broker 2 is down (killed)",
            "`lab.cluster.start(2)`",
        ),
        (
            Stand("up down up", actions=[Action(1, "start", 2), Action(2, "cut", 2)]),
            "broker 2 is down",  # nobody asked for it
            "`lab.cluster.start(2)`",
        ),
        (
            Stand("down up paused"),
            "broker 1 is down and broker 3 is paused",
            "`lab.cluster.start(1)` and `lab.cluster.resume(3)`",
        ),
        (
            Stand("down down down"),
            "all brokers are down",
            "`lab.cluster.up()`",
        ),
        (
            Stand(faults=[Fault("cut", 3, ("clients",))]),
            "broker 3 is cut off from the clients",
            "`lab.cluster.heal(3)`",
        ),
        (
            Stand(faults=[Fault("stall", 1)]),
            "broker 1 is behind links that are stalled, from the other brokers and the quorum",
            "`lab.cluster.heal(1)`",
        ),
        (
            Stand("paused paused up"),
            "brokers 1 and 2 are paused",
            "`lab.cluster.resume(1)` and `lab.cluster.resume(2)`",
        ),
        (Stand("up paused up", faults=[Fault("cut", 2)]), "broker 2 is paused", "`lab.cluster.resume(2)`"),
    ],
)
def test_who_is_away_and_what_brings_him_back(stand: Stand, what: str, cure: str) -> None:
    found = told(stand)
    assert found is not None
    assert (found.what, found.cure) == (what, cure)


def test_a_slow_link_keeps_nobody_from_answering() -> None:
    assert told(Stand(faults=[Fault("slow", 1, ms=20)])) is None


def test_what_the_experiment_did_stays_and_what_came_later_is_cured() -> None:
    stand = Stand("up down paused", actions=[Action(10, "kill", 2), Action(20, "pause", 3)])
    found = told(stand, since=15)
    assert found is not None
    assert found.what == "broker 2 is down (killed) and broker 3 is paused"
    assert found.cure == "`lab.cluster.resume(3)`"
    both = told(stand, since=30)
    assert both is not None
    assert both.cure == "`lab.cluster.start(2)` and `lab.cluster.resume(3)`"


def test_a_broker_that_is_not_registered_yet_needs_only_time() -> None:
    stand = Stand()
    stand.registered = [True, False, True]
    assert told(stand) == Trouble("broker 2 does not answer yet", "", frozenset({2}))


def test_links_that_nobody_carries_are_started_with_all() -> None:
    class Dead(Stand):
        def faults(self) -> Sequence[Fault]:
            raise LabError("The process that carries the links has ended", "run `threebrokers up`")

    found = told(Dead())
    assert found is not None
    assert (found.what, found.cure) == ("the process that carries the links has ended", "`lab.cluster.up()`")
