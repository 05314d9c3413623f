"""What lab 12's checks say of answers that its wrong answers do not give."""

import inspect
import json
import re
from contextlib import suppress
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from pyspark import SparkContext

from threebrokers.checks import expect_spark, lab12
from threebrokers.checks.expect_spark import in_step
from threebrokers.checks.lab12 import offsets, stream
from threebrokers.checks.lab12.delays import REVERSED, _summary, compare_delays, expect_limit
from threebrokers.checks.lab12.flights import compare_flights
from threebrokers.checks.lab12.offsets import (
    _expect_topic,
    call,
    compare_again,
    expect_fetched,
    expect_offsets,
)
from threebrokers.checks.lab12.stream import judge_copy, judge_progress
from threebrokers.checks.lab12.summary import _summary as summary
from threebrokers.checks.lab12.summary import compare_summary, expect_compacted, expect_once, expect_shape
from threebrokers.data.flights import NEW_YORK, flight_messages, load_flights
from threebrokers.lab.exercise import NotYet

ENDS = {0: 5, 1: 7}


@pytest.fixture
def found() -> pd.DataFrame:
    """January as Spark returns it: times in microseconds, delays as floats with NaN."""
    table = load_flights(1)
    table["scheduled"] = table["scheduled"].astype("int64") // 1000
    return table.astype({"dep_delay": "float64", "arr_delay": "float64"})


@pytest.fixture
def delays() -> pd.DataFrame:
    table = _summary(NEW_YORK)[["flights", "mean_delay"]].astype(float).reset_index()
    return table.sort_values("mean_delay", ascending=False, ignore_index=True)


@pytest.fixture
def records() -> list[tuple[bytes | None, bytes | None]]:
    return [(name.encode(), json.dumps(row).encode()) for name, row in summary().items()]


def told(check, *answers) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers)
    return str(caught.value)


def test_more_flights_than_january_has_are_told(delays):
    many = delays.assign(flights=delays["flights"] * 12)
    assert "and January has 27,004; the question is about January" in told(compare_delays, many)
    one_less = delays.assign(flights=delays["flights"] - (delays.index == 3))
    assert "the package's table has" in told(compare_delays, one_less)


def test_right_answers_pass(found, delays, records):
    compare_flights(found.sample(frac=1, random_state=1))
    compare_delays(delays)
    compare_summary(records)
    compare_summary([*records, *records])  # a second run of the job
    expect_offsets('{"t": {"0": 5, "1": 7}}', "t", ENDS, list)
    more = '{"version": 1, "offsets": {"0": 5, "1": 7}}'  # the next call makes Spark's of it
    expect_offsets(more, "t", ENDS, list)


def test_means_may_be_decimals(delays):
    exact = delays.assign(mean_delay=delays["mean_delay"].map(lambda mean: Decimal(f"{mean:.16f}")))
    compare_delays(exact)
    rounded = exact.assign(mean_delay=exact["mean_delay"].map(lambda mean: round(mean, 2)))
    assert "the means are rounded (34.9); it should be the mean itself" in told(compare_delays, rounded)
    assert "the worst should come first" in told(compare_delays, exact.iloc[::-1].reset_index(drop=True))
    unknown = exact.assign(mean_delay=[None, *exact["mean_delay"][1:]])
    assert "the mean for EWR at 19 is nan" in told(compare_delays, unknown)


def test_the_worst_hour_is_computed_by_spark_from_the_topic(monkeypatch, delays):
    plans = ["Sort\n+- LogicalRDD [origin#1]", "Sort\n+- Relation [key#1] KafkaRelation(…)"]
    types = {"origin": "string", "hour": "int", "flights": "bigint", "mean_delay": "decimal(38,16)"}
    frame: Any = SimpleNamespace(dtypes=list(types.items()))
    for module in (lab12, expect_spark):
        monkeypatch.setattr(module, "plan_of", lambda *asked: plans[0])
    monkeypatch.setattr(lab12, "rows", lambda *asked: delays)
    check: Any = inspect.unwrap(lab12.worst_hour)
    assert "the rows of `delays` went through Python first" in told(check, None, frame)
    plans.pop(0)
    assert "EWR at 19 is the worst" in check(None, frame)


