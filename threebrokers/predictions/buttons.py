"""The buttons of a prediction."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from threebrokers import theme
from threebrokers.text import as_html

HERE = Path(__file__).parent


class Buttons(anywidget.AnyWidget):
    """A question and a button for each answer; `press` is called with the answer of a pressed one.

    The traits that end in `html` are what is shown, the others what it is called.
    """

    _esm = HERE / "buttons.js"
    _css = HERE / "buttons.css"
    question = traitlets.Unicode().tag(sync=True)
    question_html = traitlets.Unicode().tag(sync=True)
    answers = traitlets.List(traitlets.Unicode()).tag(sync=True)
    answers_html = traitlets.List(traitlets.Unicode()).tag(sync=True)
    chosen = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    truth = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    note_html = traitlets.Unicode().tag(sync=True)

    def __init__(self, question: str, answers: Sequence[str], press: Callable[[str], None]) -> None:
        super().__init__(
            question=question,
            question_html=as_html(question),
            answers=list(answers),
            answers_html=[as_html(answer) for answer in answers],
            note_html="Choose before you run.",
        )
        self.on_msg(lambda _, content, __: press(str(content.get("answer"))))

    def show(self, chosen: str | None, truth: str | None, note: str) -> None:
        """Show which answer is chosen, which one is true (None: not known yet), and a line under them."""
        with self.hold_sync():
            self.chosen, self.truth, self.note_html = chosen, truth, as_html(note)

    def __repr__(self) -> str:
        return "\n".join([self.question, *(f"{theme.OPEN.sign} {answer}" for answer in self.answers)])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        # The whole text, and the same in every run: nbval compares it, and a saved notebook shows it.
        told = super()._repr_mimebundle_(**kwargs)
        data, metadata = told if isinstance(told, tuple) else (told, {})
        return {**(data or {}), "text/plain": repr(self)}, metadata
