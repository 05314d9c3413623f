"""Exercise 15.5: a trigger for each of three queries, by what each of them needs."""

import re
from collections.abc import Mapping

from threebrokers.lab.exercise import NotYet

NAMES = ("alarm", "board", "counts")
KINDS = ("realTime", "processingTime", "availableNow", "once", "continuous")
SHORTEST, LOOK = 5.0, 1.0  # seconds: the shortest interval of real-time mode; how often the board is read
TABLE = "the table of real-time mode"
# As Spark reads intervals (SparkIntervalUtils.stringToInterval): whole words, a blank before each, and parts
# of a second only.
SECONDS = {
    "microsecond": 0.000_001, "millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": 3600.0,
    "day": 86_400.0, "week": 604_800.0,
}  # fmt: skip
NUMBER = r"(\d+(?:\.\d+)?)\s+([a-z]+)"


def judge_choice(choice: Mapping[str, Mapping[str, object]]) -> None:
    """Raise NotYet unless each query has the trigger that fits: real time, once a second, without a pause."""
    if sorted(choice) != sorted(NAMES):
        raise NotYet(
            f"`choice` has the names {', '.join(sorted(choice))}",
            f"it should have {', '.join(NAMES)}",
            "the cell of the exercise",
        )
    for name, trigger in choice.items():
        if not isinstance(trigger, Mapping):
            raise NotYet(
                f"the trigger of `{name}` is {trigger!r}",
                "each trigger is a dictionary; no trigger is {}",
                "`triggers`",
            )
        _expect_trigger(name, trigger)
    _judge_counts(choice["counts"])
    _judge_alarm(choice["alarm"])
    _judge_board(choice["board"])


def seconds_of(told: object) -> float | None:
    """Return how long an interval like "5 seconds" is, in seconds; None if Spark would refuse it."""
    text = str(told).lower().strip().removeprefix("interval ")
    if re.fullmatch(rf"{NUMBER}(?:\s+{NUMBER})*", text.strip()) is None:
        return None
    total = 0.0
    for number, unit in re.findall(NUMBER, text):
        factor = SECONDS.get(unit.removesuffix("s"))
        if factor is None or ("." in number and factor != 1.0):
            return None
        total += float(number) * factor
    return total


def _expect_trigger(name: str, trigger: Mapping[str, object]) -> None:
    told = f"the trigger of `{name}` is {dict(trigger)!r}"
    if len(trigger) > 1 or not set(trigger) <= set(KINDS):
        raise NotYet(told, "a trigger has one argument of `trigger(…)`, or none", "`triggers`")
    for kind, value in trigger.items():
        if kind in ("availableNow", "once"):
            raise NotYet(told, "such a query ends, and these three should go on", f"`{name}`")
        if seconds_of(value) is None:
            raise NotYet(told, 'an interval is a text like "5 seconds"', f"`{name}`")


def _judge_counts(trigger: Mapping[str, object]) -> None:
    if "realTime" in trigger or "continuous" in trigger:
        raise NotYet(
            "counts need state, and Spark refuses a query with state in this mode",
            "they are only as fresh as a batch is quick",
            TABLE,
        )
    if (seconds_of(trigger.get("processingTime", "0 seconds")) or 0) > 0:
        raise NotYet(
            "the counts wait for the next batch to be due",
            "they would be fresher without a pause between two batches",
            "`counts`",
        )


def _judge_alarm(trigger: Mapping[str, object]) -> None:
    if "realTime" not in trigger and "continuous" not in trigger:
        raise NotYet(
            "an alarm waits for a batch to end",
            "each record should be handed on at once; `where` and `select` keep nothing",
            "the first line of each trigger in the picture",
        )
    if "realTime" in trigger and (seconds_of(trigger["realTime"]) or 0) < SHORTEST:
        raise NotYet(
            f"Spark refuses an interval below {SHORTEST:g} seconds: yours is {trigger['realTime']}",
            "it says how often the checkpoint is written; a record does not wait for its end",
            TABLE,
        )


def _judge_board(trigger: Mapping[str, object]) -> None:
    every = seconds_of(trigger.get("processingTime", "0 seconds")) or 0
    if "processingTime" in trigger and every == LOOK:
        return
    if every > LOOK:
        raise NotYet(
            f"the board gets something new each {every:g} seconds",
            f"the screen looks each {LOOK:g} second",
            "`board`",
        )
    raise NotYet(
        "the board costs more batches than anybody looks at, or tasks that never end",
        f"one batch for each look of the screen is enough: each {LOOK:g} second",
        "`board`",
    )
