"""What can go wrong while setting up, each in one sentence that names the next step.

Standard library only: it runs before anything is installed.
"""

import errno
import os
import re
import sys
from pathlib import Path


class SetupError(Exception):
    """What went wrong while setting up, in one sentence that names the next step."""


def why(output: str, place: Path, doing: str) -> str:
    """Return one sentence for what pip or venv printed when it failed."""
    again = "then run the same command again."
    if "No space left on device" in output or f"[Errno {errno.ENOSPC}]" in output:
        return cannot_write(place, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    if re.search(
        r"connection broken|Could not fetch URL|Max retries|timed out|ProxyError|getaddrinfo", output
    ):
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
    """Return one sentence for a folder in which something cannot be written."""
    if fault.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk of {place} is full: free some space, then run the same command again."
    what, cure = fault.filename or place, f"give yourself the right to write in {place.parent}"
    return f"{what} cannot be used ({fault.strerror or fault}): {cure}, then run the same command again."
