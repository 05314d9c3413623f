"""What a ledger takes for hidden: never what a leader has not told."""

from dataclasses import replace

from tests import states
from threebrokers.ledger import _behind

LAGS = states.partition(0, 1, high_watermark=3, log_end_offsets=((1, 5),))
LEVEL = states.partition(1, 2, high_watermark=4, log_end_offsets=((2, 4),))


def test_what_is_behind_is_known_when_every_leader_has_told() -> None:
    told = states.state(7.0, topics=(states.topic(LAGS, LEVEL),), last_response_at=7.0)
    assert _behind(told) == {0: (3, 5)}
    silent = (states.topic(LAGS, replace(LEVEL, high_watermark=None)),)
    assert _behind(replace(told, topics=silent)) is None
    assert _behind(replace(told, topics=(states.topic(replace(LAGS, log_end_offsets=())),))) is None
    assert _behind(replace(told, last_response_at=6.0)) is None, "these are topics of an earlier moment"


def test_nobody_is_waited_for_where_nobody_leads() -> None:
    lost = states.partition(1, None, isr=(2,), high_watermark=None)
    told = states.state(7.0, topics=(states.topic(LAGS, lost),), last_response_at=7.0)
    assert _behind(told) == {0: (3, 5)}
