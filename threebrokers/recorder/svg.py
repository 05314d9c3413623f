"""Places on a time line, in px."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from threebrokers import theme
from threebrokers.cluster.actions import action_kind
from threebrokers.recorder.data import Burst, RecordingData
from threebrokers.recorder.lanes import Lane, Span
from threebrokers.theme import INK, PAPER, RULE, SOFT

WIDTH, LEFT, RIGHT, ROW, BAR, HEAD = 960, 178, 62, 27, 18, 20
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
    "unknown": (theme.LIGHTEST, SOFT),
}
LETTER = 6.2  # how wide a letter is at most, on average (px)


def fits(words: str, width: float) -> bool:
    """Tell whether words fit into so many px."""
    return len(words) * LETTER + 5 <= width


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
) -> str:
    """Return words; longer ones than `limit` px end in an ellipsis."""
    if limit is not None and not fits(words, limit):
        words = words[: int((limit - 5) / LETTER) - 1] + "…"
    weight = ' font-weight="600"' if bold else ""
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


def drawn(lane: Lane, scale: Scale, y: float) -> Iterator[str]:
    """Yield the shapes and words of a lane whose bars begin `y` px from the top."""
    yield text(12, y + DOWN, lane.name, SOFT, limit=LEFT - 20)
    yield f'<path d="M{LEFT} {y + BAR + 4}H{WIDTH - RIGHT}" stroke="{RULE}"/>'
    for span in lane.spans:
        yield from _shares(span, scale, y) if span.shares else _bar(span, scale, y)
    if lane.records is not None:
        yield _ticks(lane.bursts, scale, y, BAD if lane.name.startswith("failed") else INK)
        yield from _gaps(lane, scale, y)
        yield text(WIDTH - 10, y + DOWN, f"{lane.records:,}", SOFT, anchor="end")


def _bar(span: Span, scale: Scale, y: float) -> Iterator[str]:
    fill, ink, line, dash = *LOOKS.get(span.look, LOOKS["unknown"]), "none", ""
    if span.look == "gone":
        fill, ink, line, dash = (PAPER, BAD, BAD, "4 3") if span.seen else ("url(#h)", BAD, BAD, "")
    x = scale.x(span.start)
    yield box(x, y, scale.x(span.end) - x, BAR, fill, line, dash=dash)
    yield from _words(span, scale, y, ink, fill if fill.startswith("#") else PAPER)


def _shares(span: Span, scale: Scale, y: float) -> Iterator[str]:
    """A bar that is divided from top to bottom, by how many partitions each broker leads."""
    x, at, whole = scale.x(span.start), y, sum(count for _, count in span.shares)
    for broker, count in span.shares:
        height = BAR * count / whole
        fill = "url(#h)" if broker is None else LOOKS.get(f"broker {broker}", LOOKS["good"])[0]
        yield box(x, at, scale.x(span.end) - x, height, fill, "none", radius=0)
        at += height
    yield from _words(span, scale, y, INK, PAPER)


def _words(span: Span, scale: Scale, y: float, ink: str, halo: str) -> Iterator[str]:
    x, end = scale.x(span.start), scale.x(span.end)
    for words in span.words:
        if fits(words, end - x):
            yield text((x + end) / 2, y + DOWN, words, ink, anchor="middle", bold=True, halo=halo)
            return


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


def _gaps(lane: Lane, scale: Scale, y: float) -> Iterator[str]:
    gaps = sorted(lane.gaps, key=lambda gap: gap.start)
    starts = [scale.x(gap.start) for gap in gaps]
    for gap, free_until in zip(gaps, [*starts[1:], WIDTH - RIGHT], strict=False):
        x, end = scale.x(gap.start), scale.x(gap.start + gap.seconds)
        yield box(x, y, end - x, BAR, "url(#h)", BAD)
        short = f"{gap.seconds:.2f} s" if gap.over else f"> {gap.seconds:.2f} s"
        inside = next((words for words in (gap.words, short) if fits(words, end - x)), "")
        if inside:
            yield text((x + end) / 2, y + DOWN, inside, BAD, anchor="middle", bold=True, halo=PAPER)
        elif fits(short, free_until - end):
            yield text(end + 5, y + DOWN, short, BAD, bold=True, halo=PAPER)


FOOT = 62
PATTERN = (
    '<defs><pattern id="h" width="6" height="6" patternUnits="userSpaceOnUse" '
    f'patternTransform="rotate(45)"><rect width="6" height="6" fill="{PAPER}"/>'
    f'<rect width="1.8" height="6" fill="{BAD}" opacity=".6"/></pattern></defs>'
)


def draw(recording: RecordingData, lanes: Sequence[Lane], title: str) -> str:
    """Return the whole picture."""
    scale = Scale(recording.began, recording.ended)
    notes, rows = placed(recording, scale.x, WIDTH - 8)
    top = HEAD + rows * ROW_PX
    bottom = top + len(lanes) * ROW
    parts = [part for number, lane in enumerate(lanes) for part in drawn(lane, scale, top + number * ROW)]
    parts += [part for note in notes for part in _action(note, bottom)]
    parts += [*_axis(scale, bottom), *_legend(bottom + 48)]
    height = bottom + FOOT
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


def _legend(y: float) -> Iterator[str]:
    yield box(LEFT, y - 10, 22, 12, LOOKS["good"][0], "none")
    yield text(LEFT + 28, y, "seen: told by a broker or a client", SOFT)
    yield box(LEFT + 250, y - 10, 22, 12, "url(#h)", BAD)
    yield text(LEFT + 278, y, "concluded: nobody said it, it follows from what was seen", SOFT)
