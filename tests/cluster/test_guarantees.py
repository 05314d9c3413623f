"""One run of each fault that only docs/guarantees.md has: what the page says of all its runs."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from threebrokers.cluster import Cluster
from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from threebrokers.lab.scenarios.overtaking import AWAY, SENT, refused_for_a_while
from tools.publish import first_refused, lone_leaders, producer_faults, resent, rolling_restarts
from tools.publish.verdicts import ALL_IN_SYNC, SET_UPS, Verdict

T = TypeVar("T")
TRIES = 3


@pytest.fixture
def lab(cluster: Cluster) -> Iterator[Lab]:
    lab = open_lab("10")
    yield lab
    lab.close()
    cluster.recover()


def _done(lab: Lab, fault: Callable[[], T]) -> T:
    """Return what a fault did. One that a busy machine did not let come to pass is tried again, as there."""
    for _ in range(TRIES - 1):
        try:
            return fault()
        except LabError:
            lab.cluster.recover()
    return fault()


def test_a_new_leader_knows_what_an_idempotent_producer_sends_again(lab: Lab) -> None:
    trials = _done(lab, lambda: producer_faults.killed_before_its_answers(lab, SET_UPS))
    found = {of: Verdict.of(balance) for of, balance in trials.balances.items()}
    assert {verdict.lost for verdict in found.values()} == {0}
    assert [verdict.twice for verdict in found.values()] == [0, 100, 0, 100, 0]


def test_a_program_that_is_started_again_doubles_what_it_had_no_answer_to(lab: Lab) -> None:
    run = _done(lab, lambda: resent.killed_and_started(lab))
    assert [of.lost for of in run.values()] == [0] * len(run)
    assert [of.twice for of in run.values()] == [0, 100, 100, 100, 100, 0, 100, 0]


@pytest.mark.weekly
def test_only_a_leader_that_acknowledged_alone_is_waited_for(lab: Lab) -> None:
    run = lone_leaders.killed_alone(lab)
    unclean = {of: outage.lost for (topic, of), outage in run.items() if topic.unclean}
    assert unclean == dict.fromkeys(SET_UPS, 100)
    failed = {of: outage.failed for (topic, of), outage in run.items() if topic.unclean}
    assert failed == {of: 100 * ("idempotence" in of) for of in SET_UPS}, "it notices the gap"
    assert {outage.lost for (topic, _), outage in run.items() if not topic.unclean} == {0}
    meanwhile = {topic.least: run[topic, "acks=all"].meanwhile for topic, _ in run if not topic.unclean}
    assert meanwhile == {1: 0, 2: 200, 3: 0}


@pytest.mark.weekly
def test_a_rolling_restart_loses_nothing(lab: Lab) -> None:
    run = rolling_restarts.restarted(lab)
    assert {verdict.lost for verdict in run.values()} == {0}
    assert all(run[rolling_restarts.row(3, of)].attempted > 3 for of in ALL_IN_SYNC)
    assert run[rolling_restarts.row(3, "acks=all, retries=0")].failed > 0
    assert run[rolling_restarts.row(3, "acks=all")].failed == 0


def test_what_is_on_its_way_behind_a_refused_request_overtakes_it(lab: Lab) -> None:
    lab.cluster.stop(AWAY)
    kinds = {on: refused_for_a_while(lab, {"enable.idempotence": on}, times=20) for on in (False, True)}
    assert kinds[False].overtaken > 0 == kinds[True].overtaken
    assert {(arrived.stored, arrived.lost) for arrived in kinds.values()} == {(SENT, 0)}


@pytest.mark.weekly
def test_the_first_records_of_an_idempotent_producer_are_lost_if_only_they_are_refused(lab: Lab) -> None:
    unknown, known = (of for of in first_refused.SET_UPS if "acks=all`" not in of)
    runs = (first_refused.refused_once(lab) for _ in range(12))  # it happens in about every second one
    run = next(run for run in runs if run[unknown].lost)
    assert run[unknown].acknowledged == run[known].acknowledged == SENT
    assert run[known].lost == run[unknown].overtaken == run[known].overtaken == 0
