"""Bank transfers that a worker books, and ten places where it is killed, for lab 11: what its program sees.

It stands apart from the other scenarios: a program that starts again and again imports nothing else. The
process of the program never makes a client itself, for it is copied for each life of the worker.
"""

import json
import os
import secrets
import signal
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import Message

from threebrokers import paths
from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.lab.copies import next_life
from threebrokers.lab.lab import Lab
from threebrokers.store import JsonFile

__all__ = ["Transfers"]

COUNT = 18
MEMBER = "worker"
PRODUCER = {"enable.idempotence": True}
# One place for each life of the worker: the event, and what is told of it. Those that show most come first.
PLACES = {
    "offsets": "when the brokers had the offset",
    "committed": "when the transaction was committed",
    "second stored": "when both entries were stored",
    "first stored": "when the first entry was stored",
    "began": "when the transaction had begun",
    "first queued": "with the first entry only in its memory",
    "second queued": "with the second entry only in its memory",
    "committing": "while it committed the transaction",
    "read": "when it had read one transfer more",
    "started": "when it had only started",
}
# Where the program never comes to the place of this life, it is killed between two transfers.
ELSEWHERE = "between two transfers"
BUSY = 2  # the place counts from the second transfer on that a life has read, so that the first one is done
COMMIT_MS = 100
AUTOMATIC_SECONDS = 3 * COMMIT_MS / 1000  # a client that commits by itself has done so by then
COMMITTING_SECONDS = 0.002  # a commit takes longer than this, and its request is on its way by then
FLUSH_SECONDS = 10.0


@dataclass
class TransfersJob:
    """What the notebook tells its program: the topics, the group, and a word that the program chooses by."""

    transfers: str
    entries: str
    group: str
    way: str = ""


def job_file(lab: Lab, program: str) -> JsonFile[TransfersJob]:
    """Return the file in which the notebook leaves a job for one of its programs.

    On a busy machine another one may only just be starting, and would take this job.
    """
    return JsonFile(paths.home() / "jobs" / f"{lab.number}-{program}.json", TransfersJob)


def journal(lab: Lab, program: str) -> Path:
    """Return the file in which the worker notes what happens: one line of JSON for each event."""
    return paths.home() / "jobs" / f"{lab.number}-{program}.journal"


