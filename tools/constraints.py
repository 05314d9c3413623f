"""Write constraints.txt and the versions in environment.yml anew, from what is installed here.

`python -m tools.constraints`, after `make test` passed. To move to newer versions: install them into .venv
with pip, run `make test`, then this.
"""

import tomllib
from importlib.metadata import distribution, metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tools import conda_file

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
# The exact versions that CI proved together (Python 3.11, Linux); pyproject.toml has the bounds.
# Written by `python -m tools.constraints`: do not edit.
"""
# Debian 12 has 3.11.2, and a version that asks for 3.11.5 would stop everybody there.
OLDEST = "3.11.0"
# tools/packages.py counts what stands above and below this line.
TEST = "\n# [test] needs besides:\n"


def main() -> None:
    """Write down the versions of everything that the course needs, also of what that needs in turn."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    runtime = closure(project["dependencies"])
    everything = closure([*project["dependencies"], *project["optional-dependencies"]["test"]])
    too_new = [name for name in everything if not _runs_on(name, OLDEST)]
    if too_new:
        raise SystemExit(f"✗ Python {OLDEST} is refused by {', '.join(too_new)}: install older ones.")
    lines = [HEAD, *_lines(runtime), TEST, *_lines({n: v for n, v in everything.items() if n not in runtime})]
    (ROOT / "constraints.txt").write_text("".join(lines), encoding="utf-8")
    conda_file.FILE.write_text(
        conda_file.renewed(conda_file.FILE.read_text("utf-8"), everything), encoding="utf-8"
    )
    print(f"constraints.txt: {len(runtime)} packages for learners, {len(everything)} for authors.")


def closure(requirements: list[str]) -> dict[str, str]:
    """Return name and installed version of these packages and of all that they need."""
    todo = [Requirement(text) for text in requirements]
    seen: set[tuple[str, frozenset[str]]] = set()
    versions: dict[str, str] = {}
    while todo:
        wanted = todo.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key in seen:
            continue
        seen.add(key)
        found = distribution(wanted.name)
        versions[key[0]] = found.version
        for text in found.requires or []:
            further = Requirement(text)
            extras = ("", *wanted.extras)
            if further.marker is None or any(further.marker.evaluate({"extra": name}) for name in extras):
                todo.append(further)
    return versions


def _runs_on(name: str, python: str) -> bool:
    return SpecifierSet(str(metadata(name).json.get("requires_python", ""))).contains(python)


def _lines(versions: dict[str, str]) -> list[str]:
    return [f"{name}=={version}\n" for name, version in sorted(versions.items())]


if __name__ == "__main__":
    main()
