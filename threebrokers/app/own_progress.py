"""A learner's progress as a page, as a file to take along, and how it is deleted: all on this machine."""

import webbrowser
from collections.abc import Callable
from pathlib import Path

from threebrokers import progress, workspace
from threebrokers.app.browser import can_open_browser
from threebrokers.errors import LabError
from threebrokers.files import write_whole
from threebrokers.paths import expanded, home
from threebrokers.text import counted

PAGE = "progress.html"
Say = Callable[[str], None]


def show(lab: str, say: Say) -> None:
    """Write the page of all labs, or of one, into the home, and open it where there is a browser."""
    from threebrokers.report import collect, page  # predictions are drawn by widgets, which take a while

    target = home() / PAGE
    write_whole(target, page(collect(_number(lab))).encode(), mode=0o600)
    say(f"Your progress is in {target}")
    if can_open_browser():
        webbrowser.open(target.as_uri())


def export(file: Path, say: Say) -> None:
    """Write all that is remembered to a file. Raises LabError if it is there already, or has no folder."""
    file = expanded(file)
    if not file.parent.is_dir():
        raise LabError(f"{file.parent} is not a folder", "name a file in one that is there")
    if file.exists():
        raise LabError(f"{file} is there already: name a file that is not, and nothing is overwritten.")
    progress.export(file)
    say(f"Your exercises, predictions and quizzes are in {file}; nobody else has them.")


def forget(lab: str, say: Say, *, sure: bool) -> None:
    """Delete what is remembered of all labs, or of one, after a question; notebooks stay."""
    number = _number(lab)
    of = f"lab {number}" if number else "all labs"
    if not sure and not _asked(f"Delete your progress of {of}? Your notebooks stay. Type yes: "):
        say("Nothing was deleted.")
        return
    count = progress.forget(number)
    (home() / PAGE).unlink(missing_ok=True)
    say(f"Your progress of {of} is deleted: {counted(count, 'thing')}.")


def _number(lab: str) -> str:
    return workspace.lab(lab).name[:2] if lab else ""


def _asked(question: str) -> bool:
    try:
        return input(question).strip().casefold() == "yes"
    except EOFError:  # nobody is there to answer
        return False
