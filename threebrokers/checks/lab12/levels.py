"""Exercise 12.7: rows of aborted transactions, offsets of marks and a sum, against what stands in the log."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from threebrokers.kafka.log_reader import Record, end_offsets, read_log
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.text import counted

Place = tuple[int, int]  # partition and offset
LEVELS = "the two isolation levels in the cell of the exercise"
COMPARED = "how you compare the two reads"


@dataclass(frozen=True)
class Levels:
    """The records of a topic as a reader of each isolation level gets them, and the sum of its ends."""

    committed: Sequence[Record]
    uncommitted: Sequence[Record]
    end: int

    @classmethod
    def of(cls, lab: Lab, topic: str) -> Self:
        """Read the topic twice."""
        committed = read_log(lab.bootstrap, topic)
        uncommitted = read_log(lab.bootstrap, topic, isolation="read_uncommitted")
        return cls(committed, uncommitted, sum(end_offsets(lab.bootstrap, topic).values()))

    @property
    def aborted(self) -> list[Record]:
        """What only a reader of uncommitted records gets."""
        seen = places(self.committed)
        return [record for record in self.uncommitted if (record.partition, record.offset) not in seen]

    @property
    def marks(self) -> int:
        """How many offsets no reader gets."""
        return self.end - len(self.uncommitted)

    @property
    def marks_between(self) -> int:
        """How many of them are before the last record of their partition."""
        last = {record.partition: record.offset for record in sorted(self.uncommitted, key=place)}
        return sum(offset + 1 for offset in last.values()) - len(self.uncommitted)


def place(record: Record) -> Place:
    """Return where a record stands."""
    return record.partition, record.offset


def places(records: Sequence[Record]) -> set[Place]:
    """Return where these records stand."""
    return set(map(place, records))


def euros(records: Sequence[Record]) -> int:
    """Return the sum of payments."""
    return sum(int(json.loads(record.value or b"{}").get("euros", 0)) for record in records)


def expect_places(columns: Sequence[str], look_at: str) -> None:
    """Raise NotYet unless one column of each name tells where the records of `aborted` stand."""
    for name in ("partition", "offset"):
        if name not in columns:
            raise NotYet(
                f"`aborted` has no column `{name}`", "nobody can tell where its records stand", look_at
            )
        if list(columns).count(name) > 1:
            raise NotYet(
                f"`aborted` has more than one column `{name}`, and nobody can tell which one counts",
                "it should have the columns of one side of the join",
                'select(…) of that side, or a join of the kind "left_anti"',
            )


def compare_aborted(found: Sequence[Place], log: Levels, turnover: int) -> None:
    """Raise NotYet unless these are the places of the aborted records, each once.

    The learner's `turnover` tells whether a read of theirs has left out what was aborted.
    """
    told, right = set(found), places(log.aborted)
    if told == right and len(found) == len(told):
        return
    if not told:
        raise _nothing(turnover == euros(log.committed))
    if told == places(log.uncommitted):
        raise _everything(all(record.key is None for record in log.uncommitted))
    if told == places(log.committed):
        raise NotYet("`aborted` has the records that were committed", "it should have the others", COMPARED)
    if told != right:
        _expect_known_by_place(told, log)
    odd = len(told - right)
    raise NotYet(
        f"`aborted` has {counted(len(found), 'row')}, {len(told & right)} of them aborted records"
        + (f", and {odd} that were committed" if odd else ""),
        f"it should have the {len(right)} that were aborted, each once",
        LEVELS,
    )


def _nothing(is_level_known: bool) -> NotYet:
    """Return what is said of a table without rows; a right turnover tells that a level was asked for."""
    if is_level_known:
        return NotYet(
            "`aborted` has no rows, and `turnover` is without the aborted payments",
            "it should have what a reader of all records gets, and a reader of committed ones does not",
            f"{COMPARED}: an anti-join and EXCEPT keep rows of the table on the left",
        )
    return NotYet(
        "`aborted` has no rows",
        "it should have what a reader of committed records does not get; Spark passes over an option that it "
        "does not know, and says nothing",
        "the option's name: the client's own settings begin with `kafka.`",
    )


def _everything(is_without_keys: bool) -> NotYet:
    """Return what is said of a table that has all records of the topic."""
    if is_without_keys:
        return NotYet(
            "`aborted` has all records of the topic",
            "it should have the aborted ones: all keys here are null, and in a join null equals nothing, not "
            "even null",
            "the columns by which you compare or filter",
        )
    return NotYet("`aborted` has all records of the topic", "it should have the aborted ones", COMPARED)


def _expect_known_by_place(told: set[Place], log: Levels) -> None:
    """Raise NotYet if these are the aborted records that differ in something else than their place."""
    values = {record.value for record in log.committed}
    if told == places([record for record in log.aborted if record.value not in values]):
        raise NotYet(
            f"`aborted` has {counted(len(told), 'row')}; the other {len(log.aborted) - len(told)} aborted "
            "records have a value that was written again later, and committed",
            "two records may say the same: which of them was aborted is known by where it stands",
            "the columns by which you compare",
        )
    offsets = {record.offset for record in log.committed}
    if told == places([record for record in log.aborted if record.offset not in offsets]):
        raise NotYet(
            f"`aborted` has {counted(len(told), 'row')}: those with an offset that no committed record has, "
            "in whatever partition",
            "each partition counts for itself, so a place is a partition and an offset",
            "the columns by which you compare",
        )


def compare_marks(marks: int, log: Levels) -> None:
    """Raise NotYet unless this is the number of offsets that no reader gets."""
    if marks == log.marks:
        return
    if marks == log.end - len(log.committed):
        raise NotYet(
            f"`marks` is {marks}: so many offsets a reader of committed records does not get",
            "aborted records have an offset, too, and a reader of the other level gets them",
            "what you take away from the end offsets",
        )
    if marks == len(log.aborted):
        raise NotYet(
            f"`marks` is {marks}: so many aborted records are there, and a reader of all records gets them",
            "it should be how many offsets no reader gets",
            "the end offsets, which count the marks, too",
        )
    if marks == 0:
        raise NotYet(
            "`marks` is 0, and the end offsets of the partitions are more than the records",
            "it should be how many offsets no reader gets",
            "end_offsets(lab.bootstrap, payments)",
        )
    if marks == log.marks_between:
        raise NotYet(
            f"`marks` is {marks}: so many are before the last record of their partition",
            "a mark behind the last record takes an offset, too",
            "where you take a partition's end from: end_offsets(lab.bootstrap, payments) counts every offset",
        )
    raise NotYet(
        f"`marks` is {marks}",
        "it should be how many offsets no reader gets",
        "end offsets, and what was read",
    )


def compare_turnover(turnover: int, log: Levels) -> None:
    """Raise NotYet unless this is the sum of the payments that were committed."""
    if turnover == euros(log.committed):
        return
    if turnover == euros(log.uncommitted):
        raise NotYet(
            f"`turnover` is {turnover} euros: money that the bank has refused is in it",
            "a report may count what was committed",
            "the table that you add up",
        )
    if turnover == euros(log.aborted):
        raise NotYet(
            f"`turnover` is {turnover} euros: that is the money of the aborted payments",
            "a report may count what was committed",
            "the table that you add up",
        )
    once = sum(json.loads(value)["euros"] for value in {r.value for r in log.committed if r.value})
    of_all = sum(json.loads(value)["euros"] for value in {r.value for r in log.uncommitted if r.value})
    if turnover in (once, of_all):
        raise NotYet(
            f"`turnover` is {turnover} euros: equal payments are counted once there",
            "two coffees are two payments, and each has been paid",
            "DISTINCT, distinct() and dropDuplicates(…)",
        )
    raise NotYet(
        f"`turnover` is {turnover} euros", "it should be the sum of the committed payments", "the sum"
    )
