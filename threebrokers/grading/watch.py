"""Watches what a hand-in takes: time, memory, disk, processes. Over a limit all that it started is ended."""

import ctypes
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from threebrokers.cluster import process
from threebrokers.cluster.process import Identity
from threebrokers.grading.orders import MEGA, Limits

LOOK_SECONDS, DISK_SECONDS = 0.25, 3.0
SHOWN_BYTES = 500_000_000  # what waits to be read is in our own memory
KCMP, KCMP_VM = {"x86_64": 312, "aarch64": 272}, 1  # a call of Linux that Python has no name for
BROKERS = [f"{process.NODE}{number}" for number in (1, 2, 3)]
BROKER_BYTES = 900_000_000  # of a JVM with 256 MB of heap; one that claims to be a broker has no more


class Theirs:
    """The processes of a hand-in: in its box all but those that were there before it.

    Where there is no box: the kernel with all that it started, and what carries the hand-in's mark.
    """

    def __init__(self, apart: bool, home: Path, java: Path, mark: str) -> None:
        self.apart, self.home, self.java, self.mark = apart, home, java, mark
        self._ours: set[Identity] = set()
        self.spare(os.getpid())

    def spare(self, *pids: int) -> None:
        """Count these no more among theirs."""
        for pid in pids:
            with suppress(psutil.NoSuchProcess):
                self._ours.add(process.identify(pid))

    def __call__(self) -> list[psutil.Process]:
        """Return them, without one process for each broker: the warden's, or one that was started again."""
        found, brokers = [], dict[str, list[psutil.Process]]()
        known: set[str] = set()
        for one in psutil.process_iter():
            broker = self._broker(one)
            if not self._is_theirs(one):
                known.add(broker)
            elif broker:
                brokers.setdefault(broker, []).append(one)
            else:
                found.append(one)
        for broker, claim in brokers.items():
            found += claim if broker in known else claim[1:]
        return found

    def _is_theirs(self, one: psutil.Process) -> bool:
        try:
            if one.status() == psutil.STATUS_ZOMBIE:
                return False
            if Identity(one.pid, process.start_of(one.pid)) in self._ours:
                return False
            return self.apart or process.environment_of(one).get("THREEBROKERS_GRADING") == self.mark
        except (psutil.Error, OSError):
            return self.apart and one.is_running()

    def _broker(self, one: psutil.Process) -> str:
        """Return which broker it says that it is; empty if its program, home or size is no broker's."""
        try:
            if one.uids().real != os.getuid():
                return ""
            words = one.cmdline()
            if f"{process.MARK}{self.home}" not in words or Path(one.exe()) != self.java:
                return ""
            [said] = [word for word in words if word in BROKERS]
            return said if one.memory_info().rss < BROKER_BYTES else ""
        except (psutil.Error, OSError, ValueError):
            return ""


class Watch:
    """Watches from a thread. `reason` says which limit was reached, in a sentence; empty while all is well.

    `theirs` are the processes that count, `folder` is what they may fill.
    """

    def __init__(self, limits: Limits, folder: Path, theirs: Theirs) -> None:
        self.limits, self.folder, self.theirs = limits, folder, theirs
        self.reason = ""
        self.began = time.monotonic()
        self._done = threading.Event()
        self._disk_at = 0.0
        self._own = psutil.Process()
        self._own_at_first = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin; the time counts from now."""
        self.began = time.monotonic()
        self._own_at_first = _memory(self._own)
        self._thread.start()

    def stop(self) -> None:
        """End watching."""
        self._done.set()
        if self._thread.is_alive():  # it has not begun if the kernel did not start
            self._thread.join()

    def left(self) -> float:
        """Return the seconds that are left."""
        return max(0.0, self.limits.seconds - (time.monotonic() - self.began))

    def _run(self) -> None:
        while not self._done.wait(LOOK_SECONDS):
            self.reason = self.reason or self._broken()
            if self.reason:
                end_all(self.theirs)

    def _broken(self) -> str:
        if not self.left():
            return f"the time limit: {self.limits.seconds:.0f} s for the whole notebook"
        found = self.theirs()
        if len(found) > self.limits.processes:
            return f"the limit of {self.limits.processes} processes"
        if taken(found) > self.limits.memory * MEGA:
            return f"the memory limit: {self.limits.memory} MB"
        if _memory(self._own) - self._own_at_first > SHOWN_BYTES:
            return "the limit of what it may show at once"
        if time.monotonic() - self._disk_at > DISK_SECONDS:
            self._disk_at = time.monotonic()
            if _size(self.folder) > self.limits.disk * MEGA:
                return f"the disk limit: {self.limits.disk} MB"
        return ""


def end_all(theirs: Callable[[], list[psutil.Process]]) -> None:
    """Kill all of these processes; looks again for those that were started meanwhile."""
    for _ in range(20):
        found = theirs()
        if not found:
            return
        for one in found:
            with suppress(psutil.Error):
                one.kill()
        psutil.wait_procs(found, timeout=0.5)


def taken(found: Sequence[psutil.Process]) -> int:
    """Return the bytes of memory of these processes together.

    A program that is being started has the memory of the one that starts it, until it is a program of its
    own: that counts once. (Spark's Java starts programs all the time, and would count two or three times.)
    """
    pids = {one.pid for one in found}
    return sum(_memory(one) for one in found if not _has_memory_of(one, pids))


def _memory(one: psutil.Process) -> int:
    try:
        return int(one.memory_info().rss)
    except psutil.Error:
        return 0


def _has_memory_of(one: psutil.Process, pids: set[int]) -> bool:
    """Tell whether a process has its parent's memory, if that is among these; not, where nobody can tell."""
    number = KCMP.get(platform.machine()) if sys.platform == "linux" else None
    try:
        parent = one.ppid()
    except psutil.Error:
        return False
    if number is None or parent not in pids:
        return False
    return bool(ctypes.CDLL(None).syscall(number, one.pid, parent, KCMP_VM, 0, 0) == 0)


def _size(folder: Path) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(f"{path}/{name}").st_blocks * 512
    return total
