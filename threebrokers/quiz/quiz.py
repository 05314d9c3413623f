"""Some questions with buttons: each answer is explained at once, and the first one is remembered."""

from typing import Any

import ipywidgets

from threebrokers import progress
from threebrokers.choices import Buttons
from threebrokers.quiz import twin
from threebrokers.quiz.question import Question, Questions

WORDS = ("your answer, right", "the right answer", "your answer, not right")
ASK = "Choose an answer."
AGAIN = "Answer again"


class Quiz:
    """Questions under a cell. With `kept` those that were answered before are shown with that answer.

    The first answer to each is kept with the progress. It can be answered again as often as one likes: that
    is not kept, or a wrong answer would never come up again.
    """

    def __init__(self, questions: Questions, *, kept: bool = False) -> None:
        known = progress.answers() if kept else {}
        self._questions = questions
        self.asked = {name: Asked(name, question, known.get(name)) for name, question in questions.items()}

    def __repr__(self) -> str:
        return twin.text(self._questions)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        forms = {"text/plain": repr(self), "text/html": twin.page(self._questions)}
        if not self.asked:
            return forms
        shown = ipywidgets.VBox([asked.buttons for asked in self.asked.values()])
        told = shown._repr_mimebundle_(**kwargs)
        data, metadata = told if isinstance(told, tuple) else (told, {})
        return {**(data or {}), **forms}, metadata


class Asked:
    """One question, asked now; `before` is the answer that it was given last."""

    def __init__(self, name: str, question: Question, before: progress.Answered | None) -> None:
        self.name, self.question, self._counted = name, question, False
        self.buttons = Buttons(
            question.question, list(question.why), self.choose, WORDS, ASK, (AGAIN, self.ask)
        )
        if before and before.answer in question.why:
            self._show(before.answer)

    def choose(self, answer: str) -> None:
        """Choose an answer, as its button does: it is explained, and kept if it is the first one."""
        if answer not in self.question.why or self.buttons.truth is not None:
            return
        if not self._counted:
            self._counted = True
            progress.record_answer(self.name, answer, right=answer == self.question.truth)
        self._show(answer)

    def ask(self) -> None:
        """Ask anew."""
        self.buttons.show(
            None, None, f"{ASK} Your first answer is the one that is kept." if self._counted else ASK
        )

    def _show(self, answer: str) -> None:
        self.buttons.show(answer, self.question.truth, self.question.told(answer))
