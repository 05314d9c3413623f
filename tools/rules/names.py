"""One rule: names of a region are blank in the lab, so other cells must not use them."""

from collections.abc import Iterator

from tools.lessons import code_names, solution_marks
from tools.lessons.lesson import Cell, Exercise, Lesson

Fault = tuple[str, str, str]


def faults(lesson: Lesson) -> Iterator[Fault]:
    """Yield code that does not parse and each use of a region's name outside its check's arguments."""
    broken = [cell for cell in lesson.cells if cell.kind == "code" and not code_names.parses(cell.source)]
    for cell in broken:
        place = f"the cell '{cell.source.partition(chr(10))[0]}'"
        yield place, "Python cannot read it (no magic but %%program)", "correct it"
    if not broken:
        yield from _Names(lesson).walk()


class _Names:
    """Walks over the code cells in order and knows which names are blank in the lab by then."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self.owner = {cell.place: exercise for exercise in lesson.exercises for cell in exercise.cells}
        self.given: set[str] = set()  # bound by cells that the learner does not write
        self.blank: dict[str, str] = {}  # name -> number of its exercise

    def walk(self) -> Iterator[Fault]:
        for cell in self.lesson.cells:
            if cell.kind != "code" or cell.is_tried:
                continue
            exercise = self.owner.get(cell.place)
            if cell.is_check:
                allowed = exercise.number if exercise else ""
                yield from self._uses(cell, code_names.names_read(cell.source), allowed)
            elif cell.is_answer:
                yield from self._answer(cell, exercise)
            else:
                bound = code_names.assigned(cell.source)
                yield from self._uses(cell, code_names.names_read(cell.source) - bound, "")
                self._give(bound)

    def _answer(self, cell: Cell, exercise: Exercise | None) -> Iterator[Fault]:
        if any(solution_marks.faults(cell.source)):
            return
        yield from self._uses(cell, code_names.names_read(cell.source) - code_names.assigned(cell.source), "")
        part = solution_marks.split(cell.source)
        self._give(code_names.assigned(f"{part.before}\n{part.after}"))
        if exercise is None:
            return  # a prediction, which binds nothing
        for name in code_names.assigned(part.region):
            if name in exercise.blanks or name not in self.given:
                self.blank[name] = exercise.number

    def _give(self, names: set[str]) -> None:
        self.given |= names
        for name in names:
            self.blank.pop(name, None)

    def _uses(self, cell: Cell, names: set[str], allowed: str) -> Iterator[Fault]:
        for name in sorted(names & self.blank.keys()):
            number = self.blank[name]
            if number != allowed:
                first = cell.source.partition("\n")[0]
                wrong = f"the cell '{first}' uses '{name}', which is not there until {number} is solved"
                yield f"exercise {number}", wrong, "use it only in the check's arguments, or bind it again"
