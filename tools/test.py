"""Run all tests that need no Docker, the quick ones first: `make test`. Ends at the first part that fails."""

import signal
import subprocess
import sys
from types import FrameType

from tools import compare

PYTEST = (sys.executable, "-m", "pytest")
ENDING_SECONDS = 60
EXERCISES = "tests/cluster/test_exercises.py"
BROWSER = "tests/browser"
WITHOUT_BROKERS = ("tests", "--ignore=tests/cluster", f"--ignore={BROWSER}")


def main() -> int:
    """Return 0 if everything passed."""
    signal.signal(signal.SIGTERM, _end)
    return (
        _run("Quick tests", *WITHOUT_BROKERS, "-m", "not programs")
        or _run("The tools, on kernels and a JupyterLab of their own", *WITHOUT_BROKERS, "-m", "programs")
        or _run("Brokers", "tests/cluster", f"--ignore={EXERCISES}")
        or _run("JupyterLab in a browser", BROWSER)
        or _solutions()
        or _run("Exercises: untouched, each wrong answer, solution, and once more", EXERCISES)
    )


def _solutions() -> int:
    print("\n── Solutions: run again, and compared with the stored outputs of their checks", flush=True)
    return compare.main([])


def _run(title: str, *arguments: str) -> int:
    print(f"\n── {title}", flush=True)
    part = subprocess.Popen([*PYTEST, *arguments])
    try:
        return part.wait()
    except BaseException as fault:
        if not isinstance(fault, KeyboardInterrupt):  # Ctrl-C has reached it already
            part.send_signal(signal.SIGINT)
        part.wait(ENDING_SECONDS)  # pytest ends the brokers that it started
        raise


def _end(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)  # through the blocks that end brokers


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)  # pytest has said that it was interrupted
