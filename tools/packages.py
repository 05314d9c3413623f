"""Installing packages with pip: what it does is shown in a line, and what goes wrong is one sentence.

Standard library only: it runs before anything is installed.
"""

import errno
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

SOURCES = ("constraints.txt", "pyproject.toml")
# They have to be compiled where no wheel fits, which needs tools that learners do not have.
WHEELS_ONLY = "confluent-kafka,matplotlib,numpy,pandas,pyarrow,pygraphviz"
BAR = 30


class SetupError(Exception):
    """What went wrong while setting up, in one sentence that names the next step."""


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
        _show(pip, log, temporary, len(pinned(root, extra)), say)
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


def why(output: str, place: Path, doing: str) -> str:
    """Return one sentence for what pip or venv printed when it failed."""
    again = "then run the same command again."
    if "No space left on device" in output or f"[Errno {errno.ENOSPC}]" in output:
        return cannot_write(place, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    if re.search(r"connection broken|Could not fetch URL|Max retries|timed out|ProxyError|getaddrinfo", output):
        return f"The package index could not be reached: look at your network or proxy, {again}"
    unfit = re.search(r"No matching distribution found for (\S+)", output)
    if unfit:
        return (
            f"There is no {unfit[1]} for Python {sys.version_info[0]}.{sys.version_info[1]} on this machine: "
            f"try Python 3.11 (`make lab PYTHON=python3.11`), {again}"
        )
    told = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR")]
    last = told[-1] if told else (output.strip().splitlines() or ["no reason was given"])[-1]
    return f"It was not possible to {doing} ({last}): read {place / 'setup.log'}, {again}"


def cannot_write(place: Path, fault: OSError) -> str:
    """Return one sentence for a folder that cannot be written."""
    if fault.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk of {place} is full: free some space, then run the same command again."
    return f"{place} cannot be written ({fault.strerror or fault}): make it yours, or move this folder."


def _show(
    pip: subprocess.Popen[bytes], log: Path, temporary: Path, count: int, say: Callable[[str], None]
) -> None:
    began, shown = time.monotonic(), ""
    while True:
        ended = pip.poll() is not None
        step, done = step_of(log.read_text("utf-8", "replace"), count)
        if step != shown:
            _erase()
            say(step)
            shown = step
        if ended:
            _erase()
            return
        if sys.stdout.isatty():
            megabytes = sum(path.stat().st_size for path in temporary.glob("pip-unpack-*/*")) // 10**6
            filled = "█" * round(BAR * done) + "░" * (BAR - round(BAR * done))
            print(f"\r  {filled} {megabytes} MB, {time.monotonic() - began:.0f} s ", end="", flush=True)
        try:
            pip.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
