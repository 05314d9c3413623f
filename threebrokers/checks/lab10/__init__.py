"""The checks of lab 10."""

from typing import Annotated, Any

from threebrokers.checks.expect import Word
from threebrokers.checks.lab10.effects import judge_effects
from threebrokers.checks.lab10.gone import judge_gone
from threebrokers.checks.lab10.lonely import judge_alone
from threebrokers.checks.lab10.reasons import expect_reason_kept, expect_reason_once
from threebrokers.checks.lab10.trials import judge_kept, judge_once
from threebrokers.checks.lab10.ways import judge_ways
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Alone, Effects, Gone, Trials

Lost = Annotated[Gone, "what acknowledged_and_gone(…) returns"]
Killed = Annotated[Trials, "what killed_leader(…) returns"]
Unheard = Annotated[Trials, "what lost_answers(…) returns"]
Lonely = Annotated[Alone, "what leader_alone(…) returns"]
Rows = Annotated[Effects, "what killed_in_five_places(…) returns"]
Offsets = Annotated[list[int], "a list of offsets"]


@exercise("10.1", "Acknowledged, and gone")
def lost_explained(lab: Lab, gone: Lost, lost_offsets: Offsets, now_there: int, had_them: Word) -> str:
    """Solved if the lost offsets, what stands there now, and who had the records are right."""
    judge_gone(lab, gone, lost_offsets, now_there, had_them)
    return (
        "the leader alone had these records, and with acks=1 that is enough for an acknowledgement. The next "
        "leader never saw them, so it gave the first of their offsets to other records, and its log ends "
        "before the rest: nobody sees a gap."
    )


@exercise("10.2", "Nothing lost")
def nothing_lost(lab: Lab, kept: Killed, kept_because: Word) -> str:
    """Solved if the kill takes no acknowledged record, every record is acknowledged, and it is told why."""
    judge_kept(kept)
    expect_reason_kept(kept_because)
    return (
        "all 200 records are acknowledged and stored: the leader alone had 100 of them, so it acknowledged "
        "none of these, and the producer sent them to the next leader."
    )


@exercise("10.3", "Nothing twice")
def nothing_twice(lab: Lab, once: Unheard, once_because: Word) -> str:
    """Solved if the lost answers leave each record in the log once, all acknowledged, and it is told why."""
    judge_once(once)
    expect_reason_once(once_because)
    return (
        "each of the 200 records is stored once, though 100 were sent twice: the leader knew the batch again "
        "by its producer id and its sequence number, and answered without storing it."
    )


@exercise("10.4", "Once, whatever comes")
def effect_once(lab: Lab, books: Rows) -> str:
    """Solved if each order has one invoice after five kills, and though ten orders came twice."""
    judge_effects(books)
    return (
        "each of the 40 orders has one invoice, through five kills and although ten orders stand in the "
        "topic twice: the order's own number decides in the database, in the same transaction as the effect."
    )


@exercise("10.5", "A leader that is alone")
def alone_understood(lab: Lab, alone: Lonely, acknowledged: dict[Any, Any], copies: dict[Any, Any]) -> str:
    """Solved if both topics were written to with acks=all, and answers and replicas are told as they are."""
    judge_alone(lab, alone, acknowledged, copies)
    return (
        "acks=all means all that are in sync, and that may be one. min.insync.replicas says how few are too "
        "few: below it the leader refuses the record before it stores it."
    )


@exercise("10.6", "At most once, at least once")
def both_orders(lab: Lab, ways: dict[Any, Any]) -> str:
    """Solved if one way loses the order in work and doubles none, and the other the reverse."""
    judge_ways(ways)
    return (
        "the same two kills: to commit first lost the order that was in work, to commit after the work did "
        "one twice. The order of two lines decides which of the two promises a program keeps."
    )
