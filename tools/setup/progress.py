"""Showing that a program works: below the line that says what it does, in a terminal, a bar that moves.

Standard library only: it runs before anything is installed.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

WIDTH = 30
REFRESH_SECONDS = 0.2


def watch(
    program: subprocess.Popen[bytes], place: Path, look: Callable[[], float | None] = lambda: None
) -> int:
    """Return the program's exit code; until it ends, show how much is done, as far as `look` can tell.

    `look` returns a part from 0 to 1, or None. What has come onto the disk of `place` is shown too.
    """
    began, free = time.monotonic(), shutil.disk_usage(place).free
    try:
        while True:
            try:
                return program.wait(REFRESH_SECONDS)
            except subprocess.TimeoutExpired:
                if sys.stdout.isatty():
                    written = (free - shutil.disk_usage(place).free) // 10**6
                    _draw(bar(look(), written, time.monotonic() - began))
    finally:
        if sys.stdout.isatty():
            _draw("")


def bar(part: float | None, megabytes: int, seconds: float) -> str:
    """Return the line that shows a part from 0 to 1 (None: not known), what is on the disk, and the time."""
    told = f"{megabytes} MB  {seconds:.0f} s" if megabytes > 0 else f"{seconds:.0f} s"
    if part is None:
        return f"  {told}"
    filled = round(WIDTH * min(1.0, part))
    return f"  {'█' * filled}{'░' * (WIDTH - filled)} {min(1.0, part):4.0%}  {told}"


def _draw(line: str) -> None:
    print(f"\r\x1b[K{line}", end="", flush=True)
