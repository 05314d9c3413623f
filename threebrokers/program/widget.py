"""The box of a program that runs, with buttons that end it."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from threebrokers.errors import LabError
from threebrokers.notebook import heard_while_cells_run
from threebrokers.program.display import Box

HERE = Path(__file__).parent
DOING = {"stop": "stopping …", "kill": "killing …"}


class LiveBox(anywidget.AnyWidget):
    """A program's box as it is now; `press` does what a pressed button says, and raises LabError if it fails.

    The box itself stands beside it in the cell's output: a saved notebook, which has no kernel, shows that.
    """

    _esm = HERE / "widget.js"
    _css = HERE / "widget.css"
    name = traitlets.Unicode().tag(sync=True)
    state = traitlets.Unicode().tag(sync=True)
    output = traitlets.Unicode().tag(sync=True)
    colour = traitlets.Unicode().tag(sync=True)
    runs = traitlets.Bool().tag(sync=True)
    doing = traitlets.Unicode().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)

    def __init__(self, box: Box, press: Callable[[str], None]) -> None:
        super().__init__(name=box.name)
        self._press = press
        self.show(box)
        self.on_msg(self._told)
        heard_while_cells_run(self)

    def show(self, box: Box) -> None:
        """Show the program as it is at another moment."""
        self._box = box
        with self.hold_sync():
            self.state, self.output, self.colour = box.state, "\n".join(box.tail), box.look.colour
            self.runs = box.code is None

    def __repr__(self) -> str:
        return repr(self._box)

    def _repr_mimebundle_(self, **more: Any) -> Any:
        shown = super()._repr_mimebundle_(**more)
        twin = {"text/plain": repr(self._box), "text/html": self._box._repr_html_()}
        return shown and ({**shown[0], **twin}, shown[1])

    def _told(self, _widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
        kind = content.get("kind")
        if kind in DOING and self.runs:
            # In a thread of its own: a program may take seconds to close its clients.
            threading.Thread(target=self._do, args=(kind,), daemon=True).start()

    def _do(self, kind: str) -> None:
        self.doing, self.note = kind, DOING[kind]
        told = ""
        try:
            self._press(kind)
        except LabError as fault:  # nobody stands above a pressed button to show it
            told = str(fault)
        self.doing, self.note = "", told if self.runs else ""  # it may have ended by itself meanwhile
