"""A ledger: every record is numbered, and what was sent is compared with what is stored and read."""

import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from confluent_kafka import Message

from threebrokers.cluster import Cluster
from threebrokers.errors import LabError
from threebrokers.kafka.clients import Clients, LabConsumer, LabProducer, refusal_told
from threebrokers.kafka.log_reader import read_log, start_offsets
from threebrokers.kafka.state import ClusterState
from threebrokers.ledger.balance import Balance
from threebrokers.ledger.entries import Entry, Failure
from threebrokers.ledger.interceptors import NotedConsumer, NumberedProducer, number_in
from threebrokers.ledger.journal import Book, Number
from threebrokers.ledger.table import BalanceTable, Comparison, compare
from threebrokers.waiting import poll

__all__ = ["Balance", "Comparison", "Entry", "Failure", "Ledger", "Number", "compare"]


SETTLE_SECONDS = 3.0  # a follower asks again after at most 0.5 s


class Ledger:
    """The clients that it makes are confluent-kafka's own; it notes what passes through them."""

    def __init__(self, book: Book, clients: Clients, cluster: Cluster) -> None:
        self._book, self._clients, self._cluster = book, clients, cluster

    @property
    def run(self) -> str:
        """What tells this run's records from those of all others; it stands in each record's header."""
        return self._book.run

    def producer(self, config: Mapping[str, Any] | None = None) -> LabProducer:
        """Make a confluent-kafka Producer as `lab.producer` does; its records are numbered 0, 1, 2, …"""
        made = self._clients.producer(config)
        made.interceptors.append(NumberedProducer(self._book))
        return made

    def consumer(self, config: Mapping[str, Any]) -> LabConsumer:
        """Make a confluent-kafka Consumer as `lab.consumer` does; what it returns is noted as delivered.

        Raises LabError for settings that the client refuses.
        """
        with refusal_told():
            made = self._clients.consumer(config)
        made.interceptors.append(NotedConsumer(self._book))
        return made

    def enlist(self, kind: str) -> int:
        """Return the number (1, 2, …) of one more of a kind: of a "worker", over all processes."""
        return self._book.enlist(kind)

    def number(self, message: Message) -> Number | None:
        """Return a message's number, None if it is not of this ledger."""
        return number_in(message.headers(), self.run)

    def processed(self, message: Message) -> None:
        """Note that the work on a message is done; a message that is not of this ledger is left out."""
        if number := self.number(message):
            self._book.note("processed", number, str(message.topic()), message.partition(), message.offset())

    def balance(self, topic: str) -> Balance:
        """Read the topic at both isolation levels and say what became of this ledger's records in it.

        Waits up to 3 s for markers of transactions that have ended, and as long for copies that are behind.
        Raises KafkaException if there is no such topic, LabError if it cannot be read to its end.
        """
        # The notes come first: what is acknowledged later need not be in the log that is read now.
        notes = list(self._book.notes())
        hidden = self._hidden(topic)
        stored, committed = (self._entries(topic, level) for level in ("read_uncommitted", "read_committed"))
        starts = start_offsets(self._cluster.bootstrap, topic)
        return BalanceTable.of(topic, notes, stored, committed, starts, hidden)

    def _entries(self, topic: str, isolation: str) -> list[Entry]:
        records = read_log(self._cluster.bootstrap, topic, isolation=isolation)
        numbered = [(number_in(record.headers, self.run), record) for record in records]
        return [Entry(number, r.partition, r.offset) for number, r in numbered if number is not None]

    def _hidden(self, topic: str) -> dict[int, tuple[int, int]]:
        """Return the high watermark and log end of partitions where these differ, after a short wait."""
        with closing(self._cluster.poller()) as poller:
            poller.wait_for_markers()
            known: dict[int, tuple[int, int]] = {}
            for state in poll(lambda: poller.poll([topic], [], patient=True), SETTLE_SECONDS):
                behind = _behind(state)
                known = known if behind is None else behind
                if behind == {}:
                    break
            return known


def _behind(state: ClusterState) -> dict[int, tuple[int, int]] | None:
    """Return where the high watermark is behind the log's end; None if a leader has told neither yet."""
    if state.last_response_at != state.at:
        return None
    found = {}
    for partition in (p for topic in state.topics for p in topic.partitions):
        high, end = partition.high_watermark, partition.log_end_offset
        if high is None or end is None:
            if partition.leader is not None:
                return None
        elif high < end:
            found[partition.id] = high, end
    return found


def place(home: Path, lab: str, name: str) -> Path:
    """Return the file of a lab's ledger. Raises LabError if the name cannot be a file's."""
    if not re.fullmatch(r"[\w.-]+", name):
        raise LabError(f"A ledger is named with letters, digits, -, _ and . only, not {name!r}.")
    return home / "ledgers" / lab / f"{name}.jsonl"
