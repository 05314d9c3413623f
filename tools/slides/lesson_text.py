"""What a deck takes from its lesson's text."""

import re
from pathlib import Path

from tools import ROOT
from tools.slides.deck import Block, DeckError
from tools.slides.shown import Shown, inline

REMEMBER = re.compile(r"^# ## What to remember\n#\n((?:# - .*\n)+)", re.MULTILINE)
TITLE = re.compile(r"^# # (.+)$", re.MULTILINE)


def lesson_path(number: str, root: Path = ROOT) -> Path:
    """Return the file of the lesson with this number ("02"). Raises DeckError if there is none."""
    for path in (root / "lessons").glob(f"{number}_*.py"):
        return path
    raise DeckError(f"There is no lesson {number} in lessons/.")


def title(path: Path) -> str:
    """Return a lesson's title; empty if it has none."""
    found = TITLE.search(path.read_text("utf-8"))
    return found[1] if found else ""


def remember(block: Block) -> Shown:
    """Return what a lesson asks to remember, line by line. Raises DeckError if it has no such lines."""
    path = lesson_path(block.names[0] if block.names else "")
    found = REMEMBER.search(path.read_text("utf-8"))
    if not found:
        raise DeckError(f"{path.name} has no lines under `## What to remember`.")
    lines = [line.removeprefix("# - ") for line in found[1].splitlines()]
    return Shown(f'<ul class="remember">{"".join(f"<li>{inline(line)}</li>" for line in lines)}</ul>')
