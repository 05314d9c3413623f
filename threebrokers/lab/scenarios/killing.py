"""Killing a worker's program at its work, and asking it to end, for lab 06: what the notebook does."""

import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path

from threebrokers import clock
from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.orders import AT_COMMIT, COUNT, TABLES, Job, database_path, group_of
from threebrokers.lab.scenarios.lives import (
    SETTLE_SECONDS,
    START_SECONDS,
    Ending,
    committed_offset,
    fault_of,
    live_and_die,
    members_of,
    offered,
)
from threebrokers.ledger import Balance, Ledger, compare
from threebrokers.ledger.table import ranges
from threebrokers.program import Program
from threebrokers.waiting import POLL_SECONDS, poll, quiet_wait

TOPIC = "worker-orders"
AT_WORK = ((7, "before"), (13, "after"))
# The place is just before a statement: of BEGIN, INSERT, INSERT, COMMIT the second, then the fourth.
# Who commits at the brokers, too, is killed between that and the database's commit.
AT_STATEMENTS = ((7, "2"), (13, "4"), (20, AT_COMMIT))
JOIN_SECONDS = 3.0  # who is in no group after that, will not be; on a busy machine it takes longer
STAY_SECONDS = 1.0
# A machine may be busy; who leaves because its session is over is in the group for 45 s.
LEAVE_SECONDS = 4.0


@dataclass(frozen=True)
class Killed(Ending):
    """What became of the orders of a worker that was killed twice.

    `committed` is the group's committed offset in the end, None if there is none.
    """

    balance: Balance = field(default_factory=lambda: Balance(TOPIC))
    committed: int | None = None

    def __repr__(self) -> str:
        return f"{self.balance!r}\ncommitted offset: {self.committed}"

    def _repr_html_(self) -> str:
        return f"{compare({'': self.balance})._repr_html_()}<p>committed offset: {self.committed}</p>"


def killed_twice(
    lab: Lab, program: str, *, way: str = "", commit_seconds: float = 0.5, topic: str = TOPIC
) -> Killed:
    """Let a program work on 40 orders, kill it twice, start it again each time; return what became of them.

    It is killed just before it writes the invoice of order 7, when a client that commits by itself, all that
    it has handed over or what the program has stored, has done so, and at once when it has written that of
    order 13. `commit_seconds` is how often such a client commits.
    """
    job = Job(program, lab.fresh_topic(topic), way, int(commit_seconds * 1000), AT_WORK)
    book = _fill(lab, job)
    group = group_of(lab, job.ledger, book.run)
    ending = live_and_die(lab, job, group, lambda: (committed_offset(lab, group, job.topic) or 0) >= COUNT)
    told = {part.name: getattr(ending, part.name) for part in fields(ending)}
    return Killed(**told, balance=book.balance(job.topic), committed=committed_offset(lab, group, job.topic))


@dataclass(frozen=True)
class Invoiced(Ending):
    """How many invoices each order has in the worker's database."""

    counts: Mapping[int, int] = field(default_factory=dict)

    @property
    def twice(self) -> list[int]:
        """The orders with more than one invoice."""
        return sorted(number for number, count in self.counts.items() if count > 1)

    @property
    def missing(self) -> list[int]:
        """The orders without an invoice."""
        return [number for number in range(COUNT) if not self.counts.get(number)]

    @property
    def told(self) -> str:
        """How many orders have one invoice, more, and none, in words."""
        once = COUNT - len(self.twice) - len(self.missing)
        have = "has" if once == 1 else "have"
        return f"{once} {have} one invoice, {_these(self.twice)} more, {_these(self.missing)} none"


