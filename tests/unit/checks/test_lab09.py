"""What lab 09's checks say of answers, without brokers."""

from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.checks.lab09 import days, policies, removal, survivors, tables
from threebrokers.kafka.log_reader import Record
from threebrokers.kafka.segments import Segment
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios import Starts
from threebrokers.lab.scenarios.last_values import AFTERNOON, LATER, MORNING, OPENING, folded


def told(check: Any, *answers: Any) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers)
    return str(caught.value)


def record(offset: int, key: str, value: str | None = "1", partition: int = 0) -> Record:
    stored = None if value is None else value.encode()
    return Record("topic", partition, offset, key.encode(), stored, 0, "create")


# --- 9.1

DEFAULTS = {
    days.SEGMENT: 604_800_000,
    days.RATIO: 0.5,
    days.LEAST_LAG: 0,
    days.MOST_LAG: 9_223_372_036_854_775_807,
    days.NULLS: 86_400_000,
    "retention.ms": 604_800_000,
    "retention.bytes": -1,
}


def settings(**own: Any) -> Any:
    """Return the settings of a topic of which these were set."""
    named = {name.replace("_", "."): value for name, value in own.items()}
    values: dict[str, Any] = {**DEFAULTS, **named}

    class Told:
        def __getitem__(self, name: str) -> Any:
            return SimpleNamespace(value=str(values.get(name, "")), own=name in named)

        def number(self, name: str) -> float:
            return float(values[name])

    return Told()


def files(*keys: str) -> list[Segment]:
    """Return a file for each text of keys, the last one active."""
    made, offset = [], 0
    for place, text in enumerate(keys):
        records = tuple(record(offset + n, key) for n, key in enumerate(text))
        made.append(Segment(offset, 100, place == len(keys) - 1, records))
        offset += len(text)
    return made


def test_files_without_an_old_price_pass():
    days.judge_segments(files("abc", "d"), settings())
    days.judge_segments(files("ab", "c", "d"), settings(segment_ms=1))


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({}, "all 3 records are in the active segment, and that one is closed after seven days or at 1 GB"),
        ({"min_cleanable_dirty_ratio": 0.01}, "min.cleanable.dirty.ratio is about closed segments"),
        ({"segment_ms": 60000}, "no segment was closed in 60,000 ms"),
        ({"max_compaction_lag_ms": 50000}, "no segment was closed in 50,000 ms"),
        ({"retention_ms": 3000}, "retention.ms counts only for the policy delete"),
        ({"segment_bytes": 1048576}, "which are fewer than 1,048,576 bytes"),
        ({"delete_retention_ms": 1}, "delete.retention.ms is about records without a value"),
    ],
)
def test_one_file_is_told_with_what_was_set(own: dict[str, Any], words: str):
    assert words in told(days.judge_segments, files("aab"), settings(**own))


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"segment_ms": 1000}, "when no more than 50% was"),
        ({"min_compaction_lag_ms": 60000}, "keeps the cleaner off for 60 s"),
        ({"min_cleanable_dirty_ratio": 1}, "can never be more than min.cleanable.dirty.ratio"),
    ],
)
def test_two_prices_in_closed_files_are_told_with_the_reason(own: dict[str, Any], words: str):
    assert words in told(days.judge_segments, files("ab", "a", "c"), settings(**own))


def test_a_new_price_in_the_active_file_is_told():
    said = told(days.judge_segments, files("ab", "a"), settings(segment_ms=5000))
    assert "1 share has an old price in a closed segment" in said
    assert "closed after 5,000 ms" in said


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (
            {"segment_ms": 1000, "min_cleanable_dirty_ratio": 0.3},
            "one new price makes 25.0% of this log dirty",
        ),
        (
            {"segment_ms": 1000, "max_compaction_lag_ms": 9000},
            "comes only for more than 50% (min.cleanable.dirty.ratio), or after 9 s",
        ),
        ({"segment_ms": 3500, "min_cleanable_dirty_ratio": 0}, "lies in the active segment for 3,500 ms"),
        ({"max_compaction_lag_ms": 2000, "min_compaction_lag_ms": 3500}, "keeps the cleaner off for 3.5 s"),
    ],
)
def test_settings_that_went_well_once_are_judged_by_what_they_allow(own: dict[str, Any], words: str):
    assert words in told(days.judge_bounds, files("ab", "c", "d", "e"), settings(**own))


