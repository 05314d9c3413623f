"""Execute the solutions whose sources changed, and keep their outputs."""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from tools import ROOT
from tools.lessons import build, execution, notebooks, shown
from tools.lessons import lesson as lessons
from tools.proof import environment


def stale(root: Path, only: list[str]) -> list[Path]:
    """Return the solutions that were not executed since their sources changed."""
    return [path for path in _solutions(root, only) if not _fresh(root, path)]


def older(root: Path, only: list[str]) -> dict[Path, list[str]]:
    """Return the solutions that show what the package draws or words differently now, and what that is.

    One that was executed before this was kept is not among them.
    """
    chosen = [path for path in _solutions(root, only) if _fresh(root, path)]
    found = {path: shown.changed(root, _kept(path).get("shown", {})) for path in chosen}
    return {path: places for path, places in found.items() if places}


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return 0 if every solution holds the outputs of its sources."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lesson", nargs="*", metavar="02", help="only these")
    parser.add_argument("--check", action="store_true", help="execute nothing, say what is stale")
    parser.add_argument(
        "--shown", action="store_true", help="also those whose outputs are drawn otherwise now"
    )
    chosen = parser.parse_args(arguments)
    left = build.build(root, chosen.lesson, check=True)
    if not left:
        paths, others = stale(root, chosen.lesson), older(root, chosen.lesson)
        if chosen.shown:
            paths, others = sorted([*paths, *others]), {}
        for path, places in others.items():  # its checks still say the same, so this is no failure
            print(_told_older(root, path, places))
        left = [_told(root, path) for path in paths] if chosen.check else _all(root, paths)
    for sentence in left:
        print(sentence, file=sys.stderr)
    if not left:
        print("solutions/ hold the outputs of what they say.")
    return 1 if left else 0


def _told(root: Path, path: Path) -> str:
    return f"{path.relative_to(root)} was not executed since it changed; run `python -m tools run`."


def _told_older(root: Path, path: Path, places: list[str]) -> str:
    again = f"run `python -m tools run --shown {path.stem[:2]}`"
    return f"{path.relative_to(root)} shows what was made before {', '.join(places)} changed; {again}."


def _solutions(root: Path, only: list[str]) -> list[Path]:
    stems = [path.stem for path in lessons.lessons(root) if not only or path.stem[:2] in only]
    return [root / "solutions" / f"{stem}.ipynb" for stem in stems]


def _all(root: Path, paths: list[Path]) -> list[str]:
    if not paths:
        return []
    with environment.bench():  # an author's own bench and progress are not touched
        return _executed(root, paths)


def _executed(root: Path, paths: list[Path]) -> list[str]:
    left = []
    for path in paths:
        start = time.monotonic()
        try:
            execution.execute(root, path)
        except execution.CellFaultError as fault:
            left.append(str(fault))
        else:
            print(f"{path.relative_to(root)}: executed in {time.monotonic() - start:.1f} s", flush=True)
            left += build.build(root, [path.stem[:2]])  # its waits are part of the minutes on the page
    return left


def _fresh(root: Path, path: Path) -> bool:
    notebook = notebooks.read(path)
    if notebook is None:
        return False
    return bool(_kept(path).get("sources") == execution.sources(root, path, notebook))


def _kept(path: Path) -> dict[str, Any]:
    notebook = notebooks.read(path)
    return dict(notebook.metadata.get("threebrokers", {})) if notebook else {}
