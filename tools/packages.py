"""Installing packages with pip: what it does is shown in a line, and what goes wrong is one sentence.

Standard library only: it runs before anything is installed.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tools import pip_progress
from tools.setup_faults import SetupError, why

SOURCES = ("constraints.txt", "pyproject.toml")
# They have to be compiled where no wheel fits, which needs tools that learners do not have.
WHEELS_ONLY = "confluent-kafka,matplotlib,numpy,pandas,pyarrow,pygraphviz"


def make_venv(venv: Path) -> None:
    """Make an empty environment with pip. Raises SetupError."""
    done = subprocess.run(
        [sys.executable, "-m", "venv", str(venv)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SetupError(why(done.stdout + done.stderr, venv, "make .venv"))


def install(root: Path, extra: str, say: Callable[[str], None]) -> None:
    """Install the course and what it needs into `root`/.venv, in the versions of constraints.txt.

    Raises SetupError; what pip said is in .venv/setup.log.
    """
    venv = root / ".venv"
    log = venv / "setup.log"
    # pip packs PySpark in its temporary folder: there may be no room for that in the machine's.
    temporary = venv / "tmp"
    temporary.mkdir(exist_ok=True)
    command = [
        str(venv / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-input",
        "--progress-bar", "off", "--only-binary", WHEELS_ONLY, "--constraint", str(root / "constraints.txt"),
        "--editable", f"{root}[{extra}]" if extra else str(root),
    ]  # fmt: skip
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"}
    with log.open("w", encoding="utf-8") as output:
        pip = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
    try:
        pip_progress.show(pip, log, temporary, len(pinned(root, extra)), say)
    finally:
        if pip.poll() is None:
            pip.terminate()
            pip.wait()
        shutil.rmtree(temporary, ignore_errors=True)
    if pip.returncode:
        raise SetupError(why(log.read_text("utf-8", "replace"), venv, "install the packages"))


def pinned(root: Path, extra: str) -> list[str]:
    """Return the packages of constraints.txt; those under its line "# [test]" only with that extra."""
    text = (root / "constraints.txt").read_text("utf-8")
    wanted = text if extra else text.partition("# [test]")[0]
    return re.findall(r"^([\w.-]+)==", wanted, re.MULTILINE)


def versions(root: Path) -> dict[str, str]:
    """Return the exact version of every package in constraints.txt."""
    text = (root / "constraints.txt").read_text("utf-8")
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))
