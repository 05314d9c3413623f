"""How long a command takes for whoever types it, in seconds."""

import os
import subprocess
import sys
import time
from pathlib import Path


def seconds(home: Path, *words: str) -> float:
    """Return how long `threebrokers` with these words takes. Raises CalledProcessError if it fails."""
    command = [str(Path(sys.executable).with_name("threebrokers")), *words]
    environment = {**os.environ, "THREEBROKERS_HOME": str(home)}
    began = time.monotonic()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - began