@dataclass(frozen=True)
class Invoices(Invoiced):
    """What stands in the worker's database: how many invoices each order has, and which offsets come next."""

    positions: Mapping[int, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{COUNT} orders: {self.told}\npositions (partition: next offset): {dict(self.positions)}"


def _these(numbers: list[int]) -> str:
    have = "has" if len(numbers) == 1 else "have"
    return f"{len(numbers)} ({ranges('order', numbers)}) {have}" if numbers else "0 have"


def killed_between_statements(lab: Lab, program: str) -> Invoices:
    """Let a program write the invoices of 40 orders into its database, kill it twice on the way.

    It is killed just before the second statement that it sends to the database for order 7, and just before
    the fourth for order 13. If its consumer commits, a third kill comes just before the commit for order 20.
    Returns what the database holds in the end.
    """
    path = without_database(lab, program)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(TABLES)
    job = Job(program, lab.fresh_topic(TOPIC), stops=AT_STATEMENTS)
    book = _fill(lab, job)
    group = group_of(lab, job.ledger, book.run)

    def complete() -> bool:
        counts, positions = _rows(path)
        return len(counts) == COUNT and sum(positions.values()) >= COUNT

    ending = live_and_die(lab, job, group, complete)
    told = {part.name: getattr(ending, part.name) for part in fields(ending)}
    counts, positions = _rows(path)
    return Invoices(**told, counts=counts, positions=positions)


def without_database(lab: Lab, program: str) -> Path:
    """Delete the worker's database, and return its place."""
    path = database_path(lab, program)
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in (path, path.with_name(f"{path.name}-journal")):
        old.unlink(missing_ok=True)
    return path


def _rows(path: Path) -> tuple[Counter[int], dict[int, int]]:
    """Return how many invoices each order has, and the next offset of each partition."""
    with closing(sqlite3.connect(path)) as database:
        numbers = [int(number) for (number,) in database.execute("SELECT order_number FROM invoices")]
        positions = database.execute("SELECT partition, next_offset FROM positions").fetchall()
    return Counter(numbers), {int(partition): int(offset) for partition, offset in positions}


@dataclass(frozen=True)
class Departure(Ending):
    """How a group's only member left after Ctrl-C: `seconds` until the group was empty, None if it is not.

    `joined` says whether there was a member at all, `static` whether one that is still there has a
    group.instance.id, `ended` whether its program ended soon.
    """

    seconds: float | None = None
    joined: bool = False
    static: bool = False
    ended: bool = True

    def __repr__(self) -> str:
        if not self.joined:
            return "Nobody joined the group."
        left = "has not left" if self.seconds is None else f"left after {self.seconds:.1f} s"
        return f"The member {left}; its program {'has ended' if self.ended else 'goes on'}."


def ended_by_ctrl_c(lab: Lab, program: str) -> Departure:
    """Start a program, the only member of its group, send it Ctrl-C, and see when the group is empty."""
    job = Job(program, lab.fresh_topic(TOPIC))
    group = group_of(lab, job.ledger, _fill(lab, job).run)
    with offered(lab, job):
        running = lab.program(program, restart=True)
        at, joined = clock.now(), _joins(lab, running, group)
        static, seconds = False, None
        if joined:
            sent = time.monotonic()
            with suppress(LabError):  # it has ended by itself
                running.interrupt()
            seconds = _left_after(lab, running, group, sent)
            static = seconds is None and _is_static(lab, group)
            left = max(POLL_SECONDS, sent + LEAVE_SECONDS - time.monotonic())
            quiet_wait(lambda: running.exit_code is not None, left)
        ended = running.exit_code is not None
        # What it says after Ctrl-C is no fault: often it is KeyboardInterrupt itself.
        over, fault = running.exit_code == 0, "" if joined else fault_of(running)
        with suppress(LabError):  # it has ended
            running.kill()
        idle = over and not joined
        return Departure(
            at, 0, fault, idle, over, program, seconds=seconds, joined=joined, static=static, ended=ended
        )


def _fill(lab: Lab, job: Job) -> Ledger:
    """Send the orders to the fresh topic by a new ledger."""
    book = lab.ledger(job.ledger)
    producer = book.producer({"enable.idempotence": True})
    for number in range(COUNT):
        producer.produce(job.topic, str(number))
    producer.flush()
    return book


def _joins(lab: Lab, program: Program, group: str) -> bool:
    def settled() -> bool:
        return program.exit_code is not None or "begins" in program.output

    def holds() -> bool:
        return program.exit_code is not None or any(m.partitions for m in members_of(lab, group) or ())

    began = time.monotonic()
    quiet_wait(settled, START_SECONDS)
    took = time.monotonic() - began  # on a busy machine all takes longer
    held = quiet_wait(holds, max(JOIN_SECONDS, 2 * took))
    # Who does not wait for Ctrl-C may be a member for a moment, too, on its way to its end.
    quiet_wait(lambda: program.exit_code is not None, max(STAY_SECONDS, took))
    return program.exit_code is None and bool(held or members_of(lab, group))


def _left_after(lab: Lab, program: Program, group: str, sent: float) -> float | None:
    """Return after how many seconds the group was empty; None if it was not a second after the end."""
    ended: float | None = None
    for gone in poll(lambda: members_of(lab, group) == (), LEAVE_SECONDS):
        if gone:
            return time.monotonic() - sent
        if program.exit_code is not None:
            ended = ended or time.monotonic()
            if time.monotonic() - ended > SETTLE_SECONDS:
                break
    return None


def _is_static(lab: Lab, group: str) -> bool:
    told = lab.admin().describe_consumer_groups([group], request_timeout=5)[group].result()
    return any(member.group_instance_id for member in told.members)
