"""The lives of a program that goes on each time it was killed: one after the other, to its end."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from threebrokers import clock, paths
from threebrokers.errors import LabError
from threebrokers.kafka.state import GroupState, MemberState
from threebrokers.lab.lab import Lab
from threebrokers.lab.orders import (
    AUTOMATIC,
    BY_ITSELF,
    COUNT,
    DEAF,
    DONE,
    HURRIED,
    STOPPED,
    STORED,
    Job,
    begins,
    database_path,
    job_file,
    kill_file,
)
from threebrokers.ledger import place
from threebrokers.program import Program
from threebrokers.text import counted, last_line
from threebrokers.waiting import POLL_SECONDS, quiet_wait

RUN_SECONDS, START_SECONDS = 20.0, 20.0
# A commit that was sent needs so long at most; one that a client makes by itself comes with its next tick.
COMMIT_SECONDS, AUTOMATIC_SECONDS = 0.5, 10.0
LOOK_SECONDS = 1.0  # so often the brokers are asked what the program does: its output tells most
IDLE_SECONDS = 10.0  # who has done nothing for so long will not
SETTLE_SECONDS = 1.0
AT_ITS_PLACE = "it stands where it is to be killed"
ALL_COMMITTED = "its group had committed all"
THREAD_FAILED = "Exception in thread "  # Python's words; the program goes on


@dataclass(frozen=True)
class Ending:
    """How the last run of a killed program ended, and when the first began (`at`, s since 1970).

    `killed` counts the kills at the places that were meant; `fault` is the last line that a program wrote
    which failed, `over` says that it ended by itself without an error, `idle` that it had not even joined its
    group. `program` is its name. `automatic` says that its client commits by itself, `hurried` that it does
    not wait for its commits. `why` says why nobody waited for the last run any more, `last` is its last line.
    """

    at: float
    killed: int = 0
    fault: str = ""
    idle: bool = False
    over: bool = False
    program: str = ""
    automatic: bool = False
    hurried: bool = False
    why: str = ""
    last: str = ""

    @property
    def course(self) -> str:
        """How often the program was killed, and what came after that, in words."""
        last = f" (its last line: {self.last})" if self.last else ""
        return f"the program was killed {counted(self.killed, 'time')}; then {self.why or 'nothing'}{last}"


@contextmanager
def offered(lab: Lab, job: Job) -> Iterator[None]:
    """Let programs find the job while the block runs; an earlier run of its program is ended first.

    That one may only just be starting, because its cell has run a moment ago. With the job it would count as
    the first life, and the next one would be killed where the second should be.
    """
    end(lab.program(job.ledger))
    kept = job_file(lab, job.ledger)
    kill_file(lab, job.ledger).unlink(missing_ok=True)
    kept.write(job)
    try:
        yield
    finally:
        kept.path.unlink(missing_ok=True)


def live_and_die(
    lab: Lab, job: Job, group: str, complete: Callable[[], bool], records: int = COUNT
) -> Ending:
    """Start the program, and have it killed wherever it is to be killed; end it when it is done.

    It goes on by itself after each kill. `records` are in its topic: who has committed them all will do
    nothing more.
    """
    at, killed = clock.now(), 0
    with offered(lab, job):
        program = lab.program(job.ledger, restart=True)
        for stop in (*job.stops, None):
            why = _why_it_is_over(lab, program, job, group, killed + 1)
            if why != AT_ITS_PLACE:
                break
            _kill(lab, program, job, group, stop)
            killed += 1
            if (committed_offset(lab, group, job.topic) or 0) >= records:  # nothing comes any more
                why = ALL_COMMITTED
                break
        over, fault, last = program.exit_code == 0, fault_of(program), last_line(program.output)
        if why == ALL_COMMITTED:
            over, fault, last = False, "", ""
        idle = over and not _group_known(lab, group)
        if program.exit_code is None and quiet_wait(complete, SETTLE_SECONDS):
            program.kill()
        end(program)
        habits = _habits(program.output)
        return Ending(at, killed, fault, idle, over, job.ledger, *habits, why, last)


def _said(program: Program, life: int) -> str:
    """Return what one life of a program has written; nothing if it has not begun, nor any other."""
    after = program.output.partition(begins(life) + "\n")
    if life == 1 and not after[1]:
        return program.output
    return after[1] + after[2].partition(begins(life + 1) + "\n")[0]


def _habits(said: str) -> tuple[bool, bool]:
    """Tell from a program's output whether its client commits by itself, and whether nobody waits for it."""
    return AUTOMATIC in said or BY_ITSELF in said, HURRIED in said


