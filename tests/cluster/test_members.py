"""The members of lab 07's experiments: when one is missed, and when the others have its partitions."""

from collections.abc import Iterator

import pytest

from threebrokers.cluster import Cluster
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from threebrokers.lab.scenarios import Team

SESSION_SECONDS = 5.0
SETTINGS = {"session.timeout.ms": 5000, "max.poll.interval.ms": 6000}


@pytest.fixture
def lab(cluster: Cluster) -> Iterator[Lab]:
    lab = open_lab("07")
    yield lab
    lab.close()


def test_who_closes_is_missed_before_the_others_hold_all_and_who_hangs_after_the_second_clock(lab: Lab):
    tickets = lab.fresh_topic("tickets", partitions=6, replication_factor=3)
    with Team(lab, tickets, lab.group("missed"), SETTINGS) as team:
        team.grow(3)
        closed = team.take_over("B", team["B"].leave)
        hung = team.take_over("C", lambda: team["C"].busy(lab, 60))
    assert 0 < closed.missed < SESSION_SECONDS
    assert closed.missed < closed.held, "they give up what they have before it is shared out"
    assert 5 < hung.missed <= hung.held


def test_who_had_no_partition_is_not_missed(lab: Lab):
    tickets = lab.fresh_topic("tickets", partitions=1, replication_factor=3)
    with Team(lab, tickets, lab.group("missed"), SETTINGS) as team:
        team.grow(2)
        idle = next(name for name in "AB" if not team[name].held)
        gone = team.take_over(idle, lambda: None)
    assert gone.missed == gone.held < SESSION_SECONDS
