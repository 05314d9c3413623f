"""How long records are on their way, by percentile: a picture, and the same in words."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from threebrokers import theme
from threebrokers.diagrams.picture import as_image
from threebrokers.diagrams.svg import sheet, text

WIDTH, ROW, LEFT, RIGHT, TOP, FOOT = 720, 64, 200, 40, 58, 44
Across = Callable[[float], float]
TITLE = "From the producer to a consumer, through a query"
AXIS = "milliseconds; each line is ten times as long as the last"
# A sign for each: half, 95 and 99 of a hundred records took no longer.
PERCENTILES = {50: "●", 95: "◆", 99: "■"}


@dataclass(frozen=True)
class Latencies:
    """What was measured: for each trigger the sorted times (ms) of its records."""

    times: Mapping[str, Sequence[float]]

    def at(self, name: str, percentile: int) -> float:
        """Return how long (ms) so many of a hundred records took at most with this trigger."""
        taken = self.times[name]
        return taken[max(0, math.ceil(percentile / 100 * len(taken)) - 1)]

    @property
    def quickest(self) -> str:
        """The trigger with which half of the records came first."""
        return min(self.times, key=lambda name: self.at(name, 50))

    @property
    def words(self) -> str:
        """Everything that the picture shows, as lines of text."""
        return "\n".join(
            f"{name}: "
            + ", ".join(f"{p} % of the records within {_written(self.at(name, p))}" for p in PERCENTILES)
            + "."
            for name in self.times
        )

    def __str__(self) -> str:
        return f"{TITLE}\n{self.words}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": as_image(TITLE, self.words, self.svg()), "text/plain": str(self)}

    def svg(self) -> str:
        """Return the picture: a row for each trigger; the time from left to right, in powers of ten."""
        height = TOP + ROW * len(self.times) + FOOT
        base = height - FOOT
        every = [self.at(name, p) for name in self.times for p in PERCENTILES]
        low, high = math.floor(math.log10(min(every))), math.ceil(math.log10(max(every) + 0.001))
        high = max(high, low + 1)

        def across(milliseconds: float) -> float:
            return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(milliseconds) - low) / (high - low)

        drawn = [*_axis([10.0**power for power in range(low, high + 1)], across, base)]
        for place, name in enumerate(self.times):
            drawn += self._row(name, TOP + ROW * place, across)
        signs = "   ".join(f"{sign} {p} % of the records" for p, sign in PERCENTILES.items())
        head = text(12, 21, TITLE, "start", bold=True), text(12, 41, signs, "start")
        return sheet(TITLE, WIDTH, height, [*head, *drawn, text(LEFT, height - 8, AXIS, "start")])

    def _row(self, name: str, top: int, across: Across) -> Iterator[str]:
        middle = top + ROW / 2
        yield text(12, middle + 4, name, "start", bold=True)
        values = [self.at(name, p) for p in PERCENTILES]
        yield (
            f'<line x1="{across(values[0]):.1f}" x2="{across(values[-1]):.1f}" y1="{middle}" y2="{middle}" '
            f'stroke="{theme.INK}" stroke-width="1.5"/>'
        )
        for value, sign in zip(values, PERCENTILES.values(), strict=True):
            yield text(across(value), middle + 5, sign, "middle")
        # Two of three can stand very near each other: their numbers would hide one another.
        yield text(across(values[0]), middle - 12, _written(values[0]), "middle")
        yield text(across(values[-1]), middle + 24, _written(values[-1]), "middle")


def _axis(lines: Sequence[float], across: Across, base: int) -> Iterator[str]:
    for value in lines:
        x = across(value)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{base}" stroke="{theme.RULE}"/>'
        yield text(x, base + 16, f"{value:,g}", "middle", colour=theme.SOFT)


def _written(milliseconds: float) -> str:
    return f"{milliseconds:,.0f} ms"
