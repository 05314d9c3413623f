"""Execute the solutions whose sources changed, and keep their outputs."""

import argparse
import sys
import time
from pathlib import Path

from tools import build, execution, notebooks, temporary
from tools import lesson as lessons


def stale(root: Path, only: list[str]) -> list[Path]:
    """Return the solutions that were not executed since their sources changed."""
    files = [root / "solutions" / f"{path.stem}.ipynb" for path in lessons.lessons(root)]
    return [path for path in files if (not only or path.stem[:2] in only) and not _fresh(root, path)]


def main(arguments: list[str] | None = None, root: Path = build.ROOT) -> int:
    """Run the command line; return 0 if every solution holds the outputs of its sources."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lesson", nargs="*", metavar="02", help="only these")
    parser.add_argument("--check", action="store_true", help="execute nothing, say what is stale")
    chosen = parser.parse_args(arguments)
    left = build.build(root, chosen.lesson, check=True)
    if not left:
        paths = stale(root, chosen.lesson)
        left = [_told(root, path) for path in paths] if chosen.check else _all(root, paths)
    for sentence in left:
        print(sentence, file=sys.stderr)
    if not left:
        print("solutions/ hold the outputs of what they say.")
    return 1 if left else 0


def _told(root: Path, path: Path) -> str:
    return f"{path.relative_to(root)} was not executed since it changed; run `python -m tools.run`."


def _all(root: Path, paths: list[Path]) -> list[str]:
    if not paths:
        return []
    with temporary.bench():  # an author's own bench and progress are not touched
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
    return left


def _fresh(root: Path, path: Path) -> bool:
    notebook = notebooks.read(path)
    if notebook is None:
        return False
    return bool(
        notebook.metadata.get("threebrokers", {}).get("sources") == execution.sources(root, path, notebook)
    )


if __name__ == "__main__":
    sys.exit(main())
