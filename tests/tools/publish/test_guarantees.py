"""docs/guarantees.md: its parts, and what its sentences say of its own tables."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.lab.transfers import PLACES
from tools.publish import (
    first_refused,
    guarantees,
    killed_transfers,
    killed_workers,
    lone_leaders,
    producer_faults,
    resending,
    resent,
    rolling_restarts,
)
from tools.publish.verdicts import ALL_IN_SYNC, SET_UPS, section, wrapped

HEADINGS = [heading for part in guarantees.PARTS.values() for heading in part.HEADINGS]


@pytest.fixture(scope="module")
def text() -> str:
    return guarantees.PAGE.read_text("utf-8")


def of(text: str, heading: str) -> str:
    """Return a section of the page."""
    return text.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def rows(text: str, heading: str, column: str) -> dict[str, str]:
    """Return a column of a section's first table, by the names of its rows."""
    table = of(text, heading).partition("\n|")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    place = cells[0].index(column)
    return {row[0]: row[place] for row in cells[2:]}


def test_a_part_is_written_between_the_others_as_they_are() -> None:
    was = [
        section(heading, f"What {n} does.", "2 runs.", "| a table |") for n, heading in enumerate(HEADINGS)
    ]
    old = guarantees.page(was, ["Kafka 1", "client 2"])
    assert "Measured with Kafka 1, client 2." in old.splitlines()
    new = section(HEADINGS[3], "Anew.", "1 run.")
    page = guarantees.page([new], ["Kafka 1", "client 2"], old)
    assert page == old.replace(was[3], new)
    assert guarantees.page([new], ["Kafka 1", "client 2"], page) == page


def test_a_part_is_not_written_beside_those_of_other_versions(text: str) -> None:
    with pytest.raises(ValueError, match="measured with other versions"):
        guarantees.page([], ["Kafka 1"], text)


def test_a_section_that_is_no_longer_measured_goes() -> None:
    old = guarantees.page(
        [section(resent.HEADING, "x", "1 run."), section("Old", "x", "1 run.")], ["Kafka 1"]
    )
    assert "## Old" not in old


