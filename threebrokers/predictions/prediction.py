"""A prediction: chosen before the run, compared after it."""

from dataclasses import dataclass
from typing import Any

from IPython import get_ipython
from IPython.display import display

from threebrokers import clock, progress, theme
from threebrokers.choices import Buttons
from threebrokers.errors import LabError
from threebrokers.notebook import tell
from threebrokers.predictions.question import Question
from threebrokers.text import quoted
from threebrokers.verdict import Box

VERDICT = "application/vnd.threebrokers.verdict+json"
WORDS = ("your answer, right", "this is what happened", "your answer, not what happened")


@dataclass(frozen=True)
class Verdict:
    """What came of a prediction. `chosen` is None if none was chosen; `why` belongs to what was chosen."""

    chosen: str | None
    truth: str
    why: str = ""

    @property
    def look(self) -> theme.Look:
        """The sign of the verdict, and the colour that goes with it."""
        return theme.OPEN if self.chosen is None else theme.GOOD if self.chosen == self.truth else theme.BAD

    def __repr__(self) -> str:
        came, why = self._said
        return f"{self.look.sign} {came}{why}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        came, why = self._said
        box = Box(self.look, repr(self), why, strong=came)
        return box.forms | {VERDICT: {"chosen": self.chosen, "truth": self.truth}}  # for tools

    @property
    def _said(self) -> tuple[str, str]:
        """What came, and behind it what there is to learn from that."""
        why = f" {self.why}" if self.why else ""
        if self.chosen is None:
            return f"It was: {self.truth}.", " You had not chosen an answer; that is worth a try next time."
        if self.chosen == self.truth:
            return f"You predicted: {self.chosen}. So it was.", why
        return f"You predicted: {self.chosen}. It was: {self.truth}.", why


class Prediction:
    """A question with answers to choose from.

    `chosen_at` (s since 1970) is when one was chosen; `late` says whether somebody tried that after
    the comparison.
    """

    def __init__(self, name: str, asked: Question) -> None:
        self.name, self.question, self.answers = name, asked.question, asked.why
        self.chosen: str | None = None
        self.truth: str | None = None
        self.chosen_at: float | None = None
        self.late = False
        self._buttons = Buttons(
            self.question, list(self.answers), self._press, WORDS, "Choose before you run."
        )

    def __repr__(self) -> str:
        return f"{self.question} {f'You predict: {self.chosen}.' if self.chosen else 'Not chosen yet.'}"

    def ask(self) -> None:
        """Show the question and its buttons under the running cell, with what is chosen."""
        if get_ipython() is not None:
            display(self._buttons)  # type: ignore[no-untyped-call]

    def choose(self, answer: object) -> None:
        """Choose an answer, as its button does; until the comparison you may choose another one.

        Raises LabError if the answer is none of those offered, or if it comes after the comparison.
        """
        print(self._choose(str(answer)))

    def compare(self, truth: object) -> None:
        """Show whether the chosen answer is the true one; nothing can be chosen after that.

        `truth` is the answer that was measured. Raises LabError if it is none of those offered.
        """
        found = str(truth)
        if found not in self.answers:
            raise LabError(
                f"This time it was '{found}', which is none of the answers to “{self.question}”",
                "run the cells of this experiment again",
            )
        self.truth = found
        if self.chosen is not None:
            progress.record_guess(self.name, progress.Guess(self.chosen, found))
        self._buttons.show(self.chosen, self.truth, "✓ marks what was measured.")
        why = self.answers[self.chosen] if self.chosen is not None else ""
        tell(Verdict(self.chosen, found, why))

    def close(self) -> None:
        """Take the buttons away."""
        self._buttons.close()

    def _choose(self, answer: str) -> str:
        if answer not in self.answers:
            raise LabError(f"'{answer}' is none of the answers", f"choose one of {quoted(self.answers)}")
        if self.truth is not None:
            self.late = True
            raise LabError(
                f"It is known already that it was '{self.truth}'",
                "to predict again, run the question's cell again, and then the experiment",
            )
        self.chosen, self.chosen_at = answer, clock.now()
        told = f"You predict: {answer}. Now run the next cells and compare."
        self._buttons.show(answer, None, told)
        return f"You predict: {answer}."

    def _press(self, answer: str) -> None:
        try:
            self._choose(answer)
        except LabError as fault:  # nobody stands above a pressed button to show it
            self._buttons.show(self.chosen, self.truth, str(fault))
