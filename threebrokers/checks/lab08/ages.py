"""What lab 08 says of records that should be gone in time."""

from threebrokers.checks.expect import expect_topic, log_of, topic_setting
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import segment_ages
from threebrokers.lab.scenarios.retention import DAY_HOURS, DAYS, HOUR_MS, ages
from threebrokers.text import counted

DAY_MS = DAY_HOURS * HOUR_MS
STAY_DAYS, GONE_DAYS, MOST_SEGMENTS = 7, 8, 20
CLOCK, REFUSED = "message.timestamp.type", "message.timestamp.before.max.ms"
CALL = "badges = twenty_days(lab, settings)"
AGES = "segment_ages(lab, badges): the columns oldest and newest"


def judge_ages(lab: Lab, topic: str) -> None:
    """Raise NotYet unless all of the last 7 days is there, nothing older than 8, and few segments."""
    found = expect_topic(lab, topic, "badges")
    records = log_of(lab, topic)
    if not records:
        if not any(partition.high_watermark for partition in found.partitions):
            judge_sent(lab, topic, 0)
        raise _all_gone(settings_of(lab, topic))
    sent = max(record.timestamp for record in records) + HOUR_MS  # the youngest record was an hour old
    run = attempt()
    if run is not None and sent < run.began * 1000 - 1:
        raise NotYet("the topic was filled by an earlier try", "this one should fill it anew", CALL)
    judge_sent(lab, topic, max(record.offset for record in records) + 1)
    days = [(sent - record.timestamp) / DAY_MS for record in records]
    if young(days) > _wanted() and topic_setting(lab, topic, CLOCK) == "LogAppendTime":
        raise _of_now(len(days))
    table = segment_ages(lab, topic)
    if not is_in_time(days):
        longest = float((table["oldest (days)"] - table["newest (days)"]).max())
        raise _wrong_days(days, settings_of(lab, topic), longest)
    _expect_promise(oldest=max(days), settings=settings_of(lab, topic))
    count = len(table)
    if count > MOST_SEGMENTS:
        raise NotYet(
            f"the broker keeps {count} segments of the topic",
            f"it should keep {MOST_SEGMENTS} at most: each is three files that it holds open",
            "segment.ms",
        )


def _expect_promise(oldest: float, settings: dict[str, str]) -> None:
    """Raise NotYet if these settings keep the promise for the records of this moment only."""
    retention, segment = (int(settings[name]) / DAY_MS for name in ("retention.ms", "segment.ms"))
    here = f"here the oldest record is {oldest:.1f} days old"
    if 0 <= retention < STAY_DAYS:
        raise NotYet(
            f"{here}, but retention.ms is {_days(settings['retention.ms'])}, and so old a record may be "
            "deleted",
            f"at any time the records of the last {STAY_DAYS} days should be there",
            "retention.ms in `settings`",
        )
    if retention < 0 or "delete" not in settings["cleanup.policy"]:
        raise NotYet(
            f"{here}, but by these settings nothing is deleted for its age",
            f"at any time no record should be older than {GONE_DAYS} days",
            "retention.ms and cleanup.policy in `settings`",
        )
    if _by_size(settings):
        raise NotYet(
            f"{here}, but retention.bytes is {settings['retention.bytes']}, and what is more than that may "
            "be deleted, however young it is",
            f"at any time the records of the last {STAY_DAYS} days should be there",
            "retention.bytes in `settings`",
        )
    if retention + segment > GONE_DAYS:
        raise NotYet(
            f"{here}, but by these settings one may become {retention + segment:.1f} days old: its segment "
            "stays until its newest record is too old",
            f"at any time no record should be older than {GONE_DAYS} days",
            f"the sum of {_both(settings, retention)}",
        )


def judge_sent(lab: Lab, topic: str, count: int) -> None:
    """Raise NotYet unless so many records are those of all the days."""
    if count >= len(ages(DAYS)):
        return
    found = f"{counted(count, 'record')} {'was' if count == 1 else 'were'} stored in the topic"
    expected = f"{DAYS} days are {len(ages(DAYS))} records"
    limit = topic_setting(lab, topic, REFUSED)
    # With the time of a broker a record is never old.
    if int(limit) < max(ages(DAYS)) * HOUR_MS and topic_setting(lab, topic, CLOCK) != "LogAppendTime":
        raise NotYet(
            f"{found}: {REFUSED} is {_days(limit)}, and brokers refuse a record that is older",
            f"{expected}, and the old ones should be written first, and then be deleted",
            f"{REFUSED} in `settings`: it decides what may be written, not what is deleted",
        )
    raise NotYet(found, expected, CALL)