def test_an_option_that_is_none_is_no_bug_of_spark():
    def read_new(topic, seen):
        raise ValueError("[INTERNAL_ERROR] The Spark SQL phase analysis failed")

    assert 'startingOffsets should be "earliest" then' in told(call, read_new, "t", None)
    assert "ended with ValueError: [INTERNAL_ERROR]" in told(call, read_new, "t", "{}")


def test_what_arrives_during_a_call_is_in_its_table_or_in_the_next():
    first = {0: 2, 1: 1}
    compare_again({(0, 2), (0, 3)}, first, {0: 4, 1: 1})
    assert "1 of them are not in its table" in told(compare_again, {(0, 2)}, first, {0: 4, 1: 1})
    for elsewhere in (set(), {(0, 3)}):
        assert "called again with what" in told(compare_again, elsewhere, first, {0: 4, 1: 1})


@pytest.mark.parametrize("until_first", [True, False])
def test_a_text_that_also_keeps_the_beginning_is_read_by_its_end(monkeypatch, until_first):
    held = pd.DataFrame({"partition": [0, 0], "offset": [2, 3]})
    monkeypatch.setattr(offsets, "rows", lambda name, frame, look_at: held)
    new: Any = SimpleNamespace(select=lambda *names: None)
    kept = {"from": {"t": {"0": 2, "1": 1}}, "until": {"t": {"0": 4, "1": 1}}}
    if until_first:
        kept = dict(reversed(kept.items()))
    offsets.expect_again(new, {0: 2, 1: 1}, json.dumps(kept), "t")


def test_a_checkpoint_that_the_first_cell_has_emptied_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(stream, "attempt", lambda: SimpleNamespace(began=50.0))
    gone = tmp_path / "checkpoint"
    assert "the lab's first cell has run since" in told(stream.expect_kept, gone, 60.0)
    stream.expect_kept(gone, 40.0)  # it never was there
    gone.mkdir()
    stream.expect_kept(gone, 60.0)


@pytest.mark.parametrize(
    ("fault", "closed"), [(KeyboardInterrupt(), 1), (NotYet("a", "b", "c"), 0), (None, 0)]
)
def test_an_interrupted_check_leaves_no_answer_of_java_behind(monkeypatch, fault, closed):
    calls: list[str] = []
    connection = SimpleNamespace(close=lambda: calls.append("closed"))
    client = SimpleNamespace(get_thread_connection=lambda: connection)
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(_gateway_client=client))

    @in_step()
    def check() -> None:
        if fault is not None:
            raise fault

    with suppress(KeyboardInterrupt, NotYet):
        check()
    assert len(calls) == closed


def test_a_try_writes_each_row_once():
    expect_once([])
    expect_once([b"EWR-UA", b"EWR-9E", None, None])
    assert "has written 2 records with the key 'EWR-UA'" in told(expect_once, [b"EWR-9E", *[b"EWR-UA"] * 2])


def test_rows_that_are_missing(found):
    assert "has 27,003 rows" in told(compare_flights, found.iloc[1:])
    whole = found.dropna(subset=["dep_delay", "arr_delay"])  # one more than those that never left
    assert "dropna()" in told(compare_flights, whole)


def test_rows_that_came_twice(found):
    assert "has more than 27,004 rows" in told(compare_flights, pd.concat([found, found.head(1)]))


def test_one_wrong_value(found):
    found.loc[100, "dest"] = "XXX"
    assert "`dest` is 'XXX' where the flight has" in told(compare_flights, found)


def test_times_that_are_off(found):
    found["scheduled"] += 60_000_000
    assert "the first flight is scheduled for 2013-01-01 10:16:00 UTC" in told(compare_flights, found)


def test_rows_of_nulls_are_no_fault_of_a_name(found):
    nothing = found.where(found.isna(), None)
    assert "all nine columns are null in all 27,004 rows" in told(compare_flights, nothing)
    assert "`scheduled` is null in" in told(compare_flights, found.assign(scheduled=None))


def test_a_table_of_another_topic():
    plan = (
        "Project\n+- Relation [key#1] KafkaRelation(strategy=Subscribe[{}], start=EarliestOffsetRangeLimit)"
    )
    _expect_topic(plan.format("t"), "t")
    _expect_topic(plan.format("other, t"), "t")
    _expect_topic("KafkaRelation(strategy=Assign[t-0, t-1])", "t")
    assert "`read_new('t', …)` reads 'tt'" in told(_expect_topic, plan.format("tt"), "t")


