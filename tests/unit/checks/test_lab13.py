"""What lab 13's checks say of answers, also of those that its wrong answers do not give."""

from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from threebrokers.checks.lab13 import windows
from threebrokers.checks.lab13.behind import compare_waiting
from threebrokers.checks.lab13.recipients import judge_board, judge_invoices, judge_ranking
from threebrokers.checks.lab13.runs import _open_after_first, finished, judge_records
from threebrokers.checks.lab13.watermark import SMALLEST, expect_batches, expect_finished, judge_delay
from threebrokers.checks.lab13.windows import compare_windows, expect_hours, expect_open_hours
from threebrokers.data.replay import late_departures
from threebrokers.errors import LabError
from threebrokers.lab.exercise import NotYet
from threebrokers.spark.delivering import Delivered
from threebrokers.spark.hours import HOUR, missing_flights, windows_of_package
from threebrokers.spark.steps import Step

TEN = timedelta(minutes=10)
RANKING = pd.DataFrame({"origin": ["EWR", "JFK", "LGA"], "count": [9, 7, 5]})


def told(check, *answers, **named) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers, **named)
    return str(caught.value)


def rows(length: timedelta = HOUR, step: timedelta = HOUR, **more) -> pd.DataFrame:
    table = windows_of_package(length, step, **more).reset_index()
    return table.assign(end=table["start"] + length)


def test_the_package_has_each_flight_in_its_windows():
    flights = late_departures()
    assert windows_of_package().sum() == len(flights) == 883
    assert len(windows_of_package()) == 53
    assert windows_of_package(HOUR, TEN).sum() == 6 * 883
    first = windows_of_package().sort_index(level="start").index[0]
    assert f"{first[1]:%d %b %H:%M}" == "24 Jun 09:00"  # 5 in the morning in New York


def test_right_windows_pass():
    compare_windows(rows().sample(frac=1, random_state=1), HOUR, HOUR, once=True)
    compare_windows(rows(HOUR, TEN), HOUR, TEN, once=True)


def test_wrong_windows_are_told_apart():
    def judged(table: pd.DataFrame) -> str:
        return told(compare_windows, table, HOUR, HOUR, once=True)

    assert "in which it really left" in judged(rows(time="left"))
    assert "begins every 10 minutes, so each flight is in 6" in judged(rows(HOUR, TEN))
    assert "a window is 30 minutes long" in judged(rows(3 * TEN, 3 * TEN))
    fewer = rows()
    fewer.loc[0, "flights"] -= 1
    assert "EWR has 3 flights in the window from 24 Jun 09:00 UTC" in judged(fewer)
    assert "882 in all" in judged(fewer)


@pytest.mark.parametrize(
    ("mode", "batches", "once"),
    [("complete", 3, True), ("append", 3, True), ("update", 1, True), ("update", 3, False)],
)
def test_a_window_that_is_there_more_than_once_is_a_column_too_many_or_a_number_that_has_changed(
    monkeypatch, mode, batches, once
):
    whole = rows()
    parts = [whole.assign(flights=1), whole]
    monkeypatch.setattr(windows, "rows_of", lambda table: pd.concat(parts))
    monkeypatch.setattr(windows, "output_mode", lambda query: mode)
    steps = [{"batchId": number, "numInputRows": 60} for number in range(batches)]
    query = SimpleNamespace(recentProgress=[*steps, {"batchId": batches, "numInputRows": 0}])
    if once:
        said = "53 rows of the table are for an airport and window that another row is for"
        assert said in told(windows.judge_hours, None, query)
        assert "what groupBy(…) is given" in told(windows.judge_hours, None, query)
    else:
        windows.judge_hours(None, query)


def dropped(delay: timedelta, size: int = 60) -> int:
    """Return how many flights Spark drops: those whose window is before the watermark of the last batch."""
    times = late_departures()["scheduled"].dt.tz_convert("UTC").dt.tz_localize(None)
    batch = np.arange(len(times)) // size
    newest = times.groupby(batch).max().cummax()
    marks = newest.shift(2).reindex(batch).reset_index(drop=True) - delay
    return int((times.dt.floor("h") + HOUR <= marks).sum())


def test_the_smallest_watermark_is_the_smallest():
    assert "Wait" not in judge_delay(SMALLEST, dropped(SMALLEST), 20)
    less, more = SMALLEST - HOUR, SMALLEST + HOUR
    assert "a watermark of 2 hours drops 17 of 883 flights, 1.9 %" in told(
        judge_delay, less, dropped(less), 10
    )
    assert "a smaller one keeps fewer rows" in told(judge_delay, more, dropped(more), 30)


def test_between_two_hours_the_flights_decide():
    half = SMALLEST - HOUR / 2
    missing = dropped(half)
    assert missing > 8, "the task speaks of whole hours: no other answer may be better"
    assert "2.5 hours" in told(judge_delay, half, missing, 20)


def test_one_batch_drops_nothing_and_proves_nothing():
    one = Step(0, 883, 1.0, 5, 0, None, None, 0)
    assert "in 1 batch: the watermark moves only between batches" in told(expect_batches, [one])


