"""Exercise 15.1: what a checkpoint says of a batch that was planned and not committed."""

import json
from collections.abc import Mapping
from pathlib import Path

from threebrokers.lab.exercise import NotYet
from threebrokers.spark.steps import offsets

FILES = 'the last lines of the files in stopped / "offsets"'
CELL = "the cell with killed(…): run it again"


def planned(kept: Path, topic: str) -> tuple[dict[int, int], dict[int, int]]:
    """Return where the last committed batch of a checkpoint ends, and the one planned after it.

    Raises NotYet if there are no such batches.
    """
    try:
        done = max(int(path.name) for path in (kept / "commits").glob("[0-9]*"))
        before, after = (_ends(kept / "offsets" / str(number), topic) for number in (done, done + 1))
    except (OSError, ValueError, LookupError) as fault:
        raise NotYet(
            "there is no checkpoint of a killed query", "Spark should be killed first", CELL
        ) from fault
    return before, after


def compare_twice(twice: Mapping[int, int], before: Mapping[int, int], after: Mapping[int, int]) -> None:
    """Raise NotYet unless `twice` is, for each partition, how many offsets lie between the two places."""
    right = {part: end - before[part] for part, end in after.items()}
    if twice == right:
        return
    if sorted(twice) != sorted(right):
        raise NotYet(f"`twice` has the partitions {sorted(twice)}", f"there are {sorted(right)}", FILES)
    if twice == {part: -count for part, count in right.items()}:
        raise NotYet("`twice` has numbers below 0", "the end of batch 2 is the larger one", FILES)
    if not any(twice.values()):
        raise NotYet(
            "`twice` says that nothing comes twice",
            "batch 2 is in the folder offsets and not in the folder commits",
            'stopped / "commits"',
        )
    if twice == after:
        raise NotYet("`twice` is where batch 2 ends", "it does not begin at offset 0", FILES)
    if twice == before:
        raise NotYet("`twice` is where batch 1 ends", "there the batch begins that comes again", FILES)
    part = next(part for part in right if twice[part] != right[part])
    raise NotYet(
        f"`twice` says {twice[part]} for partition {part}",
        "it should be what lies between the end of batch 1 and that of batch 2",
        FILES,
    )


def _ends(file: Path, topic: str) -> dict[int, int]:
    return offsets(json.loads(file.read_text(encoding="utf-8").splitlines()[-1]))[topic]
