"""How long the solutions of the labs with Spark take, from top to bottom (s)."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tools import ROOT
from tools.proof import nbval

LABS = ("12", "13", "14", "15")
TAIL_LINES = 20


def measured(home: Path, say: Callable[[str], None], labs: Sequence[str] = LABS) -> dict[str, float]:
    """Return how long each lab's solution takes on the brokers of a home; of one that fails, say why.

    They come last, after an hour of other measurements, which are worth something without them.
    """
    took = {}
    for lab in labs:
        try:
            took[lab] = seconds(home, lab)
        except subprocess.CalledProcessError as fault:
            told = "\n".join(fault.output.rstrip().splitlines()[-TAIL_LINES:])
            say(f"✗ The solution of lab {lab} was not measured:\n{told}")
        else:
            say(f"The solution of lab {lab}: {took[lab]:.0f} s")
    return took


def seconds(home: Path, lab: str) -> float:
    """Return how long a lab's solution takes on the brokers of a home, with the start of its kernel.

    Raises CalledProcessError, with what pytest wrote, if one of its checks says something else than the
    solution holds.
    """
    [path] = (ROOT / "solutions").glob(f"{lab}_*.ipynb")
    began = time.monotonic()
    subprocess.run(
        nbval.command([path]),
        cwd=ROOT,
        env={**os.environ, "THREEBROKERS_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return time.monotonic() - began