@pytest.mark.parametrize(
    "own",
    [
        {"max_compaction_lag_ms": 3000},
        {"segment_ms": 3000, "min_cleanable_dirty_ratio": 0.2},
        {"segment_ms": 60_000, "max_compaction_lag_ms": 100, "min_compaction_lag_ms": 100},
    ],
)
def test_settings_that_are_soon_enough_pass(own: dict[str, Any]):
    days.judge_bounds(files("ab", "c", "d", "e"), settings(**own))


@pytest.mark.parametrize(
    ("policy", "own", "words"),
    [
        ("delete", {}, "so no price goes because a newer one has come"),
        ("delete", {"retention.ms": 1}, "prices go by their age, the last ones too"),
        ("compact,delete", {}, "also the last price of a share"),
        ("", {}, "cleanup.policy is ''"),
    ],
)
def test_another_policy_is_told(policy: str, own: dict[str, Any], words: str):
    assert words in told(days._judge_policy, settings(**{"cleanup.policy": policy, **own}))
    days._judge_policy(settings(**{"cleanup.policy": "compact"}))


def test_both_policies_are_one_if_nothing_is_ever_too_old():
    days._judge_policy(settings(**{"cleanup.policy": "compact,delete", "retention.ms": -1}))


# --- 9.2

LEFT = [17, 20, 22, 25, 26, 27, 28, 29]


def test_offsets_are_right_in_any_order():
    survivors.compare_survivors(LEFT, LEFT)
    survivors.compare_survivors([*reversed(LEFT), 17], LEFT)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "`survivors` is empty"),
        (list(range(8)), "as if the records were counted anew"),
        (list(range(1, 9)), "as if the records were counted anew"),
        ([*LEFT, 18], "there is no record with offset 18 in the table"),
        (LEFT[:-1], "leaves out offset 29"),
        ([o for o in LEFT if o != 22], "offset 22 is still there: the newer record of K4"),
        ([13, 17, 19, 20, 21, 22, 26], "has the first record of each key"),
        ([*survivors.TABLE], "has every record"),
        ([*survivors.TABLE][:-1], "has every record"),
        ([13, *LEFT], "offset 13 is gone: the cleaner copies again"),
        ([*LEFT, 21], "offset 21 is gone: K8 is at 21 and 27"),
        ([o for o in LEFT if o != 26], "offset 26 is still there: K9 is at 26"),
    ],
)
def test_offsets_that_are_wrong_have_their_reason(given: list[int], words: str):
    assert words in told(survivors.compare_survivors, given, LEFT)


# --- 9.3

OTHERS = [record(n, key.decode()) for n, key in enumerate(sorted(removal.STAY))]
PRICE = record(3, "IBM", "141", partition=1)


def test_no_record_of_ibm_passes():
    removal.judge_records([record(9, "IBM", None, 1)], OTHERS)


def test_the_first_offset_that_is_the_learners_own():
    # IBM, INTC and MSFT twice and SAP once; AAPL, AMZN and GOOG twice.
    assert (removal.first_new(1), removal.first_new(0)) == (7, 6)


@pytest.mark.parametrize(
    ("sent", "left", "words"),
    [
        ([], [PRICE], "has got nothing for IBM: without a key"),
        ([("IBM", "", 1)], [("IBM", "", 1)], "an empty value is a value"),
        ([("IBM", "null", 1)], [("IBM", "null", 1)], "the text 'null', which is a price like any other"),
        ([("IBM", None, 0)], [PRICE], "your record is in partition 0"),
        ([("ibm", None, 1)], [PRICE], "the key of your record is b'ibm'"),
        ([("IBM", None, 1)], [("IBM", None, 1)], "the record without a value at offset 9"),
    ],
)
def test_what_is_left_of_ibm_has_its_reason(sent: Any, left: Any, words: str):
    def made(one: Any) -> Record:
        return one if isinstance(one, Record) else record(9, one[0], one[1], one[2])

    assert words in told(removal.judge_records, [*map(made, sent)], [*OTHERS, *map(made, left)])


def test_other_shares_must_stay():
    said = told(removal.judge_records, [], [r for r in OTHERS if r.key != b"SAP"])
    assert "the last price of SAP is gone, too" in said


# --- 9.4


