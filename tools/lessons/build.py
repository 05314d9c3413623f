"""Build labs/, solutions/, the README's table of labs and those of docs/teaching.md from lessons/."""

import argparse
import sys
from pathlib import Path

from threebrokers.files import write_whole
from tools import ROOT, rules
from tools.lessons import courses, frame, minutes, notebooks, readme, words
from tools.lessons import lesson as lessons


def built(lesson: lessons.Lesson, root: Path) -> dict[Path, str]:
    """Return the files of a lesson as they should be; outputs in its solution are kept if they still hold."""
    path = notebooks.solution_path(root, lesson)
    before = notebooks.read(path)
    whole = minutes.filled(lesson, minutes.counted(lesson, notebooks.waits(before), root))
    whole = frame.framed(whole, lessons.lessons(root))
    made = {
        root / "labs" / f"{lesson.stem}.ipynb": notebooks.lab(whole),
        path: notebooks.solution(whole, before, root),
    }
    known = words.of(root)
    for notebook in made.values():
        words.mark(notebook, lesson.stem, known)
    return {place: notebooks.text(notebook) for place, notebook in made.items()}


def build(root: Path, only: list[str] | None = None, *, check: bool = False) -> list[str]:
    """Write what is not as it should be, or with `check` only look. Returns what is left to mend."""
    chosen = [path for path in lessons.lessons(root) if not only or path.stem[:2] in only]
    left = [f"There is no lesson {number} in lessons/." for number in only or [] if not _has(chosen, number)]
    for path in chosen:
        lesson = lessons.read(path)
        broken = rules.problems(lesson, root)
        left += broken
        if not broken:
            left += _write(built(lesson, root), str(path.relative_to(root)), root, check=check)
    left += _write(readme.built(root) | courses.built(root), "lessons/", root, check=check)
    return left if only else [*left, *_orphans(root)]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if nothing is left to mend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lesson", action="append", metavar="02", help="only this one (may be repeated)")
    parser.add_argument("--check", action="store_true", help="write nothing, say what is stale")
    chosen = parser.parse_args(arguments)
    left = build(ROOT, chosen.lesson, check=chosen.check)
    for sentence in left:
        print(sentence, file=sys.stderr)
    if not left:
        print("labs/ and solutions/ are what lessons/ say.")
    return 1 if left else 0


def _has(paths: list[Path], number: str) -> bool:
    return any(path.stem[:2] == number for path in paths)


def _write(files: dict[Path, str], source: str, root: Path, *, check: bool) -> list[str]:
    stale = [path for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    if check:
        return [
            f"{path.relative_to(root)} is not what {source} says; run `python -m tools build`."
            for path in stale
        ]
    for path in stale:
        write_whole(path, files[path].encode())
        print(f"{path.relative_to(root)}: written")
    return []


def _orphans(root: Path) -> list[str]:
    stems = {path.stem for path in lessons.lessons(root)}
    files = sorted([*(root / "labs").glob("*.ipynb"), *(root / "solutions").glob("*.ipynb")])
    return [
        f"{path.relative_to(root)} has no lesson; delete it, or bring back lessons/{path.stem}.py."
        for path in files
        if path.stem not in stems
    ]
