"""The process of a program: `python -m threebrokers.lab.program_child name lab opened`.

The program's text comes through standard input, which stays open as long as the notebook's kernel lives.
"""

import linecache
import os
import signal
import sys
import threading
import traceback
from types import FrameType
from typing import Any

from threebrokers.errors import LabError
from threebrokers.lab.opening import join_lab
from threebrokers.program.protocol import END_OF_TEXT, STOPPED

ORPHAN_SECONDS = 3.0


def main(name: str, number: str, opened: str) -> int:
    """Run the program with its `lab`, close its clients, return its exit code."""
    lifeline = os.dup(0)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)  # a program that asks for input is told at once that there is none
    os.close(nowhere)
    text = _text(lifeline)
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who started it may have ignored Ctrl-C
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    try:
        lab = join_lab(number, opened, name)
    except LabError as fault:
        print(f"✗ {fault}")
        return 1
    try:
        return _run(name, text, {"__name__": "__main__", "lab": lab})
    finally:
        lab.close()


def _run(name: str, text: str, given: dict[str, Any]) -> int:
    try:
        exec(compile(text, name, "exec"), given)  # noqa: S102 (the learner's own program)
    except LabError as fault:
        print(f"✗ {fault}")
        return 1
    except Exception as fault:
        # The learner's lines alone: what is above them is this file.
        trace = fault.__traceback__.tb_next if fault.__traceback__ else None
        print("".join(traceback.format_exception(type(fault), fault, trace)), end="")
        return 1
    return 0


def _text(lifeline: int) -> str:
    read = b""
    while not read.endswith(END_OF_TEXT):
        part = os.read(lifeline, 65536)
        if not part:  # the kernel is gone already
            sys.exit(STOPPED)
        read += part
    return read.removesuffix(END_OF_TEXT).decode()


def _watch(lifeline: int) -> None:
    """End this process when the kernel's end of the pipe is closed, in good order if that is quick."""
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(ORPHAN_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


def _stop(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: clients are being closed
    raise SystemExit(STOPPED)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
