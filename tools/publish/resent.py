"""A program is killed before it hears of its records, and sends them again: for docs/guarantees.md."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from threebrokers import paths
from threebrokers.errors import LabError
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import controller_last, partition_of
from threebrokers.lab.scenarios.guarantees import LEAST
from threebrokers.text import last_line
from tools import ROOT
from tools.publish.resending import ACKNOWLEDGED, COUNT, PART, PLAIN, READY, SENT, WAYS, Notes
from tools.publish.verdicts import Repeated, Say, by_name, repeat, section, table

# An answer is on its way for so long, each way: the program is killed when all is stored.
HELD_MS = 4000
STORED_SECONDS, END_SECONDS = 30.0, 180.0
HEADING = "The program is killed, and sends again"
HEADINGS = (HEADING,)
TEXT = f"""
A program sends {COUNT} orders in each set-up, and notes which of them are acknowledged. It knows that of the
first {PART}. The leader has stored the other {PART} when the program is killed, and no answer has reached it.
The program is started again, with its notes and new producers, and sends what it has no acknowledgement of.

With a `transactional.id` it sends each {PART} in a transaction and notes that they are acknowledged when the
commit is. It is killed with the second transaction open; or when that is committed, and it has not noted it.
*Stored*, *lost* and *twice* are what a reader of committed records finds. *In the log* are all, with those of
transactions that were aborted.
"""
SEE = """
Idempotence does not help: the second life is another producer, with another id. A `transactional.id` ends
what the first life has left open, so that nobody reads it. But if the transaction was committed, the program
must look: it reads first what is committed, and sends only the rest. It knows the orders by numbers of its
own. (With `acks=0` the client reports a record when it has sent it, so nothing is sent again.)
"""


class Resent(NamedTuple):
    """What became of the orders of one set-up; the page's columns, in order."""

    orders: int
    known: int
    again: int
    stored: int
    lost: int
    twice: int
    in_the_log: int


COLUMNS = ("orders", "acknowledged before the kill", "sent again", "stored", "lost", "twice", "in the log")
Run = Mapping[str, Resent]


def measured(lab: Lab, runs: int, say: Say) -> Repeated[Run]:
    """Kill the program so many times; return what became of the orders of each set-up, run by run."""
    return repeat(lab, runs, HEADING, partial(killed_and_started, lab), told, say)


def written(found: Repeated[Run]) -> list[str]:
    """Return the section of the page."""
    rows = by_name(found.runs)
    return [section(HEADING, TEXT, found.told, table("set-up", COLUMNS, rows), see=SEE)]


def sections(lab: Lab, runs: int, say: Say) -> list[str]:
    """Measure, and return the section of the page."""
    return written(measured(lab, runs, say))


def told(run: Run) -> str:
    """Return in a line what was sent again, lost, and came twice."""
    return ", ".join(f"{way}: {of.again} again, {of.lost} lost, {of.twice} twice" for way, of in run.items())


def killed_and_started(lab: Lab) -> Run:
    """Kill the program when its records are stored, and start it again; return what became of them.

    Raises LabError if it was not so: a life that failed, or answers that came before the kill.
    """
    lab.cluster.recover()
    brokers = controller_last(lab)
    topics = {
        way: lab.fresh_topic(f"resent-{number}", brokers=brokers, config=LEAST)
        for number, way in enumerate(WAYS)
    }
    path = paths.home() / "resent.notes"
    path.unlink(missing_ok=True)
    notes = Notes(path)
    _first_life(lab, path, topics)
    known = {way: {*notes.of(ACKNOWLEDGED, way)} for way in WAYS}
    sent = {way: len(notes.of(SENT, way)) for way in WAYS}
    early = [way for way in PLAIN if WAYS[way].settings["acks"] != 0 and len(known[way]) != PART]
    if early:
        raise LabError(f"answers came before the kill ({', '.join(early)})")
    _second_life(path, topics)
    lab.cluster.wait_for_markers()
    return {
        way: account(
            known[way],
            {*notes.of(ACKNOWLEDGED, way)},
            len(notes.of(SENT, way)) - sent[way],
            *(_stored(lab, topics[way], level) for level in ("read_committed", "read_uncommitted")),
        )
        for way in WAYS
    }


def account(
    known: set[int], acknowledged: set[int], again: int, seen: Counter[int], in_the_log: Counter[int]
) -> Resent:
    """Count what became of the orders, of which the program knew some to be acknowledged when it was killed.

    `acknowledged` are those of both lives; `seen` is how often a reader of committed records finds each.
    """
    lost = acknowledged - seen.keys()
    twice = [number for number, times in seen.items() if times > 1]
    return Resent(COUNT, len(known), again, len(seen), len(lost), len(twice), in_the_log.total())


def _first_life(lab: Lab, path: Path, topics: Mapping[str, str]) -> None:
    with _started(path, *topics.values()) as program:
        assert program.stdin
        assert program.stdout
        if READY not in (line.strip() for line in program.stdout):
            raise _failed(program)
        leader = partition_of(lab, topics[PLAIN[0]]).leader
        if leader is None:
            raise LabError("nobody leads")
        lab.cluster.slow(leader, HELD_MS, "clients")
        try:
            program.stdin.write("\n")
            program.stdin.flush()
            _wait_stored(lab, leader, [topics[way] for way in PLAIN])
            program.kill()
            program.wait()
        finally:
            lab.cluster.heal()


def _second_life(path: Path, topics: Mapping[str, str]) -> None:
    with _started(path, *topics.values(), "--again") as program:
        try:
            ended = program.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            raise LabError(f"the second life did not end within {END_SECONDS:g} s") from None
        if ended:
            raise _failed(program)


@contextmanager
def _started(path: Path, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """Start a life of the program; whatever happens, it has ended after the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "tools.publish.resending", str(path), *words],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as program:  # fmt: skip
        try:
            yield program
        finally:
            program.kill()


def _failed(program: "subprocess.Popen[str]") -> LabError:
    _, said = program.communicate()
    return LabError(f"a life of the program failed with code {program.returncode} ({last_line(said)})")


def _wait_stored(lab: Lab, leader: int, topics: Sequence[str]) -> None:
    """Wait until the leader has all orders, as it says itself: the others hold up nobody."""
    with closing(lab.cluster.poller()) as poller:

        def stored() -> bool:
            view = poller.views(topics).get(leader)
            found = [view.topic(topic) if view else None for topic in topics]
            return all(one and (one.partitions[0].log_end_offset or 0) >= COUNT for one in found)

        lab.wait_until(stored, what="the leader to have all orders", within=STORED_SECONDS)


def _stored(lab: Lab, topic: str, level: str) -> Counter[int]:
    return Counter(int(record.value or b"") for record in read_log(lab.bootstrap, topic, isolation=level))
