"""Showing what pip does: one line for each step, and below it, in a terminal, a bar that moves.

Standard library only: it runs before anything is installed.
"""

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

WIDTH = 30
REFRESH_SECONDS = 0.2


def show(
    pip: subprocess.Popen[bytes], log: Path, temporary: Path, count: int, say: Callable[[str], None]
) -> None:
    """Show until pip ends; `count` packages are wanted, `temporary` is where pip puts what it fetches."""
    began, shown = time.monotonic(), ""
    while True:
        ended = pip.poll() is not None
        step, part = step_of(log.read_text("utf-8", "replace"), count)
        if step != shown:
            _draw("")
            say(step)
            began, shown = time.monotonic(), step
        if ended:
            _draw("")
            return
        _draw(_bar(part, _fetched(temporary), time.monotonic() - began))
        try:
            pip.wait(REFRESH_SECONDS)
        except subprocess.TimeoutExpired:
            continue


def step_of(log: str, count: int) -> tuple[str, float | None]:
    """Return what pip is doing, and which part of it is done (from 0 to 1; None if it does not tell)."""
    if "Installing collected packages" in log:
        return "Installing them …", None
    if "Building wheel for pyspark" in log:
        return "Packing PySpark, which comes as source …", None
    known = set(re.findall(r"^\s*(?:Collecting|Requirement already satisfied:) ([\w.-]+)", log, re.MULTILINE))
    return f"Fetching about {count} packages …", min(1.0, len(known) / count)


def _fetched(temporary: Path) -> int:
    """Return how many MB have arrived; pip moves files while this looks."""
    try:
        return sum(path.stat().st_size for path in temporary.glob("pip-unpack-*/*")) // 10**6
    except OSError:
        return 0


def _bar(part: float | None, megabytes: int, seconds: float) -> str:
    if part is None:
        return f"  {seconds:.0f} s"
    filled = round(WIDTH * part)
    return f"  {'█' * filled}{'░' * (WIDTH - filled)} {part:4.0%}  {megabytes} MB  {seconds:.0f} s"


def _draw(line: str) -> None:
    if sys.stdout.isatty():
        print(f"\r\x1b[K{line}", end="", flush=True)
