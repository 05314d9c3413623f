"""What lab 10's check says of one program that was killed twice in each of two ways."""

from collections.abc import Mapping
from typing import Any

from threebrokers.checks.lab06.runs import CRASHED, PROGRAM, expect_run
from threebrokers.checks.lab10.effects import GO_ON
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios import Killed
from threebrokers.ledger.entries import Entry
from threebrokers.ledger.table import ranges

MOST, LEAST = "at most once", "at least once"
IN_WORK, LAST = 7, 39  # the order that was in work at the first kill, and the last of all
CALL = "killed_twice"
# What a program does that does not wait for its commits.
HURRY = {
    MOST: "the program works on while a commit is under way",
    LEAST: "the program takes the next order while a commit is under way",
}


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
        if ways[way].over and LAST in _found(ways[way])[0]:
            raise NotYet(f"{way!r}: the program ended by itself before the last order", *GO_ON)
    most, least = ways[MOST].balance, ways[LEAST].balance
    for way, balance in ((MOST, most), (LEAST, least)):
        if not balance.processed:
            raise NotYet(
                f"{way!r}: the worker has done nothing",
                "it should work on each order",
                "subscribe([orders.topic]) and orders.work(message)",
            )
    _judge_both(ways[MOST], ways[LEAST])
    _judge_most(ways[MOST])
    _judge_least(ways[LEAST])
    for way in (MOST, LEAST):
        if ways[way].hurried:
            raise NotYet(
                f"{way!r}: {HURRY[way]}, and this time each arrived early enough",
                "a commit should be known to be done before the next line",
                f"asynchronous=False of consumer.commit(…) in {PROGRAM}",
            )


def _judge_both(most: Killed, least: Killed) -> None:
    (gone, again), least_gone = _found(most), _found(least)[0]
    if not gone and again and least_gone and not (most.automatic or least.automatic):
        raise NotYet(
            f"{MOST!r} has done {ranges('order', again)} twice, and {LEAST!r} has lost "
            f"{ranges('order', least_gone)}: they are the wrong way round",
            f"{MOST!r} may lose and never doubles",
            f"what orders.way chooses in {PROGRAM}",
        )


def _judge_most(runs: Killed) -> None:
    gone, again = _found(runs)
    if again:
        twice = f"{MOST!r}: {ranges('order', again)} came twice"
        _expect_waiting(runs, MOST, twice, "no order should be done twice, whatever happens")
        _expect_next(runs, twice)
        raise NotYet(
            f"{twice}, for the work was done before its commit",
            "no order should be done twice, whatever happens",
            f"the order of commit and work in {PROGRAM}",
        )
    if gone != [IN_WORK]:
        lost = f"{MOST!r}: {ranges('order', gone) if gone else 'no order'} got lost"
        expected = (
            f"it should be order {IN_WORK} alone, which was in work: commit one order at a time, before it"
        )
        _expect_own_commits(runs, lost, expected)
        raise NotYet(lost, expected, f"how many orders a commit is for in {PROGRAM}")


def _judge_least(runs: Killed) -> None:
    gone, again = _found(runs)
    if gone:
        lost = f"{LEAST!r}: {ranges('order', gone)} got lost"
        _expect_own_commits(runs, lost, "no order should be lost, whatever happens")
        raise NotYet(
            f"{lost}, for the commit came before its work",
            "no order should be lost, whatever happens",
            f"the order of commit and work in {PROGRAM}",
        )
    if again != [CRASHED]:
        twice = f"{LEAST!r}: {ranges('order', again) if again else 'no order'} came twice"
        expected = f"it should be order {CRASHED} alone, which was done and not committed"
        _expect_own_commits(runs, twice, expected)
        if again:
            _expect_waiting(runs, LEAST, twice, expected)
            _expect_next(runs, twice)
        raise NotYet(twice, expected, f"how often your program commits in {PROGRAM}")


def _expect_own_commits(runs: Killed, found: str, expected: str) -> None:
    """Raise NotYet if the client commits by itself: then the order of the program's lines decides nothing."""
    if runs.automatic:
        raise NotYet(
            f"{found}: the client commits by itself, in the background, whatever your program does first",
            expected,
            f"enable.auto.commit in {PROGRAM}: False, and consumer.commit(…)",
        )


def _expect_waiting(runs: Killed, way: str, found: str, expected: str) -> None:
    """Raise NotYet if commits were under way when the program died: they only ever come too late."""
    _expect_own_commits(runs, found, expected)
    if runs.hurried:
        raise NotYet(
            f"{found}: {HURRY[way]}, and some had not arrived when it died",
            expected,
            f"asynchronous=False of consumer.commit(…) in {PROGRAM}",
        )


def _expect_next(runs: Killed, found: str) -> None:
    """Raise NotYet if the group has committed nothing, or the last order's own offset."""
    if runs.committed is None:
        raise NotYet(
            f"{found}: the group has committed nothing",
            "what is done should be committed in both ways",
            f"the words with which orders.way is compared in {PROGRAM}, and consumer.commit(…)",
        )
    if runs.committed == LAST:
        raise NotYet(
            f"{found}: the last order has offset {LAST}, and the group has committed {LAST}: one too small",
            "the committed offset should be the next one",
            "the offset that you commit; commit(message=…) adds the 1 itself",
        )


def _found(runs: Killed) -> tuple[list[int], list[int]]:
    """Return the orders that got lost, and those that were done twice."""
    return _numbers(runs.balance.unprocessed), _numbers(runs.balance.processed_again)


def _numbers(entries: list[Entry]) -> list[int]:
    return sorted({entry.number.sequence for entry in entries})
