"""Forty orders and a worker's program that is killed at its work, for labs 06 and 10: what it sees.

It stands apart from the other scenarios: a program that starts again and again imports nothing else. The
process of a program that is to be killed makes no client itself, for it is copied for each life.
"""

import os
import signal
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import Message

from threebrokers import paths
from threebrokers.kafka.clients import LabConsumer
from threebrokers.lab.copies import next_life
from threebrokers.lab.lab import Lab
from threebrokers.program.protocol import KILLED_HERE
from threebrokers.store import JsonFile
from threebrokers.waiting import quiet_wait

__all__ = ["Orders", "PaidOrders"]

COUNT = 40
LAST = COUNT - 1
# What a program writes at a place where it is killed; there if its client commits by itself, or what the
# program stores, and if nobody waits for its commits; at the last order; and if its consumer has not asked
# for a topic soon.
STOPPED, AUTOMATIC = KILLED_HERE, ", after an automatic commit"
STORED = ", after a commit of what it has stored"
HURRIED = ", and it does not wait for its commits"
BY_ITSELF = "its client commits by itself"
DONE, DEAF = f"order {LAST} is done", "has asked for no topic"
ASK_SECONDS = 3.0
STOP_SECONDS = 30.0  # nobody waits so long: who is to be killed is asked to do so
MEMBER = "worker"
AT_COMMIT = "commit"  # just before the consumer's own commit, which a program need not make
TABLES = """
CREATE TABLE invoices (order_number INTEGER, euros INTEGER);
CREATE TABLE positions (partition INTEGER PRIMARY KEY, next_offset INTEGER);
"""


@dataclass
class Job:
    """What the notebook tells its program: the ledger's name, the topic, and how often a client commits.

    The ledger has the program's name. `way` is a word that the program may choose by. `stops` are the places
    where each life of the program is killed: the order, and "before" or "after" the work, the number of a
    database's statement, or AT_COMMIT. Each life kills itself there, if it comes there at all. Before the
    work it waits until the notebook asks for that, for a client may have to commit first.
    """

    ledger: str
    topic: str
    way: str = ""
    commit_ms: int = 500
    stops: tuple[tuple[int, str], ...] = ()


def job_file(lab: Lab, program: str) -> JsonFile[Job]:
    """Return the file in which the notebook leaves a job for one of its programs."""
    return JsonFile(paths.home() / "jobs" / f"{lab.number}-{program}.json", Job)


def kill_file(lab: Lab, program: str) -> Path:
    """Return the file by which the notebook asks a life of a program to kill itself; it is deleted then."""
    return paths.home() / "jobs" / f"{lab.number}-{program}.kill"


def database_path(lab: Lab, program: str) -> Path:
    """Return the place of a worker's database."""
    return paths.home() / "jobs" / f"{lab.number}-{program}.sqlite"


