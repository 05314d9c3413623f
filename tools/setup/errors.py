"""What can go wrong while setting up, each in one sentence that names the next step.

Standard library only: it runs before anything is installed.
"""

import errno
import os
import re
import sys
from pathlib import Path

FULL = os.strerror(errno.ENOSPC)
# pip's words and uv's.
UNTRUSTED = re.compile(r"CERTIFICATE_VERIFY_FAILED|invalid peer certificate")
UNREACHABLE = re.compile(
    r"connection broken|Could not fetch URL|Max retries|timed out|ProxyError|getaddrinfo|"
    r"error sending request|error decoding response body"
)
CHANGED = re.compile(r"DO NOT MATCH THE HASHES|Hash mismatch for")


class SetupError(Exception):
    """What went wrong while setting up, in one sentence that names the next step."""


def why(output: str, place: Path, doing: str) -> str:
    """Return one sentence for what uv, pip or venv printed when it failed."""
    again = "then run the same command again."
    if FULL in output:
        return cannot_write(place, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    if UNTRUSTED.search(output):
        return (
            "The package index showed a certificate that is not trusted here: if your network opens "
            f"encrypted connections, set REQUESTS_CA_BUNDLE to the file of its certificates, {again}"
        )
    if UNREACHABLE.search(output):
        return f"The package index could not be reached: look at your network or proxy, {again}"
    if CHANGED.search(output):
        return (
            "The package index gave a file that is not the one that this course was tested with (its sha256 "
            f"differs): name another index in pip's settings if yours is a mirror, {again}"
        )
    unfit = re.search(r"No matching distribution found for (\S+)", output)
    if unfit:
        return (
            f"There is no {unfit[1]} for Python {sys.version_info[0]}.{sys.version_info[1]} on this machine: "
            f"try Python 3.11 (`make lab PYTHON=python3.11`), {again}"
        )
    return f"It was not possible to {doing} ({last_line(output)}): read {place / 'setup.log'}, {again}"


def is_final(output: str) -> bool:
    """Tell whether a second try with another program would fail just as this one did."""
    return any((FULL in output, *(fault.search(output) for fault in (UNTRUSTED, UNREACHABLE, CHANGED))))


def last_line(output: str) -> str:
    """Return the line of what uv, pip or venv printed that says most about why it failed."""
    told = [line for line in output.splitlines() if line.startswith(("ERROR: ", "error: ", "  cause: "))]
    if told:
        return told[-1].split(": ", 1)[1].rstrip(". ")
    return (output.strip().splitlines() or ["no reason was given"])[-1].rstrip(". ")


def cannot_write(place: Path, fault: OSError) -> str:
    """Return one sentence for a folder in which something cannot be written."""
    if fault.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk of {place} is full: free some space, then run the same command again."
    what, cure = fault.filename or place, f"give yourself the right to write in {place.parent}"
    return f"{what} cannot be used ({fault.strerror or fault}): {cure}, then run the same command again."
