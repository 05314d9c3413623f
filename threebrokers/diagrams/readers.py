"""Pictures of readers: where each reads next, in one partition or in a whole topic."""

from collections.abc import Mapping
from typing import Any, overload

from threebrokers.diagrams.grid import arrow, box, cell, head, row_head, table
from threebrokers.diagrams.picture import Picture
from threebrokers.text import counted

Places = Mapping[int, int]  # an offset for each partition


@overload
def readers_picture(end: int, reads_next: Mapping[str, int]) -> Picture: ...


@overload
def readers_picture(end: Places, reads_next: Mapping[str, Places], read: Mapping[str, int]) -> Picture: ...


def readers_picture(end: Any, reads_next: Any, read: Mapping[str, int] | None = None) -> Picture:
    """Draw a row for each reader of a partition, or of a topic: where it reads next.

    `end` is the offset where the producer writes next, and `reads_next` the offset that each reader reads
    next, by its name. Of a topic both hold an offset for each partition, and `read` tells how many records
    each reader has read; one that `reads_next` does not name keeps no position.
    """
    return _of_partition(end, reads_next) if read is None else _of_topic(end, reads_next, read)


def _of_partition(end: int, reads_next: Mapping[str, int]) -> Picture:
    offsets = [cell(box(str(offset))) for offset in range(end)]
    offsets += [cell(box(str(end), kind="dashed")), cell("producer writes here", kind="note")]
    rows = [[row_head("offset"), *offsets]]
    words = [f"The partition holds {end} records; the next one gets offset {end}."]
    for name, at in reads_next.items():
        marks = [_mark(offset, at) for offset in range(end + 1)]
        rows.append([row_head(name), *marks, head(f"lag {end - at}")])
        words.append(f"{name} has read {at} and reads offset {at} next; its lag is {end - at}.")
    return Picture("Where each reader is", "\n".join(words), table(rows, kind="narrow"))


def _of_topic(end: Places, reads_next: Mapping[str, Places], read: Mapping[str, int]) -> Picture:
    """Draw one topic at the left, and an arrow to each reader: what it has read, and where it reads next."""
    heads = [head("topic"), cell(""), head("reader"), head("records read")]
    heads.append(head("its own position: reads next", colspan=len(end)))
    # One box: an arrow leads from the whole topic to each reader, not from a partition to one.
    inside = box("next offset", *(f"partition {p}: {end[p]}" for p in sorted(end)), kind="name")
    topic = cell(inside, rowspan=len(read))
    rows: list[list[str]] = []
    words = [f"One topic feeds {counted(len(read), 'reader')}; its next offsets are {_told(end, end)}."]
    for name, count in read.items():
        at = reads_next.get(name)
        begin = [cell(arrow()), cell(box(name, kind="card")), cell(box(f"{count:,}"))]
        rows.append([*begin, *_position(end, at)] if rows else [topic, *begin, *_position(end, at)])
        place = "keeps no position" if at is None else f"reads next {_told(end, at)}"
        words.append(f"{name} has read {count:,} records and {place}.")
    return Picture("One topic, and each reader's own position", "\n".join(words), table(rows, heads=heads))


def _position(partitions: Places, at: Places | None) -> list[str]:
    if at is None:
        return [cell(box("keeps none", kind="quiet"), colspan=len(partitions))]
    return [cell(box(f"{p}: {at.get(p, '–')}", kind="next")) for p in sorted(partitions)]


def _told(partitions: Places, at: Places) -> str:
    return ", ".join(f"{at.get(p, '–')} in partition {p}" for p in sorted(partitions))


def _mark(offset: int, at: int) -> str:
    if offset == at:
        return cell(box("▶", kind="next"))
    return cell(box("✓" if offset < at else "·", kind="quiet"))
