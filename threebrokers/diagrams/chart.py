"""Numbers drawn as a chart: in the page's theme, with the same in words."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from threebrokers import theme
from threebrokers.diagrams.picture import as_image

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCHES_WIDE = 7.0
# Words stay words, in the page's own letters; and a chart that is drawn again is the same file.
SETTINGS: Any = {  # the stubs of Matplotlib know keys only as literals
    "svg.fonttype": "none",
    "svg.hashsalt": "threebrokers",
    "font.family": "sans-serif",
    "figure.facecolor": theme.PAPER,
    "axes.facecolor": theme.PAPER,
    "axes.edgecolor": theme.SOFT,
    "axes.labelcolor": theme.INK,
    "axes.titlesize": "medium",
    "axes.titleweight": "bold",
    "legend.edgecolor": theme.RULE,
    "legend.facecolor": theme.PAPER,
    "text.color": theme.INK,
    "xtick.color": theme.INK,
    "ytick.color": theme.INK,
}


@dataclass(frozen=True)
class Chart:
    """A chart as an SVG drawing, its title, and `words`: the same in one or more lines of text."""

    title: str
    words: str
    svg: str

    def __str__(self) -> str:
        return f"{self.title}\n{self.words}"

    __repr__ = __str__  # outside a notebook a chart is shown by its words

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": as_image(self.title, self.words, self.svg), "text/plain": str(self)}


def chart(title: str, words: str, draw: "Callable[[Axes], Any]", inches_high: float = 3.5) -> Chart:
    """Return what `draw` draws into the axes of a new figure; colours of `theme` follow the page's theme."""
    import matplotlib as mpl  # half a second, which pages without a chart need not pay
    from matplotlib.figure import Figure

    written = io.StringIO()
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(INCHES_WIDE, inches_high))
        axes = figure.subplots()
        draw(axes)
        axes.set_title(title, pad=18)  # a line at the top can have a word of its own
        figure.savefig(written, format="svg", bbox_inches="tight", metadata={"Date": None})
    drawing = written.getvalue()
    begin = drawing.index("<svg")  # what stands before it is for files
    inside = drawing.index(">", begin) + 1
    styles = theme.dark_style() + _dark()
    return Chart(title, words, f"{drawing[begin:inside]}{styles}{drawing[inside:]}")


def _dark() -> str:
    # Matplotlib writes most colours into `style`, where `theme.dark_style` does not look.
    rules = "".join(
        f'[style*="{what}: {light}"]{{{what}:{dark}!important}}'
        for light, dark in theme.DARK.items()
        for what in ("fill", "stroke")
    )
    return f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>"
