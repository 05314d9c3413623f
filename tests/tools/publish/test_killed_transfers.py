"""Workers of transfers that are killed for docs/guarantees.md: the programs of lab 11, in ten places each."""

from typing import Any

import pytest

from threebrokers.lab.scenarios import Booked
from threebrokers.lab.transfers import COUNT, PLACES
from tools.publish import killed_transfers
from tools.publish.killed_transfers import Account, Run
from tools.publish.verdicts import Repeated

ONCE = dict.fromkeys(range(COUNT), (1, 1))
KILLS = tuple((place, number or None) for number, place in enumerate(PLACES.values()))


def test_books_become_numbers_and_a_word_for_each_place() -> None:
    places = list(PLACES.values())
    kills = (places[0], 1), (places[1], 2), (places[2], 3), (places[3], 4), ("between two transfers", 5)
    counts = {**ONCE, 2: (2, 2), 3: (2, 1), 4: (0, 0)}
    run = Run.of(Booked(1.0, kills=(*kills, (places[-1], None)), counts=counts, stored=40))
    assert run.account == Account(18, 15, 1, 1, 1, stored=40, read=37)
    words = ["once", "twice", "in part", "lost"]
    assert run.places == {**dict(zip(places, words, strict=False)), places[-1]: killed_transfers.NOTHING}


def test_a_place_says_in_how_many_runs_unless_all_agree() -> None:
    place = PLACES["committed"]
    account = Account(18, 18, 0, 0, 0, 36, 36)
    runs = {
        "a": [Run(account, {place: word}) for word in ("once", "twice", "twice")],
        "b": [Run(account, {place: "once"})] * 3,
        "c": [Run(account, {})] * 3,
    }
    assert killed_transfers.places(runs)[place] == ["twice (2), once (1)", "once", "–"]
    assert list(killed_transfers.places(runs)) == list(PLACES.values())


def test_every_way_is_one_that_a_program_of_the_lesson_knows(
    lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[Any]()

    def killed(lab: Any, program: str, *, way: str, within: float) -> Booked:
        asked.append((program, way))
        return Booked(1.0, kills=KILLS, counts=ONCE, stored=36)

    monkeypatch.setattr(killed_transfers, "killed_in_ten_places", killed)
    said = list[str]()
    found = killed_transfers.measured(lab, 2, said.append)
    assert [list(run) for run in found.runs] == [list(killed_transfers.WAYS)] * 2
    assert len(said) == 2
    assert asked == list(killed_transfers.WAYS.values()) * 2
    assert lab.started.keys() == {program for program, _ in asked}
    assert 'bank.way == "with transactions"' in lab.started["clerk"]
    assert "send_offsets_to_transaction" in lab.started["teller"]


@pytest.mark.parametrize("left", [{"kills": KILLS[:9]}, {"kills": KILLS, "fault": "NameError: x"}])
def test_a_run_in_which_nobody_died_as_told_does_not_count(
    lab: Any, monkeypatch: pytest.MonkeyPatch, left: dict[str, Any]
) -> None:
    whole = Booked(1.0, kills=KILLS, counts=ONCE, stored=36)
    lives = iter([Booked(1.0, **left), *[whole] * 6])
    monkeypatch.setattr(killed_transfers, "killed_in_ten_places", lambda *a, **k: next(lives))
    said = list[str]()
    found = killed_transfers.measured(lab, 2, said.append)
    assert (len(found.runs), found.void) == (2, 1)
    assert "does not count (the worker 'no transaction' was killed" in said[0]


def test_the_section_has_both_tables() -> None:
    run = Run(Account(18, 17, 0, 1, 0, 36, 38), {"when it had only started": killed_transfers.NOTHING})
    (section,) = killed_transfers.written(Repeated([{"a way": run}] * 2))
    assert section.startswith(f"## {killed_transfers.HEADING}\n")
    assert "2 runs. These are 20 kills of each worker.\n" in section
    assert "| a way | 18 | 17 | 0 | 1 | 0 | 36 | 38 |\n" in section
    assert "| when it had only started | nothing was in work |\n" in section
