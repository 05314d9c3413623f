"""A picture of a partition's segments, and of what is left of them later."""

from collections.abc import Callable, Sequence

from threebrokers.diagrams.dot import cell, lone_table
from threebrokers.diagrams.picture import Picture
from threebrokers.kafka.log_reader import Record
from threebrokers.kafka.segments import Segment
from threebrokers.text import counted, numbered
from threebrokers.theme import LIGHTEST, SOFT

WIDTH = 44
GONE = "·"
Text = Callable[[Record], str]


def key_and_value(record: Record) -> str:
    """Return a record's key and value as two words, "null" for what is missing."""
    return f"{_decoded(record.key)} {_decoded(record.value)}"


def segments_picture(
    before: Sequence[Segment], after: Sequence[Segment] = (), *, text: Text = key_and_value
) -> Picture:
    """Draw the records of one partition in their segments, a column for each offset.

    With `after`, both moments are drawn, and a column has the same place in both: what is gone is a gap.
    """
    offsets = sorted({r.offset for segment in (*before, *after) for r in segment.records})
    moments = [("before", before), ("after", after)] if after else [("", before)]
    rows = [[cell("offset", align="left", bold=True), *(cell(str(o), bold=True) for o in offsets)]]
    words = []
    for name, segments in moments:
        boxes = {r.offset: text(r) for segment in segments for r in segment.records}
        rows.append([cell(f"segments {name}".strip(), align="left", bold=True), *_files(segments, offsets)])
        rows.append([cell(f"records {name}".strip(), align="left", bold=True), *_boxes(boxes, offsets)])
        words += [_words(name, segment, text) for segment in segments]
    if after:
        left = {r.offset for segment in after for r in segment.records}
        words.append(f"Gone: {_offsets([o for o in offsets if o not in left])}.")
    return Picture("The segments of one partition", "\n".join(words), lone_table(rows))


def _files(segments: Sequence[Segment], offsets: Sequence[int]) -> list[str]:
    """Return a cell for each segment, as wide as the offsets that it may hold."""
    ends = [*(segment.base_offset for segment in segments[1:]), float("inf")]
    cells, first = [], float("-inf")
    for segment, end in zip(segments, ends, strict=True):
        span = sum(first <= offset < end for offset in offsets)
        first = end
        if span:
            state = "active" if segment.is_active else "closed"
            style = "dashed" if segment.is_active else "rounded"
            lines = [f"…{segment.base_offset}.log", f"{state}, {segment.size:,} bytes"]
            cells.append(cell(*lines, border=2, color=SOFT, style=style, fill=LIGHTEST, colspan=span))
    return cells


def _boxes(boxes: dict[int, str], offsets: Sequence[int]) -> list[str]:
    drawn = []
    for offset in offsets:
        if offset in boxes:
            drawn.append(cell(*boxes[offset].split(" ", 1), border=1, color=SOFT, width=WIDTH))
        else:
            drawn.append(cell(GONE, text=SOFT, border=1, color=SOFT, style="dashed", width=WIDTH))
    return drawn


def _words(moment: str, segment: Segment, text: Text) -> str:
    state = "the active segment" if segment.is_active else "a closed segment"
    held = "; ".join(f"{record.offset}: {text(record)}" for record in segment.records) or "no record"
    begin = f"{moment.capitalize()}, {state}" if moment else state.capitalize()
    count = counted(len(segment.records), "record")
    return f"{begin} of {segment.size:,} bytes from offset {segment.base_offset} on, {count}: {held}."


def _offsets(offsets: Sequence[int]) -> str:
    return numbered("offset", offsets) if offsets else "nothing"


def _decoded(part: bytes | None) -> str:
    return "null" if part is None else part.decode("utf-8", "replace")
