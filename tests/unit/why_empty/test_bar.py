"""A partition's log as a bar: its marks, what lies between them, and labels that never meet."""

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest

from tests.unit.why_empty.test_explain import FACTS, MINE, PLACE
from threebrokers.why_empty.bar import LEAST, LETTER, NARROWEST, Bar, Label, bar
from threebrokers.why_empty.facts import Facts


def made(facts: Facts = FACTS, **more: Any) -> Bar:
    place = replace(PLACE, **more)
    found = bar(replace(facts, places=(place,)), place)
    assert found is not None
    return found


def shown(found: Bar) -> list[str]:
    return [mark.words for mark in found.marks]


def between(found: Bar) -> list[str]:
    return [stretch.words for stretch in found.stretches]


def test_offsets_that_coincide_are_one_mark() -> None:
    found = made(committed=9, position=9)
    assert shown(found) == ["0 log start offset", "9 committed offset = position", "9 log end offset"]
    assert between(found) == ["9 read"]


def test_the_high_watermark_is_named_where_it_is_not_the_end() -> None:
    found = made(committed=4, readable=9, stable=9, end=12)
    assert shown(found)[2:] == ["9 high watermark", "12 log end offset"]
    assert between(found) == ["4 read", "5 to read", "3 not on every replica in sync yet"]


def test_an_open_transaction() -> None:
    found = made(committed=2, position=4, stable=4, readable=9)
    assert "4 last stable offset" in shown(found)
    assert between(found) == ["4 read", "5 held back by an open transaction"]
    everything = replace(FACTS, client=replace(MINE, isolation="read_uncommitted"))
    assert between(made(everything, position=4, stable=4)) == ["4 read", "5 to read"]


@pytest.mark.parametrize("offset", [0, 9])
def test_an_empty_log(offset: int) -> None:
    found = made(start=offset, end=offset, readable=offset, stable=offset, committed=None)
    assert shown(found) == [f"{offset} log start offset = log end offset"]
    assert between(found) == []
    assert found.at(offset) == 0


def test_without_a_commit_the_settings_say_where_it_begins() -> None:
    assert between(made(committed=None)) == ["9 to read"]
    latest = replace(FACTS, client=replace(MINE, reset="latest"))
    assert between(made(latest, committed=None)) == ["9 readable, and before the place where it begins"]
    nobody = replace(FACTS, client=None)
    assert between(made(nobody, committed=None)) == ["9 readable"]
    assert made(nobody, committed=None).labels(reader=True) == []


def test_a_commit_that_the_log_does_not_have() -> None:
    assert between(made(start=50, end=90, readable=90, stable=90, committed=7)) == [
        "43 deleted",
        "40 to read",
    ]
    after = made(start=50, end=90, readable=90, stable=90, committed=95)
    assert between(after) == ["40 readable", "5 behind the end of the log: no such offset yet"]


def test_nobody_tells_the_offsets() -> None:
    assert bar(FACTS, replace(PLACE, start=None)) is None


def test_what_is_short_in_a_long_log_can_be_seen() -> None:
    found = made(committed=999_990, end=1_000_000, readable=1_000_000, stable=1_000_000)
    assert not found.to_scale
    assert found.at(1_000_000) - found.at(999_990) == pytest.approx(100 * LEAST)
    assert (found.at(0), found.at(1_000_000)) == (0, pytest.approx(100))
    exact = made(committed=3)
    assert exact.to_scale
    assert exact.at(3) == pytest.approx(100 / 3)


def span(found: Bar, label: Label, room: float) -> tuple[float, float]:
    """Return where a label's words begin and end, in percent of a bar that is so many letters long."""
    width = 100 * len(label.mark.words) / room
    left = found.at(label.mark.offset) - label.shift * width
    return left, left + width


@pytest.mark.parametrize("scale", [1, 123_456])
def test_labels_never_meet_and_never_leave_the_bar(scale: int) -> None:
    for offsets in product((1, 5, 8, 9), repeat=4):
        names = ("committed", "position", "stable", "readable")
        more = {name: offset * scale for name, offset in zip(names, offsets, strict=True)}
        found = made(**more, end=10 * scale)
        for labels in (found.labels(reader=True), found.labels(reader=False)):
            for room in (1, 1.5, 3):
                spans = [span(found, label, room * NARROWEST / LETTER) for label in labels]
                for label, (left, right) in zip(labels, spans, strict=True):
                    assert -0.01 <= left < right <= 100.01, label
                    assert left - 0.01 <= found.at(label.mark.offset) <= right + 0.01, "it is off its mark"
                for (one, (a, b)), (other, (c, d)) in combinations(zip(labels, spans, strict=True), 2):
                    assert one.row != other.row or b < c or d < a, (one, other)
