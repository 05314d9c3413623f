"""The diary of what was done to brokers: damage costs the damaged line, and nothing else."""

import pytest

from threebrokers.cluster import action_log
from threebrokers.cluster.actions import Action

KILL, START = Action(10.5, "kill", 2), Action(12.5, "start", 2, "again")


@pytest.mark.parametrize(
    "damage",
    [
        b'{"at": 11.0, "kind": "ki',
        b'{"at": "soon", "kind": "kill", "broker": 1, "more": ""}\n',
        b'{"at": 11.0, "kind": "kill", "broker": null, "more": ""}\n',
        b'{"kind": "kill"}\n',
        b"17\n",
        b"null\n",
        b"\xff\xfe\n",
        b"\n",
    ],
)
def test_a_line_that_is_no_act_is_left_out_and_the_next_one_is_not_lost(tmp_path, damage):
    action_log.write(tmp_path, KILL)
    with (tmp_path / "actions.jsonl").open("ab") as file:
        file.write(damage)
    assert action_log.read(tmp_path) == [KILL]
    action_log.write(tmp_path, START)
    assert action_log.read(tmp_path) == [KILL, START]


def test_a_large_diary_is_set_aside_and_still_read_until_the_next_time(tmp_path, monkeypatch):
    monkeypatch.setattr(action_log, "MOST_BYTES", 20)
    for action in (KILL, START):
        action_log.write(tmp_path, action)
        action_log.trim(tmp_path)
        assert action_log.read(tmp_path)[-1] == action
    assert action_log.read(tmp_path) == [START]
    action_log.trim(tmp_path)
    assert action_log.read(tmp_path) == [START]
