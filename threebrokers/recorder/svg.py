"""One time line as a drawing (SVG)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from threebrokers import theme
from threebrokers.cluster.actions import action_kind
from threebrokers.recorder.data import Burst, RecordingData
from threebrokers.recorder.labels import LETTER, Label, Labels, Range, fits
from threebrokers.recorder.spans import Lane, Span
from threebrokers.theme import INK, PAPER, RULE, SOFT

WIDTH, LEFT, RIGHT, ROW, BAR, HEAD = 960, 190, 66, 27, 18, 20
STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
MOST = 12


class Scale:
    """Where a time (s since 1970) lies on the picture."""

    def __init__(self, began: float, ended: float) -> None:
        self.began, self.seconds = began, max(ended - began, 0.1)
        self._pixels = (WIDTH - LEFT - RIGHT) / self.seconds

    def x(self, at: float) -> float:
        """Return the place of a time, never outside the picture."""
        return round(LEFT + min(max(at - self.began, 0), self.seconds) * self._pixels, 1)

    def steps(self) -> list[float]:
        """Return the seconds since the beginning that have a number below, at most about a dozen."""
        step = next((step for step in STEPS if self.seconds / step <= MOST), STEPS[-1])
        return [round(number * step, 1) for number in range(int(self.seconds / step) + 1)]


BAD = theme.BAD.colour
# What a bar is filled with, and the ink that is easier to read on it.
LOOKS = {f"broker {number}": (colour.strong, colour.ink) for number, colour in theme.BROKERS.items()} | {
    "good": (theme.LIGHT, INK),
    "less": (theme.YELLOW_TINT, INK),
    "bad": (BAD, INK),
    "unknown": (theme.LIGHTEST, SOFT),
}
# Hatches: what was concluded, and what the own program did not do.
CONCLUDED, OWN = "url(#h)", "url(#o)"


def text(
    x: float,
    y: float,
    words: str,
    ink: str,
    *,
    anchor: str = "start",
    bold: bool = False,
    halo: str = "",
    limit: float | None = None,
    small: bool = False,
) -> str:
    """Return words; longer ones than `limit` px end in an ellipsis."""
    if limit is not None and not fits(words, limit):
        words = words[: int((limit - 5) / LETTER) - 1] + "…"
    weight = ' font-weight="600"' if bold else ' font-size="9.5"' if small else ""
    edge = f' stroke="{halo}" stroke-width="4" style="paint-order:stroke"' if halo else ""
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{ink}"{where}{weight}{edge}>{escape(words)}</text>'


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    line: str,
    *,
    dash: str = "",
    radius: float = 3,
) -> str:
    """Return a box with a line around it, or without one if `line` is "none"."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" rx="{radius}" '
        f'fill="{fill}" stroke="{line}"{dashed}/>'
    )


ROWS, ROW_PX, LONGEST = 4, 16, 40


@dataclass(frozen=True)
class Note:
    """The words of one action or mark (`own`): its line is at `x`, they begin at `left` (px).

    `harm` if it takes something away.
    """

    x: float
    left: float
    y: float
    words: str
    harm: bool
    own: bool


def placed(recording: RecordingData, place: Callable[[float], float], width: float) -> tuple[list[Note], int]:
    """Return the notes from left to right, and how many rows they need."""
    actions = [(a.at, f"{a.kind}({a.broker})", action_kind(a.kind).harm, False) for a in recording.actions]
    own = [(m.at, f"✎ {m.words}"[:LONGEST], False, True) for m in recording.marks]
    ends, notes = [0.0] * ROWS, list[Note]()
    for at, words, harm, mine in sorted(actions + own):
        x, length = place(at), len(words) * LETTER + 10
        left = min(x + 4, width - length)  # at the right edge words begin to the left of their line
        emptiest = min(range(ROWS), key=ends.__getitem__)
        row = next((row for row, end in enumerate(ends) if end <= left), emptiest)
        ends[row] = left + length
        notes.append(Note(x, left, 18 + row * ROW_PX, words, harm, mine))
    used = max((row + 1 for row, end in enumerate(ends) if end), default=0)
    return notes, used


TICK, APART = 1.2, 3.0  # how wide a tick is, and how far apart ticks can still be told (px)
DOWN = 13  # from the top of a bar to the foot of its words
THIN = 6  # the height of a bar that says only that all is as usual
FEW_BURSTS = 12  # of so few bursts it is said how many records each holds


