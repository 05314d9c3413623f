"""Run the tests, the quick ones first: `make test`, and with Docker `make test-compose`.

Ends at the first part that fails.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from types import FrameType

from threebrokers.cluster import engine
from tools import compare
from tools import lesson as lessons
from tools.build import ROOT

PYTEST = (sys.executable, "-m", "pytest")
ENDING_SECONDS = 60
EXERCISES = "tests/cluster/test_exercises.py"
BROWSER = "tests/browser"
CONTAINERS = "tests/compose"
WITHOUT_BROKERS = ("tests", *(f"--ignore={folder}" for folder in ("tests/cluster", CONTAINERS, BROWSER)))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if everything passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compose", action="store_true", help="only those that need Docker")
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _end)
    return _with_docker() if asked.compose else _without_docker()


def _without_docker() -> int:
    return (
        _run("Quick tests", *WITHOUT_BROKERS, "-m", "not programs")
        or _run("The tools, on kernels and a JupyterLab of their own", *WITHOUT_BROKERS, "-m", "programs")
        or _run("Brokers", "tests/cluster", f"--ignore={EXERCISES}")
        or _run("JupyterLab in a browser", BROWSER)
        or _solutions()
        or _exercises()
    )


def _with_docker() -> int:
    return _run("Brokers in containers", CONTAINERS) or _solutions("--engine", engine.COMPOSE)


def _exercises() -> int:
    """Try every exercise, half of the lessons on each of two benches: most of the time is waiting."""
    numbers = [path.stem[:2] for path in lessons.lessons(ROOT)]
    halves = [[EXERCISES, *(f"--lesson={n}" for n in half)] for half in (numbers[::2], numbers[1::2]) if half]
    title = "Exercises: untouched, each wrong answer, solution, and once more"
    return _run_all(f"{title}; two benches at once", halves)


def _solutions(*arguments: str) -> int:
    print("\n── Solutions: run again, and compared with the stored outputs of their checks", flush=True)
    return compare.main([*arguments])


def _run(title: str, *arguments: str) -> int:
    return _run_all(title, [arguments])


def _run_all(title: str, runs: Sequence[Sequence[str]]) -> int:
    """Run pytest once or several times at the same time; what the later ones print comes at the end."""
    print(f"\n── {title}", flush=True)
    with ExitStack() as files:
        outputs = [files.enter_context(tempfile.TemporaryFile("w+")) for _ in runs[1:]]
        parts = [
            subprocess.Popen([*PYTEST, *arguments], stdout=output)
            for arguments, output in zip(runs, [None, *outputs], strict=True)
        ]
        try:
            codes = [part.wait() for part in parts]
        except BaseException as fault:
            for part in parts:
                if not isinstance(fault, KeyboardInterrupt):  # Ctrl-C has reached it already
                    part.send_signal(signal.SIGINT)
            for part in parts:
                part.wait(ENDING_SECONDS)  # pytest ends the brokers that it started
            raise
        for output in outputs:
            output.seek(0)
            print(output.read(), end="", flush=True)
    return max(codes, key=abs)


def _end(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)  # through the blocks that end brokers


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)  # pytest has said that it was interrupted
