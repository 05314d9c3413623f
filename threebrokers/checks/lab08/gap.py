"""What lab 08 says of a worker whose place in the log is gone."""

from collections.abc import Collection, Mapping

from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Charges
from threebrokers.lab.scenarios.left_behind import BILLED, CHARGES, STARTS
from threebrokers.text import counted, numbered

LEDGER = "charges.ledger.balance(charges.topic)"
OFFSETS = "committed(…) and get_watermark_offsets(…) of the worker, before it bills"

Place = tuple[int, int]


def left() -> set[Place]:
    """Return the places of the charges that the group has not billed and that are still in the log."""
    return {(p, offset) for p, start in STARTS.items() for offset in range(max(start, BILLED[p]), CHARGES)}


def gaps() -> dict[int, int]:
    """Return for each partition how many charges were deleted before the group had billed them."""
    return {p: max(0, start - BILLED[p]) for p, start in STARTS.items()}


def judge_gap(lab: Lab, charges: Charges, missed: Mapping[int, int]) -> None:
    """Raise NotYet unless in this try each charge that is left was billed once, and the gaps are known."""
    found = charges.ledger.balance(charges.topic).processed
    judge_billed([(entry.partition or 0, entry.offset or 0) for entry in found])
    judge_missed(missed)


def judge_billed(places: Collection[Place]) -> None:
    """Raise NotYet unless these places were billed: each that is left, once, and no other."""
    wanted = left()
    if not places:
        raise NotYet(
            "no charge was billed",
            f"{len(wanted)} are still there for the group",
            "worker.subscribe([charges.topic]), and charges.bill_all(worker)",
        )
    if before := [place for place in places if place[1] < BILLED[place[0]]]:
        raise NotYet(
            f"{counted(len(before), 'charge')} of {numbered('partition', sorted({p for p, _ in before}))} "
            f"had been billed before, and {'was' if len(before) == 1 else 'were'} billed again",
            "where the group's place is still in the log, it should go on there",
            f"{LEDGER}, and the group and the offsets of the worker",
        )
    if missing := wanted - set(places):
        partitions = sorted({p for p, _ in missing})
        raise NotYet(
            f"{counted(len(missing), 'charge')} of {numbered('partition', partitions)} "
            f"{'is' if len(missing) == 1 else 'are'} still in the log, and not billed",
            "what is there should be billed",
            "where the worker begins if its place is gone: auto.offset.reset",
        )
    if len(places) > len(set(places)):
        raise NotYet(
            f"{counted(len(places) - len(set(places)), 'charge')} of this try came into the bills twice",
            "each should be billed once",
            LEDGER,
        )


def judge_missed(missed: Mapping[int, int]) -> None:
    """Raise NotYet unless this is for each partition how many charges nobody can bill any more."""
    right = gaps()
    given = {partition: missed.get(partition, 0) for partition in right}
    if odd := sorted(set(missed) - set(right)):
        raise NotYet(f"`missed` has a partition {odd[0]}", f"there are {len(right)}: 0, 1 and 2", "`missed`")
    if given == right:
        return
    if given == {p: CHARGES - billed for p, billed in BILLED.items()}:
        raise NotYet(
            "`missed` holds the lag of each partition, which also counts what is still there",
            "only what is deleted is missed",
            OFFSETS,
        )
    if given == STARTS:
        raise NotYet(
            "`missed` holds where each log begins now, which also counts what the group had billed",
            "a charge is missed if it was deleted before it was billed",
            OFFSETS,
        )
    wrong = next(p for p in sorted(right, reverse=True) if given[p] != right[p])
    if STARTS[wrong] <= BILLED[wrong]:
        raise NotYet(
            f"`missed` says {given[wrong]} for partition {wrong}: the group had billed everything before "
            f"offset {BILLED[wrong]}, and the log begins at {STARTS[wrong]}, so nothing was deleted there "
            "before it was billed",
            "where nothing is missing it should say 0",
            OFFSETS,
        )
    nothing = "; nothing is left there, so no record tells of it" if STARTS[wrong] == CHARGES else ""
    raise NotYet(
        f"`missed` says {given[wrong]} for partition {wrong}, where the group had billed everything before "
        f"offset {BILLED[wrong]} and the log begins at {STARTS[wrong]}{nothing}",
        "it should count what lies between these two",
        OFFSETS,
    )
