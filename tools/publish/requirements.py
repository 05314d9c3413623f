"""Write requirements.txt and the versions in environment.yml anew, with uv: `make lock-python`.

Versions stay as they are while pyproject.toml allows them. To move to newer ones:
`python -m tools lock-python --upgrade-package pandas` (or `--upgrade`), then `make test`.
"""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from tools import ROOT
from tools.setup import conda_file, packages

# Debian 12 has 3.11.2, and a version that asks for 3.11.5 would stop everybody there.
OLDEST = "3.11.0"
HEAD = """\
# The exact versions that CI proved together (Python 3.11, Linux), and the sha256 of each of their files;
# pyproject.toml has the bounds. Written by tools/publish/requirements.py (`make lock-python`): do not edit.
"""
NOTES = {
    "uv": "installs all that follows",
    "build": "builds what comes as source, and the course itself",
    "source": "comes as source: no wheel is published",
    "runtime": "what the course needs, all as wheels",
    "test": "what authors and CI need besides",
}
# hatchling asks for editables only while it builds an editable course.
BUILD = ["setuptools", "editables"]
# From 26 on it has no wheel for Macs with Intel, and what builds it is a large tool of its own.
CONSTRAINTS = "argon2-cffi-bindings<26; sys_platform == 'darwin' and platform_machine == 'x86_64'\n"
SYSTEMS: tuple[dict[str, str], ...] = (
    {"sys_platform": "linux", "platform_system": "Linux"},
    {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64"},
    {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "x86_64"},
)
# With uv's names: each of them must find a wheel of everything that is not in the section "source".
PLATFORMS = (
    "x86_64-manylinux_2_28",
    "aarch64-manylinux_2_28",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
)


def main() -> None:
    """Resolve, write down, and say how many; the words of the command line go to `uv pip compile`."""
    words = sys.argv[1:]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = {
        "uv": ["uv"],
        "build": [*BUILD, *project["build-system"]["requires"]],
        "runtime": project["project"]["dependencies"],
        "test": project["project"]["optional-dependencies"]["test"],
    }
    before = (ROOT / packages.LOCK).read_text("utf-8")
    blocks = _compiled([text for texts in asked.values() for text in texts], before, words)
    sections = _sections(asked, blocks)
    wheels = "".join(block for name, block in blocks.items() if name not in packages.SOURCE_ONLY)
    for platform in PLATFORMS:
        _check_wheels(wheels, platform)
    lines = [HEAD]
    for name, members in sections.items():
        lines += [f"\n# [{name}] {NOTES[name]}\n", *(blocks[member] for member in members)]
    (ROOT / packages.LOCK).write_text("".join(lines), encoding="utf-8")
    versions = packages.versions(ROOT)
    conda_file.FILE.write_text(
        conda_file.renewed(conda_file.FILE.read_text("utf-8"), versions), encoding="utf-8"
    )
    changed = [name for name, version in versions.items() if f"\n{name}=={version}" not in before]
    print(f"{packages.LOCK}: {len(versions)} packages; changed: {', '.join(changed) or 'none'}.")


def _sections(asked: dict[str, list[str]], blocks: dict[str, str]) -> dict[str, list[str]]:
    """Return the packages of each section; one that several need is in the first of them."""
    sections = {"source": list(packages.SOURCE_ONLY)}
    for section, texts in asked.items():
        seen = {name for members in sections.values() for name in members}
        sections[section] = [n for n in _compiled(texts, "".join(blocks.values()), []) if n not in seen]
    return {name: sections[name] for name in NOTES}


def _compiled(requirements: list[str], known: str, words: list[str]) -> dict[str, str]:
    """Return name and lines of these packages and of all that they need, in the versions that are `known`."""
    with tempfile.TemporaryDirectory() as folder:
        lock, constraints = Path(folder) / "lock.txt", Path(folder) / "constraints.txt"
        lock.write_text(known, encoding="utf-8")
        constraints.write_text(CONSTRAINTS, encoding="utf-8")
        done = _uv(
            "compile", "--universal", "--generate-hashes", "--no-header", "--no-annotate",
            "--fork-strategy", "fewest", "--python-version", OLDEST, "--constraints", str(constraints),
            "--output-file", str(lock), *words, "-",
            given="\n".join(requirements),
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"✗ uv could not resolve this:\n{done.stderr}")
        found = packages.blocks(lock.read_text("utf-8"))
    blocks: dict[str, str] = {}
    for block in found:
        wanted = Requirement(block.partition(" \\")[0])
        if wanted.marker is None or any(wanted.marker.evaluate(system) for system in SYSTEMS):
            blocks[wanted.name] = blocks.get(wanted.name, "") + block
    return blocks


def _check_wheels(lines: str, platform: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        done = _uv(
            "install", "--dry-run", "--no-deps", "--require-hashes", "--only-binary", ":all:",
            "--python-platform", platform, "--python-version", "3.11", "--target", folder, "-r", "-",
            given=lines,
        )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"✗ On {platform} not everything is a wheel:\n{done.stderr}")


def _uv(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "uv", "pip", *words]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)