def settings_of(lab: Lab, topic: str) -> dict[str, str]:
    """Return the settings that decide what is deleted; each question takes a moment."""
    names = ("retention.ms", "segment.ms", "retention.bytes", "cleanup.policy")
    return {name: topic_setting(lab, topic, name) for name in names}


def is_in_time(days: list[float]) -> bool:
    """Tell whether these ages (days) are all of the last 7 days and none above 8."""
    return max(days) <= GONE_DAYS and _missing(days) <= 0


def young(days: list[float]) -> int:
    """Return how many of these ages (days) must be there."""
    return sum(age < STAY_DAYS for age in days)


def _missing(days: list[float]) -> int:
    return _wanted() - young(days)


def _wanted() -> int:
    return sum(hours < STAY_DAYS * DAY_HOURS for hours in ages(DAYS))


def _wrong_days(days: list[float], settings: dict[str, str], longest: float) -> NotYet:
    """Say what is wrong with these ages; `longest` is how many days the longest segment spans."""
    oldest = max(days)
    if oldest > GONE_DAYS:
        return _too_old(oldest, settings, longest)
    missing = f"{_missing(days)} of the {_wanted()} records of the last {STAY_DAYS} days are"
    if _by_size(settings):
        return NotYet(
            f"the oldest record is {oldest:.1f} days old: {missing} gone, for retention.bytes is "
            f"{settings['retention.bytes']}, and what is more than that is deleted, however young it is",
            "all of these should be there",
            "retention.bytes in `settings`",
        )
    return NotYet(
        f"the oldest record is {oldest:.1f} days old: {missing} missing",
        "all of these should be there",
        f"retention.ms, which is {_days(settings['retention.ms'])}",
    )


def _by_size(settings: dict[str, str]) -> bool:
    """Tell whether by these settings size may delete what age does not: records of the last 7 days."""
    if int(settings["retention.bytes"]) < 0 or "delete" not in settings["cleanup.policy"]:
        return False
    return not 0 <= int(settings["retention.ms"]) < STAY_DAYS * DAY_MS


def _of_now(count: int) -> NotYet:
    return NotYet(
        f"all {count} records got their time from the broker, so those of {DAYS} days ago look new",
        "each should keep its own time, and the old ones should be gone",
        f"{CLOCK} in `settings`",
    )


def _all_gone(settings: dict[str, str]) -> NotYet:
    value, size = settings["retention.ms"], settings["retention.bytes"]
    return NotYet(
        f"every record is gone: `retention.bytes` is {size}, and what is more than that is deleted"
        if _by_size(settings)
        else f"every record is gone: `retention.ms` is {value}, and so many milliseconds are {_days(value)}",
        f"the records of the last {STAY_DAYS} days should be there",
        "`settings`",
    )


def _too_old(oldest: float, settings: dict[str, str], longest: float) -> NotYet:
    found = f"the oldest record is {oldest:.1f} days old"
    expected = f"none should be older than {GONE_DAYS} days"
    if "delete" not in settings["cleanup.policy"]:
        return NotYet(
            f"{found}: cleanup.policy is {settings['cleanup.policy']}, and then age deletes nothing",
            expected,
            "`settings`",
        )
    retention, segment = (int(settings[name]) / DAY_MS for name in ("retention.ms", "segment.ms"))
    if retention < 0 or retention > GONE_DAYS:
        return NotYet(
            f"{found}: retention.ms is {_days(settings['retention.ms'])}",
            expected,
            "retention.ms in `settings`, in milliseconds",
        )
    if longest > segment * 1.5:
        return NotYet(
            f"{found}: segment.ms is {_days(settings['segment.ms'])} now, but segments that were written "
            "before stay as they are",
            expected,
            "`settings`, with which the topic is made",
        )
    return NotYet(
        f"{found}: its segment spans {longest:.1f} days, and stays until its newest record is too old",
        expected,
        f"{AGES}, and the sum of {_both(settings, retention)}",
    )


def _both(settings: dict[str, str], retention: float) -> str:
    """Name the two settings whose sum says how old a record may become, first the one to change."""
    names = ("segment.ms", "retention.ms") if retention <= STAY_DAYS else ("retention.ms", "segment.ms")
    first, second = (f"{name}, which is {_days(settings[name])}" for name in names)
    return f"{first}, and {second}"


def _days(milliseconds: str) -> str:
    value = int(milliseconds)
    if value < 0:
        return f"{value} (for ever)"
    if value < HOUR_MS:
        return f"{value / 60_000:.3g} minutes"
    if value == DAY_MS:
        return "1 day"
    return f"{value / DAY_MS:.3g} days" if value > DAY_MS else f"{value / HOUR_MS:.3g} hours"
