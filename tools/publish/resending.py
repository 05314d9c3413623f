"""A program that sends orders, is killed, and sends again what it knows no acknowledgement of.

`python -m tools.publish.resending NOTES TOPIC …` is its first life, with a topic for each way; with --again
it is the second. It notes in the file NOTES what it knows. `tools.publish.resent` runs it, and kills it.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, Message

from threebrokers.errors import LabError
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import join_lab
from tools.publish.verdicts import SET_UPS

LAB, COUNT, PART = "10", 200, 100
CALL_SECONDS, FLUSH_SECONDS, LIFE_SECONDS, POLL_SECONDS = 60.0, 60.0, 120.0, 0.05
READY = "ready"
SENT, ACKNOWLEDGED = "sent", "acknowledged"


class Way(NamedTuple):
    """How a program sends: in a transaction, which is committed before the kill or not; without one.

    Who `looks` reads in its second life what is committed, before it sends anything.
    """

    settings: Mapping[str, Any]
    committed: bool | None = None
    looks: bool = False

    @property
    def in_transaction(self) -> bool:
        """Whether it sends in transactions."""
        return self.committed is not None


WAYS: dict[str, Way] = {
    **{f"`{of}`": Way({"linger.ms": 200, **settings}) for of, settings in SET_UPS.items()},
    "`transactional.id`, killed before the commit": Way({}, committed=False),
    "`transactional.id`, killed after the commit": Way({}, committed=True),
    "the same, and it first reads what is committed": Way({}, committed=True, looks=True),
}
PLAIN = [way for way, one in WAYS.items() if not one.in_transaction]


class Notes:
    """What a program has noted: which numbers it has sent, and of which it knows that they are acknowledged.

    A note is a line, written at once: who is killed loses none of them.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, what: str, way: str, numbers: Iterable[int]) -> None:
        """Note the same of some numbers."""
        line = json.dumps([what, way, list(numbers)]).encode() + b"\n"
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)

    def of(self, what: str, way: str) -> list[int]:
        """Return the numbers of which this was noted, each time, in their order of time."""
        text = self._path.read_text("utf-8") if self._path.exists() else ""
        told = [json.loads(line) for line in text.splitlines()]
        return [number for kind, whose, numbers in told if (kind, whose) == (what, way) for number in numbers]


class Program:
    """The program: a producer for each way, and a topic."""

    def __init__(self, lab: Lab, notes: Notes, topics: Iterable[str]) -> None:
        self.lab, self.notes = lab, notes
        self.topics = dict(zip(WAYS, topics, strict=True))
        self.producers = {way: self._producer(number, way) for number, way in enumerate(WAYS)}

    def begin(self) -> None:
        """Send the first orders, and note that all are acknowledged; then those of the last transactions."""
        for way in WAYS:
            self._send(way, range(PART))
        for way, one in WAYS.items():
            self._flush(way)
            if one.in_transaction:
                self._commit(way)
                self._send(way, range(PART, COUNT))
                self._flush(way)
            if one.committed:
                self.producers[way].commit_transaction(CALL_SECONDS)  # and the kill comes before the note

    def go_on(self) -> None:
        """Send the last orders of all that send without transactions, and wait for their answers."""
        for way in PLAIN:
            self._send(way, range(PART, COUNT))
        end = time.monotonic() + LIFE_SECONDS
        while time.monotonic() < end:  # whoever runs it kills it long before that
            for way in PLAIN:
                self.producers[way].poll(POLL_SECONDS)

    def again(self) -> None:
        """Send what there is no note of that it was acknowledged."""
        for way, one in WAYS.items():
            known = {*self.notes.of(ACKNOWLEDGED, way), *(self._committed(way) if one.looks else ())}
            self._send(way, [number for number in range(COUNT) if number not in known])
        for way, one in WAYS.items():
            self._flush(way)
            if one.in_transaction:
                self._commit(way)

    def _producer(self, number: int, way: str) -> LabProducer:
        def note(error: KafkaError | None, message: Message) -> None:
            if error is None:
                self.notes.add(ACKNOWLEDGED, way, [int(message.value() or b"")])

        settings = WAYS[way].settings
        if not WAYS[way].in_transaction:
            return self.lab.producer({**settings, "on_delivery": note})
        # What is acknowledged in a transaction may still be aborted: only its commit is noted.
        made = self.lab.producer({**settings, "transactional.id": f"{self.lab.topic('resent')}-{number}"})
        made.init_transactions(CALL_SECONDS)
        return made

    def _send(self, way: str, numbers: Iterable[int]) -> None:
        """Send orders, in a new transaction if that is the way."""
        numbers = list(numbers)
        if WAYS[way].in_transaction:
            self.producers[way].begin_transaction()
        self.notes.add(SENT, way, numbers)
        for number in numbers:
            self.producers[way].produce(self.topics[way], str(number))

    def _flush(self, way: str) -> None:
        """Wait for the answers to what was sent. Raises LabError if they do not come in time."""
        if self.producers[way].flush(FLUSH_SECONDS):
            raise LabError(f"{way}: not all was answered within {FLUSH_SECONDS:g} s")

    def _commit(self, way: str) -> None:
        """Commit the transaction, and note that all that was sent is acknowledged now."""
        self.producers[way].commit_transaction(CALL_SECONDS)
        self.notes.add(ACKNOWLEDGED, way, sorted(set(self.notes.of(SENT, way))))

    def _committed(self, way: str) -> set[int]:
        """Return what is committed; init_transactions() has settled its last transaction."""
        self.lab.cluster.wait_for_markers()
        return {int(record.value or b"") for record in read_log(self.lab.bootstrap, self.topics[way])}


def main(arguments: list[str] | None = None) -> int:
    """Run one life of the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notes", type=Path)
    parser.add_argument("topics", nargs="+")
    parser.add_argument("--again", action="store_true", help="the second life")
    asked = parser.parse_args(arguments)
    program = Program(join_lab(LAB, "resent", "resending"), Notes(asked.notes), asked.topics)
    if asked.again:
        program.again()
        return 0
    program.begin()
    print(READY, flush=True)
    if sys.stdin.readline():  # comes when the answers are held back
        program.go_on()
    return 1  # nobody has killed it


if __name__ == "__main__":
    sys.exit(main())
