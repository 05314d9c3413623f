"""The report as a page that opens from a file, as a part of a notebook, and in words."""

from collections.abc import Iterable
from html import escape
from itertools import groupby

from threebrokers import theme
from threebrokers.report.collect import Lab, Repeat, Report, Share
from threebrokers.text import as_html, counted

TITLE = "Your progress"
HERE = "All of this is kept in files on this machine, and nothing is sent anywhere."
HEAD = ("lab", "question", "exercises", "predictions", "quiz", "minutes")
NOTHING = "Nothing to repeat."
STYLE = f"""
:root {{ color-scheme: light dark; --ink: {theme.INK}; --paper: {theme.PAPER}; --rule: {theme.RULE} }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: {theme.DARK[theme.INK]};
--paper: {theme.DARK[theme.PAPER]}; --rule: {theme.DARK[theme.RULE]} }} }}
body {{ background: var(--paper); color: var(--ink); font: 16px/1.5 sans-serif; margin: 2em auto;
max-width: 60em; padding: 0 1em }}
.wide {{ overflow-x: auto }}
table {{ border-collapse: collapse }}
th, td {{ border-bottom: 1px solid var(--rule); padding: .3em 1em .3em 0; text-align: left;
vertical-align: top }}
"""


def words(report: Report) -> str:
    """Return the report as plain text."""
    lines = [_first(report)]
    for lab in report.labs:
        signs = " ".join(look.sign for _, _, look in lab.exercises)
        lines.append(
            f"{lab.number} {lab.title} {signs}; predictions {_told(lab.predictions)}; "
            f"quiz {_told(lab.quiz)}; {lab.minutes} minutes"
        )
    lines += ["To repeat:", *(f"lab {one.lab}: {one.what} {one.why}" for one in report.repeat)]
    return "\n".join(lines if report.repeat else [*lines[:-1], NOTHING])


def fragment(report: Report, level: int = 2) -> str:
    """Return the report as HTML without a style of its own, with headings of this level."""
    head = "".join(f'<th scope="col">{name}</th>' for name in HEAD)
    rows = "".join(map(_row, report.labs))
    wide = '<div class="wide" tabindex="0" role="region" aria-label="Labs">'
    legend = ", ".join(map(str, (theme.GOOD, theme.BAD, theme.OPEN)))
    return (
        f"<p><b>{escape(_first(report))}</b></p>\n"
        f"{wide}<table>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>{rows}</tbody></table></div>\n"
        f"<p>{legend}.</p>\n"
        f"<h{level}>What to repeat</h{level}>\n{_repeat(report.repeat)}\n<p>{HERE}</p>"
    )


def page(report: Report) -> str:
    """Return the whole file of a page, which needs no network."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{TITLE} – Three Brokers</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{TITLE}</h1>\n{fragment(report)}\n</main>\n</body>\n</html>\n"
    )


def _first(report: Report) -> str:
    solved = sum(lab.solved.good for lab in report.labs)
    every = sum(lab.solved.every for lab in report.labs)
    told = f"{solved} of {every} exercises are solved."
    if report.minutes_left:
        told += f" The labs that you have not begun take {report.minutes_left} minutes."
    return told


def _row(lab: Lab) -> str:
    signs = " ".join(
        f'<span role="img" aria-label="{number} {look.word}" title="{number} {escape(title)}: {look.word}">'
        f"{look.sign}</span>"
        for number, title, look in lab.exercises
    )
    solved = f"{_whole(f'{lab.solved.good} of {lab.solved.every}')} {_whole(signs)}"
    cells = [escape(lab.title), solved, _told(lab.predictions), _told(lab.quiz), str(lab.minutes)]
    return f'<tr><th scope="row">{lab.number}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>\n'


def _whole(part: str) -> str:
    """Return a part of a cell that stays on one line."""
    return f'<span style="white-space: nowrap">{part}</span>'


def _told(share: Share) -> str:
    return (
        f"{share.good} right, {share.done} of {share.every} chosen" if share.done else f"– of {share.every}"
    )


def _repeat(repeat: Iterable[Repeat]) -> str:
    parts = []
    for lab, found in groupby(repeat, lambda one: one.lab):
        things = list(found)
        items = "".join(f"<li><b>{as_html(one.what)}</b> {as_html(one.why)}</li>" for one in things)
        parts.append(f"<p>Lab {lab}, {counted(len(things), 'thing')}:</p><ul>{items}</ul>")
    return "\n".join(parts) or f"<p>{NOTHING}</p>"
