"""Workers that read, work and write inside Kafka, killed in ten places: for docs/guarantees.md."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Booked, killed_in_ten_places
from threebrokers.lab.transfers import COUNT, PLACES
from tools import ROOT
from tools.publish.killed_workers import START_SECONDS, text_of
from tools.publish.verdicts import Repeated, Say, by_name, lines, repeat, section, table, wrapped

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
HEADING = "A worker of transfers is killed in ten places"
HEADINGS = (HEADING,)
TEXT = f"""
Workers read {COUNT} transfers between accounts, one at a time, and write two entries for each into another
topic: the programs of lab 11. Each is killed once in each of the places below, and started again with the
same `transactional.id`. A reader of committed records sees a transfer *once* (its two entries), not at all
(*lost*), *twice* (both entries twice) or *in part*. *Entries stored* are all in the log, also those of
transactions that were aborted: a reader with `read_uncommitted` gets them, too.
"""
PLACES_TEXT = """
And what a reader of committed records saw in the end of the transfer that was in work at each kill. "–": the
worker never comes there, and was killed between two transfers. A number in brackets says in how many runs.
"""
SEE = """
Only where entries and offset are in one transaction each transfer is there once, wherever the kill hits.
Without a transaction a transfer comes twice or in part; if the offset is written after the transaction, one
comes twice.
"""


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


Done = Mapping[str, Run]


def measured(lab: Lab, runs: int, say: Say) -> Repeated[Done]:
    """Kill a worker of each way in ten places, so many times; return what each has left, run by run.

    A run in which one of them was not killed as often is told, and does not count: the machine had too much
    to do.
    """
    for program in sorted({program for program, _ in WAYS.values()}):  # it ends at once, and is known by name
        lab.programs.run(program, text_of(LESSON, program)).wait(within=START_SECONDS)
    return repeat(lab, runs, HEADING, lambda: {way: _killed(lab, way) for way in WAYS}, told, say)


def written(found: Repeated[Done]) -> list[str]:
    """Return the section of the page."""
    runs = by_name(found.runs)
    kills = f"These are {len(PLACES) * len(found.runs)} kills of each worker."
    accounts = {way: [run.account for run in of] for way, of in runs.items()}
    rows = [[place, *words] for place, words in places(runs).items()]
    return [
        section(
            HEADING,
            TEXT,
            f"{found.told} {kills}",
            table("worker", COLUMNS, accounts),
            wrapped(PLACES_TEXT),
            lines("killed", list(runs), rows),
            see=SEE,
        )
    ]


def sections(lab: Lab, runs: int, say: Say) -> list[str]:
    """Measure, and return the section of the page."""
    return written(measured(lab, runs, say))


def told(run: Done) -> str:
    """Return in a line what was lost, and came twice or in part."""
    return ", ".join(
        f"{way}: {of.account.lost} lost, {of.account.twice} twice, {of.account.in_part} in part"
        for way, of in run.items()
    )


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


def places(runs: Mapping[str, Sequence[Run]]) -> dict[str, list[str]]:
    """Return for each place, in the order of the kills, what became of the transfer in work, for each way."""
    return {place: [_told(of, place) for of in runs.values()] for place in PLACES.values()}


def _told(of: Sequence[Run], place: str) -> str:
    """Return the word of all runs, or each word with the number of runs that said it."""
    words = Counter(run.places.get(place, NEVER) for run in of)
    return next(iter(words)) if len(words) == 1 else ", ".join(f"{w} ({n})" for w, n in words.most_common())


def _became(left: Booked, number: int) -> str:
    """Return what a reader of committed records sees of a transfer, in a word of the page."""
    both = left.counts.get(number, (0, 0))
    words = {(0, 0): "lost", (1, 1): "once"}
    return words.get(both, "twice" if both[0] == both[1] else "in part")
