"""The table of labs in README.md: each with its question and what it takes."""

from collections.abc import Iterable
from pathlib import Path

from tools.lessons import lesson as lessons
from tools.lessons import minutes
from tools.lessons.minutes import Minutes

BEGIN, END = "<!-- Built by `make build`. -->\n", "<!-- Built until here. -->\n"


def built(root: Path) -> dict[Path, str]:
    """Return the README as it should be; nothing if there is none, or it has no place for the table."""
    path = root / "README.md"
    text = path.read_text("utf-8") if path.exists() else ""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        return {}
    found = ((file.stem, lessons.title(file), minutes.of(file, root)) for file in lessons.lessons(root))
    return {path: f"{before}{BEGIN}{table(found)}{END}{after}"}


def table(labs: Iterable[tuple[str, str, Minutes]]) -> str:
    """Return the table of labs, each with its name, its question and its minutes."""
    lines = ["| lab | question | minutes | going further |", "|---|---|---|---|"]
    for stem, title, counted in labs:
        core, further = minutes.rounded(counted.core), minutes.rounded(counted.further)
        lines.append(f"| {stem.replace('_', ' ', 1)} | {title} | {core} | {further or '–'} |")
    return "\n".join(lines) + "\n"
