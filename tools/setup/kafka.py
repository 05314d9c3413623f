"""Kafka's jars and quick starts, made while packages are still being installed.

Standard library only: it runs before everything is installed.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.setup import progress
from tools.setup.errors import SetupError, ending, last_line, why
from tools.setup.installer import ended


@contextmanager
def begun(root: Path, say: Callable[[str], None], jars: Path | None = None) -> Iterator[Callable[[], None]]:
    """Begin to fetch and to prepare; give what waits for the end and says what was done (raises SetupError).

    With a folder of jars they are taken from there. What still runs when the block is left is ended.
    """
    venv = root / ".venv"
    log = venv / "kafka.log"
    words = [str(venv / "bin" / "python"), "-m", "threebrokers.cluster.prefetch"]
    with log.open("wb") as output:
        program = subprocess.Popen(
            [*words, *([str(jars)] if jars else [])],
            cwd=root,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUTF8": "1"},
        )

    def wait() -> None:
        said: list[str] = []

        def tell() -> None:
            lines = log.read_text("utf-8", "replace").splitlines()
            for line in lines[len(said) :]:
                say(line)
            said.extend(lines[len(said) :])

        code = progress.watch(program, venv, tell)
        if code:
            told = log.read_text("utf-8", "replace") + ending(code)
            sentence = why(told, venv, "prepare the brokers") if code < 0 else last_line(told)
            raise SetupError(sentence.removeprefix("✗ "))
        tell()

    with ended(program):
        yield wait
