"""What the package draws or words in a solution's outputs, as it was when the solution was executed."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

# Modules and folders of threebrokers. A lab's own checks are among its sources; these serve several labs.
PLACES = (
    "app/tables.py",
    "checks/expect.py",
    "checks/expect_actions.py",
    "checks/expect_clients.py",
    "checks/expect_spark.py",
    "choices",
    "diagrams",
    "errors.py",
    "kafka/batches.py",
    "lab/card.py",
    "lab/exercise.py",
    "lab/lab.py",
    "lab/opening.py",
    "lab/outcomes.py",
    "lab/scenarios/killing.py",
    "lab/scenarios/lives.py",
    "ledger",
    "notebook.py",
    "panel",
    "predictions",
    "program",
    "recorder",
    "spark/latency_picture.py",
    "spark/progress_view.py",
    "text.py",
    "theme.py",
    "verdict.py",
    "waiting.py",
    "why_empty",
)
CODE = (".py", ".css", ".js")


def prints(root: Path) -> dict[str, str]:
    """Return a fingerprint of each place that is there."""
    found = {place: list(_files(root / "threebrokers" / place)) for place in PLACES}
    return {place: _print(files) for place, files in found.items() if files}


def changed(root: Path, kept: dict[str, str]) -> list[str]:
    """Return the places that are not as they were when these fingerprints were kept."""
    now = prints(root)
    return sorted(place for place in kept if now.get(place) != kept[place])


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.suffix in CODE)
    elif path.exists():
        yield path


def _print(files: list[Path]) -> str:
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file.name}\0{file.read_text('utf-8')}\0".encode())
    return whole.hexdigest()[:12]
