"""What lab 12's checks of audits say of answers that its wrong answers do not give."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from threebrokers.checks.lab12.audit import RIGHT, compare_audit
from threebrokers.checks.lab12.levels import (
    Levels,
    compare_aborted,
    compare_marks,
    compare_turnover,
    expect_places,
    places,
)
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios.tills import _ends, _notes
from threebrokers.ledger import Balance, Entry, Failure, Number


def balance(acknowledged: range, stored: list[int], failed: tuple[int, ...] = ()) -> Balance:
    return Balance(
        "t",
        attempted=[Number(1, n) for n in range(6)],
        acknowledged=[Entry(Number(1, n), 0, n) for n in acknowledged],
        failed=[Failure(Number(1, n), "late") for n in failed],
        stored=[Entry(Number(1, n), 0, offset) for offset, n in enumerate(stored)],
    )


BALANCES = {
    "hides": balance(range(6), [0, 1, 1, 2, 2, 3]),
    "told": balance(range(4), [0, 1, 2, 3, 4], failed=(4, 5)),
}


@pytest.fixture
def audit() -> pd.DataFrame:
    rows = [{"till": till, **{n: of(b) for n, of in RIGHT.items()}} for till, b in BALANCES.items()]
    return pd.DataFrame(rows)


def told(check, *answers) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers)
    return str(caught.value)


def test_two_counts_agree_and_the_audit_does_not(audit):
    compare_audit(audit.iloc[::-1], BALANCES)
    assert audit.iloc[0].to_dict() == {"till": "hides", "attempted": 6, "stored": 6, "lost": 2, "doubled": 2}
    assert audit.iloc[1].to_dict() == {"till": "told", "attempted": 6, "stored": 5, "lost": 0, "doubled": 0}


def test_what_is_said_of_other_audits(audit):
    assert "2 rows for the till 'hides'" in told(compare_audit, pd.concat([audit, audit[:1]]), BALANCES)
    assert "no row for the till 'told'" in told(compare_audit, audit[:1], BALANCES)
    assert "no such till" in told(compare_audit, pd.concat([audit, audit[:1].assign(till="x")]), BALANCES)
    assert "is null for the till 'hides'" in told(compare_audit, audit.assign(lost=[None, 0]), BALANCES)
    assert "has 2" in told(compare_audit, audit.assign(lost=[1, 0]), BALANCES)


def test_null_is_not_0_and_nothing_is_not_one_too_few(audit):
    said = told(compare_audit, audit.assign(lost=[0, 0]), BALANCES)
    assert "`lost` for the till 'hides' is 0: no till has lost an order by this count; a LEFT JOIN" in said
    assert "Look at: IS NULL or coalesce(…)" in said
    assert (
        "`doubled` for the till 'hides' is 0: so it is if each order that is missing takes one away"
        in told(compare_audit, audit.assign(doubled=[0, -1]), BALANCES)
    )
    assert "no offset is there twice" in told(compare_audit, audit.assign(doubled=[0, 0]), BALANCES)
    said = told(compare_audit, audit.assign(stored=[4, 5]), BALANCES)
    assert "each order is counted once there; it should be how many records the log has" in said
    assert "DISTINCT and GROUP BY leave one row of each order" in said


def test_an_order_is_one_however_often_it_is_stored_and_whoever_ordered(audit):
    joined = {"hides": 8, "told": 6}  # two of `hides` have two rows after the join, two have none
    assert "has two rows after the join" in told(
        compare_audit, audit.assign(attempted=audit["till"].map(joined)), BALANCES
    )
    many = {"t": balance(range(20), [0, 1, 2])}
    row = {"till": "t", "attempted": 6, "stored": 3, "lost": 13, "doubled": 0}
    assert "one order of each customer" in told(compare_audit, pd.DataFrame([row]), many)


def test_a_difference_of_sums_hides_and_a_sale_is_no_order(audit):
    shown = told(compare_audit, audit.assign(lost=[0, 1]), BALANCES)
    assert "a difference of two counts, in which a copy too many hides an order that is missing" in shown
    few = {"told": BALANCES["told"], "t": balance(range(3), [0, 1, 1, 2, 2, 3, 3])}
    rows = [
        {"till": "told", "attempted": 6, "stored": 5, "lost": 0, "doubled": 0},
        {"till": "t", "attempted": 6, "stored": 7, "lost": 0, "doubled": 1},
    ]
    shown = told(compare_audit, pd.DataFrame(rows), few)
    assert "a difference of two counts, in which an order that is missing hides a copy too many" in shown
    # Customers and sums come again after 280 orders.
    again = {"t": balance(range(282), [*range(282), 3])}
    row = {"till": "t", "attempted": 6, "stored": 283, "lost": 2, "doubled": 1}
    assert "known by its customer and its euros" in told(compare_audit, pd.DataFrame([row]), again)
    row |= {"lost": 0, "doubled": 3}
    assert "known by its customer and its euros" in told(compare_audit, pd.DataFrame([row]), again)


def test_the_notes_of_a_till_know_what_failed():
    notes = _notes(BALANCES)
    assert notes.groupby(["till", "report"]).size().to_dict() == {
        ("hides", "acknowledged"): 6,
        ("told", "acknowledged"): 4,
        ("told", "failed"): 2,
    }


def test_a_basket_is_paid_again_and_the_last_is_not_paid():
    ends = _ends()
    assert (False, True) in ends
    assert ends[-1] == (False,)


def record(offset: int, value: int) -> Record:
    return Record("t", 0, offset, None, json.dumps({"euros": value}).encode(), 0, "create")


# Offset 0 was aborted and is paid at 2, 4 was aborted; 1, 3, 5 are marks; 6 and 7 are two coffees.
STORED = [record(0, 5), record(2, 5), record(4, 9), record(6, 2), record(7, 2)]
LOG = Levels([STORED[1], STORED[3], STORED[4]], STORED, end=8)


def test_what_the_levels_differ_in():
    compare_aborted([(0, 4), (0, 0)], LOG, 0)
    compare_marks(3, LOG)
    compare_turnover(9, LOG)


def test_each_place_has_one_column():
    expect_places(["partition", "offset", "value"], "look")
    assert "has no column `offset`" in told(expect_places, ["partition"], "look")
    both = ["partition", "offset", "offset"]
    assert "more than one column `offset`, and nobody can tell which" in told(expect_places, both, "look")


def test_all_records_are_aborted_where_null_is_compared():
    said = told(compare_aborted, sorted(places(STORED)), LOG, 9)
    assert "has all records of the topic; it should have the aborted ones: all keys here are null" in said
    keyed = Levels(LOG.committed, [replace(record, key=b"k") for record in STORED], end=8)
    said = told(compare_aborted, sorted(places(STORED)), keyed, 9)
    assert "has all records of the topic; it should have the aborted ones. Look at: how you compare" in said


def test_a_table_without_rows_is_no_fault_of_the_option_if_the_turnover_is_right():
    said = told(compare_aborted, [], LOG, 9)
    assert "an anti-join and EXCEPT keep rows of the table on the left" in said
    assert "option" not in said
    assert "passes over an option that it does not know" in told(compare_aborted, [], LOG, 23)


def test_a_mark_behind_the_last_record_is_a_mark_too():
    log = Levels(LOG.committed, STORED, end=10)
    compare_marks(5, log)
    assert "so many are before the last record of their partition" in told(compare_marks, 3, log)


def test_what_is_said_of_other_rows_and_numbers():
    assert "written again later" in told(compare_aborted, [(0, 4)], LOG, 9)
    assert "2 of them aborted records, and 1 that" in told(compare_aborted, [(0, 0), (0, 4), (0, 6)], LOG, 9)
    assert "3 rows, 2 of them" in told(compare_aborted, [(0, 0), (0, 0), (0, 4)], LOG, 9)
    assert "2: so many aborted records are there" in told(compare_marks, 2, LOG)
    assert "how many offsets no reader gets" in told(compare_marks, 4, LOG)
    assert "14 euros: that is the money of the aborted" in told(compare_turnover, 14, LOG)
    assert "the sum of the committed payments" in told(compare_turnover, 1, LOG)