def test_a_group_that_is_not_there(delays):
    assert "has 48 of the 49 airports" in told(compare_delays, delays.iloc[1:])
    wrong = delays.assign(flights=delays["flights"].where(delays.index != 0, 471))
    assert re.search(r"for EWR at 19 .* has 471 flights; .* has 472 flights", told(compare_delays, wrong))
    assert "has no rows" in told(compare_delays, delays.head(0))


def test_some_of_the_groups(delays):
    assert "has 3 of the " in told(compare_delays, delays.head(3))


def test_a_group_that_is_there_twice(delays):
    assert "more than one row for EWR at 19" in told(compare_delays, pd.concat([delays, delays.head(1)]))


def test_hours_that_were_converted_the_wrong_way():
    table = _summary(REVERSED)[["flights", "mean_delay"]].astype(float).reset_index()
    assert "five hours later" in told(compare_delays, table)


def test_hours_that_are_off(delays):
    for off, words in ((1, "are 1 later than"), (-1, "are 1 earlier than"), (11, "are 11 later than")):
        table = delays.assign(hour=(delays["hour"] + off) % 24)
        assert f"the hours of `delays` {words} those of New York's" in told(compare_delays, table)


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("median", "is the median"),
        ("largest", "is the largest delay"),
        ("late", "of flights that left late"),
        ("as_zero", "as 0 minutes late"),
    ],
)
def test_means_of_something_else(known, text):
    table = _summary(NEW_YORK)[["flights", known]].astype(float).reset_index()
    assert text in told(compare_delays, table.rename(columns={known: "mean_delay"}))


@pytest.mark.parametrize("digits", [0, 1, 2, 4])
def test_means_that_are_rounded(delays, digits):
    delays["mean_delay"] = delays["mean_delay"].round(digits)
    assert "the means are rounded" in told(compare_delays, delays)


def test_a_mean_that_nobody_can_explain(delays):
    delays.loc[0, "mean_delay"] = 99.0
    assert "the mean for EWR at 19 is 99.0" in told(compare_delays, delays)
    assert "it is 34.898455" in told(compare_delays, delays)


def test_a_limit_that_leaves_out_an_hour_with_just_enough_flights():
    turned = ("Filter (cast(100 as bigint) < flights#12L)", "(100 < count(1)#3L)")
    for wrong in ("Filter (flights#12L > cast(100 as bigint))", "(count(1)#3L > 100)", *turned):
        assert "exactly 100 flights" in told(expect_limit, wrong)
    for right in (
        "(flights#12L >= cast(100 as bigint))",
        "(flights#1L > cast(99 as bigint))",
        "(x > 1000)",
        "(100 <= x)",
    ):
        expect_limit(right)


AGGREGATE = "Aggregate [origin#1], [origin#1, count(1) AS n#12L, avg(d#3) AS mean#2]"
SQL = f"Sort [mean#2 DESC]\n+- Filter {{}}\n   +- {AGGREGATE}"


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("(flights#12L >= cast(101 as bigint))", "exactly 100 flights would be left out"),
        ("(n#12L >= cast(101 as bigint))", "exactly 100 flights would be left out"),
        ("(cast(n#12L as double) > cast(100.0 as double))", "exactly 100 flights would be left out"),
        ("NOT (n#12L <= cast(100 as bigint))", "exactly 100 flights would be left out"),
        ("(flights#12L > cast(150 as bigint))", "hours with 100 to 150 flights would be left out"),
        ("(cast(197 as bigint) <= count(1)#5L)", "hours with 100 to 196 flights would be left out"),
        ("((hour#4 >= 5) AND (count(1) >= cast(197 as bigint)))", "hours with 100 to 196 flights"),
    ],
)
def test_a_limit_of_another_number(condition, said):
    assert said in told(expect_limit, SQL.format(condition))


