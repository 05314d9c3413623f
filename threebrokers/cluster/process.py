"""Operating-system processes of the course, known by process id, exact start and the course's own mark."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
import psutil

from threebrokers.waiting import poll, quiet_wait

MARK = "-Dthreebrokers.home="
NODE = "-Dthreebrokers.node="
WORDS_SECONDS = 5.0
Pid = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]  # whatever a file says: no signal goes to a group
BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Identity:
    """What tells one process from every other: its id, its exact start, and a word of its command line.

    `start` names the machine's own start too: neither a clock that is set nor a machine that was started
    again makes two processes alike. Without a `mark` a process is looked at, and never signalled.
    """

    pid: Pid
    start: str
    mark: str = ""

    def process(self) -> psutil.Process | None:
        """Return the process if it still runs, else None."""
        for _ in range(2):
            try:
                return self._running()
            except psutil.ZombieProcess:  # its first thread ended just now: that says nothing of the others
                continue
            except psutil.NoSuchProcess:
                return None
        return None

    def _running(self) -> psutil.Process | None:
        """Do what `process` does. Raises psutil.NoSuchProcess if it is gone."""
        process = psutil.Process(self.pid)
        if start_of(self.pid) != self.start:
            return None
        if process.status() == psutil.STATUS_ZOMBIE:
            # While only its first thread has ended, the others still hold its ports and files.
            return process if process.num_threads() > 1 else None
        words = _words(process) if self.mark else []
        # One that is ending has no words left before it has ended.
        return process if not words or self.mark in words else None

    @property
    def of_this_boot(self) -> bool:
        """Whether it was started since the machine was: otherwise it ended with the machine."""
        if psutil.LINUX:
            return self.start.endswith(f" after boot {_boot()}")
        try:
            return bool(float(self.start) >= psutil.boot_time())
        except ValueError:  # written by another system, or by hand
            return False

    def reap(self) -> None:
        """Let this process go from the system's table if it has ended and is a child of ours."""
        try:
            if start_of(self.pid) == self.start:
                os.waitpid(self.pid, os.WNOHANG)
        except (psutil.NoSuchProcess, ChildProcessError):
            return  # it has gone, or is another process's child


def identify(pid: int, mark: str = "") -> Identity:
    """Return the identity of a process that runs now. Raises psutil.NoSuchProcess."""
    identity = Identity(pid, start_of(pid), mark)
    # For a moment after its start a program has no command line yet; one that has ended has none any more.
    quiet_wait(lambda: not mark or _has_words(pid), WORDS_SECONDS)
    return identity


def environment_of(process: psutil.Process) -> dict[str, str]:
    """Return a process's variables. Raises psutil.Error if it is gone, or somebody else's."""
    # As above: for a moment it has neither. What belongs to the system itself has no program, and never any.
    quiet_wait(lambda: process.environ() or _words(process) or not process.exe(), WORDS_SECONDS)
    return dict(process.environ())


def start_of(pid: int) -> str:
    """Return when a process was started, exactly. Raises psutil.NoSuchProcess.

    Linux counts clock ticks since the machine's start (proc(5), field 22 of /proc/PID/stat), which no
    setting of the clock changes; macOS notes the time once, to the microsecond.
    """
    if not psutil.LINUX:
        # Without `monotonic` psutil moves the time when the clock is set, after a sleep too: each program
        # that asks would know the process by another start. psutil compares processes in this way itself.
        return f"{psutil.Process(pid)._proc.create_time(monotonic=True):.6f}"
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        raise psutil.NoSuchProcess(pid) from None
    # The second field is the program's name in parentheses, and may hold anything.
    return f"{int(told.rpartition(b')')[2].split()[19])} ticks after boot {_boot()}"