class Transfers:
    """The job of a worker's program: the topics `transfers` and `entries`, and what is to be written.

    `way` is what the notebook asks for. A program that is started while there is no job ends at once. What
    stands after this is done again in each life of the worker.
    """

    def __init__(self, lab: Lab) -> None:
        job = job_file(lab, lab.program_name).read()
        if job is None:
            print("There is no work yet: the next cell gives it to me.")
            raise SystemExit(0)
        self._lab, self._job, self._journal = lab, job, journal(lab, lab.program_name)
        self.transfers, self.entries, self.way = job.transfers, job.entries, job.way
        life = next_life(len(PLACES) + 1)
        self._place = [*PLACES, ""][life]
        self._life = life + 1
        self._read = self._queued = 0
        self._number: int | None = None
        self._producer: LabProducer | None = None
        self._consumer: LabConsumer | None = None
        self._automatic = False

    def consumer(self, settings: Mapping[str, Any] | None = None) -> LabConsumer:
        """Make a consumer of the group, which begins at the first transfer; `settings` are added."""
        given = {
            "group.id": self._job.group,
            "group.instance.id": MEMBER,  # nobody waits for the session of the one that died
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": COMMIT_MS,
            "fetch.wait.max.ms": 50,
        }
        wanted = {**given, **(settings or {})}
        self._automatic = str(wanted.get("enable.auto.commit")).lower() not in ("false", "0")
        made = self._lab.consumer(wanted)
        _at_most(made, BUSY)  # so that there is work left for every life
        for name in ("poll", "consume"):
            _around(made, name, before=self._before_reading, after=self._has_read)
        _around(made, "commit", after=lambda _: self._has_committed())
        self._consumer = made
        self._note("consumer", automatic=self._automatic)
        return made

    def producer(self, settings: Mapping[str, Any] | None = None) -> LabProducer:
        """Make a producer; `settings` are added."""
        made = self._lab.producer({**PRODUCER, **(settings or {})})
        name = made.config.get("transactional.id")
        self._note("start", id=name)
        if name is None:  # it has nothing more to start
            self._started()
        _around(made, "init_transactions", after=lambda _: self._started())
        _around(made, "begin_transaction", after=lambda _: self._at("began"))
        _around(made, "produce", after=lambda _: self._has_queued())
        _around(made, "send_offsets_to_transaction", after=lambda _: self._at("offsets"))
        _around(made, "commit_transaction", after=lambda _: self._at("committed"))
        real = made.commit_transaction

        def commit(*arguments: Any, **named: Any) -> Any:
            if self._is_at("committing"):
                threading.Thread(target=real, args=arguments, kwargs=named, daemon=True).start()
                threading.Event().wait(COMMITTING_SECONDS)
                self._die(PLACES["committing"])
            return real(*arguments, **named)

        made.commit_transaction = commit  # type: ignore[method-assign]
        self._producer = made
        return made

    def split(self, message: Message) -> list[tuple[str, str]]:
        """Return the two entries of a transfer, each as key and value: the account, and what it gets."""
        transfer = json.loads(message.value() or b"")
        both = ((transfer["from"], -transfer["euros"]), (transfer["to"], transfer["euros"]))
        return [
            (account, json.dumps({"transfer": transfer["transfer"], "euros": euros}))
            for account, euros in both
        ]

    def mail(self, message: Message) -> None:
        """Send an e-mail about a transfer to its customer: a line in a file, in place of a mail server."""
        self._note("mail", transfer=number_of(message))

    def _before_reading(self) -> None:
        if self._consumer is not None and not self._consumer.asked:
            self._note("deaf")
            os._exit(0)
        if self._place not in ("", "started") and self._read > BUSY:
            self._die(ELSEWHERE)
        if self._number == COUNT - 1:
            self._note("done")

    def _has_read(self, result: Any) -> None:
        found = result if isinstance(result, list) else [result] * (result is not None)
        for message in found:
            if message.error() is None:
                self._read += 1
                self._number = number_of(message)
                if self._read == 1:
                    self._note("begins", transfer=self._number)
        if found and self._read > BUSY:
            self._at("read")

    def _started(self) -> None:
        if self._place == "started":
            self._die(PLACES["started"])

    def _has_queued(self) -> None:
        self._queued += 1
        which = "first" if self._queued % 2 else "second"
        if self._queued <= 2:  # of the transfer that shall be done
            return
        self._at(f"{which} queued")
        if self._is_at(f"{which} stored") and self._producer is not None:
            self._producer.flush(FLUSH_SECONDS)
            self._at(f"{which} stored")

    def _has_committed(self) -> None:
        """Note a commit outside of the transaction: it is the other way to commit the offset."""
        self._note("outside")
        self._at("offsets")

    def _is_at(self, event: str) -> bool:
        return self._place == event and self._read >= BUSY

    def _at(self, event: str) -> None:
        if self._is_at(event):
            self._die(PLACES[event])

    def _die(self, words: str) -> None:
        """End this process as a kill does, before any thread of its clients can do more."""
        if self._automatic:
            threading.Event().wait(AUTOMATIC_SECONDS)
        self._note("kill", place=words, transfer=self._number)
        said = "" if self._number is None else f"; the last transfer that it had read was {self._number}"
        print(f"life {self._life}: killed {words}{said}", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    def _note(self, kind: str, **more: Any) -> None:
        line = json.dumps({"kind": kind, "life": self._life, **more}) + "\n"
        handle = os.open(self._journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)


def number_of(message: Message) -> int:
    """Return the number of a transfer. Raises ValueError for a record that is none."""
    return int(json.loads(message.value() or b"")["transfer"])


def new_job(lab: Lab, way: str) -> TransfersJob:
    """Return a job with a group that nobody has used."""
    group = lab.group(f"bank-{secrets.token_hex(2)}")
    return TransfersJob(lab.topic("bank-transfers"), lab.topic("bank-entries"), group, way)


def _at_most(consumer: LabConsumer, most: int) -> None:
    """Have each call of consume() return so many messages at most."""
    real = consumer.consume

    def consume(num_messages: int = 1, *arguments: Any, **named: Any) -> list[Message]:
        return real(min(num_messages, most), *arguments, **named)

    consumer.consume = consume  # type: ignore[method-assign]


def _around(
    client: Any,
    method: str,
    *,
    before: Callable[[], None] = lambda: None,
    after: Callable[[Any], None] = lambda result: None,
) -> None:
    """Have these called before and after a client's method."""
    real = getattr(client, method)

    def called(*arguments: Any, **named: Any) -> Any:
        before()
        result = real(*arguments, **named)
        after(result)
        return result

    setattr(client, method, called)