def test_missing_flights_are_counted_in_finished_windows_only():
    right = windows_of_package()
    assert missing_flights(right) == 0
    assert missing_flights(right.iloc[:10] - 2) == 20
    with pytest.raises(LabError, match="flights of EWR in a window from"):
        missing_flights(windows_of_package(3 * HOUR, 3 * HOUR))
    with pytest.raises(LabError, match="0 were planned"):
        missing_flights(windows_of_package(TEN, TEN))


def test_hours_that_the_watermark_has_cut_are_hours_all_the_same():
    table = rows()
    expect_hours(table.assign(flights=table["flights"] - 1).iloc[:30])


def test_finished_windows_are_hours_of_the_plan():
    expect_finished(rows(), SMALLEST)
    long = rows(3 * HOUR, 3 * HOUR)
    assert "a window is 180 minutes long" in told(expect_finished, long, SMALLEST)
    assert "begins every 10 minutes" in told(expect_finished, rows(HOUR, TEN), SMALLEST)
    twice = pd.concat([rows(), rows().head(2)])
    assert "2 rows of the table are for an airport and window that another row is for" in told(
        expect_finished, twice, SMALLEST
    )
    more = rows().assign(flights=lambda table: table["flights"] + 1)
    assert "by the plan" in told(expect_finished, more, SMALLEST)
    nothing = rows().head(0)
    assert "no window was finished" in told(expect_finished, nothing, SMALLEST)
    expect_finished(nothing, 24 * HOUR)  # that is what so long a delay does to this day


def test_a_watermark_of_whole_hours_was_asked_for():
    assert "whole hours" in told(judge_delay, timedelta(minutes=170), 7, 20)


def got(mode: str, sent: int, table: pd.DataFrame, refused: str = "") -> Delivered:
    return Delivered(mode, sent, table, refused)


@pytest.fixture
def hours() -> pd.DataFrame:
    return windows_of_package().reset_index().rename(columns={"start": "hour"})


def test_three_readers_get_what_they_want(hours):
    changed = pd.concat([hours, hours.head(20)])
    right = {
        "invoices": got("append", 45, hours.head(45)),
        "board": got("update", 73, changed),
        "ranking": got("complete", 15, RANKING),
    }
    for judge in (judge_invoices, judge_board, judge_ranking):
        judge(right)
        assert "has nothing for" in told(judge, {})
    assert "2 times, each time with another" in told(judge_invoices, right | {"invoices": right["board"]})
    assert "53 hours: all of them again" in told(
        judge_invoices, right | {"invoices": got("complete", 200, hours)}
    )
    assert "the newest hour on the board is" in told(judge_board, right | {"board": right["invoices"]})
    assert "nothing had changed" in told(judge_board, right | {"board": got("complete", 200, hours)})
    refused = got("update", 0, pd.DataFrame(), "Sorting is not supported.")
    said = told(judge_ranking, right | {"ranking": refused})
    assert "Spark refuses 'update' for `ranking`: Sorting is not supported" in said
    turned = right | {"ranking": got("complete", 15, RANKING.iloc[::-1])}
    assert "the newspaper's list is not in order (LGA 5, JFK 7, EWR 9)" in told(judge_ranking, turned)
    grown = pd.concat([RANKING, RANKING.assign(count=[19, 17, 15])])
    assert "the newspaper got EWR 2 times" in told(
        judge_ranking, right | {"ranking": got("update", 6, grown)}
    )
    assert "`delivered` has 'append' (str) for `invoices`" in told(
        judge_invoices, dict.fromkeys(right, "append")
    )


def test_hours_that_are_open_are_kept_back_in_append():
    whole = rows()
    expect_open_hours(whole, "append")
    expect_open_hours(whole[:-8], "complete")
    expect_open_hours(whole[:-8].assign(flights=1), "append")
    assert "of 53 windows 8 are not there: in the mode append" in told(
        expect_open_hours, whole[:-8], "append"
    )


def records(hours: dict[str, int]) -> list[tuple[bytes | None, bytes | None]]:
    return [(name.encode(), str(count).encode()) for name, count in hours.items()]


def test_each_finished_hour_once():
    right = finished()
    judge_records(records(right), emptied=False)
    twice = records(right) + records(right)[:3]
    assert "3 hours are in 'stream-hours' more than once" in told(judge_records, twice, emptied=False)
    assert "another checkpoint knows nothing" in told(judge_records, twice, emptied=False)
    assert "was emptied" in told(judge_records, twice, emptied=True)
    assert "1 hour is not in 'stream-hours'" in told(judge_records, records(right)[1:], emptied=False)
    name = min(_open_after_first())
    said = told(judge_records, records(right | {name: 1}), emptied=False)
    assert f"too small, such as {name}: 1 flights of {right[name]}" in said


def test_what_waits_is_end_minus_place():
    place, ends = {0: 5, 1: 6}, {0: 9, 1: 6}
    compare_waiting({0: 4, 1: 0}, place, ends)
    assert "says 0 everywhere" in told(compare_waiting, {0: 0, 1: 0}, place, ends)
    assert "is the end of each partition" in told(compare_waiting, ends, place, ends)
    assert "is where the query stands" in told(compare_waiting, place, place, ends)
    assert "has the partitions [0]" in told(compare_waiting, {0: 4}, place, ends)
    assert "says 3 for partition 0" in told(compare_waiting, {0: 3, 1: 0}, place, ends)
