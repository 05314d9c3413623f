"""Workers that read, work and write inside Kafka, killed in ten places: for docs/guarantees.md."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Booked, killed_in_ten_places
from threebrokers.lab.transfers import COUNT, PLACES
from tools import ROOT
from tools.publish.killed_workers import START_SECONDS, text_of

LESSON = ROOT / "lessons" / "11_transactions.py"  # its programs are the workers
WITHIN_SECONDS = 300.0  # beside a test run all takes longer than in a lab
# The program of the lesson, and the word by which it chooses, in the words of the page.
WAYS: dict[str, tuple[str, str]] = {
    "no transaction": ("clerk", "without transactions"),
    "entries in a transaction, then the offset": ("clerk", "with transactions"),
    "entries and offset in one transaction": ("teller", ""),
}
COLUMNS = ("transfers", "once", "lost", "twice", "in part", "entries stored", "entries read")
NEVER, NOTHING = "–", "nothing was in work"


class Account(NamedTuple):
    """What one worker has left: how many of its transfers and entries; the page's columns, in order."""

    transfers: int
    once: int
    lost: int
    twice: int
    in_part: int
    stored: int
    read: int


class Run(NamedTuple):
    """What one worker has left, and what became of the transfer in work at each place where it was killed."""

    account: Account
    places: Mapping[str, str]

    @classmethod
    def of(cls, left: Booked) -> "Run":
        """Return what the books say after ten kills."""
        became = Counter(_became(left, number) for number in range(COUNT))
        account = Account(
            COUNT,
            became["once"],
            became["lost"],
            became["twice"],
            became["in part"],
            left.stored,
            sum(map(sum, left.counts.values())),
        )
        told = {
            place: NOTHING if number is None else _became(left, number)
            for place, number in left.kills
            if place in PLACES.values()
        }
        return cls(account, told)


Runs = Mapping[str, Sequence[Run]]


def measured(lab: Lab, runs: int, say: Callable[[str], None]) -> Runs:
    """Kill a worker of each way in ten places, so many times; return what each has left, run by run.

    A run in which one of them was not killed as often is told, and does not count: the machine had too much
    to do. Raises LabError if no run counts.
    """
    for program in sorted({program for program, _ in WAYS.values()}):  # it ends at once, and is known by name
        lab.programs.run(program, text_of(LESSON, program)).wait(within=START_SECONDS)
    found: list[dict[str, Run]] = []
    for run in range(1, runs + 1):
        try:
            found.append({way: _killed(lab, way) for way in WAYS})
        except LabError as fault:
            say(f"run {run} of {runs}, transfers: does not count ({fault})")
            continue
        told = ", ".join(f"{way}: {_some(of.account)}" for way, of in found[-1].items())
        say(f"run {run} of {runs}, transfers: {told}")
    if not found:
        raise LabError("No run counts", "run it again when the machine has less to do")
    return {way: [one[way] for one in found] for way in WAYS}


def _killed(lab: Lab, way: str) -> Run:
    """Kill the worker of a way in all places. Raises LabError if it was not killed in each of them."""
    program, word = WAYS[way]
    left = killed_in_ten_places(lab, program, way=word, within=WITHIN_SECONDS)
    lab.close()  # its producers are not used again
    if len(left.kills) != len(PLACES) or left.fault:
        raise LabError(
            f"the worker '{way}' was killed {len(left.kills)} times, not {len(PLACES)}",
            left.fault or "the machine has too much to do",
        )
    return Run.of(left)


def places(runs: Runs) -> dict[str, list[str]]:
    """Return for each place, in the order of the kills, what became of the transfer in work, for each way."""
    return {place: [_told(of, place) for of in runs.values()] for place in PLACES.values()}


def _told(of: Sequence[Run], place: str) -> str:
    """Return the word of all runs, or each word with the number of runs that said it."""
    words = Counter(run.places.get(place, NEVER) for run in of)
    return next(iter(words)) if len(words) == 1 else ", ".join(f"{w} ({n})" for w, n in words.most_common())


def _some(account: Account) -> str:
    return f"{account.lost} lost, {account.twice} twice, {account.in_part} in part"


def _became(left: Booked, number: int) -> str:
    """Return what a reader of committed records sees of a transfer, in a word of the page."""
    both = left.counts.get(number, (0, 0))
    words = {(0, 0): "lost", (1, 1): "once"}
    return words.get(both, "twice" if both[0] == both[1] else "in part")