@pytest.mark.parametrize(
    "condition",
    [
        "(n#12L >= cast(100 as bigint))",
        "(n#12L > cast(99 as bigint))",
        "(cast(n#12L as decimal(21,1)) > cast(99.5 as decimal(21,1)))",
        "(cast(n#12L as double) >= cast(99.5 as double))",
        "NOT (n#12L < cast(100 as bigint))",
        "NOT (cast(99 as bigint) >= n#12L)",
        "((n#12L >= cast(100 as bigint)) AND (n#12L <= cast(5000 as bigint)))",
        "between(n#12L, cast(100 as bigint), cast(5000 as bigint))",
        "((n#12L > cast(0 as bigint)) AND NOT (n#12L < cast(100 as bigint)))",
        "((n#12L > cast(0 as bigint)) AND (least(n#12L, 100) = 100))",
        "((n#12L >= cast(100 as bigint)) AND (hour#4 > 4) AND isnotnull(mean#2))",
        "((n#12L = cast(100 as bigint)) OR (n#12L > cast(100 as bigint)))",
        "NOT ((n#12L < cast(100 as bigint)) OR (n#12L > cast(5000 as bigint)))",
        "(minutes#4L > cast(150 as bigint))",
        "((n#12L > cast(0 as bigint)) AND (size(l#9, false) >= 100))",
        "((n#12L >= cast(100 as bigint)) AND (count(all#20L) >= cast(1000 as bigint)))",
    ],
)
def test_a_limit_that_keeps_an_hour_with_just_enough_flights(condition):
    expect_limit(SQL.format(condition))


def test_a_count_that_was_renamed_is_still_a_count():
    plan = "+- Filter (busy#20L >= cast(150 as bigint))\n   +- Project [n#12L AS busy#20L]\n"
    plan += "      +- Aggregate [origin#1], [origin#1, count(flight#8) AS n#12L]"
    assert "hours with 100 to 149 flights would be left out" in told(expect_limit, plan)


@pytest.mark.parametrize(
    ("kept", "text"),
    [
        ("", "holds no offsets"),
        ("no json", "holds no offsets"),
        ("[5, 7]", "holds no offsets"),
        ('{"other": {"0": 8, "1": 7}}', "holds no offsets"),
        ('{"t": {"0": 5}}', "nothing of partition 1"),
        ('{"t": {"0": -1, "1": -1}}', "below 0"),
        ('{"t": {"0": 4, "1": 6}}', "the offset of the last record"),
        ('{"t": {"0": 5, "1": 6}}', "the next offsets were {0: 5, 1: 7}"),
        ('{"t": {"0": "five", "1": 7}}', "something else than whole numbers"),
        ('{"t": {"0": 1760000000000, "1": 1760000000000}}', "a moment in time"),
        ("1760000000000", "a moment in time"),
    ],
)
def test_what_is_kept(kept, text):
    assert text in told(expect_offsets, kept, "t", ENDS, lambda: [(0, 3), (0, 4), (1, 6)])


def test_a_last_record_that_was_not_read_is_not_read_twice():
    said = told(expect_offsets, '{"t": {"0": 4, "1": 6}}', "t", ENDS, lambda: [(0, 3), (1, 5)])
    assert "the offset of each partition's last record, and its table does not have these" in said


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda topic, seen: None, "returned None (nothing was returned or kept)"),
        (lambda topic, seen: (1, 2), "returned 1 (int) and 2 (int)"),
        (lambda topic, seen: (pd.DataFrame(), "{}"), "returned a DataFrame of pandas and '{}' (str)"),
        (lambda topic, seen: (1, {}), "a text, which json.dumps(…) makes of a dictionary"),
        (lambda topic: None, "ended with TypeError"),
        (lambda topic, seen: 1 / 0, "ended with ZeroDivisionError: division by zero"),
    ],
)
def test_a_function_that_returns_something_else(function, text):
    assert text in told(call, function, "t", None)


def test_records_that_were_fetched_and_thrown_away():
    expect_fetched("The second call", 30, None)
    expect_fetched("The second call", 30, 31)  # one came in the meantime, and a filter dropped it
    assert "Spark fetched 90 for that" in told(expect_fetched, "The second call", 30, 90)