def _kill(lab: Lab, program: Program, job: Job, group: str, stop: tuple[int, str] | None) -> None:
    """Ask a life of a program that stands where it is to be killed, before its work, to kill itself.

    Elsewhere it does so without being asked.
    """
    if stop and stop[1] == "before":
        stores = STORED in program.output  # what is stored after the work ends before the order in work
        within = AUTOMATIC_SECONDS if stores or AUTOMATIC in program.output else COMMIT_SECONDS
        reached = stop[0] if stores else stop[0] + 1
        quiet_wait(lambda: (committed_offset(lab, group, job.topic) or 0) >= reached, within)
        kill_file(lab, job.ledger).touch()


def fault_of(program: Program) -> str:
    """Return the last line that a program wrote if it, or one of its threads, has failed, else nothing."""
    failed = program.exit_code == 1 or THREAD_FAILED in program.output
    return last_line(program.output) if failed else ""


def _why_it_is_over(lab: Lab, program: Program, job: Job, group: str, life: int) -> str:
    """Wait until a life stands where it is to be killed, or will do nothing more; say which of them."""
    seen: tuple[int, ...] = ()
    began = since = looked = time.monotonic()
    latest = began + START_SECONDS  # on a busy machine a program needs seconds before it does anything
    while time.monotonic() < min(began, latest) + RUN_SECONDS:
        ended, said = program.exit_code is not None, _said(program, life)
        began = began if said else time.monotonic()
        if told := _told(said) or (ended and f"it {program.state}"):
            return told
        if time.monotonic() > looked + LOOK_SECONDS:
            now = _progress(lab, program, job, group)
            if now != seen or not said or _is_rebalancing(lab, group):
                seen, since = now, time.monotonic()
            looked = time.monotonic()
        if time.monotonic() - since > IDLE_SECONDS:
            return f"it did nothing for {IDLE_SECONDS:g} s"
        time.sleep(POLL_SECONDS)
    return f"it was not done after {RUN_SECONDS:g} s"


def _told(said: str) -> str:
    """Return what the program itself says of how far it has come, nothing if it is under way."""
    if STOPPED in said:
        return AT_ITS_PLACE
    return "it did the last order" if DONE in said else "it asked for no topic" if DEAF in said else ""


def _progress(lab: Lab, program: Program, job: Job, group: str) -> tuple[int, ...]:
    """Return numbers that change while the program does anything with its orders."""
    files = place(paths.home(), lab.number, lab.topic(job.ledger)), database_path(lab, job.ledger)
    sizes = (path.stat().st_size if path.exists() else 0 for path in files)
    return (
        *sizes,
        len(program.output),
        len(members_of(lab, group) or ()),
        committed_offset(lab, group, job.topic) or 0,
    )


def _is_rebalancing(lab: Lab, group: str) -> bool:
    found = _group(lab, group)
    return bool(found and found.state in ("PreparingRebalance", "CompletingRebalance"))


def end(program: Program) -> None:
    """End a program if it still runs: on request, or else at once."""
    for ending in (program.stop, program.kill):
        with suppress(LabError):  # it has ended, or does not end on request
            ending()


def _group(lab: Lab, group: str) -> GroupState | None:
    return next(iter(lab.cluster.state([], [group]).groups), None)


def members_of(lab: Lab, group: str) -> tuple[MemberState, ...] | None:
    """Return who is in a group; None while no coordinator tells."""
    found = _group(lab, group)
    return found.members if found and found.coordinator is not None else None


def committed_offset(lab: Lab, group: str, topic: str) -> int | None:
    """Return what a group has committed in a topic of one partition, None if nothing."""
    found = _group(lab, group)
    return next((offset for name, _, offset in found.committed if name == topic), None) if found else None


def _group_known(lab: Lab, group: str) -> bool:
    """Tell whether anybody has ever been in the group, or committed for it."""
    found = _group(lab, group)
    if found is None or found.coordinator is None:
        return False
    return bool(found.members or found.committed or found.state not in ("", "Dead"))
