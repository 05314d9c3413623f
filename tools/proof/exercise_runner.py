"""One pass over a lesson in one kernel: its cells in order, each exercise tried in every way."""

from collections.abc import Mapping

from threebrokers.grading.kernel import Kernel, Reply
from tools.lessons import notebooks, solution_marks
from tools.lessons.execution import CELL_SECONDS
from tools.lessons.lesson import Cell, Exercise, Lesson
from tools.proof.needed import needed, places_of
from tools.proof.steps import OTHER, Step, nonsense


class FailedError(Exception):
    """A cell did not do what its place in the lesson asks for."""


class Trial:
    """A lesson in a kernel. Cells between exercises run once, in order, before what follows them.

    Who has seen the solution run says what its cells said, by their ids: its checks must say the same words
    here, and of the cells between exercises only those run that the exercises need, with so many `answers`.
    """

    def __init__(
        self,
        lesson: Lesson,
        kernel: Kernel,
        seen: Mapping[str, str] | None = None,
        answers: int | None = None,
    ) -> None:
        self.lesson, self.kernel = lesson, kernel
        self.seconds = 0.0
        kept = notebooks.ids(lesson)
        self._ids = {cell.place: name for cell, name in kept}
        self._ahead = [cell for cell, _ in kept if cell.kind == "code"]
        self._texts = (
            {cell.place: cell.solved for cell in self._ahead} if seen is None else needed(lesson, answers)
        )
        self._broken = ""
        self._solved = dict(seen or {})

    def take(self, step: Step) -> None:
        """Take one step. Raises FailedError with a sentence that names the cell."""
        if self._broken:
            raise FailedError(f"not tried, because earlier {self._broken}")
        self._go(step.exercise)
        if step.exercise is None:
            return
        if step.kind == "nonsense":
            self._nonsense(step.exercise)
        else:
            self._attempt(step, step.exercise)

    def _go(self, exercise: Exercise | None) -> None:
        """Run the cells before an exercise that did not run yet, or all that are left."""
        own = self._own(exercise) if exercise else []
        if own and not any(cell.place == own[0].place for cell in self._ahead):
            return  # it was tried already
        while self._ahead and not (own and self._ahead[0].place == own[0].place):
            cell = self._ahead.pop(0)
            try:
                if text := self._texts[cell.place]:
                    self._run(cell, text)
            except FailedError as fault:
                self._broken = str(fault)
                raise
        self._ahead = self._ahead[len(own) :]

    def _attempt(self, step: Step, exercise: Exercise) -> None:
        answer, *between, check = self._own(exercise)
        if step.kind == "untouched":
            self._run(answer, solution_marks.untouched(answer.source, exercise.blanks))
        elif step.wrong:
            self._run(answer, solution_marks.replaced(answer.source, step.wrong.cell.source), step.wrong.cell)
        else:
            self._run(answer, answer.solved)
        for cell in between:
            self._run(cell, cell.source)
        reply = self._send(check, check.source)
        self._judge(step, exercise, reply)

    def _judge(self, step: Step, exercise: Exercise, reply: Reply) -> None:
        said = _said(reply)
        if step.kind == "solution":
            self._expect(not reply.error and reply.result.startswith("✓"), exercise, "to be solved", said)
            first = self._solved.setdefault(self._ids[exercise.checks[0].place], reply.result)
            self._expect(first == reply.result, exercise, f"the same words as before ({first})", said)
            return
        if step.kind == "right":
            self._expect(not reply.error and reply.result.startswith("✓"), exercise, "to be solved", said)
            return
        wanted = "NotAttempted" if step.kind == "untouched" else "NotYet"
        self._expect(reply.error == wanted, exercise, f"{wanted}", said)
        self._expect(len(reply.traceback) == 1, exercise, "one sentence and no traceback", said)
        if step.wrong:
            self._expect(step.wrong.text in reply.message, exercise, f"'{step.wrong.text}'", said)
            for other in exercise.wrongs:
                if other is not step.wrong:
                    words = f"nothing of '{other.name}' ('{other.text}')"
                    self._expect(other.text not in reply.message, exercise, words, said)

    def _nonsense(self, exercise: Exercise) -> None:
        check = exercise.checks[0]
        self._run(check, f'{OTHER} = lab.fresh_topic("another")')
        for text in nonsense(check.source):
            reply = self._send(check, text)
            self._expect(
                reply.error in ("NotYet", "NotAttempted"), exercise, f"NotYet for {text}", _said(reply)
            )
            self._expect(len(reply.traceback) == 1, exercise, "one sentence and no traceback", _said(reply))

    def _own(self, exercise: Exercise) -> list[Cell]:
        """Return the cells of an exercise that run: from its answer to its check."""
        cells = [self.lesson.cells[place] for place in places_of(exercise)]
        return [cell for cell in cells if cell.kind == "code" and not cell.is_tried]

    def _run(self, cell: Cell, text: str, tagged: Cell | None = None) -> None:
        reply = self._send(cell, text)
        if reply.error and "raises-exception" not in (tagged or cell).tags:
            first = text.partition("\n")[0]
            raise FailedError(
                f"the cell {self._ids[cell.place]} of {self.lesson.stem} ('{first}') failed: {_said(reply)}"
            )

    def _send(self, cell: Cell, text: str) -> Reply:
        try:
            reply = self.kernel.run(text, self._ids[cell.place], CELL_SECONDS)
        except (TimeoutError, RuntimeError) as fault:
            self._broken = f"the cell {self._ids[cell.place]} of {self.lesson.stem}: {fault}"
            raise FailedError(self._broken) from fault
        self.seconds += reply.seconds
        return reply

    def _expect(self, holds: bool, exercise: Exercise, wanted: str, said: str) -> None:
        if not holds:
            cell = self._ids[exercise.checks[0].place]
            raise FailedError(f"the cell {cell} of {self.lesson.stem} should say {wanted}; it says {said}")


def _said(reply: Reply) -> str:
    return f"{reply.error}: {reply.message}" if reply.error else reply.result or "nothing"
