"""The panels that a notebook shows, and when each of them ends."""

from collections.abc import Sequence

from threebrokers.notebook import running_cell
from threebrokers.view.live import Bench, Live
from threebrokers.view.panel import Panel


class Panels:
    """The panels of one cluster. A cell that runs again has its earlier panel closed first."""

    def __init__(self) -> None:
        self._made: list[tuple[tuple[str, int], Panel]] = []

    def watch(self, bench: Bench, topics: Sequence[str] | None = None, groups: Sequence[str] = ()) -> Panel:
        """Return a new panel that watches these topics (all but Kafka's own if None) and groups."""
        cell, run = running_cell()
        kept = []
        for (by, when), panel in self._made:
            if cell and by == cell and when != run:
                panel.close()
            else:
                kept.append(((by, when), panel))
        self._made = kept
        panel = Live(bench, topics, groups).panel
        self._made.append(((cell, run), panel))
        return panel

    def end(self) -> None:
        """Stop all panels; their last pictures stay."""
        for _, panel in self._made:
            panel.end()
