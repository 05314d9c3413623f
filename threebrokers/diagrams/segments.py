"""A picture of a partition's segments, and of what is left of them later."""

from collections.abc import Sequence

from threebrokers.diagrams.grid import box, cell, head, row_head, table
from threebrokers.diagrams.picture import Picture
from threebrokers.kafka.log_reader import Record
from threebrokers.kafka.segments import Segment
from threebrokers.text import counted, numbered

GONE = "·"


def segments_picture(before: Sequence[Segment], after: Sequence[Segment] = ()) -> Picture:
    """Draw the records of one partition in their segments, a column for each offset.

    With `after`, both moments are drawn, and a column has the same place in both: what is gone is a gap.
    """
    offsets = sorted({r.offset for segment in (*before, *after) for r in segment.records})
    moments = [("before", before), ("after", after)] if after else [("", before)]
    rows, words = [], []
    for name, segments in moments:
        boxes = {r.offset: _key_and_value(r) for segment in segments for r in segment.records}
        rows.append([row_head(f"segments {name}".strip()), *_files(segments, offsets)])
        rows.append([row_head(f"records {name}".strip()), *_boxes(boxes, offsets)])
        words += [_words(name, segment) for segment in segments]
    if after:
        left = {r.offset for segment in after for r in segment.records}
        words.append(f"Gone: {_offsets([o for o in offsets if o not in left])}.")
    heads = [row_head("offset"), *(head(str(offset)) for offset in offsets)]
    return Picture("The segments of one partition", "\n".join(words), table(rows, heads=heads, kind="narrow"))


def _files(segments: Sequence[Segment], offsets: Sequence[int]) -> list[str]:
    """Return a cell for each segment, as wide as the offsets that it may hold."""
    ends = [*(segment.base_offset for segment in segments[1:]), float("inf")]
    cells, first = [], float("-inf")
    for segment, end in zip(segments, ends, strict=True):
        span = sum(first <= offset < end for offset in offsets)
        first = end
        if span:
            state = "active" if segment.is_active else "closed"
            lines = f"…{segment.base_offset}.log", f"{state}, {segment.size:,} bytes"
            kind = "card dashed" if segment.is_active else "card"
            cells.append(cell(box(*lines, kind=kind), colspan=span))
    return cells


def _boxes(boxes: dict[int, str], offsets: Sequence[int]) -> list[str]:
    return [
        cell(box(*boxes[offset].split(" ", 1)) if offset in boxes else box(GONE, kind="dashed"))
        for offset in offsets
    ]


def _words(moment: str, segment: Segment) -> str:
    state = "the active segment" if segment.is_active else "a closed segment"
    held = (
        "; ".join(f"{record.offset}: {_key_and_value(record)}" for record in segment.records) or "no record"
    )
    begin = f"{moment.capitalize()}, {state}" if moment else state.capitalize()
    count = counted(len(segment.records), "record")
    return f"{begin} of {segment.size:,} bytes from offset {segment.base_offset} on, {count}: {held}."


def _offsets(offsets: Sequence[int]) -> str:
    return numbered("offset", offsets) if offsets else "nothing"


def _key_and_value(record: Record) -> str:
    """Return a record's key and value as two words, "null" for what is missing."""
    return f"{_decoded(record.key)} {_decoded(record.value)}"


def _decoded(part: bytes | None) -> str:
    return "null" if part is None else part.decode("utf-8", "replace")
