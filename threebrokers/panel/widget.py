"""The widget: it holds what is drawn, and passes on what a reader presses. It knows no cluster."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from threebrokers import clock
from threebrokers.cluster.actions import ACTION_KINDS
from threebrokers.notebook import heard_while_cells_run
from threebrokers.panel.static import still

HERE = Path(__file__).parent
BUTTONS = tuple(kind.name for kind in ACTION_KINDS.values() if kind.button_in)


class Panel(anywidget.AnyWidget):
    """A panel in a notebook. Its text twin is what `print(panel)` prints.

    `frame` is a Frame (see frame.py); `opened` holds topics that the reader opened or closed; `times`
    (s from the first) and `position` are those of a replay, and empty in a live panel. `big` is for a room:
    letters are half as large again. `since` (s since 1970) is when the panel was made.
    """

    _esm = HERE / "widget.js"
    _css = HERE / "widget.css"
    frame = traitlets.Dict().tag(sync=True)
    opened = traitlets.Dict().tag(sync=True)
    times: traitlets.List[float] = traitlets.List().tag(sync=True)
    marks: traitlets.List[list[float | str]] = traitlets.List().tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)
    ended = traitlets.Unicode("").tag(sync=True)
    big = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        press: Callable[[str, int, bool], None] | None = None,
        end: Callable[[], None] | None = None,
        big: bool = False,
    ) -> None:
        super().__init__(big=big)
        self._press, self._end = press, end
        self.since = clock.now()
        self.on_msg(self._told)
        heard_while_cells_run(self)

    def __repr__(self) -> str:
        return str(self.frame.get("words", ""))

    def _repr_mimebundle_(self, **more: Any) -> Any:
        shown = super()._repr_mimebundle_(**more)
        # Where there is no kernel there is no widget: a saved notebook shows this instead.
        picture = still(self.frame)._repr_mimebundle_() if self.frame else {}
        return shown and ({**picture, **shown[0]}, shown[1])

    def end(self, why: str = "This panel has ended: run its cell again.") -> None:
        """Stop watching. The last picture stays, and says that it is the last."""
        if not self.ended:
            self.ended = why
            if self._end:
                self._end()

    def close(self) -> None:
        """Stop watching and take the panel away."""
        self.end()
        super().close()

    def _told(self, _widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
        kind, broker = content.get("kind"), content.get("broker")
        if self._press and kind in BUTTONS and isinstance(broker, int) and not self.ended:
            self._press(kind, broker, bool(content.get("force")))
