"""The report under a cell, with a button that puts an exercise back."""

from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from threebrokers.errors import LabError
from threebrokers.report.collect import Report
from threebrokers.report.page import fragment, words
from threebrokers.restore import restore_exercise

HERE = Path(__file__).parent
KEPT = "What you had is kept beside it."


class Reset(anywidget.AnyWidget):
    """A list of a lab's exercises, and a button that puts one back as it was handed out."""

    _esm = HERE / "reset.js"
    _css = HERE / "reset.css"
    lab = traitlets.Unicode().tag(sync=True)
    exercises: traitlets.List[Any] = traitlets.List().tag(sync=True)
    note = traitlets.Unicode(KEPT).tag(sync=True)

    def __init__(self, lab: str, exercises: list[tuple[str, str]]) -> None:
        super().__init__(lab=lab, exercises=[list(one) for one in exercises])
        self.on_msg(lambda _, content, __: self.put_back(str(content.get("exercise"))))

    def put_back(self, exercise: str) -> None:
        """Put an exercise back in the learner's file, and say what was done, or why it was not."""
        try:
            self.note = restore_exercise(self.lab, exercise)
        except (LabError, OSError) as fault:  # nobody stands above a pressed button to show it
            self.note = str(fault)
        else:
            self.send({"done": exercise})


class Shown:
    """The report, and the button for the exercises of one lab."""

    def __init__(self, report: Report, lab: str) -> None:
        self._report = report
        own = [(n, title) for one in report.labs if one.number == lab for n, title, _ in one.exercises]
        self.reset = Reset(lab, own)

    def __repr__(self) -> str:
        return words(self._report)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        shown = ipywidgets.VBox([ipywidgets.HTML(fragment(self._report, level=3)), self.reset])
        told = shown._repr_mimebundle_(**kwargs)
        data, metadata = told if isinstance(told, tuple) else (told, {})
        return {
            **(data or {}),
            "text/plain": repr(self),
            "text/html": fragment(self._report, level=3),
        }, metadata
