"""The grades for people: one table on the terminal, a file for spreadsheets, and a page to read."""

import csv
import html
import io
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from threebrokers import theme
from threebrokers.files import write_whole
from threebrokers.grading.grades import NAME, Grade
from threebrokers.grading.orders import NOT_ATTEMPTED, NOT_YET, SOLVED, TROUBLE, Mark

LOOKS = {SOLVED: theme.GOOD, NOT_YET: theme.BAD, NOT_ATTEMPTED: theme.OPEN, TROUBLE: theme.WARNING}
STYLES = {theme.GOOD: "green", theme.BAD: "red", theme.OPEN: "dim", theme.WARNING: "yellow"}
COLUMNS = (
    *("learner", "file", "lab", "exercise", "verdict", "sentence", "judged by", "solved", "of", "seconds"),
    "what happened",
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which a spreadsheet would compute
TOGETHER = (
    "These hand-ins were NOT kept apart: they could read your files, write to them and use the network, and "
    "what their code did to the grading cannot be known."
)
STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.3em .6em;border-bottom:1px solid}
td.verdict{white-space:nowrap}
h2{margin-top:2em}
"""


def table(grades: Sequence[Grade]) -> RenderableType:
    """Return the table of the terminal: a row a hand-in, a sign an exercise, and what happened."""
    shown = Table(box=box.SIMPLE, pad_edge=False)
    for column in ("learner", "lab", "exercises", "solved", "time", "what happened"):
        whole = column == "exercises"  # a line that ended in it could part a sign from its exercise
        shown.add_column(column, justify="right" if column == "time" else "left", no_wrap=whole)
    for grade in grades:
        signs = Text(" ").join(_sign(mark) for mark in grade.marks) if grade.marks else Text("–")
        solved = f"{grade.solved} of {len(grade.marks)}" if grade.marks else "–"
        told = "\n".join(happened(grade))
        row = grade.learner, grade.lab or "–", signs, solved, f"{grade.seconds:.0f} s", Text(told)
        shown.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    signs_told = [f"{look.sign} {verdict}" for verdict, look in LOOKS.items()]
    shown.caption = "   ".join(signs_told) + f"\n{foot(grades)}"
    shown.caption_justify = "left"
    return shown


def show(grades: Sequence[Grade]) -> None:
    """Print the table."""
    Console(highlight=False, markup=False, emoji=False).print(table(grades))


def foot(grades: Sequence[Grade]) -> str:
    """Return the line under the table."""
    together = f"\n{TOGETHER}" if any(not grade.apart and grade.marks for grade in grades) else ""
    return f"{NAME}.html has each sentence, {NAME}.csv is for a spreadsheet.{together}"


def happened(grade: Grade) -> list[str]:
    """Return what a teacher should know of a hand-in, in sentences."""
    # What was told of one exercise twice is said once.
    return [grade.fault] if grade.fault else list(dict.fromkeys(grade.notes))


def as_csv(grades: Sequence[Grade]) -> str:
    """Return a row for each exercise of each hand-in; a file that was not graded has one row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for grade in grades:
        told = " ".join(happened(grade))
        first = [grade.learner, grade.file, grade.lab]
        for mark in grade.marks:
            points = [grade.solved, len(grade.marks), mark.seconds]
            row = [*first, mark.number, mark.verdict, mark.sentence, mark.by, *points, told]
            writer.writerow(map(_as_text, row))
        if not grade.marks:
            writer.writerow(map(_as_text, [*first, "", "not graded", grade.fault, "", "", "", "", told]))
    return out.getvalue()


def as_page(grades: Sequence[Grade], titles: dict[str, str]) -> str:
    """Return a page that needs nothing else: a table of all, and each learner's sentences."""
    rows = "".join(
        f'<tr><td><a href="#h{number}">{_safe(grade.learner)}</a></td><td>{_safe(grade.lab or "–")}</td>'
        f"<td>{grade.solved} of {len(grade.marks)}</td><td>{_safe(' '.join(happened(grade)))}</td></tr>"
        for number, grade in enumerate(grades)
    )
    parts = "".join(_part(number, grade, titles) for number, grade in enumerate(grades))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Grades</title>'
        f"<style>{STYLE}</style></head><body><h1>Grades</h1>"
        "<table><thead><tr><th>learner</th><th>lab</th><th>solved</th><th>what happened</th></tr></thead>"
        f"<tbody>{rows}</tbody></table><p>{_safe(foot(grades))}</p>{parts}</body></html>\n"
    )


def write(folder: Path, grades: Sequence[Grade], titles: dict[str, str]) -> None:
    """Write the file for spreadsheets and the page. Raises OSError."""
    write_whole(folder / f"{NAME}.csv", as_csv(grades).encode("utf-8-sig"), 0o600)
    write_whole(folder / f"{NAME}.html", as_page(grades, titles).encode(), 0o600)


def _part(number: int, grade: Grade, titles: dict[str, str]) -> str:
    marks = "".join(
        f'<tr><td class="verdict">{_safe(str(LOOKS[mark.verdict].sign))} {_safe(mark.verdict)}</td>'
        f"<td>{_safe(mark.number)} {_safe(titles.get(mark.number, ''))}</td>"
        f"<td>{_safe(mark.sentence)}</td></tr>"
        for mark in grade.marks
    )
    head = "<thead><tr><th>verdict</th><th>exercise</th><th>sentence</th></tr></thead>"
    held = f"<table>{head}<tbody>{marks}</tbody></table>" if marks else ""
    told = "".join(f"<p>{_safe(one)}</p>" for one in happened(grade))
    lab = f", lab {grade.lab}" if grade.lab else ""
    return f'<h2 id="h{number}">{_safe(grade.learner + lab)}</h2><p>{_safe(grade.file)}</p>{told}{held}'


def _sign(mark: Mark) -> Text:
    look = LOOKS[mark.verdict]
    place = mark.number.partition(".")[2]  # the lab stands beside it
    return Text(f"{place} {look.sign}", STYLES[look])


def _as_text(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _safe(text: str) -> str:
    return html.escape(text)
