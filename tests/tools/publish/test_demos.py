"""A demo's recording shows the brokers as they are, not a machine that was too busy."""

from dataclasses import replace

import pytest

from tests.states import broker, state
from threebrokers.errors import LabError
from threebrokers.recorder.data import RecordingData
from tools.publish import demos


def heard(at, **more):
    return replace(state(at, **more), last_response_at=at)


def test_an_act_that_begins_with_a_paused_broker_is_kept():
    paused = replace(heard(100.0), brokers=(broker(1), broker(2, "paused"), broker(3)))
    seen = RecordingData(100.0, 101.0, (heard(100.5), paused))
    assert demos._undisturbed("thaw", seen) is seen


def test_an_act_that_begins_while_a_broker_is_silent_is_not_kept():
    silent = replace(heard(100.0), brokers=(broker(1), broker(2, "unknown"), broker(3)))
    with pytest.raises(LabError, match="A broker was silent when the act 'kill' began"):
        demos._undisturbed("kill", RecordingData(100.0, 101.0, (heard(100.5), silent)))


def test_an_act_in_which_nobody_answered_for_long_is_not_kept():
    late = replace(heard(102.0), last_response_at=100.5)
    with pytest.raises(LabError, match="For 1 s no broker answered in the act 'kill'"):
        demos._undisturbed("kill", RecordingData(100.0, 102.0, (heard(100.5), late)))
