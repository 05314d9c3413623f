"""What can go wrong while setting up, each in one sentence that names the next step.

Standard library only: it runs before anything is installed.
"""

import errno
import http
import os
import re
import signal
import sys
from pathlib import Path

FULL = os.strerror(errno.ENOSPC)
# pip's words and uv's.
UNTRUSTED = re.compile(r"CERTIFICATE_VERIFY_FAILED|invalid peer certificate")
UNREACHABLE = re.compile(
    r"connection broken|Could not fetch URL|Max retries|timed out|ProxyError|getaddrinfo|"
    r"error sending request|error decoding response body"
)
REFUSED = re.compile(r"Could not fetch URL \S+: (\d{3}) |HTTP status \w+ error \((\d{3}) ")
KILLED = re.compile(r"was ended from outside \((\w+)\)")
CHANGED = re.compile(r"DO NOT MATCH THE HASHES|Hash mismatch for")


# Lines of pip that name every package.
LISTS = ("Installing collected packages", "Successfully installed", "Collecting ")
LONGEST = 200
SETTINGS = "python3 -m pip config list"
TRIED = "3.11"


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
    if killed := KILLED.search(output):
        return (
            f"What was to {doing} was ended from outside ({killed[1]}), as a machine with too little memory "
            f"does it: close other programs, {again}"
        )
    if refused := REFUSED.search(output):
        code = int(refused[1] or refused[2])
        return (
            f"The package index refuses what it is asked for ({code} {_phrase(code)}): look at its address "
            f"in pip's settings (`{SETTINGS}`), {again}"
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
        mine = ".".join(map(str, sys.version_info[:2]))
        other = f" or try Python {TRIED} (`make lab PYTHON=python{TRIED}`)," if mine != TRIED else ""
        return (
            f"The package index has no {unfit[1]} for Python {mine} on this machine: look at its address in "
            f"pip's settings (`{SETTINGS}`),{other} {again}"
        )
    return f"It was not possible to {doing} ({last_line(output)}): read {place / 'setup.log'}, {again}"


def is_final(output: str) -> bool:
    """Tell whether a second try with another program would fail just as this one did."""
    final = (UNTRUSTED, KILLED, REFUSED, UNREACHABLE, CHANGED)
    return FULL in output or any(fault.search(output) for fault in final)


def ending(code: int) -> str:
    """Return what is to be added to the output of a program that a signal has ended; else nothing."""
    if code >= 0:
        return ""
    return f"\nERROR: it was ended from outside ({signal.Signals(-code).name})\n"


def _phrase(code: int) -> str:
    try:
        return http.HTTPStatus(code).phrase
    except ValueError:
        return "an answer of its own"


def last_line(output: str) -> str:
    """Return the line of what uv, pip or venv printed that says most about why it failed."""
    told = [line for line in output.splitlines() if line.startswith(("ERROR: ", "error: ", "  cause: "))]
    if told:
        return _shortened(told[-1].split(": ", 1)[1])
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith(LISTS)]
    return _shortened((lines or ["no reason was given"])[-1])


def _shortened(line: str) -> str:
    line = line.strip().rstrip(". ")
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} …"


def cannot_write(place: Path, fault: OSError) -> str:
    """Return one sentence for a folder in which something cannot be written."""
    if fault.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk of {place} is full: free some space, then run the same command again."
    what, cure = fault.filename or place, f"give yourself the right to write in {place.parent}"
    if fault.errno == errno.ENOENT:
        cure = "bring it back (`git status` names what is missing)"
    return f"{what} cannot be used ({fault.strerror or fault}): {cure}, then run the same command again."
