"""Drawing a time line as SVG: a light card, so that it is the same in a light and in a dark notebook."""

from collections.abc import Iterator, Sequence
from html import escape

from threebrokers.recorder import marks
from threebrokers.recorder.bars import drawn
from threebrokers.recorder.data import TapeData
from threebrokers.recorder.ink import BAD, LOOKS, PAPER, RULE, SOFT, box, text
from threebrokers.recorder.lanes import Lane
from threebrokers.recorder.scale import HEAD, LEFT, ROW, WIDTH, Scale

FOOT = 62
PATTERN = (
    '<defs><pattern id="h" width="6" height="6" patternUnits="userSpaceOnUse" '
    f'patternTransform="rotate(45)"><rect width="6" height="6" fill="{PAPER}"/>'
    f'<rect width="1.8" height="6" fill="{BAD}" opacity=".6"/></pattern></defs>'
)


def draw(tape: TapeData, lanes: Sequence[Lane], title: str) -> str:
    """Return the whole picture."""
    scale = Scale(tape.began, tape.ended)
    notes, rows = marks.placed(tape, scale.x, WIDTH - 8)
    top = HEAD + rows * marks.ROW_PX
    bottom = top + len(lanes) * ROW
    parts = [part for number, lane in enumerate(lanes) for part in drawn(lane, scale, top + number * ROW)]
    parts += [part for note in notes for part in _act(note, bottom)]
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


def _act(note: marks.Note, bottom: float) -> Iterator[str]:
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
