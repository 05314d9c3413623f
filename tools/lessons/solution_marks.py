"""The marks in an exercise's cell, and the texts that the cell has without them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

BEGIN, END, TODO = "# BEGIN SOLUTION", "# END SOLUTION", "# TODO: "
# Whatever an author may have meant as a mark.
_MARK = re.compile(r"\s*#+\s*(begin|end)[\s_-]*solution\b.*", re.IGNORECASE)
_TODO = re.compile(r"\s*#+\s*todo\b.*", re.IGNORECASE)


@dataclass(frozen=True)
class Split:
    """A cell's text before the marks, between them and after them."""

    before: str
    region: str
    after: str


def is_marked(text: str) -> bool:
    """Tell whether a cell has a line that is meant as a mark or a TODO."""
    return any(_MARK.fullmatch(line) or _TODO.fullmatch(line) for line in text.splitlines())


def faults(text: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the marks and the TODO of a cell, each with the way to mend it."""
    lines = text.splitlines()
    marks = [line for line in lines if _MARK.fullmatch(line)]
    odd = [line for line in marks if line not in (BEGIN, END)]
    if odd:
        yield f"the mark '{odd[0]}' is not understood", f"write exactly '{BEGIN}' or '{END}', not indented"
    elif not marks:
        yield "there are no marks", f"put '{BEGIN}' and '{END}' around the answer"
    elif marks[0] == END:
        yield f"'{END}' comes before '{BEGIN}'", "put the marks around the answer"
    elif len(marks) == 1:
        yield f"'{BEGIN}' is not closed", f"add '{END}' after the answer"
    elif marks[1] == BEGIN:
        yield f"a second '{BEGIN}' stands before '{END}'", "do not nest marks: keep one pair"
    elif len(marks) > 2:
        yield "there is more than one pair of marks", "keep one region in an exercise's cell"
    todos = [line for line in lines if _TODO.fullmatch(line)]
    if len(todos) != 1 or not todos[0].startswith(TODO):
        yield f"the cell has {len(todos)} TODO lines or it is misspelt", f"write one line '{TODO}…'"
    elif marks == [BEGIN, END] and todos[0] in split(text).region.splitlines():
        yield "the TODO stands between the marks, so the lab would lose it", f"move it above '{BEGIN}'"


def split(text: str) -> Split:
    """Split a cell at its marks, which must be right."""
    before, _, rest = f"\n{text}\n".partition(f"\n{BEGIN}\n")
    region, _, after = f"\n{rest}".partition(f"\n{END}\n")
    return Split(before.strip("\n"), region.strip("\n"), after.strip("\n"))


def untouched(text: str, blanks: Sequence[str]) -> str:
    """Return the cell as the lab has it: `...` in place of the answer."""
    return replaced(text, "\n".join(f"{name} = ..." for name in blanks))


def replaced(text: str, answer: str) -> str:
    """Return the cell with another answer in place of the region; the marks are gone."""
    return _join(text, answer, todo=True)


def solved(text: str) -> str:
    """Return the cell as the solution has it: without marks and TODO."""
    return _join(text, split(text).region, todo=False)


def _join(text: str, answer: str, *, todo: bool) -> str:
    lines = [line for line in text.splitlines() if todo or not _TODO.fullmatch(line)]
    begin, end = lines.index(BEGIN), lines.index(END)
    return "\n".join([*lines[:begin], *([answer] if answer else []), *lines[end + 1 :]]).strip("\n")
