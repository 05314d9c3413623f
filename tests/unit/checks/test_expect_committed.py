"""When a check believes what a coordinator says of a group, by looks written by hand."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.states import group, partition, state, topic
from threebrokers.checks import expect
from threebrokers.kafka.state import ClusterState
from threebrokers.why_empty.facts import OFFSETS

STEP_SECONDS = 0.5


def look(
    committed: int | None, *, level: bool, isr: tuple[int, ...] = (1, 2), paused: tuple[int, ...] = ()
) -> ClusterState:
    """A moment at which broker 1 coordinates the group, and has told all that it has if it is `level`."""
    own = partition(0, 1, isr, high_watermark=7 if level else 6, log_end_offsets=((1, 7),))
    told = () if committed is None else (("failsafe", 0, committed),)
    seen = state(topics=(topic(own, name=OFFSETS),), groups=(replace(group(), committed=told),))
    brokers = tuple(replace(b, state="paused") if b.id in paused else b for b in seen.brokers)
    return replace(seen, brokers=brokers, last_response_at=seen.at)


def asked(monkeypatch: pytest.MonkeyPatch, looks: dict[float, ClusterState]) -> tuple[dict[int, int], float]:
    """Return what is believed, and after how many seconds; each look holds from its second on."""
    clock = SimpleNamespace(now=0.0)

    def poll(call: Any, within: float) -> Iterator[ClusterState]:
        while clock.now <= within:
            yield call()
            clock.now += STEP_SECONDS

    def at_that_time(*_: Any) -> ClusterState:
        return looks[max(second for second in looks if second <= clock.now)]

    monkeypatch.setattr(expect, "poll", poll)
    monkeypatch.setattr(expect, "time", SimpleNamespace(monotonic=lambda: clock.now))
    cluster = SimpleNamespace(wait_for_markers=lambda: None, state=at_that_time)
    told = expect.committed(SimpleNamespace(cluster=cluster), "alerts", "failsafe")  # type: ignore[arg-type]
    return told, clock.now


def test_at_once_where_all_is_shown(monkeypatch):
    assert asked(monkeypatch, {0: look(4, level=True)}) == ({0: 4}, 0)


def test_a_follower_that_is_only_busy_is_waited_for(monkeypatch):
    looks = {0: look(None, level=False), 6: look(4, level=True)}
    assert asked(monkeypatch, looks) == ({0: 4}, 6)


def test_one_that_never_asks_is_not_waited_for(monkeypatch):
    for hopeless in (look(4, level=False, paused=(2,)), look(4, level=False, isr=(1,))):
        told, seconds = asked(monkeypatch, {0: hopeless})
        assert told == {0: 4}
        assert expect.LEVEL_SECONDS < seconds < expect.COORDINATOR_SECONDS


def test_nobody_is_waited_for_without_end(monkeypatch):
    told, seconds = asked(monkeypatch, {0: look(4, level=False)})
    assert told == {0: 4}
    assert seconds > expect.COORDINATOR_SECONDS


def hidden(*, answers: bool) -> ClusterState:
    """A moment at which nobody may describe the offsets topic; the coordinator answers, or there is none."""
    groups = look(4, level=True).groups
    kept = groups if answers else tuple(replace(one, coordinator=None) for one in groups)
    return replace(state(topics=(), groups=kept), last_response_at=0.0)


def test_where_nobody_may_see_the_offsets_topic_the_coordinator_is_believed(monkeypatch):
    assert asked(monkeypatch, {0: hidden(answers=True)}) == ({0: 4}, 0)


def test_without_the_offsets_topic_and_a_coordinator_there_was_no_group(monkeypatch):
    assert asked(monkeypatch, {0: hidden(answers=False)}) == ({}, 0)
    assert asked(monkeypatch, {0: replace(hidden(answers=False), groups=())}) == ({}, 0)