def test_records_of_the_summary(records):
    key, value = records[0]
    assert "there is no record for" in told(compare_summary, records[1:])
    assert "a record has no key" in told(compare_summary, [(None, value)])
    assert "a value is None" in told(compare_summary, [(key, None)])
    assert "the key of EWR-9E is 'EWR 9E'" in told(compare_summary, [(b"EWR 9E", value)])


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"flights": 1}, "says 1 flights"),
        ({"flights": "82"}, '`flights` is "82"'),
        ({"mean_delay": None}, "`mean_delay` is null"),
        ({"mean_delay": 12.9}, "the mean is rounded (12.9)"),
        ({"carrier": "ZZ"}, "is about EWR-ZZ"),
        ({"key": "EWR-9E"}, "also holds `key`"),
    ],
)
def test_a_record_with_another_value(changed, text):
    row = summary()["EWR-9E"] | changed
    assert text in told(compare_summary, [(b"EWR-9E", json.dumps(row).encode())])


def test_the_topic_of_the_summary():
    expect_shape("t", [3, 3, 3])
    assert "has 1 partition" in told(expect_shape, "t", [3])
    assert "has 1 replica of each partition" in told(expect_shape, "t", [3, 1, 3])
    expect_compacted("t", "compact")
    assert "would delete it after" in told(expect_compacted, "t", "delete")
    assert "would also delete it after" in told(expect_compacted, "t", "compact,delete")


def step(rows: int, read: dict[str, int], latest: dict[str, int], topic: str = "t") -> dict:
    source = {"description": f"KafkaV2[Subscribe[{topic}]]", "endOffset": json.dumps({topic: read})}
    return {"numInputRows": rows, "sources": [source | {"latestOffset": json.dumps({topic: latest})}]}


def test_how_far_a_query_has_read():
    judge_progress([step(3, {"0": 3}, {"0": 5}), step(2, {"0": 5}, {"0": 5})], "t")
    assert "before it had read a record" in told(judge_progress, [], "t")
    assert "ended 2 records before the end" in told(judge_progress, [step(3, {"0": 3}, {"0": 5})], "t")
    assert "read 0 of 27,004 records" in told(judge_progress, [step(0, {"0": 5}, {"0": 5})], "t")
    assert "with one it goes on from there" in told(judge_progress, [step(0, {"0": 5}, {"0": 5})], "t")
    assert "an option that it does not know" in told(judge_progress, [step(0, {"0": 5}, {"0": 5})], "t")
    other = [step(5, {"0": 5}, {"0": 5}, "flights")]
    assert "it read KafkaV2[Subscribe[flights]]" in told(judge_progress, other, "t")


@pytest.fixture
def copied() -> pd.DataFrame:
    messages = flight_messages(1)
    table = pd.DataFrame(messages, columns=["key", "value"])
    table = table.assign(topic="t", partition=table.index % 3, offset=table.index // 3)
    return table.assign(timestamp=pd.Timestamp(2026, 1, 1), timestampType=0)


def test_what_is_in_the_copy(copied):
    judge_copy(copied.sample(frac=1, random_state=1))
    judge_copy(copied.assign(value=copied["value"].str.decode("utf-8")))
    assert "has no `key`, `offset`" in told(judge_copy, copied.drop(columns=["key", "offset"]))
    said = told(judge_copy, copied[["topic"]].assign(origin="EWR", dest="IAH"))
    assert "`timestampType`, and has `origin`, `dest`; what a copy leaves out" in said
    assert "Look at: what the cell of the exercise does with the records between load() and start()" in said
    assert "lacks 18,002 of 27,004 records" in told(judge_copy, copied[copied["partition"] == 0])
    assert "2 records too many" in told(judge_copy, pd.concat([copied, copied.head(2)]))


def test_a_copy_has_the_keys_and_the_places_of_the_topic(copied):
    judge_copy(copied.assign(key=copied["key"].str.decode("utf-8")))
    named = copied["key"].notna().sum()
    none = told(judge_copy, copied.assign(key=None))
    assert f"the copy has another `key` than the topic in {named:,} of 27,004 records" in none
    assert "in 27,004 of 27,004" in told(judge_copy, copied.assign(key=copied["value"]))
    assert "another `key` than the topic" in told(judge_copy, copied.assign(key=copied["key"].fillna(b"")))
    one_place = copied.assign(offset=copied["offset"].where(copied.index != 9, 0))
    assert "2 records of the copy have the same `partition` and `offset`" in told(judge_copy, one_place)
    assert "27,004 records of the copy have the same" in told(
        judge_copy, copied.assign(partition=0, offset=7)
    )
