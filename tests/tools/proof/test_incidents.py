"""What brokers went through, counted in lines that they really wrote."""

from datetime import datetime

import pytest

from threebrokers.cluster import action_log
from threebrokers.cluster.actions import Action
from tools.proof.incidents import Unrest, unasked

FENCED = (
    "10:59:32.635 INFO  [QuorumController id=1] Fencing broker 2 at epoch 12 because its session "
    "has timed out. (ReplicationControlManager)\n"
)
ELECTED = (
    "10:59:27.050 INFO  [RaftManager id=1] Attempting durable transition to Leader(localVoterNode=…\n"
    "10:59:27.054 INFO  [RaftManager id=1] Completed transition to Leader(localVoterNode=…\n"
)


@pytest.fixture
def logs(tmp_path):
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def action(second, kind, broker):
    return Action(datetime(2026, 3, 1, 10, 59, second).timestamp(), kind, broker)


def test_fencings_and_elections_are_counted(tmp_path, logs):
    (logs / "broker-1.log").write_text(ELECTED, "utf-8")
    before = unasked(tmp_path)
    (logs / "broker-1.log").write_text(ELECTED + FENCED, "utf-8")
    (logs / "broker-2.log").write_text(FENCED + ELECTED, "utf-8")
    assert before == Unrest(0, 1)
    assert str(unasked(tmp_path).since(before)) == "2 fencings, 1 elections"


def test_what_an_act_explains_was_asked_for(tmp_path, logs):
    (logs / "broker-1.log").write_text(ELECTED + FENCED, "utf-8")
    action_log.write(tmp_path, action(25, "kill", 2))
    assert unasked(tmp_path) == Unrest(0, 0)


def test_an_act_on_another_broker_explains_no_fencing(tmp_path, logs):
    (logs / "broker-1.log").write_text(ELECTED + FENCED, "utf-8")
    action_log.write(tmp_path, action(25, "kill", 3))
    assert unasked(tmp_path) == Unrest(1, 0)


@pytest.mark.parametrize("second", [10, 40])
def test_an_act_long_before_or_after_explains_nothing(tmp_path, logs, second):
    (logs / "broker-1.log").write_text(ELECTED + FENCED, "utf-8")
    action_log.write(tmp_path, action(second, "pause", 2))
    assert unasked(tmp_path) == Unrest(1, 1)


def test_a_cut_explains_what_happens_to_every_broker(tmp_path, logs):
    (logs / "broker-1.log").write_text(FENCED, "utf-8")
    action_log.write(tmp_path, action(30, "cut", 1))
    assert unasked(tmp_path) == Unrest(0, 0)


def test_a_diary_that_cannot_be_written_stops_nobody(tmp_path):
    action_log.write(tmp_path / "nowhere", action(30, "kill", 1))
    assert action_log.read(tmp_path / "nowhere") == []
