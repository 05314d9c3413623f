"""What lab 09 says of the offsets that are named in advance."""

from collections.abc import Mapping, Sequence

from threebrokers.checks.expect import expect_topic, log_of
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.last_values import HEAD, NEXT, TAIL
from threebrokers.text import listed

TABLE = {**TAIL, **HEAD, **NEXT}
LOOK = "the table, from its right end: which keys have you met already?"
RUN = "after = one_more_record(lab, worked), the last lines of the exercise's cell"


def judge_survivors(lab: Lab, topic: str, survivors: Sequence[int]) -> list[int]:
    """Return the offsets that the topic holds; NotYet unless these were named, in any order."""
    expect_topic(lab, topic, "worked-table")
    left = [record.offset for record in log_of(lab, topic)]
    if max(NEXT) not in left or len(left) > len(TABLE) - 1:
        raise NotYet(
            f"'{topic}' holds {len(left)} records, and the cleaner has not had its turn with all of them",
            f"the record with offset {max(NEXT)} should be there, and the cleaner should have come",
            RUN,
        )
    compare_survivors(survivors, left)
    return left


def compare_survivors(survivors: Sequence[int], left: Sequence[int]) -> None:
    """Raise NotYet unless the offsets that were named are those that are left."""
    given = sorted(set(survivors))
    if given == list(left):
        return
    if not given:
        raise NotYet("`survivors` is empty", "most records are the last ones of their keys", LOOK)
    if given[0] in (0, 1) and given == list(range(given[0], given[0] + len(given))):
        raise NotYet(
            f"`survivors` has offsets {given[0]} to {given[-1]}, as if the records were counted anew",
            "a record keeps its offset for ever",
            "the first row of the table",
        )
    if strange := [offset for offset in given if offset not in TABLE]:
        raise NotYet(
            f"there is no record with offset {strange[0]} in the table",
            "offsets from 13 to 29 are named there",
            "the first row of the table",
        )
    raise _why(given, left)


def _why(given: Sequence[int], left: Sequence[int]) -> NotYet:
    gone, kept = [o for o in given if o not in left], [o for o in left if o not in given]
    if set(given) == first_of_each(TABLE) | set(NEXT) or set(given) == first_of_each(TABLE):
        return NotYet("`survivors` has the first record of each key", "the last one counts", LOOK)
    if set(given) >= TABLE.keys() - NEXT.keys():
        return NotYet("`survivors` has every record", "whatever is not the last of its key goes", LOOK)
    if kept == [22]:
        return NotYet(
            "offset 22 is still there: the newer record of K4 is in the active segment, which the cleaner "
            "does not read",
            "it should be named",
            "which segments does the cleaner read?",
        )
    if 29 in kept:
        return NotYet(
            "`survivors` leaves out offset 29, the newest record of all",
            "what has just been written is there, too",
            "the record that is written before the cleaner comes",
        )
    if set(gone) & TAIL.keys():
        offset = min(set(gone) & TAIL.keys())
        key = TABLE[offset][0]
        return NotYet(
            f"offset {offset} is gone: the cleaner copies again what it has cleaned before, and {key} has a "
            "newer record now",
            "the tail is no safe place",
            LOOK,
        )
    offset = min([*gone, *kept])
    key = TABLE[offset][0]
    same = [o for o, (name, _) in TABLE.items() if name == key]
    state = "gone" if offset in gone else "still there"
    return NotYet(f"offset {offset} is {state}: {key} is at {listed(same)}", "its last record stays", LOOK)


def first_of_each(table: Mapping[int, tuple[str, str]]) -> set[int]:
    """Return the offset of the first record of each key."""
    first: dict[str, int] = {}
    for offset, (key, _) in table.items():
        first.setdefault(key, offset)
    return set(first.values())