def drawn(lane: Lane, scale: Scale, y: float) -> Iterator[str]:
    """Yield the shapes and words of a lane whose bars begin `y` px from the top."""
    yield text(12, y + DOWN, lane.name, SOFT, limit=LEFT - 20)
    yield f'<path d="M{LEFT} {y + BAR + 4}H{WIDTH - RIGHT}" stroke="{RULE}"/>'
    labels = Labels(LEFT, WIDTH - RIGHT)
    for span in lane.spans:
        yield from _shares(span, scale, y) if span.shares else _bar(span, scale, y)
    for span in sorted(lane.spans, key=lambda span: not span.mark):  # marks choose their places first
        yield from _words(span, scale, y, labels)
    if lane.records is None:
        return
    yield _ticks(lane.bursts, scale, y, BAD if lane.name.startswith("failed") else INK)
    boxes = [(scale.x(gap.start), scale.x(gap.start + gap.seconds)) for gap in lane.gaps]
    yield from _gaps(lane, boxes, y, labels)
    if len(lane.bursts) <= FEW_BURSTS and not lane.spans:  # numbers would be taken for the bars' words
        yield from _counts(lane.bursts, scale, y, labels, boxes)
    yield text(WIDTH - 10, y + (9 if lane.note else DOWN), f"{lane.records:,}", SOFT, anchor="end")
    if lane.note:
        yield text(WIDTH - 10, y + 19, f"{theme.WARNING.sign} {lane.note}", BAD, anchor="end", small=True)


def _bar(span: Span, scale: Scale, y: float) -> Iterator[str]:
    fill, _, line, dash = _look(span)
    x = scale.x(span.start)
    thin = THIN if span.look.startswith("up ") else BAR
    yield box(x, y + (BAR - thin) / 2, scale.x(span.end) - x, thin, fill, line, dash=dash)


def _look(span: Span) -> tuple[str, str, str, str]:
    """Return what a bar is filled with, the ink of its words, and the colour and dashes of its edge."""
    if span.look == "cut":
        return theme.YELLOW_TINT, BAD, BAD, "4 3"
    if span.look == "gone":
        return (PAPER, BAD, BAD, "4 3") if span.seen else (CONCLUDED, BAD, BAD, "")
    return *LOOKS.get(span.look.replace("up ", "broker "), LOOKS["unknown"]), "none", ""


def _shares(span: Span, scale: Scale, y: float) -> Iterator[str]:
    """A bar that is divided from top to bottom, by how many partitions each broker leads."""
    x, at, whole = scale.x(span.start), y, sum(count for _, count in span.shares)
    for broker, count in span.shares:
        height = BAR * count / whole
        fill = CONCLUDED if broker is None else LOOKS.get(f"broker {broker}", LOOKS["good"])[0]
        yield box(x, at, scale.x(span.end) - x, height, fill, "none", radius=0)
        at += height


def _words(span: Span, scale: Scale, y: float, labels: Labels) -> Iterator[str]:
    x, end = scale.x(span.start), scale.x(span.end)
    fill, ink, *_ = _look(span)
    if span.mark:
        if label := labels.beside(x, end, span.mark):
            yield _label(label, y, BAD, PAPER)
        return
    on_paper = bool(span.shares) or span.look.startswith("up ") or fill == CONCLUDED
    if label := labels.inside(x, end, span.words):
        if span.look.startswith("up "):
            left, right = label.place
            yield box(left, y, right - left, BAR, PAPER, "none")
        yield _label(label, y, INK if on_paper and ink != BAD else ink, PAPER if on_paper else fill)


def _label(label: Label, y: float, ink: str, halo: str) -> str:
    return text(label.middle, y + DOWN, label.words, ink, anchor="middle", bold=True, halo=halo)


def _ticks(bursts: tuple[Burst, ...], scale: Scale, y: float, ink: str) -> str:
    """Records as ticks; where they are too close for that, as a bar from the first to the last."""
    widths: dict[float, float] = {}
    for first, last, records in bursts:
        start, length = scale.x(first), scale.x(last) - scale.x(first)
        if records * APART > length + APART:
            widths[start] = max(length, TICK)
        else:
            step = length / max(records - 1, 1)
            widths |= {round(start + step * number, 1): TICK for number in range(records)}
    path = "".join(f"M{x} {y + 2}h{width:.1f}v{BAR - 4}h-{width:.1f}z" for x, width in widths.items())
    return f'<path d="{path}" fill="{ink}" opacity=".45"/>'


def _counts(
    bursts: tuple[Burst, ...], scale: Scale, y: float, labels: Labels, boxes: Sequence[Range]
) -> Iterator[str]:
    """Say beside each burst how many records it holds, where there is room."""
    for first, last, records in bursts:
        x, end = scale.x(first), scale.x(last)
        if records > 1 and (label := labels.beside(x, end, f"{records:,}", never=boxes)):
            yield _label(label, y, SOFT, PAPER)


