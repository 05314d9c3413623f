"""How balances are shown: as a table, and in words."""

import re

import pytest

from tests.unit.test_theme import contrast
from threebrokers.ledger import Balance, Entry, Failure, Number, compare
from threebrokers.ledger.table import BalanceTable, ranges, where


def entries(*sequences: int, producer: int = 1, partition: int = 0, add: int = 100) -> list[Entry]:
    return [Entry(Number(producer, s), partition, s + add) for s in sequences]


FINE = Balance(
    "t", [Number(1, 0), Number(1, 1)], entries(0, 1), stored=entries(0, 1), committed=entries(0, 1)
)
WORSE = Balance(
    "t",
    [Number(1, s) for s in range(2000)],
    entries(*range(1999)),
    [Failure(Number(1, 1999), "_TIMED_OUT")],
    stored=entries(*range(50, 1999)) + entries(60, add=9000),
    committed=entries(*range(50, 1999)) + entries(60, add=9000),
)


def test_words() -> None:
    assert str(compare({"acks=1": WORSE, "acks=all": FINE}, {"acks=1": "✓ lost"})).splitlines() == [
        "set-up    attempted  acknowledged  failed  stored  lost  twice  you predicted",
        "acks=1    2,000      1,999         1       1,950   ✗ 50  ✗ 1    ✓ lost",
        "acks=all  2          2             0       2       0     0      –",
        "✗ acks=1: 50 lost: records 0–49, offsets 100–149 of partition 0",
        "✗ acks=1: 1 stored twice: record 60, offset 9060 of partition 0",
    ]


def test_a_single_balance_has_no_name() -> None:
    assert repr(BalanceTable("t", FINE.attempted, FINE.acknowledged)).splitlines() == [
        "attempted  acknowledged  stored  lost  twice",
        "2          2             0       ✗ 2   0",
        "✗ 2 lost: records 0–1, offsets 100–101 of partition 0",
    ]


def test_html_says_the_same_and_is_safe() -> None:
    page = compare({"<acks>": WORSE})._repr_html_()
    assert "<th" in page
    assert "&lt;acks&gt;" in page
    assert "<acks>" not in page
    for words in ("✗ 50", "2,000", "offsets 100–149 of partition 0"):
        assert words in page
    assert "✗" not in BalanceTable("t", FINE.attempted, FINE.acknowledged, stored=FINE.stored)._repr_html_()


@pytest.mark.parametrize(("ink", "row"), [("#212121", "#f5f5f5"), ("#ffffff", "#212121")])
def test_only_a_fault_is_red_and_it_can_be_read_on_light_and_dark_pages(ink: str, row: str) -> None:
    page = compare({"mine": WORSE, "other": FINE})._repr_html_()
    cells = re.findall(r'<t[hd] style="([^"]*)">([^<]*)<', page)
    assert [words for style, words in cells if "color" in style] == [w for _, w in cells if w.startswith("✗")]
    found = set(re.findall(r"color:color-mix\(in srgb,(#\w+) (\d+)%,currentColor\)", page))
    [(colour, part)] = found
    share = int(part) / 100
    mixed = (share * int(colour[n : n + 2], 16) + (1 - share) * int(ink[n : n + 2], 16) for n in (1, 3, 5))
    assert contrast("#" + "".join(f"{round(one):02x}" for one in mixed), row) >= 4.5


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([7], "record 7"),
        ([8, 7], "records 7–8"),
        ([1, 3, 4, 5, 9], "records 1, 3–5, 9"),
        ([1, 3, 5, 7, 8, 9, 11], "records 1, 3, 5 and 4 more"),
    ],
)
def test_ranges(numbers: list[int], words: str) -> None:
    assert ranges("record", numbers) == words


def test_where_tells_producers_and_partitions_apart() -> None:
    told = where([*entries(1, 2), *entries(3, partition=2), *entries(5, producer=2)])
    assert told == (
        "records 1–3 of producer 1, offsets 101–102 of partition 0; offset 103 of partition 2; "
        "record 5 of producer 2, offset 105 of partition 0"
    )
    assert where([Entry(Number(1, 4), None, None)]) == "record 4"


def test_what_was_never_processed_is_told_where_anybody_notes_what_is() -> None:
    stored = entries(0, 1, 2)
    assert "never processed" not in str(compare({"": Balance("t", stored=stored, committed=stored)}))
    half = Balance("t", stored=stored, committed=stored, processed=entries(0, 2))
    assert str(compare({"": half})).splitlines() == [
        "attempted  acknowledged  stored  processed  lost  twice  never processed",
        "0          0             3       2          0     0      ✗ 1",
        "✗ 1 never processed: record 1, offset 101 of partition 0",
    ]
