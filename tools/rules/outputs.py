"""The rules of what a solution shows under its cells."""

from collections.abc import Iterator
from pathlib import Path

from tools.lessons import notebooks
from tools.lessons.lesson import Lesson

Fault = tuple[str, str, str]
BARE = "0"  # what flush() returns when all is well: shown without a word, it looks like an answer


def faults(lesson: Lesson, root: Path) -> Iterator[Fault]:
    """Yield every cell of the executed solution under which stands a number without a word, or red text.

    JupyterLab shows in red what comes through stderr: to a learner it is an error. A traceback there also
    tells the paths of the machine on which it came.
    """
    solution = notebooks.read(notebooks.solution_path(root, lesson))
    for cell in notebooks.codes(solution) if solution is not None else []:
        if any(out.get("data", {}).get("text/plain") == BARE for out in cell.outputs):
            line = cell.source.rstrip().splitlines()[-1]
            mend = f"give it a name ('left = {line}'), then `python -m tools run {lesson.number}`"
            yield f"the cell that ends with '{line}'", f"a bare {BARE} stands under it", mend
        if red := "".join(out.text for out in cell.outputs if out.get("name") == "stderr"):
            begins = cell.source.partition("\n")[0]
            mend = f"mend what writes it, then `python -m tools run {lesson.number}`"
            yield f"the cell that begins with '{begins}'", f"red text stands under it ({red[:40]!r})", mend
