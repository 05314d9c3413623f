"""The rules of cells that are programs of their own."""

import builtins
import re
from collections.abc import Iterator

from tools.lessons import code_names
from tools.lessons.lesson import Lesson

Fault = tuple[str, str, str]
GIVEN = {*dir(builtins), "lab", "__name__", "__file__"}


def faults(lesson: Lesson) -> Iterator[Fault]:
    """Yield every broken rule of the lesson's programs."""
    seen: set[str] = set()
    for cell in lesson.cells:
        held = code_names.program(cell.source) if cell.kind == "code" else None
        if held is None:
            continue
        name, text = held
        place = f"the program '{name}'"
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            yield place, "its name is not understood", "write '# %%program worker_a'"
        if name in seen and not cell.is_tried:
            yield place, "another program has this name", "give each program a name of its own"
        seen.add(name)
        if code_names.parses(text):
            for unknown in sorted(code_names.names_read(text) - code_names.assigned(text) - GIVEN):
                wrong = f"it uses '{unknown}', and a program has nothing but `lab`"
                yield place, wrong, "import it, compute it there, or ask the lab for the name"