def test_no_runs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarantees.main(["--runs", "0"]) == 2
    assert "give at least 1" in capsys.readouterr().err


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Replace the brokers, and each part by one that writes how often it was run."""

    @contextmanager
    def bench() -> Iterator[None]:
        yield

    def part(name: str, *headings: str) -> Any:
        def sections(lab: Any, runs: int, say: Any) -> list[str]:
            if name == made.dies:
                raise KeyError(name)
            return [section(heading, name, f"{runs} runs.") for heading in headings]

        return SimpleNamespace(HEADINGS=headings, sections=sections)

    made = SimpleNamespace(dies="", versions=["Kafka 1"])
    lab = SimpleNamespace(close=lambda: None, cluster=SimpleNamespace(down=lambda: None))
    monkeypatch.setattr(guarantees, "PARTS", {"one": part("one", "A", "B"), "two": part("two", "C")})
    monkeypatch.setattr(guarantees.environment, "bench", bench)
    monkeypatch.setattr(guarantees, "open_lab", lambda number: lab)
    monkeypatch.setattr(guarantees, "_versions", lambda lab: made.versions)
    return made


def test_each_part_is_written_as_soon_as_it_is_measured(tmp_path: Path, brokers: SimpleNamespace) -> None:
    path = tmp_path / "page.md"
    brokers.dies = "two"
    with pytest.raises(KeyError):
        guarantees.main(["--runs", "3"], path)
    assert re.findall(r"^## .*$", path.read_text("utf-8"), re.MULTILINE) == ["## A", "## B"]


def test_one_part_is_measured_and_the_others_stay(tmp_path: Path, brokers: SimpleNamespace) -> None:
    path = tmp_path / "page.md"
    assert guarantees.main(["--runs", "3"], path) == 0
    assert guarantees.main(["--runs", "5", "--part", "one"], path) == 0
    page = path.read_text("utf-8")
    assert re.findall(r"^\d runs\.$", page, re.MULTILINE) == ["5 runs.", "5 runs.", "3 runs."]
    assert "Measured with Kafka 1.\n" in page
    brokers.versions = ["Kafka 2"]
    assert guarantees.main(["--part", "one"], path) == 1
    assert path.read_text("utf-8") == page


def test_the_page_has_every_fault_of_twenty_runs(text: str) -> None:
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS
    for heading in HEADINGS:
        assert re.search(rf"^{guarantees.RUNS} runs\.", of(text, heading), re.MULTILINE), heading


def test_the_page_has_the_words_of_each_part(text: str) -> None:
    for heading, fault in producer_faults.FAULTS.items():
        assert wrapped(fault.text) in of(text, heading)
        assert wrapped(fault.see) in of(text, heading)
    assert wrapped(lone_leaders.DIES_TEXT) in of(text, lone_leaders.DIES)
    assert wrapped(lone_leaders.DIES_SEE) in of(text, lone_leaders.DIES)
    assert wrapped(lone_leaders.UNCLEAN_TEXT) in of(text, lone_leaders.UNCLEAN)
    assert wrapped(lone_leaders.UNCLEAN_SEE) in of(text, lone_leaders.UNCLEAN)
    for part in (resent, rolling_restarts, killed_workers, killed_transfers):
        assert wrapped(part.TEXT) in of(text, part.HEADING)
        assert wrapped(part.SEE) in of(text, part.HEADING)
    assert wrapped(killed_transfers.PLACES_TEXT) in of(text, killed_transfers.HEADING)


def test_the_page_has_every_row(text: str) -> None:
    for heading in producer_faults.HEADINGS:
        assert list(rows(text, heading, "lost")) == [f"`{name}`" for name in SET_UPS]
    assert list(rows(text, resent.HEADING, "lost")) == list(resending.WAYS)
    each = [f"{least}, `{name}`" for least in rolling_restarts.LEASTS for name in ALL_IN_SYNC]
    assert list(rows(text, rolling_restarts.HEADING, "lost")) == each
    assert list(rows(text, lone_leaders.DIES, "lost")) == each
    unclean = [f"{word}, `{name}`" for word in ("false", "true") for name in SET_UPS]
    assert list(rows(text, lone_leaders.UNCLEAN, "lost")) == unclean
    assert list(rows(text, killed_workers.HEADING, "lost")) == list(killed_workers.WAYS)
    assert list(rows(text, killed_transfers.HEADING, "lost")) == list(killed_transfers.WAYS)
    places = of(text, killed_transfers.HEADING)
    assert [place for place in PLACES.values() if f"| {place} |" not in places] == []


def test_what_the_page_says_of_producers_is_in_its_tables(text: str) -> None:
    alone, unheard, heirs = producer_faults.HEADINGS
    assert list(rows(text, alone, "lost").values()) == ["100", "100", "0", "0", "0"]
    for heading in (unheard, heirs):
        assert set(rows(text, heading, "lost").values()) == {"0"}
        assert list(rows(text, heading, "twice").values()) == ["0", "100", "0", "100", "0"]
    _, _, once, *_ = rows(text, unheard, "failed").values()
    assert once == "100"
    assert set(rows(text, unheard, "stored").values()) == {"200"}


def test_what_the_page_says_of_a_program_is_in_its_table(text: str) -> None:
    assert set(rows(text, resent.HEADING, "lost").values()) == {"0"}
    twice = list(rows(text, resent.HEADING, "twice").values())
    assert twice == ["0", "100", "100", "100", "100", "0", "100", "0"]
    again = list(rows(text, resent.HEADING, "sent again").values())
    assert again == ["0", "100", "100", "100", "100", "100", "100", "0"]


def test_what_the_page_says_of_restarts_is_in_its_tables(text: str) -> None:
    assert set(rows(text, rolling_restarts.HEADING, "lost").values()) == {"0"}
    twice = rows(text, rolling_restarts.HEADING, "twice")
    assert {twice[f"{least}, `acks=all, enable.idempotence`"] for least in (1, 2, 3)} == {"0"}
    assert any(number != "0" for name, number in twice.items() if "retries=0" in name)
    failed = rows(text, rolling_restarts.HEADING, "failed")
    assert [name for name, number in failed.items() if number != "0"] == ["3, `acks=all, retries=0`"]
    assert set(rows(text, lone_leaders.DIES, "lost").values()) == {"0"}
    meanwhile = rows(text, lone_leaders.DIES, "acknowledged while the leader was away")
    assert [meanwhile[f"{least}, `acks=all`"] for least in (1, 2, 3)] == ["0", "200", "0"]
    for word, lost in (("false", "0"), ("true", "100")):
        found = rows(text, lone_leaders.UNCLEAN, "lost")
        assert {found[f"{word}, `{name}`"] for name in SET_UPS} == {lost}
    failed = rows(text, lone_leaders.UNCLEAN, "failed")
    assert [name for name, number in failed.items() if number != "0"] == [f"true, `{list(SET_UPS)[-1]}`"]


def test_what_the_page_says_of_workers_is_in_its_tables(text: str) -> None:
    lost, twice = (rows(text, killed_workers.HEADING, column) for column in ("lost", "twice"))
    assert list(lost.values()) == ["1", "1", "0", "0", "0"]
    by_itself, first, after, stored, in_the_database = twice.values()
    assert [first, after, in_the_database] == ["0", "1", "0"]
    assert "0" not in (by_itself, stored)
    *_, one_transaction = killed_transfers.WAYS
    for column, number in (("once", "18"), ("lost", "0"), ("twice", "0"), ("in part", "0")):
        assert rows(text, killed_transfers.HEADING, column)[one_transaction] == number


def test_what_the_page_says_of_refused_requests_is_in_its_tables(text: str) -> None:
    lost, overtaken = (rows(text, first_refused.HEADING, column) for column in ("lost", "overtaken"))
    alone, idempotent, known = lost.values()
    assert [alone, known] == ["0", "0"]
    assert idempotent != "0"
    alone, idempotent, known = overtaken.values()
    assert [idempotent, known] == ["0", "0"]
    assert alone != "0"
