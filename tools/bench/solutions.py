"""How long the solutions of the labs with Spark take, from top to bottom (s)."""

import os
import subprocess
import time
from pathlib import Path

from tools import ROOT
from tools.proof import nbval

LABS = ("12", "13", "14", "15")


def seconds(home: Path, lab: str) -> float:
    """Return how long a lab's solution takes on the brokers of a home, with the start of its kernel.

    Raises CalledProcessError if one of its checks says something else than the solution holds.
    """
    [path] = (ROOT / "solutions").glob(f"{lab}_*.ipynb")
    began = time.monotonic()
    subprocess.run(
        nbval.command([path]),
        cwd=ROOT,
        env={**os.environ, "THREEBROKERS_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.monotonic() - began