class Orders:
    """The job of a worker's program: a consumer for the orders, and the work on each.

    `topic` is the topic with the orders: subscribe to it. `group` is the group of the consumer. `way` is the
    promise that the notebook asks for, if it asks for one. A program without a job ends at once.
    """

    def __init__(self, lab: Lab) -> None:
        job = job_file(lab, lab.program_name).read()
        if job is None:
            print("There is no work yet: the next cell gives it to me.")
            raise SystemExit(0)
        if job.stops:
            next_life(len(job.stops) + 1, gently=True)
        self._ledger, self._job = lab.join_ledger(job.ledger), job
        self._life = self._ledger.enlist("worker")
        print(begins(self._life))
        self._database = database_path(lab, lab.program_name)
        self._kill_file = kill_file(lab, lab.program_name)
        self.topic, self.way = job.topic, job.way
        self.group = group_of(lab, job.ledger, self._ledger.run)
        self._armed: int | None = None
        self._automatic = self._hurried = self._stores = False

    def consumer(self, settings: Mapping[str, Any] | None = None) -> LabConsumer:
        """Make a consumer of the group, which begins at the first order; `settings` are added."""
        given = {
            "group.id": self.group,
            "group.instance.id": MEMBER,
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": self._job.commit_ms,
        }
        wanted = {**given, **(settings or {})}
        commits, stores = (
            str(wanted.get(name)).lower() not in ("false", "0")
            for name in ("enable.auto.commit", "enable.auto.offset.store")
        )
        self._automatic, self._stores = commits and stores, commits and not stores
        self._hurried = self._stores  # what the program stores itself is committed later, too
        made = self._ledger.consumer(wanted)
        commit = made.commit

        def heard(*arguments: Any, **named: Any) -> Any:
            self._before_commit(arguments, named)
            return commit(*arguments, **named)

        made.commit = heard  # type: ignore[method-assign]
        watch = threading.Timer(ASK_SECONDS, _tell_deaf, [made])
        watch.daemon = True
        watch.start()
        return made

    def work(self, message: Message) -> None:
        """Write the invoice of an order."""
        number = order_of(message)
        self._stop_at(number, "before")
        self._ledger.processed(message)
        self._stop_at(number, "after")
        self._tell(number)

    def invoice(self, message: Message) -> tuple[int, int]:
        """Return the row of the table `invoices` for an order: its number, and euros."""
        number = order_of(message)
        # It stays so: a program may ask for the rows of ten orders before it writes the first.
        if self._place and self._place[0] == number:
            self._armed = 0
        self._tell(number)
        return number, 10 + number

    def database(self) -> sqlite3.Connection:
        """Open the database, which has the tables `invoices` and `positions`."""
        database = sqlite3.connect(self._database)
        database.set_trace_callback(self._traced)
        return database

    @property
    def _place(self) -> tuple[int, str] | None:
        """Where this life of the program is to be killed."""
        return self._job.stops[self._life - 1] if self._life <= len(self._job.stops) else None

    def _traced(self, statement: str) -> None:
        """Count the statements for the armed order; the place of the kill is just before one of them."""
        if self._armed is None or self._place is None:
            return
        self._armed += 1
        if self._place[1] == str(self._armed):
            self._tell_stop(f"before {' '.join(statement.split())[:40]}", STOPPED)
            _die()

    def _before_commit(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Note whether the program waits for a commit, and kill it here if this is its place.

        Whether it waits comes after message and offsets.
        """
        waits_not = arguments[2] if len(arguments) > 2 else named.get("asynchronous", True)
        self._hurried = self._hurried or bool(waits_not)
        if self._armed is not None and self._place and self._place[1] == AT_COMMIT:
            self._tell_stop("before commit() of the consumer", STOPPED)
            _die()

    def _stop_at(self, number: int, moment: str) -> None:
        if (number, moment) != self._place:
            return
        waits = moment == "before"
        by_itself = AUTOMATIC if self._automatic else STORED if self._stores else ""
        habits = (by_itself if waits else "") + (HURRIED if self._hurried else "")
        self._tell_stop(f"{moment} the invoice", STOPPED + habits)
        if waits:
            quiet_wait(self._kill_file.exists, STOP_SECONDS)
            self._kill_file.unlink(missing_ok=True)
        _die()

    def _tell_stop(self, moment: str, what: str) -> None:
        assert self._place is not None
        print(f"run {self._life}, order {self._place[0]}, {moment}: {what}")

    def _tell(self, number: int) -> None:
        if number == LAST:
            print(DONE)


class PaidOrders(Orders):
    """The job of a worker's program that writes rows into a database: it makes the tables itself.

    `topic` is the topic with the orders: subscribe to it. `group` is the group of the consumer. The program
    is killed just before what it tells the database or the brokers. Without a job it ends at once.
    """

    def consumer(self, settings: Mapping[str, Any] | None = None) -> LabConsumer:
        """Make a consumer of the group, which begins at the first order; `settings` are added."""
        made = super().consumer(settings)
        if self._automatic:
            print(BY_ITSELF)
        return made

    def database(self) -> sqlite3.Connection:
        """Open the database, in which the program makes its own tables."""
        return super().database()

    def _before_commit(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        super()._before_commit(arguments, named)
        self._traced("commit() of the consumer")


def begins(life: int) -> str:
    """Return the line with which a life of a program begins."""
    return f"run {life} begins"


def _die() -> None:
    """End this process as a kill does, before any thread of its client can do more."""
    os.kill(os.getpid(), signal.SIGKILL)


def _tell_deaf(consumer: LabConsumer) -> None:
    if not consumer.asked:
        print(f"the consumer {DEAF}")


def order_of(message: Message) -> int:
    """Return the number of an order. Raises ValueError for a record that is no order."""
    return int(message.value() or b"")


def group_of(lab: Lab, ledger: str, run: str) -> str:
    """Return the group of the workers of one job: another one each time that the job begins."""
    return lab.group(f"{ledger}-{run}")
