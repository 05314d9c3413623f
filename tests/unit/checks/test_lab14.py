"""What lab 14's checks say of answers, also of those that its wrong answers do not give."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from threebrokers.checks.expect_spark import delay_in_words
from threebrokers.checks.lab13.queries import deciding
from threebrokers.checks.lab14 import queries, seats, tasks
from threebrokers.checks.lab14.pairs import (
    delay_of,
    delays,
    judge_bound,
    judge_kind,
    judge_pairs,
    judge_state,
    marked,
    right_pairs,
    waits,
)
from threebrokers.checks.lab14.places import compare_places, judge_source, last_places
from threebrokers.checks.lab14.queries import has_watermark, rows_of
from threebrokers.checks.lab14.reports import judge_clock, judge_columns, judge_memory, judge_rows
from threebrokers.checks.lab14.seats import judge_seats, right_seats
from threebrokers.checks.lab14.tasks import compare_places as compare_keys
from threebrokers.checks.lab14.tasks import compare_values, expect_counts, judge_topics
from threebrokers.checks.lab14.turns import AWAY, LATE, departures_of_package, judge_forgotten, judge_turns
from threebrokers.data.registers import deleted_planes, load_weather
from threebrokers.data.replay import late_departures
from threebrokers.data.reports import repeated_reports
from threebrokers.lab.exercise import NotYet
from threebrokers.spark.steps import Step

SIX, TEN, HOUR = timedelta(hours=6), timedelta(minutes=10), timedelta(hours=1)


def told(check, *answers, **more) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers, **more)
    return str(caught.value)


def test_the_seats_of_each_departure_once():
    right = right_seats()
    assert (len(right), int(right["seats"].isna().sum())) == (883, 124)
    judge_seats(right)
    assert "in the table more than once" in told(judge_seats, pd.concat([right, right.head(2)]))
    assert "124 departures are gone" in told(judge_seats, right.dropna())
    back = right.copy()
    back.loc[back["tailnum"].isin(deleted_planes()), "seats"] = 150
    assert "its record before that is back" in told(judge_seats, back)
    old = right.copy()
    old.loc[old["seats"].notna(), "seats"] += 20
    assert "the register has corrected that" in told(judge_seats, old)
    empty = right.assign(seats=pd.NA)
    assert "has no seats" in told(judge_seats, empty)
    alone = right.assign(tailnum=right["tailnum"].where(right["seats"].notna()))
    assert "have nothing as `tailnum`" in told(judge_seats, alone)
    zero = right.fillna({"seats": 0})
    assert "has 0 seats, and the register does not know it" in told(judge_seats, zero)


def test_a_departure_keeps_its_own_columns(monkeypatch):
    held = ["carrier", "flight", "tailnum", "seats"]
    table = SimpleNamespace(columns=held, selectExpr=lambda *asked: SimpleNamespace(toPandas=lambda: asked))
    monkeypatch.setattr(queries, "memory_table", lambda query, start: table)
    query: Any = None
    said = told(rows_of, query, seats.COLUMNS)
    assert "has no column `scheduled`, `origin`, `dest`, `dep_delay`, `arr_delay`, `distance`, `left`" in said
    held += ["scheduled", "origin", "dest", "dep_delay", "arr_delay", "distance", "left", "manufacturer"]
    assert "left AS left_at" in rows_of(query, seats.COLUMNS)


def test_each_departure_with_its_own_arrival():
    right = right_pairs()
    assert len(right) == 873
    judge_pairs(right)
    assert "the table has no rows" in told(judge_pairs, right.head(0))
    other = right.copy()
    other.loc[0, "arrived"] += pd.Timedelta(1, "h")
    assert "arrivals of another flight of the same aircraft" in told(judge_pairs, other)
    short = right[right["arrived"] - right["left_at"] <= pd.Timedelta(5, "h")]
    outer = right.assign(arrived=right["arrived"].where(right.index.isin(short.index)))
    said = told(judge_pairs, outer)
    assert f"{len(right) - len(short)} departures are there without an arrival" in said
    assert "the kind of the join" in said
    assert "pairs are missing, all of long flights" in told(judge_pairs, short)
    assert "3 of 873 pairs are missing" in told(judge_pairs, right.sort_values("left_at").iloc[3:])
    assert "the table has 874 rows" in told(judge_pairs, pd.concat([right, right.head(1)]))


def step_with(watermark: datetime | None, rows: int) -> Step:
    return Step(
        batch=3, rows=rows, seconds=1.0, state=0, dropped=0, newest=None, watermark=watermark, behind=0
    )


def test_a_join_that_forgets():
    judge_state(700, TEN, 2)
    assert "has no watermark" in told(judge_state, 1756, None, 0)
    assert "finds no condition by which partners are" in told(judge_state, 1756, TEN, 2)
    assert "all 1,756 rows are in the state: the watermark is 1 day behind" in told(
        judge_state, 1756, timedelta(days=1), 2
    )
    assert "1,423 rows are in the state: the watermark is 12" in told(
        judge_state, 1423, timedelta(hours=12), 2
    )
    judge_state(544, timedelta(hours=1), 2)
    assert "737 rows are in the state: the watermark is 3" in told(judge_state, 737, timedelta(hours=3), 2)
    assert "the watermark is only 10 seconds behind" in told(judge_state, 560, timedelta(seconds=10), 2)
    assert "only one stream has a watermark before the join" in told(judge_state, 1756, TEN, 1)
    assert "neither stream has a watermark before the join" in told(judge_state, 1756, TEN, 0)
    assert marked("+- EventTimeWatermark a\n+- StreamingSymmetricHashJoin\n  :- EventTimeWatermark b") == 1
    each = [TEN, timedelta(seconds=10)]
    assert "one watermark is only 10 seconds behind" in told(judge_state, 560, TEN, 2, each)
    judge_state(560, TEN, 2, [TEN, timedelta(hours=1)])
    plan = (
        "+- EventTimeWatermark later#1: timestamp, 3 seconds\n+- StreamingSymmetricHashJoin [x]\n"
        "  :- EventTimeWatermark 7d-4, left#9: timestamp, 1 hours 30 minutes\n"
        "  +- EventTimeWatermark arrived#8, 10.5 seconds\n"
    )
    assert delays(plan) == [timedelta(minutes=90), timedelta(seconds=10.5)]
    behind = datetime(2013, 6, 25, 5, 49, tzinfo=UTC)
    assert delay_of(step_with(None, rows=0)) is None
    assert delay_of(step_with(behind, rows=0)) == TEN
    assert delay_of(step_with(behind, rows=573)) == TEN  # it worked with the watermark of before
    assert has_watermark([{"eventTime": {}}, {"eventTime": {"watermark": "2013-06-24T00:00:00Z"}}])
    assert not has_watermark([{"eventTime": {}}, {}])


# As Spark writes it when the watermark is 05:49 on 25 June (UTC): a row goes if its time is not later.
CLEANUP = "], state info [ ver = 3] stateStoreCkptIds = None, 1372107240000, 1372139340000, state cleanup {}"
GOES = "{} value predicate: ({}#3-T600000ms <= {}999000)"


def cleanup(departure: float | None, arrival: float | None) -> str:
    """What the plan says of a join that keeps departures and arrivals for so many hours; None: for ever."""
    sides = [
        f"{side} = null" if hours is None else GOES.format(side, time, 1372139339 - round(hours * 3600))
        for side, time, hours in (("left", "left", departure), ("right", "arrived", arrival))
    ]
    return CLEANUP.format(f"[ {', '.join(sides)} ], 2, Append")


def test_rows_wait_for_partners_for_as_long_as_these_can_come():
    def judged(kept: int, departure: float | None, arrival: float | None) -> str:
        return told(judge_bound, kept, waits(cleanup(departure, arrival)))

    assert waits(cleanup(12, 0)) == [12 * HOUR, timedelta(0)]
    assert (
        waits("+- StreamingSymmetricHashJoin, state cleanup [ left key predicate: x, right = null ], 2") == []
    )
    judge_bound(490, waits(cleanup(12, 0)))
    judge_bound(504, waits(cleanup(12.5, -0.5)))
    judge_bound(490, [])
    for hours, kept in ((13, 535), (16, 672), (20, 945), (24, 951)):
        said = judged(kept, hours, 0)
        assert (
            f"stay for longer than 12 hours: those of one stream for {delay_in_words(hours * HOUR)}," in said
        )
        assert f"{kept} rows are in the state" in said
    assert "longer than 12 hours: those of one stream for 13 hours" in judged(1090, 0, 13)
    for bound in ((12, None), (None, 0)):
        assert "those of one stream stay, though" in judged(1295, *bound)
    assert "those of one stream stay, though" in told(judge_bound, 1200, [])
    said = judged(967, 12, 12)
    assert "those of one stream stay for 12 hours, and those of the other for 12 hours" in said
    assert "another step of the query keeps rows, too" in judged(1373, 12, 0)


def test_a_departure_waits_for_as_long_as_a_flight_may_take():
    for hours in (12, 12 - 1 / 3_600_000, 12 - 1 / 60, 12.5):
        judge_bound(490, waits(cleanup(hours, 0)))
        judge_bound(490, waits(cleanup(hours, -0.5)))
    judge_bound(490, waits(cleanup(11.6, None)))  # the other side is not known
    said = told(judge_bound, 480, waits(cleanup(11 + 35 / 60, 0)))
    assert "right today, but a departure waits only for 11 hours 35 minutes for its arrival" in said
    assert "a flight may take nearly 12 hours" in said
    assert "waits only for 11 hours 32 minutes" in told(judge_bound, 480, waits(cleanup(11 + 32 / 60, -0.1)))
    assert "waits only for 11 hours 58 minutes" in told(judge_bound, 480, waits(cleanup(11 + 58 / 60, 0)))


def test_a_join_that_would_write_rows_without_a_partner():
    plan = "+- StreamingSymmetricHashJoin [tailnum#1], [tailnum#2], {}, condition = [ leftOnly = null ]"
    judge_kind(plan.format("Inner"))
    judge_kind("+- SortMergeJoin [tailnum#1], [tailnum#2], LeftOuter\n" + plan.format("Inner"))
    for kind in ("Left", "Right", "Full"):
        said = told(judge_kind, plan.format(f"{kind}Outer"))
        assert f"a {kind.lower()} outer join, which keeps rows without a partner" in said


def test_each_report_once_and_remembered_for_six_hours():
    right = late_departures()[["carrier", "flight"]]
    judge_rows(right, SIX)
    judge_memory(SIX, 400, 200)
    judge_memory(timedelta(hours=7), 400, 200)
    assert "a watermark of 8 hours" in told(judge_memory, timedelta(hours=8), 500, 300)
    assert "3 of 883 departures are gone" in told(judge_rows, right.iloc[3:], SIX)
    twice = pd.concat([right, right.head(5)])
    assert "with a watermark of 10 minutes" in told(judge_rows, twice, timedelta(minutes=10))
    assert "a copy differs in `sent`" in told(judge_rows, twice, SIX)
    assert "remembers each flight for ever" in told(judge_memory, None, 883, 883)
    assert "a watermark of 7 days" in told(judge_memory, timedelta(days=7), 883, 883)
    assert "today that was enough: 5 hours" in told(judge_memory, timedelta(hours=5), 400, 200)
    assert "and nothing is forgotten" in told(judge_memory, SIX, 883, 883)


def test_the_watermark_of_reports_follows_the_time_at_which_they_were_sent():
    table = repeated_reports()
    judge_clock([])
    judge_clock([None, table["sent"].min(), table["sent"].max()])
    planned = [table["scheduled"].min().tz_convert("UTC"), None, table["scheduled"].max().tz_convert("UTC")]
    assert "the watermark follows `scheduled`" in told(judge_clock, planned)


def test_what_decides_tells_two_departures_of_the_year_apart():
    judge_columns(["carrier", "flight", "scheduled"])
    judge_columns(["flight", "tailnum"])
    judge_columns(["id"])  # made by the query itself
    judge_columns([])
    said = told(judge_columns, ["flight", "scheduled"])
    assert "DL 1443 of 1 January, 12:00, and US 1443 of 1 January, 12:00, have the same flight and" in said
    said = told(judge_columns, ["carrier", "flight"])
    assert "HA 51 of 9 January, 09:00, and HA 51 of 10 January, 09:00, have the same carrier and" in said
    assert "have the same scheduled and tailnum" in told(judge_columns, ["tailnum", "scheduled"])


def test_the_columns_that_decide_stand_in_the_plan():
    assert deciding("+- StreamingDeduplicateWithinWatermark [carrier#21, flight#22], state info") == [
        "carrier",
        "flight",
    ]
    assert deciding("+- StreamingDeduplicate [id#1], state info [ ]") == ["id"]
    assert deciding("+- HashAggregate(keys=[carrier#1])") == []


def turns_and_alarms() -> pd.DataFrame:
    """What the solution gives: rows with `tailnum`, `left_at` and `minutes`."""
    table = departures_of_package()
    near = table[table["after"] <= AWAY]
    turns = pd.DataFrame(
        {
            "tailnum": near["tailnum"],
            "left_at": near["left_at"] + near["after"],
            "minutes": near["after"].dt.total_seconds() / 60,
        }
    )
    end = table["left_at"].max() - LATE
    due = table[table["after"].isna() & (table["left_at"] + AWAY < end)]
    alarms = due[["tailnum", "left_at"]].assign(minutes=float("nan"))
    return pd.concat([turns, alarms], ignore_index=True)


def alarm(row: pd.Series) -> pd.DataFrame:
    return pd.DataFrame([{"tailnum": row["tailnum"], "left_at": row["left_at"], "minutes": float("nan")}])


def test_turns_and_alarms():
    right, table = turns_and_alarms(), departures_of_package()
    alarms = int(right["minutes"].isna().sum())
    assert judge_turns(right) == alarms
    false = alarm(table[table["after"] <= AWAY].iloc[0])
    assert "1 alarm of" in told(judge_turns, pd.concat([right, false]))
    end = table["left_at"].max() - LATE
    recent = table[table["left_at"] + AWAY > end]
    again = alarm(recent[recent["left_at"] - recent["before"] + AWAY <= end].iloc[0])
    assert "1 alarm of" in told(judge_turns, pd.concat([right, again]))
    early = alarm(recent[recent["before"] == pd.Timedelta(0)].iloc[0])
    assert "before 12 hours had passed" in told(judge_turns, pd.concat([right, early]))
    assert "there is no alarm" in told(judge_turns, right.dropna())
    numbered = right.fillna({"minutes": 720.0})
    assert "an alarm has no minutes" in told(judge_turns, numbered)
    some = right.drop(right.index[-4:])
    assert f"4 of {alarms} aircraft that were still away got no alarm" in told(judge_turns, some)
    assert "1 of 180 turns are missing" in told(judge_turns, right.iloc[1:])


def test_an_alarm_for_an_aircraft_that_returned_later_may_come_or_not():
    right, table = turns_and_alarms(), departures_of_package()
    late = table[(table["after"] > AWAY) & (table["left_at"] + AWAY < table["left_at"].max() - LATE)].iloc[0]
    judge_turns(pd.concat([right, alarm(late)]))


def test_the_state_of_an_aircraft_ends_with_its_alarm():
    right = turns_and_alarms()
    rung = right["minutes"].isna()
    seconds = right["left_at"].astype("datetime64[s]").astype("int64")
    state = pd.DataFrame({"tailnum": right["tailnum"], "second": seconds})
    others = state[~right["tailnum"].isin(right.loc[rung, "tailnum"])]
    judge_forgotten(right, others)
    assert "3 departures that got an alarm are still in the state" in told(
        judge_forgotten, right, pd.concat([others, state[rung].head(3)])
    )


def test_a_topic_is_no_table_for_itself():
    assert "one topic is both" in told(judge_topics, None, "left", "left")


def test_the_state_is_the_last_departure_of_each_aircraft():
    right = last_places().reset_index()
    assert len(right) == 682
    compare_places(right)
    assert "has no rows" in told(compare_places, right.head(0))
    assert "several rows of one aircraft" in told(compare_places, pd.concat([right, right.head(1)]))
    old = right.copy()
    old.loc[0, "left_at"] -= pd.Timedelta(5, "h")
    assert "the state that you read is older than that" in told(compare_places, old)
    assert "10 of 682 aircraft are not in `held`" in told(compare_places, right.iloc[10:])
    assert "other places or times" in told(compare_places, right.assign(dest="LAX"))


def test_the_state_is_read_from_the_checkpoint():
    state = "RelationV2[key#7, value#8] StateTable [stateCkptLocation=file:/tmp/places/state][batchId=3]"
    judge_source(f"Project [key#7.tailnum AS tailnum#9]\n+- {state}")
    judge_source(
        f"Project [key#7.tailnum AS tailnum#9]\n+- SubqueryAlias v\n   +- View (`v`)\n      +- {state}"
    )
    topic = (
        "Aggregate [tailnum#1]\n+- Relation [key#2] KafkaRelation(strategy=Subscribe[trips], start=earliest)"
    )
    assert "they come from the topic, not from the state" in told(judge_source, topic)
    for other in (
        "MemoryPlan MemorySink, [tailnum#15]",
        "LocalRelation [tailnum#2]",
        "LogicalRDD [tailnum#2]",
    ):
        said = told(judge_source, f"Project [tailnum#2]\n+- {other}")
        assert "`held` itself reads no state" in said
        assert "topic" not in said


def test_two_topics_for_four_tasks():
    expect_counts(4, 4)
    assert "Kafka Streams would not start" in told(expect_counts, 5, 4)
    assert "one task does all the work" in told(expect_counts, 1, 1)
    assert "there are 6 partitions" in told(expect_counts, 6, 6)
    table = [(number % 4, f"{number}".encode()) for number in range(72)]
    stream = [table[number % 72] for number in range(883)]
    compare_keys(stream, table)
    assert "the stream has 2 records" in told(compare_keys, stream[:2], table)
    strange = [(0, b"N1"), *stream[1:]]
    assert "'N1' of the stream is the key of no row" in told(compare_keys, strange, table)
    assert "the table has no records" in told(compare_keys, stream, [])
    few = [(number % 4, f"{number}".encode()) for number in range(53)]
    departures = [few[number % 53] for number in range(883)]
    assert "the table has 53 keys, and there is weather for 72" in told(compare_keys, departures, few)
    moved = [((partition + 1) % 4, key) for partition, key in stream]
    assert "0 of 883 departures find their weather" in told(compare_keys, moved, table)


def weather_values() -> dict[bytes | None, bytes | None]:
    rows = load_weather().to_dict("records")
    keys = [f"{row['origin']} {row['hour']:%d %b %H}".encode() for row in rows]
    values = [f'{{"wind":{row["wind"]},"visibility":{row["visibility"]}}}'.encode() for row in rows]
    return dict(zip(keys, values, strict=True))


def test_the_table_holds_the_weather_of_each_key():
    right = weather_values()
    compare_values([b"{}"], right)
    numbers = load_weather()[["wind", "visibility"]].itertuples(index=False)
    short = [f"{wind * 1.6:.1f} km/h;{visibility:g}".encode() for wind, visibility in numbers]
    compare_values([b"{}"], dict(zip(right, short, strict=True)))
    compare_values([b"{}"], {(key or b"").lower(): value for key, value in right.items()})
    for nothing in (None, b""):
        said = told(compare_values, [b"{}"], dict.fromkeys(right, nothing))
        assert "72 of 72 rows of the table say nothing of the weather" in said
    names = {key: key for key in right}
    assert "72 of 72 rows of the table say nothing of the weather" in told(compare_values, [b"{}"], names)
    calm = dict.fromkeys(right, right[b"EWR 24 Jun 04"])
    assert "rows of the table say nothing of the weather of their hour" in told(compare_values, [b"{}"], calm)
    strange = dict.fromkeys(((key or b"").lower() for key in right), b"")
    assert "72 of 72 rows of the table say nothing" in told(compare_values, [b"{}"], strange)
    said = told(compare_values, [b"{}", b"", None], right)
    assert "2 of 3 departures of the stream have no value" in said


def test_the_values_of_both_topics_are_read(monkeypatch):
    weather = [(number % 4, key, value) for number, (key, value) in enumerate(weather_values().items())]
    topics = {
        "left": [(weather[n % 72][0], weather[n % 72][1], b"{}") for n in range(883)],
        "right": [(part, key, b"") for part, key, _ in weather],
        "old": [*((part, key, b"") for part, key, _ in weather), *weather],
    }
    held = {
        name: [SimpleNamespace(partition=part, key=key, value=value) for part, key, value in rows]
        for name, rows in topics.items()
    }
    monkeypatch.setattr(tasks, "end_offsets", lambda bootstrap, topic: dict.fromkeys(range(4), 1))
    monkeypatch.setattr(tasks, "log_of", lambda lab, topic: held[topic])
    lab: Any = SimpleNamespace(bootstrap="")
    assert "say nothing of the weather" in told(judge_topics, lab, "left", "right")
    judge_topics(lab, "left", "old")  # the last record of a key counts
