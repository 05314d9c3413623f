"""What lab 10's check says of one program that was killed twice in each of two ways."""

from collections.abc import Mapping
from typing import Any

from threebrokers.checks.lab06.runs import CRASHED, PROGRAM, expect_run
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios import Killed
from threebrokers.ledger.entries import Entry
from threebrokers.ledger.table import ranges

MOST, LEAST = "at most once", "at least once"
IN_WORK = 7  # the order that was in work at the first kill
CALL = "killed_twice"


def judge_ways(ways: Mapping[Any, Any]) -> None:
    """Raise an Outcome unless each way keeps its own promise, and breaks the other one by one order."""
    for way in (MOST, LEAST):
        if not isinstance(ways.get(way), Killed):
            raise NotYet(
                f"`ways` has no runs for {way!r}",
                "it should be what the cell makes of your program",
                f"the cell with {CALL}: run it as it stands in the lab",
            )
        expect_run("10.6", ways[way], CALL)
    most, least = ways[MOST].balance, ways[LEAST].balance
    for way, balance in ((MOST, most), (LEAST, least)):
        if not balance.processed:
            raise NotYet(
                f"{way!r}: the worker has done nothing",
                "it should work on each order",
                "subscribe([orders.topic]) and orders.work(message)",
            )
    _judge_both(_numbers(most.unprocessed), _numbers(most.processed_again), _numbers(least.unprocessed))
    _judge_most(_numbers(most.unprocessed), _numbers(most.processed_again))
    _judge_least(_numbers(least.unprocessed), _numbers(least.processed_again))


def _judge_both(gone: list[int], again: list[int], least_gone: list[int]) -> None:
    if not gone and again and least_gone:
        raise NotYet(
            f"{MOST!r} has done {ranges('order', again)} twice, and {LEAST!r} has lost "
            f"{ranges('order', least_gone)}: they are the wrong way round",
            f"{MOST!r} may lose and never doubles",
            f"what orders.way chooses in {PROGRAM}",
        )


def _judge_most(gone: list[int], again: list[int]) -> None:
    if again:
        raise NotYet(
            f"{MOST!r}: {ranges('order', again)} came twice, for the work was done before its commit",
            "no order should be done twice, whatever happens",
            f"the order of commit and work in {PROGRAM}",
        )
    if gone != [IN_WORK]:
        raise NotYet(
            f"{MOST!r}: {ranges('order', gone) if gone else 'no order'} got lost",
            f"it should be order {IN_WORK} alone, which was in work: commit one order at a time, before it",
            f"how many orders a commit is for in {PROGRAM}",
        )


def _judge_least(gone: list[int], again: list[int]) -> None:
    if gone:
        raise NotYet(
            f"{LEAST!r}: {ranges('order', gone)} got lost, for the commit came before its work",
            "no order should be lost, whatever happens",
            f"the order of commit and work in {PROGRAM}",
        )
    if again != [CRASHED]:
        raise NotYet(
            f"{LEAST!r}: {ranges('order', again) if again else 'no order'} came twice",
            f"it should be order {CRASHED} alone, which was done and not committed",
            f"how often your program commits in {PROGRAM}",
        )


def _numbers(entries: list[Entry]) -> list[int]:
    return sorted({entry.number.sequence for entry in entries})
