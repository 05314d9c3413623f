"""Operating-system processes of brokers, known by process id and start time."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from threebrokers.waiting import poll

MARK = "-Dthreebrokers.home="
NODE = "-Dthreebrokers.node="
# The start time is counted from the machine's own start, which a clock that is set can shift a little.
SAME_START_SECONDS = 2.0


@dataclass(frozen=True)
class Identity:
    """What tells one process from any later one with the same number: id and start (s since 1970)."""

    pid: int
    started: float

    def process(self) -> psutil.Process | None:
        """Return the process if it still runs, else None; an ended child is reaped."""
        try:
            process = psutil.Process(self.pid)
            if abs(process.create_time() - self.started) > SAME_START_SECONDS:
                return None
            # While only its first thread has ended, the others still hold its ports and files.
            if process.status() == psutil.STATUS_ZOMBIE and process.num_threads() <= 1:
                _reap(self.pid)
                return None
            return process
        except psutil.NoSuchProcess:
            return None


@dataclass(frozen=True)
class BrokerProcess:
    """One broker as the operating system sees it: 'up', 'paused' or 'down'; `rss` in bytes.

    It is a process of this machine, or it runs in a container, which hides its process.
    """

    id: int
    state: str
    pid: int | None = None
    rss: int = 0
    container: str = ""

    @property
    def name(self) -> str:
        """What to look for with the machine's own tools."""
        return f"container {self.container}" if self.container else f"process {self.pid}"


@dataclass(frozen=True)
class Work:
    """How much a broker has worked: processor time (s), and bytes read from the disk (None: not counted)."""

    processor: float
    read: int | None


def launch(command: list[str], log: Path, environment: dict[str, str]) -> Identity:
    """Start a process in a session of its own, with its output appended to `log`.

    So neither Ctrl-C nor a kernel's restart ends it. Raises OSError if the program cannot be run.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    pid = os.posix_spawn(command[0], command, environment, file_actions=actions, setsid=True)
    return Identity(pid, psutil.Process(pid).create_time())


def look(node: int, identity: Identity | None) -> BrokerProcess:
    """Return how this broker's process is now."""
    process = identity.process() if identity else None
    if process is None:
        return BrokerProcess(node, "down")
    try:
        with process.oneshot():
            state = "paused" if process.status() == psutil.STATUS_STOPPED else "up"
            return BrokerProcess(node, state, process.pid, process.memory_info().rss)
    except psutil.NoSuchProcess:
        return BrokerProcess(node, "down")


def work(identity: Identity) -> Work | None:
    """Return how much this process has worked; None if it is gone."""
    process = identity.process()
    if process is None:
        return None
    try:
        # macOS does not count what one process reads.
        read = process.io_counters().read_bytes if hasattr(process, "io_counters") else None
        return Work(sum(process.cpu_times()[:2]), read)
    except psutil.NoSuchProcess:
        return None


def end(identities: list[Identity], patience: float, enough: Callable[[], bool] | None = None) -> None:
    """End these processes: ask them all, wait so many seconds at most, then kill what is left.

    With a patience of 0 they are killed at once; otherwise as soon as `enough` says that nothing is
    worth waiting for any more.
    """
    running = [identity for identity in identities if identity.process()]
    if patience > 0:
        for identity in running:
            send(identity, "terminate")
            send(identity, "resume")  # a paused process hears nothing
        running = _left(running, patience, enough)
    for identity in running:
        send(identity, "kill")
    _left(running, 10)


def send(identity: Identity, signal: str) -> bool:
    """Send 'suspend', 'resume', 'terminate' or 'kill' to the process; False if it is gone."""
    process = identity.process()
    return process is not None and _send(process, signal)


def find(home: Path) -> dict[int, Identity]:
    """Return the brokers of this home that run now, also those that no state file knows."""
    found: dict[int, Identity] = {}
    for process in psutil.process_iter(["cmdline", "create_time", "status"]):
        words = process.info["cmdline"] or []
        if f"{MARK}{home}" in words and process.info["status"] != psutil.STATUS_ZOMBIE:
            node = next((int(word.removeprefix(NODE)) for word in words if word.startswith(NODE)), None)
            if node is not None:
                found[node] = Identity(process.pid, process.info["create_time"])
    return found


def marked(mark: str) -> list[Identity]:
    """Return the running processes that have this word in their command line."""
    return [
        Identity(process.pid, process.info["create_time"])
        for process in psutil.process_iter(["cmdline", "create_time", "status"])
        if mark in (process.info["cmdline"] or []) and process.info["status"] != psutil.STATUS_ZOMBIE
    ]


def _left(
    identities: list[Identity], within: float, enough: Callable[[], bool] | None = None
) -> list[Identity]:
    """Return those that have not ended after so many seconds, or when it is enough.

    `make lab` starts the brokers, and a notebook ends them: an ended process whose parent has not asked
    for it yet still has its number, and psutil.wait_procs would wait for that to go.
    """
    for left in poll(lambda: [i for i in identities if i.process()], within):
        if not left or (enough and enough()):
            break
    return left


def _send(process: psutil.Process, signal: str) -> bool:
    try:
        getattr(process, signal)()
    except psutil.NoSuchProcess:
        return False
    return True


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return  # it is another process's child
