"""What lab 08 says of records that should be deleted at once."""

from collections.abc import Mapping

from threebrokers.checks.expect import expect_topic
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.outage import no_answer
from threebrokers.lab.scenarios.signups import LEAKY, SIGNUPS
from threebrokers.text import counted, listed, numbered

LOOK = "offsets_for_times(…) and delete_records(…), each for all partitions"


def judge_removal(lab: Lab, topic: str, starts: Mapping[int, int]) -> None:
    """Raise NotYet unless each partition begins at its first clean record, and `starts` says so."""
    found = expect_topic(lab, topic, "signups")
    bounds = {p.id: (p.log_start_offset, p.high_watermark) for p in found.partitions}
    told = {n: (start, end) for n, (start, end) in bounds.items() if start is not None and end is not None}
    if told.keys() != bounds.keys():
        raise no_answer(lab)
    judge_bounds(told)
    for partition, start in LEAKY.items():
        if starts.get(partition) != start:
            raise NotYet(
                f"`starts` says {starts.get(partition, 'nothing')} for partition {partition}",
                f"the first offset there is {start} now",
                "low_watermark of what delete_records answers",
            )


def judge_bounds(bounds: Mapping[int, tuple[int, int]]) -> None:
    """Raise NotYet unless these are the first and the next offset of each partition (number: both)."""
    if len(bounds) != len(LEAKY) or any(end < SIGNUPS for _, end in bounds.values()):
        raise NotYet(
            f"the topic was made anew: its offsets end at {listed(end for _, end in bounds.values())}",
            "the clean records should stay, at their offsets",
            LOOK,
        )
    if any(end > SIGNUPS for _, end in bounds.values()):
        more = sum(end - SIGNUPS for _, end in bounds.values())
        raise NotYet(
            f"{counted(more, 'record')} came in, and the old ones stand where they stood",
            "a log is changed only at its end: a record cannot take another one away here",
            LOOK,
        )
    leaking = {p: LEAKY[p] - start for p, (start, _) in bounds.items() if start < LEAKY[p]}
    lost = {p: start - LEAKY[p] for p, (start, _) in bounds.items() if start > LEAKY[p]}
    if all(start == end for start, end in bounds.values()):
        raise NotYet(
            f"all {SIGNUPS * len(LEAKY)} records are deleted, the clean ones too",
            "only what came before `mended` should go",
            LOOK,
        )
    if set(lost.values()) == {1} and not leaking:
        raise NotYet(
            f"one clean record of {numbered('partition', sorted(lost))} is deleted, too",
            "delete_records deletes what is before the offset: give it the first that should stay",
            LOOK,
        )
    if lost:
        partition = next(iter(lost))
        raise NotYet(
            f"{counted(lost[partition], 'clean record')} of partition {partition} "
            f"{'is' if lost[partition] == 1 else 'are'} deleted, too",
            "a partition has offsets of its own: ask for each of them",
            LOOK,
        )
    if set(leaking.values()) == {1}:
        raise NotYet(
            f"one record with a password is left in {numbered('partition', sorted(leaking))}",
            "delete_records deletes what is before the offset: give it the first that should stay",
            LOOK,
        )
    if leaking:
        raise NotYet(
            f"{numbered('partition', sorted(leaking))} still {'has' if len(leaking) == 1 else 'have'} "
            f"{sum(leaking.values())} records with a password",
            "none should be left",
            LOOK,
        )
