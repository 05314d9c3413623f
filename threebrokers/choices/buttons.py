"""The buttons of a question."""

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

    `words` are what a screen reader hears of an answer once the true one is known: that it was chosen and is
    true, that it is true, that it was chosen and is not. With `retry` there is a button of this name then,
    which calls that function. The traits that end in `html` are what is shown, the others what it is called.
    """

    _esm = HERE / "buttons.js"
    _css = HERE / "buttons.css"
    question = traitlets.Unicode().tag(sync=True)
    question_html = traitlets.Unicode().tag(sync=True)
    answers = traitlets.List(traitlets.Unicode()).tag(sync=True)
    answers_html = traitlets.List(traitlets.Unicode()).tag(sync=True)
    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    again = traitlets.Unicode().tag(sync=True)
    chosen = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    truth = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    note_html = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        question: str,
        answers: Sequence[str],
        press: Callable[[str], None],
        words: Sequence[str],
        note: str,
        retry: tuple[str, Callable[[], None]] | None = None,
    ) -> None:
        super().__init__(
            question=question,
            question_html=as_html(question),
            answers=list(answers),
            answers_html=[as_html(answer) for answer in answers],
            words=list(words),
            again=retry[0] if retry else "",
            note_html=as_html(note),
        )
        self._press, self._retry = press, retry[1] if retry else None
        self.on_msg(lambda _, content, __: self._heard(content))

    def show(self, chosen: str | None, truth: str | None, note: str) -> None:
        """Show which answer is chosen, which one is true (None: not known yet), and a line under them."""
        with self.hold_sync():
            self.chosen, self.truth, self.note_html = chosen, truth, as_html(note)

    def _heard(self, content: dict[str, Any]) -> None:
        if "answer" in content:
            self._press(str(content["answer"]))
        elif self._retry and content.get("again"):
            self._retry()
        # A page that lost the news of an earlier press, as its connection broke, would wait for ever: another
        # press changes nothing here once the truth is known.
        self.send_state(["chosen", "truth", "note_html"])

    def __repr__(self) -> str:
        return "\n".join([self.question, *(f"{theme.OPEN.sign} {answer}" for answer in self.answers)])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        # The whole text, and the same in every run: nbval compares it, and a saved notebook shows it.
        told = super()._repr_mimebundle_(**kwargs)
        data, metadata = told if isinstance(told, tuple) else (told, {})
        return {**(data or {}), "text/plain": repr(self)}, metadata
