"""Exercise 2.4: whether a topic can tell what came in since a time, and whether it was asked rightly."""

import json
from collections.abc import Sequence
from functools import cache

from threebrokers.data.flights import flight_messages
from threebrokers.data.topics import NOTED_AFTER, TEN_DAYS
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet

A_DAY = 24 * 60 * 60 * 1000  # ms
SETTING = "message.timestamp.type, a setting of the topic"
ASKED = "what first_since() gets: the topic `days`, and the time `moment`"
BEHIND = "offset {} is where the log ends: no record is late enough"
AS_IT_IS = "`moment` should be asked for as it is"


def is_filled(records: Sequence[Record]) -> int:
    """Return the offset of the first record after the third day. Raises NotYet unless all ten are there."""
    days = [_day(record) for record in records]
    wanted = [day for day in TEN_DAYS for _ in range(_flights()[day])]
    if days != wanted:
        missing = [day for day in TEN_DAYS if days.count(day) < _flights()[day]]
        what = "has the ten days in another order"
        if missing:
            what = f"lacks flights of {len(missing)} of the ten days"
        elif len(days) > len(wanted):
            what = "has some days twice"
        raise NotYet(
            f"'days' {what}",
            "it should have each of the ten days once, and nothing else",
            "lab.fresh_topic(…), which starts from an empty topic, and send_ten_days(lab, …) after it",
        )
    return records[days.index(TEN_DAYS[NOTED_AFTER])].offset


def has_one_clock(
    records: Sequence[Record], first: int, moment: int, offset: int, *, is_changed: bool
) -> None:
    """Raise NotYet unless the leader has written the time of each record.

    `first` is the offset that is wanted; `is_changed` says whether the topic's setting is the right one now.
    """
    if all(record.timestamp_type == "append" for record in records):
        return
    told, look = _first_by_time(records, moment), SETTING
    expected = "one clock should tell the time of all records, and a program's clock can be wrong"
    if is_changed:
        found = "the setting was changed after the records had been stored, and they keep their times"
        expected = "the topic should have the setting from the beginning"
    elif offset == first:
        found = "the offset is right, but the topic still has the times of the programs"
        expected = f"whoever asks the leader is sent to offset {told}"
    elif offset == told:
        found = f"what stands from offset {first} to {offset - 1}, all flights of the 5th, is not read again"
    elif _is_behind(records, offset):
        found, expected, look = BEHIND.format(offset), AS_IT_IS, ASKED
    elif offset < first:
        found = f"the {first - offset:,} records before offset {first} would be read twice"
    else:
        found = f"offset {offset} is not the first that was stored since"
    raise NotYet(found, expected, look)


def is_the_first(records: Sequence[Record], first: int, moment: int, offset: int) -> None:
    """Raise NotYet unless `moment` is the time that was noted, and the offset the first one since."""
    if _first_by_time(records, moment) != first:
        wrong = "not the time that was noted"
        if abs(moment * 1000 - records[0].timestamp) < A_DAY:
            wrong = "in seconds: Kafka's times are in milliseconds"
        elif moment <= records[0].timestamp:
            wrong = "a time before anything was stored in 'days'"
        elif moment > records[-1].timestamp:
            wrong = "a time after all was stored in 'days'"
        raise NotYet(
            f"`moment` is {wrong}",
            "it should be what send_ten_days(lab, …) returned for this topic",
            "`moment`",
        )
    if offset == first:
        return
    found = f"the record at offset {offset} was stored {'before' if offset < first else 'after'} `moment`"
    expected = "the first one with a timestamp from `moment` on is wanted"
    look = ASKED
    if offset == 0:
        found = "offset 0 is the answer for a time long ago"
        expected = "`moment` is in milliseconds since 1970, and should be asked for as it is"
    elif _is_behind(records, offset):
        found, expected = BEHIND.format(offset), AS_IT_IS
    elif offset == first - 1:
        found = f"offset {offset} is the last record stored before `moment`"
    elif offset == first + 1:
        found = f"offset {offset} is the second record stored since `moment`"
        look = "what first_since() gets, and whether `offset` is just what it returns"
    raise NotYet(found, expected, look)


def _is_behind(records: Sequence[Record], offset: int) -> bool:
    """Tell whether this is what the leader answers if nothing is so late; the client may say it as -1."""
    return offset < 0 or offset > records[-1].offset


def _first_by_time(records: Sequence[Record], moment: int) -> int | None:
    """Return what the leader answers: the first offset with this time or a later one."""
    return next((record.offset for record in records if record.timestamp >= moment), None)


@cache
def _flights() -> dict[int, int]:
    """Return how many flights each of the ten days has."""
    days = [int(json.loads(value)["scheduled"][8:10]) for _, value in flight_messages(1)]
    return {day: days.count(day) for day in TEN_DAYS}


def _day(record: Record) -> int:
    try:
        return int(json.loads(record.value or b"")["scheduled"][8:10])
    except (ValueError, TypeError, KeyError):
        return 0
