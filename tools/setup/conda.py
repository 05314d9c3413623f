"""The course in a conda environment made from environment.yml: it is looked at, and never changed.

Standard library only: it runs before anything is known to be installed.
"""

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools import ROOT
from tools.setup import packages
from tools.setup.errors import SetupError

CURE = "run `conda env update -f environment.yml --prune`, then the same command again"
TOLD = 3  # more names than these do not help


def main(words: list[str]) -> int | str:
    """Run the command line; return 0, or the sentence that says what went wrong."""
    if any(word.startswith("--bundle=") for word in words):
        return "✗ A bundle is for .venv, and conda is active: run `conda deactivate`, then the same command."
    try:
        check(ROOT, "test" if "authors" in words else "")
    except SetupError as fault:
        return f"✗ {fault}"
    return 0


def check(root: Path, extra: str) -> None:
    """Compare this Python's packages with requirements.txt, for learners ("") or authors ("test").

    Only those that pyproject.toml names: conda chooses the rest. Raises SetupError.
    """
    pins = packages.versions(root)
    found = {name: _installed(name) for name in _direct(root, extra)}
    lacking = [f"{name} {pins[name]}" for name, had in found.items() if had is None]
    others = [
        f"{name} {had} instead of {pins[name]}"
        for name, had in found.items()
        if had not in (None, pins[name])
    ]
    course = _course()
    if course is None:
        lacking.append("the course itself")
    if lacking:
        raise SetupError(f"The conda environment lacks {_listed(lacking)}: {CURE}.")
    if others:
        raise SetupError(f"The conda environment has {_listed(others)}: {CURE}.")
    if course != root.resolve():
        raise SetupError(f"The conda environment runs the course in {course}, not the one in {root}: {CURE}.")


def _direct(root: Path, extra: str) -> list[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *(project["optional-dependencies"][extra] if extra else [])]
    return [re.split(r"[^\w.-]", text)[0] for text in wanted]


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _course() -> Path | None:
    """Return the folder from which the course is installed; None if it is not installed from a folder."""
    try:
        told = distribution("threebrokers").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return Path(unquote(urlsplit(json.loads(told)["url"]).path)).resolve() if told else None


def _listed(names: list[str]) -> str:
    more = len(names) - TOLD
    return ", ".join(names[:TOLD]) + (f" and {more} more" if more > 0 else "")