def test_the_tables_are_what_the_records_make():
    def stored(sent: Any) -> list[Record]:
        return [record(n, key, value) for n, (key, value) in enumerate(sent)]

    assert folded(stored(MORNING)) == OPENING
    assert folded(stored((*MORNING, *AFTERNOON))) == LATER


def test_tables_of_bytes_and_numbers_are_the_same():
    assert tables.plain({b"A": b"187", "B": 44, "C": None, "D": 44.0}) == {
        "A": "187",
        "B": "44",
        "C": None,
        "D": "44",
    }
    assert "load(topic) returned None" in told(tables.plain, None)
    tables.judge_table("t", OPENING, MORNING, OPENING)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (dict(MORNING[:6]), "ends before the first record without a value"),
        ({**OPENING, "IBM": None}, "has IBM with the value None"),
        ({**OPENING, "IBM": "141"}, "shows 141 for IBM, which was taken away"),
        ({k: v for k, v in OPENING.items() if k != "INTC"}, "lacks INTC, which was taken away and came back"),
        ({k: v for k, v in OPENING.items() if k != "AAPL"}, "lacks AAPL; it should have 4 shares"),
        ({**OPENING, "AAPL": "185"}, "shows the older price '185' for AAPL"),
        ({**OPENING, "AAPL": "9"}, "shows '9' for AAPL"),
        ({**OPENING, "Z": "9"}, "has 'Z'"),
    ],
)
def test_a_table_that_is_wrong_has_its_reason(table: dict[str, Any], words: str):
    assert words in told(tables.judge_table, "t", table, MORNING, OPENING)


def test_a_table_that_was_kept_in_memory_is_told(monkeypatch: pytest.MonkeyPatch):
    stored = [record(n, key, value) for n, (key, value) in enumerate((*MORNING, *AFTERNOON))]
    monkeypatch.setattr(tables, "expect_topic", lambda *_: None)
    monkeypatch.setattr(tables, "log_of", lambda *_: stored)
    kept = dict(LATER)
    lab: Any = SimpleNamespace(consumers=list)
    assert "the same dictionary" in told(tables.judge_tables, lab, Starts("board", kept, kept))
    tables.judge_tables(lab, Starts("board", OPENING, kept))


def test_a_consumer_of_the_first_call_that_did_not_leave_is_seen():
    def lab(*held: set[tuple[str, int]]) -> Any:
        return SimpleNamespace(consumers=lambda: [SimpleNamespace(held=places) for places in held])

    assert tables._not_left(lab({("board", 0)}, set()), "board")
    assert not tables._not_left(lab({("other", 0)}, set(), {("board", 0)}), "board")
    assert not tables._not_left(lab(), "board")


def test_a_table_that_is_empty_is_explained_by_its_consumer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tables, "attempt", lambda: SimpleNamespace(began=0.0))

    def said(**consumer: Any) -> str:
        made = SimpleNamespace(**{"config": {}, "asked": True, "subscribed": ("board",), **consumer})
        return str(tables._empty(SimpleNamespace(consumers=lambda: [made]), tables.SECOND))  # type: ignore[arg-type]

    assert "was never told what to read" in said(asked=False)
    assert "a new group begins at the end of the log (auto.offset.reset is latest)" in said()
    assert "`starts.second` is empty" in said()
    assert "take a moment to come" in said(config={"auto.offset.reset": "earliest"})


# --- 9.5


def test_policies_are_right_however_they_are_spelt():
    policies.judge_policies(policies.RIGHT)
    policies.judge_policies({**policies.RIGHT, "baskets": "delete, compact", "stage-state": ["COMPACT"]})


@pytest.mark.parametrize("topic", policies.RIGHT)
def test_each_other_policy_has_its_reason(topic: str):
    for other, words in policies.WHY[topic].items():
        assert words in told(policies.judge_policies, {**policies.RIGHT, topic: other})
    assert set(policies.WHY[topic]) | {policies.RIGHT[topic]} == {
        policies.DELETE,
        policies.COMPACT,
        policies.BOTH,
    }


def test_words_and_topics_that_do_not_exist():
    assert "says nothing of 'audit'" in told(
        policies.judge_policies, {"stage-state": "compact", "readings": "delete"}
    )
    assert "policies` has 'x'" in told(policies.judge_policies, {**policies.RIGHT, "x": "delete"})
    assert "it should be one of" in told(policies.judge_policies, {**policies.RIGHT, "audit": "keep"})
