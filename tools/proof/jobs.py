"""Jobs that run side by side: each a process of its own, whose output comes in one piece when it ends."""

import os
import secrets
import signal
import subprocess
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tools.proof import environment

# Each job's processes carry this in their environment, with the job's own word.
MARK = "THREEBROKERS_TEST_JOB"
ENDING_SECONDS = 60.0
LANE_BYTES = 2e9
TAIL_LINES = 60


@dataclass(frozen=True)
class Job:
    """One run of pytest, or of a command that takes its --junitxml: its part, and its name there.

    `lab` is empty if it is of no lab. `expected` (s) decides who begins first. A job that is a `gate`
    ends all others if it fails. Jobs that name the same `resource` never run side by side.
    """

    part: str
    name: str
    command: tuple[str, ...]
    lab: str = ""
    expected: float = 10.0
    gate: bool = False
    resource: str = ""

    def __str__(self) -> str:
        return f"{self.part}: {self.name}"


@dataclass(frozen=True)
class Ended:
    """A job that has ended: its exit code, its time (s), what it wrote, and pytest's results as XML.

    One that was `interrupted`, because a gate failed, says nothing of what it tested.
    """

    job: Job
    code: int
    seconds: float
    output: str = field(repr=False)
    results: Path
    interrupted: bool = False


class Pool:
    """Runs jobs in so many lanes, the longest first; their results are kept in a folder.

    Ctrl-C, or a gate that fails, ends all of them in good order.
    """

    def __init__(self, lanes: int, folder: Path, say: Callable[[str], None]) -> None:
        self._lanes, self._folder, self._say = lanes, folder, say
        self._running: list[subprocess.Popen[bytes]] = []
        self._interrupted: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Condition()
        self._waiting: list[tuple[int, Job]] = []
        self._used: set[str] = set()
        self._closed = False

    def run(self, jobs: Sequence[Job]) -> list[Ended]:
        """Run the jobs and return those that ran, in the order in which they ended."""
        # Started by nohup, or with & by a script, a process ignores Ctrl-C, and so do those that it starts:
        # the pool could not end its jobs in good order.
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        # Those that share a resource are one long job. A gate is worth nothing if it comes last.
        shared: defaultdict[str, float] = defaultdict(float)
        for job in jobs:
            shared[job.resource] += job.expected
        alike = {job: shared[job.resource] if job.resource else job.expected for job in jobs}
        order = sorted(jobs, key=lambda job: (not job.gate, -alike[job], -job.expected))
        ended: list[Ended] = []
        self._waiting = list(enumerate(order))
        with ThreadPoolExecutor(self._lanes) as threads:
            left: set[Future[Ended | None]] = set()
            try:  # the first job runs while the others are handed over: Ctrl-C may come then, too
                for _ in order:
                    left.add(threads.submit(self._one))
                while left:
                    done, left = wait(left, return_when=FIRST_COMPLETED)
                    for future in done:
                        self._take(future, ended)
            except BaseException:
                self._end()
                for future in left:  # what hung, and had to be ended, says here how far it came
                    if (one := future.result()) is not None:
                        self._say(
                            f"\n── {one.job}: was ended after {one.seconds:.0f} s\n{_tail(one.output)}\n"
                        )
                raise
        return ended

    def _take(self, future: Future[Ended | None], ended: list[Ended]) -> None:
        one = future.result()
        if one is None:
            return
        ended.append(one)
        how = "passed" if one.code == 0 else f"FAILED (exit code {one.code})"
        how = "was ended, because another one failed," if one.interrupted else how
        self._say(f"\n── {one.job}: {how} after {one.seconds:.0f} s\n{one.output.rstrip()}\n")
        if one.job.gate and one.code != 0:
            self._end()

    def _one(self) -> Ended | None:
        """Run the next job; None if there is none any more."""
        chosen = self._next()
        if chosen is None:
            return None
        try:
            return self._run(*chosen)
        finally:
            with self._lock:
                self._used.discard(chosen[1].resource)
                self._lock.notify_all()

    def _next(self) -> tuple[int, Job] | None:
        """Take the first waiting job whose resource is free, and wait until there is one."""
        with self._lock:
            while not self._closed:
                for one in self._waiting:
                    if one[1].resource not in self._used:
                        self._waiting.remove(one)
                        if one[1].resource:
                            self._used.add(one[1].resource)
                        return one
                self._lock.wait()
        return None

    def _run(self, place: int, job: Job) -> Ended | None:
        results = self._folder / f"{place}.xml"
        word = secrets.token_hex(8)
        with tempfile.TemporaryFile() as output:
            with self._lock:
                if self._closed:
                    return None
                began = time.monotonic()
                self._say(f"{job}: begins")
                # In a group of its own: Ctrl-C reaches the pool alone, which ends its jobs in good order.
                process = subprocess.Popen(
                    [*job.command, f"--junitxml={results}"],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env=os.environ | {MARK: word},
                )
                self._running.append(process)
            code = process.wait()
            with self._lock:
                self._running.remove(process)
                self._closed |= job.gate and code != 0  # before this lane takes the next job
            output.seek(0)
            told = output.read().decode("utf-8", "replace")
            # One that ended in good order has ended all that it started, or has said so itself.
            if code != 0 and (left := environment.end_marked(MARK, word)):
                told += "\nIt left behind, killed now:\n" + "\n".join(left)
            seconds = time.monotonic() - began
            return Ended(job, code, seconds, told, results, process in self._interrupted)

    def _end(self) -> None:
        """Interrupt what runs, as Ctrl-C does: pytest then ends the brokers that it started."""
        with self._lock:
            self._closed = True
            self._lock.notify_all()
            running = [process for process in self._running if process.poll() is None]
            self._interrupted += running
        for process in running:
            process.send_signal(signal.SIGINT)
        due = time.monotonic() + ENDING_SECONDS
        for process in running:
            try:
                process.wait(max(0.0, due - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


def _tail(output: str) -> str:
    return "\n".join(output.rstrip().splitlines()[-TAIL_LINES:])


def lanes() -> int:
    """Return how many jobs run side by side: each waits a third of its time, so one more than cores.

    A lab with Spark takes up to 1.9 GB (docs/machines.md): no more of them than fit into the free memory.
    """
    free = psutil.virtual_memory().available
    return max(1, min(_cores() + 1, int(free / LANE_BYTES)))


def _cores() -> int:
    """Return how many cores this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
