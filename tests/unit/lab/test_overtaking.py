"""What is said of records that were refused for a moment, and of those behind them."""

import pytest

from threebrokers.lab.scenarios.overtaking import Arrived
from tools.publish import first_refused
from tools.publish.first_refused import Outcome
from tools.publish.verdicts import Repeated


@pytest.mark.parametrize(
    ("logs", "overtaken"),
    [
        (((0, 1, 2),), 0),
        (((1, 2, 0),), 1),
        (((3, 0, 1, 2),), 3),
        (((0, 2, 4), (1, 3)), 0),
        (((2, 0), (3, 1)), 2),
        (((0, 1, 0, 2),), 0),  # the second 0 is the first one again
    ],
)
def test_a_record_behind_one_that_was_sent_later_is_overtaken(
    logs: tuple[tuple[int, ...], ...], overtaken: int
) -> None:
    assert Arrived(logs, frozenset()).overtaken == overtaken


def test_what_was_acknowledged_and_is_not_stored_is_lost() -> None:
    arrived = Arrived(((2, 3, 3), ()), frozenset({0, 2, 3}))
    assert (arrived.stored, arrived.lost) == (2, 1)


def test_the_page_says_the_least_and_the_most_of_all_runs() -> None:
    runs = [{of: Outcome(500, 500, 500 - lost, lost, 0) for of in first_refused.SET_UPS} for lost in (0, 7)]
    [text] = first_refused.written(Repeated(runs))
    assert text.startswith(f"## {first_refused.HEADING}\n")
    assert "| `acks=all, enable.idempotence` | 500 | 500 | 493–500 | 0–7 | 0 |" in text