def _gaps(lane: Lane, boxes: Sequence[Range], y: float, labels: Labels) -> Iterator[str]:
    """Hatched boxes with their lengths; the longest chooses first, and in a crowd small ones have none."""
    larger: list[Range] = []
    for gap, (x, end) in sorted(zip(lane.gaps, boxes, strict=True), key=lambda each: -each[0].seconds):
        ink, hatch = (SOFT, OWN) if gap.kind == "sent" else (BAD, CONCLUDED)
        yield box(x, y, end - x, BAR, hatch, ink)
        short = f"{gap.seconds:.2f} s" if gap.over else f"> {gap.seconds:.2f} s"
        others = [other for other in boxes if other != (x, end)]
        label = labels.inside(x, end, (gap.words, short)) or labels.beside(
            x, end, short, avoid=others, never=larger
        )
        if label:
            yield _label(label, y, ink, PAPER)
        larger.append((x, end))


FOOT, LEGEND_ROW = 40, 18


class Entry(NamedTuple):
    """A line of the legend: what it says, how its sample is filled, the colour and dashes of its edge."""

    words: str
    fill: str
    line: str = "none"
    dash: str = ""


def _hatch(name: str, ink: str) -> str:
    return (
        f'<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><rect width="6" height="6" fill="{PAPER}"/>'
        f'<rect width="1.8" height="6" fill="{ink}" opacity=".6"/></pattern>'
    )


PATTERN = f"<defs>{_hatch('h', BAD)}{_hatch('o', SOFT)}</defs>"


def draw(
    recording: RecordingData, lanes: Sequence[Lane], title: str, legend: Sequence[Entry] | None = None
) -> str:
    """Return the whole picture; without a `legend` of its own it has that of brokers and clients."""
    scale = Scale(recording.began, recording.ended)
    notes, rows = placed(recording, scale.x, WIDTH - 8)
    top = HEAD + rows * ROW_PX
    bottom = top + len(lanes) * ROW
    parts = [part for number, lane in enumerate(lanes) for part in drawn(lane, scale, top + number * ROW)]
    parts += [part for note in notes for part in _action(note, bottom)]
    entries = list(_legend(lanes) if legend is None else legend)
    parts += _axis(scale, bottom)
    parts += [
        part for row, entry in enumerate(entries) for part in _entry(entry, bottom + FOOT + row * LEGEND_ROW)
    ]
    height = bottom + FOOT + len(entries) * LEGEND_ROW
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'role="img" aria-label="{escape(title)}" font-family="system-ui, sans-serif" font-size="11.5">',
            PATTERN,
            box(0.5, 0.5, WIDTH - 1, height - 1, PAPER, RULE, radius=8),
            # Words come last: no line may cross them.
            *sorted(parts, key=lambda part: part.startswith("<text")),
            "</svg>",
        ]
    )


def _action(note: Note, bottom: float) -> Iterator[str]:
    colour, dash = BAD if note.harm else SOFT, "1.5 3" if note.own else "4 3"
    line = f'stroke="{colour}" stroke-dasharray="{dash}" fill="none" opacity=".8"'
    yield f'<path d="M{note.x} {note.y - 9}V{bottom}" {line}/>'
    yield text(note.left, note.y, note.words, colour, bold=True, halo=PAPER)


def _axis(scale: Scale, bottom: float) -> Iterator[str]:
    for at in scale.steps():
        yield text(scale.x(scale.began + at), bottom + 16, f"{at:g} s", SOFT, anchor="middle")


SEEN = "seen: told by a broker or a client; between two bars it changed, and nobody saw when"
FOLLOWS = "concluded: nobody said it, it follows from what was seen"
PAUSE = "your own program sent nothing"
OF_MEMBERS = (
    Entry(
        "partitions that a member held, as it was told itself; a dark stroke is a record", LOOKS["good"][0]
    ),
    Entry("a member that held no partition", PAPER, BAD, "4 3"),
)


def _legend(lanes: Sequence[Lane]) -> Iterator[Entry]:
    """Yield what the picture holds."""
    yield Entry(SEEN, LOOKS["good"][0])
    yield Entry(FOLLOWS, CONCLUDED, BAD)
    if any(gap.kind == "sent" for lane in lanes for gap in lane.gaps):
        yield Entry(PAUSE, OWN, SOFT)


def _entry(entry: Entry, y: float) -> Iterator[str]:
    yield box(LEFT, y - 10, 22, 12, entry.fill, entry.line, dash=entry.dash)
    yield text(LEFT + 28, y, entry.words, SOFT)
