"""What the drawing of a time line is made of: places, words, boxes, hatches, and spots that can be asked."""

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from threebrokers import theme
from threebrokers.recorder.labels import FONT, Label
from threebrokers.theme import INK, PAPER, RULE, SOFT

# A notebook shows it up to 900 px wide and down to 700, where letters are still 11 px high.
WIDTH, LEFT, RIGHT = 760, 146, 56
ROW, BAR, LINE, TIER = 27, 20, 4, 15
STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
MOST = 12

BAD = theme.BAD.colour
# Hatches: what was concluded, and what the own program did not do.
HATCHES = CONCLUDED, OWN = "url(#h)", "url(#o)"


class Look(NamedTuple):
    """What a box is filled with, the ink of its words, the colour and the dashes of its edge."""

    fill: str
    ink: str
    edge: str = "none"
    dash: str = ""


LOOKS = {
    "held": Look(theme.LIGHT, INK),
    "short": Look(theme.YELLOW_TINT, INK, theme.WARNING.colour),
    "gone": Look(PAPER, BAD, BAD, "4 3"),
    "concluded": Look(CONCLUDED, BAD, BAD),
    "cut": Look(PAPER, BAD, BAD, "4 3"),
    "own": Look(OWN, SOFT, SOFT),
    "unknown": Look(theme.LIGHTEST, SOFT, theme.GREY, "2 3"),
    "absent": Look(PAPER, SOFT),
    "seen": Look(PAPER, SOFT, SOFT),
}


class Scale:
    """Where a time (s since 1970) lies on the picture."""

    def __init__(self, began: float, ended: float) -> None:
        self.began, self.seconds = began, max(ended - began, 0.1)
        self._pixels = (WIDTH - LEFT - RIGHT) / self.seconds

    def x(self, at: float) -> float:
        """Return the place of a time, never outside the picture."""
        return round(LEFT + min(max(at - self.began, 0), self.seconds) * self._pixels, 1)

    def second(self, at: float) -> str:
        """Return a time as people read it on the axis."""
        return f"{at - self.began:.1f} s"

    def steps(self) -> list[float]:
        """Return the seconds since the beginning that have a number below, at most about a dozen."""
        step = next((step for step in STEPS if self.seconds / step <= MOST), STEPS[-1])
        return [round(number * step, 1) for number in range(int(self.seconds / step) + 1)]


class Spot(NamedTuple):
    """A place of the picture that tells more when it is asked; all numbers are px."""

    x: float
    y: float
    width: float
    height: float
    words: str


class Sheet:
    """What is drawn so far: shapes, words above them, and the spots that can be asked."""

    def __init__(self) -> None:
        self.shapes: list[str] = []
        self.words: list[str] = []
        self.spots: list[Spot] = []

    def svg(self) -> Iterable[str]:
        """Return everything; words come last: no line may cross them."""
        return [*self.shapes, *self.words]

    def box(self, x: float, y: float, width: float, height: float, look: Look, *, radius: float = 3) -> None:
        """Draw a box."""
        dashed = f' stroke-dasharray="{look.dash}"' if look.dash else ""
        self.shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" '
            f'rx="{radius}" fill="{look.fill}" stroke="{look.edge}"{dashed}/>'
        )

    def path(self, way: str, **more: str) -> None:
        """Draw a path; `more` are its properties, with _ for -."""
        properties = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
        self.shapes.append(f'<path d="{way}"{properties}/>')

    def text(
        self,
        x: float,
        y: float,
        words: str,
        ink: str,
        *,
        anchor: str = "start",
        bold: bool = False,
        on: str = PAPER,
    ) -> None:
        """Write words, with an edge like what they lie `on`: they can be read on lines and hatches."""
        weight = ' font-weight="600"' if bold else ""
        where = "" if anchor == "start" else f' text-anchor="{anchor}"'
        edge = f' stroke="{on}" stroke-width="4" style="paint-order:stroke"'
        self.words.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{ink}"{where}{weight}{edge}>{escape(words)}</text>'
        )

    def label(self, label: Label, y: float, ink: str, *, anchor: str, on: str) -> None:
        """Write words into the middle of their place, or at its start."""
        x = label.left + 1 if anchor == "start" else (label.left + label.right) / 2
        self.text(x, y, label.words, ink, anchor=anchor, bold=label.bold, on=on)

    def spot(self, x: float, y: float, width: float, height: float, words: str) -> None:
        """Let a place tell these words; it is never too small to be met."""
        wider = max(width, 10.0)
        self.spots.append(Spot(x - (wider - width) / 2, y, wider, height, words))


def _hatch(name: str, ink: str) -> str:
    return (
        f'<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><rect width="6" height="6" fill="{PAPER}"/>'
        f'<rect width="1.8" height="6" fill="{ink}" opacity=".6"/></pattern>'
    )


PATTERN = f"<defs>{_hatch('h', BAD)}{_hatch('o', SOFT)}</defs>"


def opened(height: float, title: str) -> str:
    """Return the beginning of a drawing of this height, with the card that all lies on."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
        f'role="img" aria-label="{escape(title)}" font-family="system-ui, sans-serif" font-size="{FONT:g}">'
        f"{theme.dark_style()}{PATTERN}"
        f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1:g}" rx="8" fill="{PAPER}" '
        f'stroke="{RULE}"/>'
    )
