"""The progress of a streaming query, drawn while it runs: curves over its batches, and the same in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from threebrokers import theme
from threebrokers.diagrams.picture import as_image
from threebrokers.diagrams.svg import sheet, text
from threebrokers.spark.steps import Step
from threebrokers.text import counted

WIDTH, ROW, LEFT, RIGHT, TOP, FOOT = 720, 62, 210, 90, 34, 34
CURVE = 34  # the height of a curve inside its row
LINE = 26  # the height of a row without a curve


@dataclass(frozen=True)
class Curve:
    """One row of the view: its name, its unit, a value for each step, and how a value is written."""

    name: str
    unit: str
    value: Callable[[Step], float]
    written: Callable[[float], str] = lambda value: f"{value:,.0f}"


def _clock(value: float) -> str:
    return f"{datetime.fromtimestamp(value, UTC):%d %b %H:%M}" if value else "none"


def _watermark(step: Step) -> float:
    # A query that has seen nothing yet works with the first moment of 1970.
    return step.watermark.timestamp() if step.watermark is not None else 0.0


CURVES = (
    Curve("input rate", "rows per second", lambda step: step.rate),
    Curve("offsets behind", "in all partitions", lambda step: step.behind),
    Curve("state", "rows kept", lambda step: step.state),
    Curve("rows dropped", "in this batch", lambda step: step.dropped),
    Curve("watermark", "event time, UTC", _watermark, _clock),
)


@dataclass(frozen=True)
class ProgressView:
    """What a query's steps look like: a picture of all of them, with the same in words."""

    title: str
    taken: Sequence[Step]

    @property
    def words(self) -> str:
        """Everything that the picture shows, as lines of text."""
        if not self.taken:
            return "No batch has ended yet."
        rows, dropped = sum(step.rows for step in self.taken), sum(step.dropped for step in self.taken)
        batches = counted(len(self.taken), "batch", "batches")
        lines = [f"{batches}: {rows:,} rows read, {dropped:,} dropped as too late."]
        for curve in CURVES:
            values = _values(curve, self.taken)
            lines.append(f"{curve.name} ({curve.unit}): {_said(curve, values)}.")
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.title}\n{self.words}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": as_image(self.title, self.words, self.svg()), "text/plain": str(self)}

    def svg(self) -> str:
        """Return the picture: one row for each curve, the batches from left to right.

        One batch makes no curve: then a row is a number.
        """
        if len(self.taken) > 1:
            each, rows = ROW, [_row(curve, self.taken, TOP + ROW * n) for n, curve in enumerate(CURVES)]
            feet = [(LEFT, f"batch {self.taken[0].batch}", "start")]
            feet.append((WIDTH - RIGHT, f"batch {self.taken[-1].batch}", "end"))
        else:
            each, rows = LINE, [_number(curve, self.taken, TOP + LINE * n) for n, curve in enumerate(CURVES)]
            feet = [(12, f"batch {self.taken[0].batch}" if self.taken else "No batch has ended yet", "start")]
        height = TOP + each * len(CURVES) + FOOT
        drawn = [text(12, 21, self.title, "start", bold=True), *rows]
        drawn += [text(x, height - 12, said, anchor) for x, said, anchor in feet]
        return sheet(self.title, WIDTH, height, drawn)


def _number(curve: Curve, taken: Sequence[Step], top: int) -> str:
    said = [
        f'<line x1="12" x2="{WIDTH - 12}" y1="{top}" y2="{top}" stroke="{theme.RULE}"/>',
        text(12, top + 18, curve.name, "start", bold=True),
        text(120, top + 18, curve.unit, "start", colour=theme.SOFT),
    ]
    if values := _values(curve, taken):
        said.append(text(LEFT + 110, top + 18, curve.written(values[-1]), "end", bold=True))
    return "".join(said)


def _row(curve: Curve, taken: Sequence[Step], top: int) -> str:
    values = _values(curve, taken)
    known = [value for value in values if value] if curve.written is _clock else [0.0, *values]
    low, high = min(known, default=0.0), max(known, default=0.0)
    base = top + 12 + CURVE
    said = [
        f'<line x1="12" x2="{WIDTH - 12}" y1="{top}" y2="{top}" stroke="{theme.RULE}"/>',
        text(12, top + 26, curve.name, "start", bold=True),
        text(12, top + 42, curve.unit, "start", colour=theme.SOFT),
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}" stroke="{theme.LIGHT}"/>',
    ]
    said.append(text(LEFT - 8, top + 18, curve.written(high), "end", colour=theme.SOFT))
    said.append(text(LEFT - 8, base + 4, curve.written(low), "end", colour=theme.SOFT))
    points = [
        (_across(place, len(values)), base - CURVE * (value - low) / ((high - low) or 1))
        for place, value in enumerate(values)
        if value or curve.written is not _clock
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    said.append(f'<polyline points="{line}" fill="none" stroke="{theme.INK}" stroke-width="1.5"/>')
    if points:
        said.append(f'<circle cx="{points[-1][0]:.1f}" cy="{points[-1][1]:.1f}" r="3"/>')
    said.append(text(WIDTH - RIGHT + 10, base - CURVE / 2 + 4, curve.written(values[-1]), "start", bold=True))
    return "".join(said)


def _values(curve: Curve, taken: Sequence[Step]) -> list[float]:
    values = [float(curve.value(step)) for step in taken]
    # The first batch works with no watermark: Spark tells the first moment of 1970.
    return [value if value > 0 else 0.0 for value in values]


def _said(curve: Curve, values: Sequence[float]) -> str:
    last = curve.written(values[-1])
    if curve.written is not _clock:
        return f"{last} in the last batch, {curve.written(max(values))} at most"
    first = next((value for value in values if value), 0.0)
    return f"{last} in the last batch, {curve.written(first)} at first" if first else "none"


def _across(place: int, count: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (place / (count - 1) if count > 1 else 0.5)
