"""What lab 07 says of lags, and of the partitions where they grow."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from threebrokers.checks.expect import log_of
from threebrokers.checks.expect_calls import called
from threebrokers.kafka.log_reader import end_offsets
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.sharing import BACKLOG, OTHERS_PLACES, other_reader

LOOK = "`lag_of(…)`: end of the log, less what the group has committed"


def lags(*, later: bool) -> dict[int, int]:
    """Return the lag of each partition of `backlog` at the first or the second moment."""
    return {
        p: end - (BACKLOG[p].start if offset is None else offset)
        for p, (end, offset) in moment(later=later).items()
    }


def moment(*, later: bool) -> dict[int, tuple[int, int | None]]:
    """Return the end of each partition, and what the group has committed there, at one of the moments."""
    if later:
        return {p: (part.later_end, part.later_committed) for p, part in enumerate(BACKLOG)}
    return {p: (part.end, part.committed) for p, part in enumerate(BACKLOG)}


def judge_lags(lab: Lab, before: Mapping[int, float], after: Mapping[int, float]) -> None:
    """Raise NotYet unless both dictionaries hold the lag of each partition at their moment."""
    before, after = _whole("before", before), _whole("after", after)
    _judge("before", before, later=False)
    stored = len(log_of(lab, lab.topic("backlog")))
    if dict(after) == dict(before) or stored == sum(part.end - part.start for part in BACKLOG):
        raise NotYet(
            "`after` is what `before` was",
            "it should be the lag of an hour later",
            "`an_hour_later(…)`, which belongs between the two, and whether `after` is asked for behind it",
        )
    hour = sum(part.later_end - part.start for part in BACKLOG)
    if stored > hour and any(after.get(p) != lag for p, lag in lags(later=True).items()):
        raise NotYet(
            f"more than one hour has passed: the topic holds {stored} records, and after an hour {hour}",
            "`after` should be the lag of one hour later",
            "`an_hour_later(…)`, once in the cell; run the whole cell again",
        )
    _judge("after", after, later=True)


def judge_function(lab: Lab, lag_of: Callable[..., Any]) -> None:
    """Raise NotYet unless the function tells the lags of another group, too, and of the colleague's topic."""
    _judge_asked(lab, lag_of, lab.topic("backlog"), "group")
    before = lab.topic("backlog-before")
    if lab.cluster.state([before]).topic(before) is not None:
        _judge_asked(lab, lag_of, before, "topic")


def _judge_asked(lab: Lab, lag_of: Callable[..., Any], topic: str, other: str) -> None:
    """Raise NotYet unless the function tells the lags of a new group; `other` is what may be new to it."""
    group = other_reader(lab, topic)
    ends = end_offsets(lab.bootstrap, topic)
    told = called(f"`lag_of(…)`, asked about another {other},", lag_of, group, topic)
    if not isinstance(told, Mapping):
        raise NotYet(
            f"`lag_of(…)` returns {told!r:.60} for another {other}",
            "it should return a dictionary: the lag of each partition",
            "`return` in your function",
        )
    for p, offset in enumerate(OTHERS_PLACES):
        right = ends[p] - (BACKLOG[p].start if offset is None else offset)
        if told.get(p) != right:
            has = "which has" if other == "group" else f"{topic!r}, where the group that was asked about has"
            raise NotYet(
                f"`lag_of(…)` returns {told.get(p)!r:.40} for partition {p} of another {other}, {has} "
                f"committed {'nothing' if offset is None else offset}",
                f"that lag is {right}: the function should ask the brokers about the {other} it is given",
                LOOK,
            )


def judge_worse(worse: Sequence[object]) -> None:
    """Raise NotYet unless these are the partitions whose lag grows."""
    first, second = lags(later=False), lags(later=True)
    right = {p for p in second if second[p] > first[p]}
    given = set(worse)
    for p in sorted(first.keys() & given - right):
        how = "shrinks" if second[p] < first[p] else "stays as it is"
        raise NotYet(
            f"`worse` has partition {p}, whose lag {how} ({first[p]}, then {second[p]})",
            "it should have those whose lag grows",
            "`before` and `after`, partition by partition",
        )
    if strange := given - first.keys():
        raise NotYet(
            f"`worse` has {sorted(map(str, strange))[0]}", "it should have numbers of partitions", "`worse`"
        )
    if missing := sorted(right - given):
        p = missing[0]
        raise NotYet(
            f"`worse` leaves out partition {p}, whose lag was {first[p]} and is {second[p]}",
            "it should have all partitions whose lag grows",
            "`before` and `after`, partition by partition",
        )


def _whole(name: str, told: Mapping[int, float]) -> dict[int, int]:
    """Return the numbers as whole ones. Raises NotYet for what can only be a time."""
    for p, value in told.items():
        if not float(value).is_integer():
            raise NotYet(
                f"`{name}` says {value} for partition {p}, which is no number of records",
                "a lag counts records: a client's clock tells how old they are, not how many are to be read",
                LOOK,
            )
    return {p: int(value) for p, value in told.items()}


def _judge(name: str, told: Mapping[int, int], *, later: bool) -> None:
    right = lags(later=later)
    ends = {p: end for p, (end, _) in moment(later=later).items()}
    offsets = {p: offset for p, (_, offset) in moment(later=later).items()}
    if missing := sorted(right.keys() - told.keys()):
        raise NotYet(f"`{name}` says nothing of partition {missing[0]}", "it should hold all five", LOOK)
    wrong = [p for p in right if told[p] != right[p]]
    if not wrong:
        return
    p, value = wrong[0], told[wrong[0]]
    if all(offsets[q] is None and told[q] == ends[q] for q in wrong):
        raise NotYet(
            f"`{name}` says {value} for partition {p}, as if its log began at 0; it begins at "
            f"{BACKLOG[p].start}, for older records were deleted",
            f"the lag is {right[p]}: what is deleted cannot be read",
            "`get_watermark_offsets(…)`, which returns both the start and the end",
        )
    if all(offsets[q] is None for q in wrong):
        raise NotYet(
            f"`{name}` says {value} for partition {p}, where the group has committed nothing; "
            f"the partition holds {ends[p] - BACKLOG[p].start} records",
            f"the lag is {right[p]}: all of them are still to be read",
            "the offset that stands for 'none': this client says -1001",
        )
    if not later and all(told[q] == lag for q, lag in lags(later=True).items()):
        raise NotYet(
            "`before` holds the lags of an hour later",
            "it should be asked before the hour passes",
            "the order of `before = …`, `an_hour_later(…)` and `after = …`",
        )
    if all(told[q] == (offsets[q] or 0) for q in wrong):
        raise NotYet(
            f"`{name}` holds the committed offsets",
            "a lag is how far these are from the end of the log",
            LOOK,
        )
    if all(told[q] == ends[q] - BACKLOG[q].start for q in right):
        raise NotYet(
            f"`{name}` holds the lags of a group that has committed nothing",
            "`readers` has committed offsets in four partitions",
            "the group for which `lag_of(…)` was called",
        )
    if all(told[q] == ends[q] for q in wrong):
        raise NotYet(
            f"`{name}` holds the ends of the logs", "a lag is how much of it is still to be read", LOOK
        )
    if later and all(told[q] == ends[q] - (BACKLOG[q].committed or 0) for q in wrong):
        raise NotYet(
            "`after` takes the offsets that were committed an hour before",
            "the group has read on since then",
            "where `lag_of(…)` asks for what is committed",
        )
    raise NotYet(f"`{name}` says {value} for partition {p}", f"its lag is {right[p]}", LOOK)
