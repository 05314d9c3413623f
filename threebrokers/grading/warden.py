"""Runs one hand-in in its box, and tells what came of each exercise: `python -m threebrokers.grading.warden`.

It is the first process of the box. Its order is the first line of its standard input, which stays open: when
that is closed, all ends. It tells on its standard output, a line of JSON each. Without a box nothing ends by
itself: there it ends its hand-in and its brokers, also after SIGTERM.
"""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import BinaryIO

import msgspec
import psutil

from threebrokers.cluster.java import java
from threebrokers.errors import LabError
from threebrokers.grading import brokers, namespaces
from threebrokers.grading.orders import MEGA, Order, Told, inside
from threebrokers.grading.run import Run
from threebrokers.grading.watch import Theirs, Watch, end_all
from threebrokers.paths import home

FILE_BYTES = 2_000_000_000
STARTS = 3
LOCALE = "C.UTF-8"
END_SECONDS = 150.0  # more than the lock of a cluster may take


class Warden:
    """The warden of one hand-in: its box, its brokers, and who says what came of it."""

    def __init__(self, order: Order, out: BinaryIO) -> None:
        self.order, self._out = order, out

    def tell(self, told: Told) -> None:
        """Tell the grader."""
        self._out.write(msgspec.json.encode(told) + b"\n")
        self._out.flush()

    def work(self) -> None:
        """Start the brokers, run the hand-in, and tell."""
        order, base = self.order, inside(self.order.box, self.order.apart)
        os.environ.clear()
        os.environ |= environment(base, order.cache)
        self.start_brokers()
        theirs = Theirs(order.apart, home(), java(), order.mark)
        theirs.spare(*(psutil.pids() if order.apart else [one.pid for one in theirs()]))
        watch = Watch(order.limits, base, theirs)
        self.tell(Told(at="ready"))
        try:
            Run(self, watch, base).go()
        finally:
            watch.stop()
            end_all(theirs)
        self.tell(Told(at="end"))

    def confined(self, *words: str) -> list[str]:
        """Return the words of a command without privileges and with limits."""
        return [*self.confining(), *words]

    def confining(self) -> list[str]:
        """Return the words before such a command."""
        script = str(Path(__file__).with_name("confine.py"))
        data = 2 * self.order.limits.memory * MEGA
        return [sys.executable, "-I", script, str(data), str(FILE_BYTES), "--"]

    def start_brokers(self) -> None:
        """Start the brokers that are missing; a busy machine is asked again. Raises LabError."""
        program = self.confined(sys.executable, "-I", "-m", "threebrokers.grading.brokers")
        said = ""
        for _ in range(STARTS):
            done = subprocess.run(program, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
            if done.returncode == 0:
                return
            said = done.stdout.decode(errors="replace").strip()
        raise LabError(said or "The brokers cannot be started")


def environment(base: Path, cache: str) -> dict[str, str]:
    """Return the environment of a box: nothing of the teacher's is in it."""
    return {
        "HOME": str(base / "home"),
        "TMPDIR": str(base / "tmp"),
        "LANG": LOCALE,
        "LC_ALL": LOCALE,
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), "/usr/bin", "/bin")),
        "THREEBROKERS_HOME": str(base / "cluster"),
        "THREEBROKERS_CACHE": cache,
        "IPYTHONDIR": str(base / "home" / "ipython"),
        "MPLCONFIGDIR": str(base / "home" / "matplotlib"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def main() -> int:
    """Read the order and carry it out; 1 if the box cannot be made."""
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=Order)
    # Whoever prints must not be taken for the warden.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    warden = Warden(order, out)
    try:
        if order.apart:
            namespaces.enter(order)
        if order.only_try:
            warden.tell(Told(at="ready"))
            return 0
        if not order.apart:  # in a box no signal ends the first process as long as it listens to none
            signal.signal(signal.SIGTERM, _interrupt)
        threading.Thread(target=_end_with_grader, args=[order.apart], daemon=True).start()
        warden.work()
    except KeyboardInterrupt:
        return 1
    except (LabError, OSError, subprocess.SubprocessError) as fault:
        warden.tell(Told(fault=str(fault).strip() or type(fault).__name__))
        return 1
    finally:
        if not order.apart:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: the brokers are being ended
            brokers.end(inside(order.box, order.apart) / "cluster")
    return 0


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _end_with_grader(apart: bool) -> None:
    with suppress(OSError):
        while os.read(sys.stdin.fileno(), 1):  # not the file itself: Python aborts if that is read at its end
            pass
    main_thread = threading.main_thread()
    if not apart and main_thread.ident:  # by the thread that starts brokers: so none start while others end
        signal.pthread_kill(main_thread.ident, signal.SIGTERM)
        main_thread.join(END_SECONDS)
    os._exit(1)  # the first process of a box ends all others


if __name__ == "__main__":
    # What is not waited for in this process is over when it ends.
    sys.exit(main())
