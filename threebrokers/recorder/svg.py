"""One time line as a drawing (SVG), with the spots that tell more when they are asked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from threebrokers import theme
from threebrokers.cluster.actions import Action, action_kind
from threebrokers.recorder.data import Mark, RecordingData
from threebrokers.recorder.labels import Range, free, width
from threebrokers.recorder.rows import Row
from threebrokers.recorder.shapes import BAD, LINE, LOOKS, WIDTH, Look, Scale, Sheet, Spot, opened
from threebrokers.recorder.spans import Lane
from threebrokers.theme import PAPER, SOFT

HEAD, ROW_PX, LONGEST = 20, 16, 40


class Drawing(NamedTuple):
    """The SVG, its size in px, and the spots that can be asked."""

    svg: str
    width: float
    height: float
    spots: tuple[Spot, ...]


@dataclass(frozen=True)
class Note:
    """The words of one action or mark (`own`): its line is at `x`, they begin at `left` (px).

    `harm` if it takes something away; `told` is what there is to say of it.
    """

    x: float
    left: float
    row: int
    words: str
    told: str
    harm: bool
    own: bool

    @property
    def y(self) -> float:
        """The foot of its words."""
        return 18 + self.row * ROW_PX


def placed(
    recording: RecordingData, place: Callable[[float], float], said: Mapping[Action | Mark, str]
) -> list[Note]:
    """Return the notes from left to right, in as many rows as they need; `said` tells more of each."""
    found = [(a.at, a.words, said.get(a, ""), action_kind(a.kind).harm, False) for a in recording.actions]
    found += [(m.at, f"✎ {_shorter(m.words)}", said.get(m, ""), False, True) for m in recording.marks]
    rows, notes = list[list[Range]](), list[Note]()
    for at, words, told, harm, own in sorted(found, key=lambda each: each[0]):
        x, length = place(at), width(words, bold=True)
        left = x + 4 if x + 4 + length <= WIDTH - 8 else max(8, x - 4 - length)
        row = next((n for n, taken in enumerate(rows) if free((left, left + length), taken)), len(rows))
        if row == len(rows):
            rows.append([])
        rows[row].append((left, left + length))
        notes.append(Note(x, left, row, words, told, harm, own))
    return notes


def _shorter(words: str) -> str:
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1].rstrip()}…"


class Entry(NamedTuple):
    """A line of the legend: what it says, and how its sample looks; `line` is the colours of a thin line."""

    words: str
    look: Look | None = None
    line: tuple[str, ...] = ()


FOOT, LEGEND_ROW, SAMPLE = 40, 18, 24
USUAL = "as usual: up, in sync; the colour says which broker, of a topic who leads most partitions"
SEEN = "seen: told by a broker or a client; where a line breaks it changed, and nobody saw when"
SHORT = "seen: not all replicas in sync, or something else is not whole"
FOLLOWS = "concluded: nobody said it, it follows from what was seen"
PAUSE = "your own program sent nothing"
OF_MEMBERS = (
    Entry("partitions that a member held, as it was told itself; a thin stroke is a record", LOOKS["held"]),
    Entry("a member that held no partition", LOOKS["gone"]),
)


def draw(
    recording: RecordingData,
    lanes: Sequence[Lane],
    title: str,
    said: Mapping[Action | Mark, str],
    legend: Sequence[Entry] | None = None,
) -> Drawing:
    """Return the whole picture; without a `legend` of its own it has that of brokers and clients."""
    scale, sheet = Scale(recording.began, recording.ended), Sheet()
    notes = placed(recording, scale.x, said)
    y: float = HEAD + ROW_PX * max((note.row + 1 for note in notes), default=0)
    for note in notes:
        if note.told:
            sheet.spot(note.left, note.y - 13, width(note.words, bold=True), ROW_PX, note.told)
    for lane in lanes:
        row = Row(sheet, lane, scale, y)
        row.draw()
        y += row.height
    for note in notes:
        _line(sheet, note, y)
    for at in scale.steps():
        sheet.text(scale.x(scale.began + at), y + 16, f"{at:g} s", SOFT, anchor="middle")
    entries = list(_legend(lanes) if legend is None else legend)
    for number, entry in enumerate(entries):
        _entry(sheet, entry, y + FOOT + number * LEGEND_ROW)
    height = y + FOOT + len(entries) * LEGEND_ROW
    return Drawing(f"{opened(height, title)}{''.join(sheet.svg())}</svg>", WIDTH, height, tuple(sheet.spots))


def _line(sheet: Sheet, note: Note, bottom: float) -> None:
    colour, dash = BAD if note.harm else SOFT, "1.5 3" if note.own else "4 3"
    sheet.path(
        f"M{note.x} {note.y - 9}V{bottom}", stroke=colour, stroke_dasharray=dash, fill="none", opacity=".8"
    )
    sheet.text(note.left, note.y, note.words, colour, bold=True)


def _legend(lanes: Sequence[Lane]) -> Iterator[Entry]:
    """Yield what the picture holds."""
    drawn = [span.drawn for lane in lanes for span in lane.spans]
    if any(one.line not in ((), (None,)) for one in drawn):
        yield Entry(USUAL, line=tuple(colour.strong for colour in theme.BROKERS.values()))
    yield Entry(SEEN, LOOKS["seen"])
    if any(one.look == "short" for one in drawn):
        yield Entry(SHORT, LOOKS["short"])
    yield Entry(FOLLOWS, LOOKS["concluded"])
    if any(lane.own for lane in lanes):
        yield Entry(PAUSE, LOOKS["own"])


def _entry(sheet: Sheet, entry: Entry, y: float) -> None:
    if entry.look:
        sheet.box(12, y - 10, SAMPLE, 12, entry.look)
    for number, colour in enumerate(entry.line):
        part = SAMPLE / len(entry.line)
        sheet.box(12 + number * part, y - 6, part, LINE, Look(colour, PAPER), radius=0)
    sheet.text(12 + SAMPLE + 8, y, entry.words, SOFT)