def _has_words(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        return process.status() == psutil.STATUS_ZOMBIE or bool(_words(process))
    except psutil.NoSuchProcess:
        return True


def _words(process: psutil.Process) -> list[str]:
    """Return the command line; empty while there is none. Raises psutil.NoSuchProcess."""
    try:
        return list(process.cmdline())
    except psutil.AccessDenied:  # what macOS says of one that begins or ends just now
        return []


@cache
def _boot() -> str:
    try:
        return BOOT.read_text().strip()
    except OSError:  # a container may hide it
        return "unknown"


@dataclass(frozen=True)
class BrokerProcess:
    """One broker as the operating system sees it: 'up', 'paused' or 'down'; `rss` in bytes.

    It is a process of this machine, or it runs in a container, which hides its process, or `elsewhere`: then
    the others tell of it.
    """

    id: int
    state: str
    pid: int | None = None
    rss: int = 0
    container: str = ""
    elsewhere: bool = False

    @property
    def name(self) -> str:
        """What to look for with the machine's own tools."""
        if self.elsewhere:
            return "elsewhere"
        return f"container {self.container}" if self.container else f"process {self.pid}"


@dataclass(frozen=True)
class Usage:
    """How much a broker has worked: processor time (s), and bytes read from the disk (None: not counted)."""

    processor: float
    read: int | None


def launch(command: list[str], log: Path, environment: dict[str, str], mark: str) -> Identity:
    """Start a process in a session of its own, with its output appended to `log`.

    So neither Ctrl-C nor a kernel's restart ends it. `mark` is the word of the command that tells it from
    what is not the course's. Raises OSError if the program cannot be run.
    """
    assert mark in command, "what carries no mark could never be ended"
    log.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    try:
        pid = os.posix_spawn(command[0], command, environment, file_actions=actions, setsid=True)
    except NotImplementedError:  # a Python that was built for macOS before 10.15
        with log.open("ab") as output:
            child = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        pid = child.pid
        child.returncode = 0  # it is reaped by its identity, as every one is: Popen is not to wait or warn
    return identify(pid, mark)


def forks_allowed() -> dict[str, str]:
    """Return what lets copies (fork) of a process go on: Spark's Python workers, lives of a worker's program.

    macOS ends a copy in which a class of its own libraries is used first, if its parent was just about to do
    that in another thread. The variable takes that back; it is read when a program starts.
    """
    return {"OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES"} if psutil.MACOS else {}


def look(node: int, identity: Identity | None) -> BrokerProcess:
    """Return how this broker's process is now."""
    process = identity.process() if identity else None
    if process is None:
        if identity:
            identity.reap()
        return BrokerProcess(node, "down")
    try:
        with process.oneshot():
            state = "paused" if process.status() == psutil.STATUS_STOPPED else "up"
            return BrokerProcess(node, state, process.pid, process.memory_info().rss)
    except psutil.NoSuchProcess:
        return BrokerProcess(node, "down")


def usage(identity: Identity) -> Usage | None:
    """Return how much this process has worked; None if it is gone."""
    process = identity.process()
    if process is None:
        return None
    try:
        # macOS does not count what one process reads.
        read = process.io_counters().read_bytes if hasattr(process, "io_counters") else None
        return Usage(sum(process.cpu_times()[:2]), read)
    except psutil.NoSuchProcess:
        return None


def end(identities: list[Identity], patience: float, enough: Callable[[], bool] | None = None) -> None:
    """End these processes: ask them all, wait so many seconds at most, then kill what is left.

    With a patience of 0 they are killed at once; otherwise as soon as `enough` says that nothing is
    worth waiting for any more.
    """
    running = [identity for identity in identities if identity.mark and identity.process()]
    if patience > 0:
        for identity in running:
            send(identity, "terminate")
            send(identity, "resume")  # a paused process hears nothing
        running = _left(running, patience, enough)
    for identity in running:
        send(identity, "kill")
    _left(running, 10)


def send(identity: Identity, signal: str) -> bool:
    """Send 'suspend', 'resume', 'terminate' or 'kill' to the process; False if it is gone or not ours."""
    process = identity.process()
    try:
        # Looked at here too: for whoever only looks, a process that is ending needs no command line.
        if process is None or not identity.mark or identity.mark not in _words(process):
            return False
        getattr(process, signal)()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    return True


def children(identity: Identity) -> list[Identity]:
    """Return what this process has started, and what those have: to look at, not to signal."""
    running = identity.process()
    found = []
    with suppress(psutil.NoSuchProcess):
        for child in running.children(recursive=True) if running else ():
            with suppress(psutil.NoSuchProcess):
                found.append(identify(child.pid))
    return found


def find(home: Path) -> dict[int, Identity]:
    """Return the brokers of this home that run now, also those that no state file knows."""
    return {int(node): identity for node, identity in named(f"{MARK}{home}", NODE).items()}


def named(mark: str, prefix: str) -> dict[str, Identity]:
    """Return the running processes with this mark, by what follows `prefix` in another of their words."""
    found = {}
    for identity, words in _marked(mark):
        if names := [word.removeprefix(prefix) for word in words if word.startswith(prefix)]:
            found[names[0]] = identity
    return found


def marked(mark: str) -> list[Identity]:
    """Return the running processes of this user that have this word in their command line."""
    return [identity for identity, _ in _marked(mark)]


def _marked(mark: str) -> Iterator[tuple[Identity, list[str]]]:
    for process in psutil.process_iter(["cmdline", "status", "uids"]):
        words, uids = process.info["cmdline"] or [], process.info["uids"]
        # Anybody may give a process any words: that of another user is none of ours.
        own = uids is not None and uids.real == os.getuid()
        if own and mark in words and process.info["status"] != psutil.STATUS_ZOMBIE:
            try:
                yield identify(process.pid, mark), words
            except psutil.NoSuchProcess:
                continue


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
    for identity in identities:
        if identity not in left:
            identity.reap()
    return left
