"""What is said of records that were refused for a moment, and of those behind them."""

from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.lab.scenarios import overtaking
from threebrokers.lab.scenarios.overtaking import Arrived, refused_for_a_while
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


class Sender:
    """Knows how many of its records have no report yet."""

    def __init__(self, *_: Any) -> None:
        self.waiting, self.acknowledged = 0, set[int]()

    def send(self, _: bytes) -> None:
        self.waiting += 1

    def flush(self) -> None:
        self.waiting = 0


def test_no_record_is_on_its_way_when_the_leaders_begin_to_refuse_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sender, waiting, taken = Sender(), list[int](), list[int]()
    leaders = SimpleNamespace(
        refuse=lambda: waiting.append(sender.waiting), take=lambda: taken.append(sender.waiting)
    )
    monkeypatch.setattr(overtaking, "fresh", lambda *_: "overtaken")
    monkeypatch.setattr(overtaking, "read_log", lambda *_: [])
    monkeypatch.setattr(overtaking, "_Sender", lambda *_: sender)
    monkeypatch.setattr(overtaking, "_Leaders", lambda *_: leaders)
    down = {overtaking.AWAY: SimpleNamespace(state="down")}
    cluster = SimpleNamespace(processes=lambda: down)
    lab: Any = SimpleNamespace(cluster=cluster, wait_until=lambda *_, **__: None, bootstrap="")
    refused_for_a_while(lab, {}, times=4)
    assert waiting == [0] * 4
    assert taken == [overtaking.SENT // 4] * 4
