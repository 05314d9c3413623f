"""A picture of readers in one partition: where each reads next, and how far that is from the end."""

from collections.abc import Mapping

from threebrokers.diagrams.grid import box, cell, head, row_head, table
from threebrokers.diagrams.picture import Picture


def readers_picture(end: int, reads_next: Mapping[str, int]) -> Picture:
    """Draw the offsets of a partition up to `end`, where the producer writes next, and a row for each reader.

    `reads_next` is the offset that each reader reads next, by its name.
    """
    offsets = [cell(box(str(offset))) for offset in range(end)]
    offsets += [cell(box(str(end), kind="dashed")), cell("producer writes here", kind="note")]
    rows = [[row_head("offset"), *offsets]]
    words = [f"The partition holds {end} records; the next one gets offset {end}."]
    for name, at in reads_next.items():
        marks = [_mark(offset, at) for offset in range(end + 1)]
        rows.append([row_head(name), *marks, head(f"lag {end - at}")])
        words.append(f"{name} has read {at} and reads offset {at} next; its lag is {end - at}.")
    return Picture("Where each reader is", "\n".join(words), table(rows, kind="narrow"))


def _mark(offset: int, at: int) -> str:
    if offset == at:
        return cell(box("▶", kind="next"))
    return cell(box("✓" if offset < at else "·", kind="quiet"))
