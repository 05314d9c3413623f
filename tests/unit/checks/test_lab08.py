"""What lab 08's checks say of answers, without brokers."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.checks.lab08 import ages, gap, removal, sizes, sizing
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios import retention


def told(check: Callable[..., object], *answers: Any, **named: Any) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers, **named)
    return str(caught.value)


# --- 8.1


def settings(days: float = 7, segment: float = 1, policy: str = "delete", size: int = -1) -> dict[str, str]:
    return {
        "retention.ms": str(int(days * ages.DAY_MS)),
        "segment.ms": str(int(segment * ages.DAY_MS)),
        "retention.bytes": str(size),
        "cleanup.policy": policy,
    }


def since(hours: float) -> list[float]:
    return [age / 24 for age in retention.ages(20) if age <= hours]


def test_seven_to_eight_days_are_right():
    assert ages.is_in_time(since(175))
    assert ages.is_in_time(since(168))


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (settings(days=7.5), "but by these settings one may become 8.5 days old: its segment stays"),
        (settings(segment=1.5), "the sum of segment.ms, which is 1.5 days, and retention.ms"),
        (settings(days=6.5), "retention.ms is 6.5 days, and so old a record may be deleted"),
        (settings(days=-1), "nothing is deleted for its age"),
        (settings(policy="compact"), "nothing is deleted for its age"),
        (settings(size=100_000), "retention.bytes is 100000, and what is more than that may be deleted, how"),
        (settings(size=0), "at any time the records of the last 7 days should be there. Look at: retention."),
    ],
)
def test_settings_that_keep_the_promise_only_today_are_told(chosen, words):
    ages._expect_promise(7.3, settings())
    ages._expect_promise(7.3, settings(days=7.5, segment=0.5))
    assert words in told(ages._expect_promise, 7.3, chosen)


@pytest.mark.parametrize(
    ("days", "chosen", "longest", "words"),
    [
        (since(301), settings(segment=7), 7.0, "12.5 days old: its segment spans 7.0 days, and stays until"),
        (
            since(127),
            settings(days=1, segment=7),
            5.3,
            "is 5.3 days old: 6 of the 28 records of the last 7 days are m",
        ),
        (since(475), settings(days=-1), 1.0, "retention.ms is -86400000 (for ever)"),
        (since(301), settings(), 7.0, "segment.ms is 1 day now, but segments that were written before"),
        (since(475), settings(policy="compact"), 1.0, "cleanup.policy is compact"),
        (since(205), settings(days=8), 1.0, "the sum of retention.ms, which is 8 days, and segment.ms"),
        (since(400), settings(days=16), 1.0, "retention.ms is 16 days"),
        (since(60), settings(size=1000), 1.0, "18 of the 28 records of the last 7 days are gone, for re"),
        (since(60), settings(size=1000), 1.0, "for retention.bytes is 1000, and what is more than that"),
        (since(60), settings(days=-1, size=1000), 1.0, "Look at: retention.bytes in `settings`"),
        (since(60), settings(days=2, size=1000), 1.0, "Look at: retention.ms, which is 2 days"),
        (since(60), settings(policy="compact", size=1000), 1.0, "Look at: retention.ms, which is 7 days"),
    ],
)
def test_records_that_are_too_old_or_missing(days, chosen, longest, words):
    assert not ages.is_in_time(days)
    assert words in str(ages._wrong_days(days, chosen, longest))


NEVER_REFUSED = 2**63 - 1


@pytest.mark.parametrize(
    ("count", "limit", "clock", "words"),
    [
        (
            28,
            NEVER_REFUSED,
            "CreateTime",
            "28 records were stored in the topic; 20 days are 80 records. Look",
        ),
        (0, NEVER_REFUSED, "CreateTime", "0 records were stored in the topic; 20 days are 80 records. Look"),
        (1, NEVER_REFUSED, "CreateTime", "1 record was stored in the topic; 20 days are 80 records. Look at"),
        (
            32,
            8 * ages.DAY_MS,
            "CreateTime",
            "32 records were stored in the topic: message.timestamp.before.max.ms is 8 days, and brokers ref",
        ),
        (
            0,
            60_000,
            "CreateTime",
            "0 records were stored in the topic: message.timestamp.before.max.ms is 1 m",
        ),
        (28, 20 * ages.DAY_MS, "CreateTime", "28 records were stored in the topic; 20 days are 80 records."),
        (28, 8 * ages.DAY_MS, "LogAppendTime", "28 records were stored in the topic; 20 days are 80 records"),
    ],
)
def test_records_that_were_not_sent_or_were_refused(monkeypatch, count, limit, clock, words):
    values = {ages.REFUSED: str(limit), ages.CLOCK: clock}
    monkeypatch.setattr(ages, "topic_setting", lambda lab, topic, name: values[name])
    ages.judge_sent(None, "badges", 80)  # type: ignore[arg-type]
    assert words in told(ages.judge_sent, None, "badges", count)


def test_all_of_the_last_days_are_young():
    assert ages.young(since(175)) == ages.young(since(168)) == 28


def test_seconds_for_milliseconds_are_told_in_minutes():
    said = str(ages._all_gone({**settings(), "retention.ms": "604800"}))
    assert "every record is gone: `retention.ms` is 604800, and so many milliseconds are 10.1 minutes" in said


def test_a_size_that_deletes_everything():
    assert "every record is gone: `retention.bytes` is 0, and what is" in str(
        ages._all_gone(settings(size=0))
    )


def test_the_size_is_one_of_the_settings_that_are_asked_for(monkeypatch):
    monkeypatch.setattr(ages, "topic_setting", lambda lab, topic, name: f"{name} of {topic}")
    assert ages.settings_of(None, "t")["retention.bytes"] == "retention.bytes of t"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [("-1", "-1 (for ever)"), ("60000", "1 minutes"), ("43200000", "12 hours"), ("604800000", "7 days")],
)
def test_a_time_is_told_in_its_unit(milliseconds, words):
    assert ages._days(milliseconds) == words


# --- 8.2


def test_all_that_is_left_is_billed_once():
    assert (len(gap.left()), gap.gaps()) == (25, {0: 0, 1: 15, 2: 20})
    gap.judge_billed(gap.left())
    gap.judge_missed({0: 0, 1: 15, 2: 20})
    gap.judge_missed({2: 20, 1: 15})


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ([], "no charge was billed"),
        (
            [p for p in gap.left() if p[0] == 0],
            "15 charges of partition 1 are still in the log, and not billed",
        ),
        (
            [*gap.left(), (0, 3), (0, 4)],
            "2 charges of partition 0 had been billed before, and were billed again",
        ),
        ([*gap.left(), (0, 29)], "1 charge of partition 0 had been billed before, and was billed again"),
        ([*gap.left(), (1, 30)], "1 charge of this try came into the bills twice"),
        ([p for p in gap.left() if p != (0, 39)], "1 charge of partition 0 is still in the log"),
    ],
)
def test_bills_that_are_missing_or_too_many(places, words):
    assert words in told(gap.judge_billed, places)


@pytest.mark.parametrize(
    ("missed", "words"),
    [
        (
            {0: 0, 1: 0, 2: 0},
            "`missed` says 0 for partition 2, where the group had billed everything before offset 20",
        ),
        ({1: 15}, "nothing is left there, so no record tells of it"),
        ({0: 0, 1: 14, 2: 20}, "`missed` says 14 for partition 1"),
        ({0: -30, 1: 15, 2: 20}, "so nothing was deleted there before it was billed"),
        ({0: 10, 1: 30, 2: 20}, "holds the lag of each partition"),
        ({0: 0, 1: 25, 2: 40}, "holds where each log begins now"),
        ({0: 0, 1: 15, 2: 20, 3: 1}, "`missed` has a partition 3"),
    ],
)
def test_a_gap_that_is_counted_wrong(missed, words):
    assert words in told(gap.judge_missed, missed)


# --- 8.3


@pytest.mark.parametrize(("keep", "segment"), [(1_800_000, 1_048_576), (1_500_000, 1_500_000)])
def test_both_bounds_are_kept(keep, segment):
    sizes.judge_settings(keep, segment)


@pytest.mark.parametrize(
    ("keep", "segment", "words"),
    [
        (-1, 1_048_576, "retention.bytes is -1"),
        (12_000_000, 1_048_576, "counts for each partition: 4 × 12.0 MB are 48.0 MB"),
        (3_000_000, 1_048_576, "4 × (3.0 MB + 1.0 MB) are 16.2 MB"),
        (1_800_000, 1_073_741_824, "so all 5.0 MB of a partition may lie in one segment"),
        (1_000_000, 1_048_576, "only 4 × 1.0 MB = 4.0 MB are sure to stay"),
        (1_500_000, 4_000_000, "a segment more: 4 × (1.5 MB + 4.0 MB) are 22.0 MB"),
        (0, 5_000_000, "a segment more: 4 × (0.0 MB + 5.0 MB) are 20.0 MB"),
        (1_500_000, 5_100_000, "so all 5.0 MB of a partition may lie in one segment"),
    ],
)
def test_a_bound_that_is_not_kept(keep, segment, words):
    assert words in told(sizes.judge_settings, keep, segment)


@pytest.mark.parametrize("retention", [-1, 604_800_000, 700_000_000])
def test_age_may_play_no_part(retention):
    sizes.judge_time(retention)


def test_a_bound_in_time_takes_what_should_stay():
    said = told(sizes.judge_time, 3_600_000)
    assert "retention.ms is 3600000: what is older goes, too, however little is left" in said


# --- 8.4


RIGHT = {0: (30, 40), 1: (18, 40), 2: (24, 40)}


def test_each_partition_begins_with_its_first_clean_record():
    removal.judge_bounds(RIGHT)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({0: (0, 0), 1: (0, 0), 2: (0, 0)}, "made anew: its offsets end at 0, 0 and 0"),
        ({0: (0, 41), 1: (0, 40), 2: (0, 42)}, "3 records came in, and the old ones stand"),
        ({0: (30, 40), 1: (30, 40), 2: (30, 40)}, "12 clean records of partition 1 are deleted, too"),
        (
            {**RIGHT, 2: (25, 40)},
            "one clean record of partition 2 is deleted, too; delete_records deletes what",
        ),
        ({0: (30, 40), 1: (0, 40), 2: (25, 40)}, "1 clean record of partition 2 is deleted, too"),
        ({0: (40, 40), 1: (40, 40), 2: (40, 40)}, "all 120 records are deleted, the clean ones too"),
        (
            {0: (29, 40), 1: (17, 40), 2: (23, 40)},
            "one record with a password is left in partitions 0, 1 and 2",
        ),
        ({**RIGHT, 1: (0, 40), 2: (0, 40)}, "partitions 1 and 2 still have 42 records with a password"),
    ],
)
def test_too_much_or_too_little_is_deleted(bounds, words):
    assert words in told(removal.judge_bounds, bounds)


def test_starts_are_compared_when_the_log_is_right(monkeypatch):
    partitions = [
        SimpleNamespace(id=p, log_start_offset=start, high_watermark=end) for p, (start, end) in RIGHT.items()
    ]
    monkeypatch.setattr(removal, "expect_topic", lambda *_: SimpleNamespace(partitions=partitions))
    right = {p: start for p, (start, _) in RIGHT.items()}
    removal.judge_removal(None, "signups", right)  # type: ignore[arg-type]
    assert "`starts` says 31 for partition 0" in told(
        removal.judge_removal, None, "signups", {**right, 0: 31}
    )
    assert "`starts` says nothing for partition 0" in told(removal.judge_removal, None, "signups", {})


# --- 8.5


RECORD = 1070.0


def test_what_fits_is_right():
    for days in (79, 78.0, 78):
        sizing.judge_period(days, RECORD)
    sizing.judge_record(1075, RECORD)


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (78.5, "`days` is 78.5, which is not whole; it should be the largest whole number of days"),
        (80, "of a segment more fill a disk for a little more than four fifths"),
        (86, "they stay longer than retention.ms"),
        (93, "93 days are about 7 more than four fifths of a disk can take; a record may stay up to 7 days"),
        (94, "94 days are about 7 more than four fifths of a disk can take"),
        (90, "with 90 days less than a fifth of a disk stays free: a record may stay up to 7 days longer"),
        (100, "with 100 days less than a fifth of a disk stays free"),
        (101, "with 101 days next to nothing stays free"),
        (102, "with 102 days nothing stays free"),
        (108, "with 108 days nothing stays free"),
        (252, "if each record were on one broker only"),
        (28, "nothing is divided by three"),
        (60, "with 60 days the disks stay emptier than they may be; the largest"),
        (72, "with 72 days the disks stay emptier than they may be; the largest"),
        (7, "nothing is divided by twelve"),
        (78 * 86_400_000, "it seems to be in milliseconds"),
        (2000, "`days` is 2000; it should be a number of days"),
    ],
)
def test_days_that_do_not_fit(days, words):
    assert words in told(sizing.judge_period, days, RECORD)


@pytest.mark.parametrize(
    ("on_disk", "words"),
    [
        (1000, "the bytes of the value alone"),
        (3210, "in the files it is 1070; all three replicas lie on three disks"),
        (500, "`on_disk` is 500, and in the files it is 1070"),
    ],
)
def test_a_record_that_is_measured_wrong(on_disk, words):
    assert words in told(sizing.judge_record, on_disk, RECORD)
