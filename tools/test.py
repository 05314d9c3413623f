"""Run all tests that need no Docker, the quick ones first: `make test`. Ends at the first part that fails."""

import signal
import subprocess
import sys
from types import FrameType

from tools import temporary

PYTEST = (sys.executable, "-m", "pytest")
EXERCISES = "tests/cluster/test_exercises.py"
# A lab with Spark may take two minutes, its longest cell less.
NBVAL = (
    "--nbval-lax",
    "--nbval-current-env",
    "--nbval-cell-timeout=120",
    "--nbval-kernel-startup-timeout=120",
)


def main() -> int:
    """Return 0 if everything passed."""
    signal.signal(signal.SIGTERM, _end)
    return (
        _run("Quick tests", "tests", "--ignore=tests/cluster")
        or _run("Brokers", "tests/cluster", f"--ignore={EXERCISES}")
        or _solutions()
        or _run("Exercises: untouched, each wrong answer, solution, and once more", EXERCISES)
    )


def _solutions() -> int:
    """Execute the solutions on brokers of their own and compare the outputs of their check cells."""
    with temporary.bench():
        return _run("Solutions: the stored outputs of their checks", *NBVAL, "solutions")


def _run(title: str, *arguments: str) -> int:
    print(f"\n── {title}", flush=True)
    return subprocess.run([*PYTEST, *arguments], check=False).returncode


def _end(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)  # through the blocks that end brokers


if __name__ == "__main__":
    sys.exit(main())
