"""Transactions in the log, for lab 11: a shop's baskets, what ends a transaction, one that stays open."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from threebrokers import clock
from threebrokers.kafka.batches import Batch
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import read_log
from threebrokers.kafka.transactions import STATE_TOPIC, TransactionNote, notes_in
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.packing import stored_batches
from threebrokers.lab.scenarios.partitions import leader_of, topic_of
from threebrokers.text import counted, listed
from threebrokers.waiting import quiet_wait

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

BASKETS, REFUSED = 12, (3, 8)
PARTITIONS, PHONED = 3, 5
SETTLE_SECONDS = 1.0
LONG_MS = 900_000  # the longest that brokers allow


class CardRefusedError(Exception):
    """The bank does not pay for a basket."""


@dataclass(frozen=True)
class Basket:
    """What a customer buys: a number, and the text of each of three records."""

    number: int

    def order(self) -> str:
        """Return the order."""
        return f"{self.number}: order of customer {self.number % 5}"

    def pay(self) -> str:
        """Ask the bank for the money; return the payment. Raises CardRefusedError."""
        if self.number in REFUSED:
            raise CardRefusedError(f"basket {self.number}: the bank refuses the card")
        return f"{self.number}: {20 + self.number} euros"

    def entry(self) -> str:
        """Return the entry for the auditors."""
        return f"{self.number}: sold and paid"


def baskets() -> list[Basket]:
    """Return twelve baskets; for two of them the bank refuses to pay."""
    return [Basket(number) for number in range(BASKETS)]


def seen_at_both_levels(lab: Lab, topics: Sequence[str]) -> "pd.DataFrame":
    """Return how many records of each topic a reader gets, by isolation level, and where its log ends."""
    import pandas as pd  # only where a table is shown

    lab.cluster.wait_for_markers()
    levels = ("read_committed", "read_uncommitted")
    rows = {
        topic: {level: len(read_log(lab.bootstrap, topic, isolation=level)) for level in levels}
        | {"end of the log": end_of(lab, topic)}
        for topic in topics
    }
    return pd.DataFrame(rows).T.rename_axis("topic")


def open_at(lab: Lab, topic: str) -> dict[int, int]:
    """Return the partitions in which an open transaction holds readers back, each with the offset."""
    state = lab.cluster.state([topic]).topic(topic)
    return {
        partition.id: partition.last_stable_offset
        for partition in (state.partitions if state else ())
        if partition.last_stable_offset is not None
        and partition.last_stable_offset < (partition.high_watermark or 0)
    }


def end_of(lab: Lab, topic: str) -> int:
    """Return the sum of the high watermarks of a topic's partitions."""
    state = lab.cluster.state([topic]).topic(topic)
    return sum(partition.high_watermark or 0 for partition in state.partitions) if state else 0


def in_the_log(lab: Lab, topic: str) -> "pd.DataFrame":
    """Return the batches of a topic from the leaders' files, a row each, in order of partition and offset."""
    import pandas as pd  # only where a table is shown

    lab.cluster.wait_for_markers()
    return pd.DataFrame([_row(batch) for batch in stored_batches(lab, topic)])


def _row(batch: Batch) -> dict[str, object]:
    last = batch.base_offset + batch.records - 1
    offsets = f"{batch.base_offset}–{last}" if last > batch.base_offset else str(last)
    return {
        "partition": batch.partition,
        "offsets": offsets,
        "what": f"mark: {batch.mark}" if batch.is_control else counted(batch.records, "record"),
        "in a transaction": "yes" if batch.is_transactional else "no",
        "producer id": batch.producer_id,
        "epoch": batch.producer_epoch,
    }


def coordinator_notes(lab: Lab, transactional_id: str = "") -> list[TransactionNote]:
    """Return what the coordinators have written down, of one transactional.id or of all, oldest first."""
    known = lab.cluster.state([STATE_TOPIC]).topic(STATE_TOPIC)
    notes = notes_in(read_log(lab.bootstrap, STATE_TOPIC)) if known else []
    return [note for note in notes if transactional_id in ("", note.transactional_id)]


def written_by_coordinator(lab: Lab, transactional_id: str) -> "pd.DataFrame":
    """Return what the coordinator of one transactional.id has noted since the lab was opened, a row each."""
    import pandas as pd  # only where a table is shown

    rows = [
        {
            "state": note.state,
            "partitions of the transaction": listed(sorted(f"{t}-{p}" for t, p in note.partitions)),
            "epoch": note.producer_epoch,
        }
        for note in _notes_to_the_end(lab, transactional_id)
        if note.at >= 1000 * lab.opened_at
    ]
    return pd.DataFrame(rows)


def _notes_to_the_end(lab: Lab, transactional_id: str) -> list[TransactionNote]:
    """Return what the coordinator has noted when the last transaction is over: commits return before that."""
    found: list[TransactionNote] = []

    def is_over() -> bool:
        found[:] = coordinator_notes(lab, transactional_id)
        return bool(found) and found[-1].state.startswith(("Complete", "Empty"))

    lab.cluster.wait_for_markers()
    quiet_wait(is_over, SETTLE_SECONDS)
    return found


@dataclass(frozen=True)
class Stuck:
    """A topic in which readers of `held` wait for the transaction of `culprit`, which nobody ends.

    `innocent` is the transactional.id of a producer that is at work in partition `shared`; `ended` is that of
    one that has ended all of its transactions. `phoned` is how many plain records wait. All that has been so
    since `at` (s since 1970), until the coordinator ends what is open after LONG_MS.
    """

    topic: str
    held: int
    culprit: str
    shared: int
    innocent: str
    ended: str
    phoned: int
    at: float

    def __repr__(self) -> str:
        return f"the topic {self.topic!r}"


def stuck_readers(lab: Lab) -> Stuck:
    """Return a new topic with three partitions, in one of which nothing comes any more.

    Three producers have written transactions into it. One hangs in the middle of its last one, one is at work
    right now in another partition, and one has ended all of its own. Plain records stand behind the first.
    """
    topic = lab.fresh_topic("deliveries", partitions=PARTITIONS, replication_factor=3)
    at = clock.now()
    names = [lab.topic(f"van-{letter}") for letter in _shuffled("abc")]
    vans = [
        lab.producer({"transactional.id": n, "transaction.timeout.ms": LONG_MS, "linger.ms": 0})
        for n in names
    ]
    partitions = _shuffled(range(PARTITIONS))
    for van in vans:
        van.init_transactions(10)
        _in_one(van, topic, [(p, "delivered") for p in partitions])
        van.commit_transaction(10)
    held, shared, _ = partitions
    for van, place in zip(vans, (held, shared), strict=False):
        _in_one(van, topic, [(place, "on its way")])
        van.flush(10)
    plain = lab.producer({"enable.idempotence": True})
    for number in range(PHONED):
        plain.produce(topic, f"phoned in: {number}", partition=held)
    plain.flush(10)
    culprit, innocent, ended = names
    return Stuck(topic, held, culprit, shared, innocent, ended, PHONED, at)


def _in_one(producer: LabProducer, topic: str, rows: list[tuple[int, str]]) -> None:
    """Begin a transaction and write these records, each a partition and a text."""
    producer.begin_transaction()
    for partition, text in rows:
        producer.produce(topic, text, partition=partition)


def _shuffled(things: Iterable[T]) -> list[T]:
    left = list(things)
    return [left.pop(secrets.randbelow(len(left))) for _ in range(len(left))]


def gapped(lab: Lab) -> str:
    """Return a new topic of one partition, in which transactions were committed and aborted, at random."""
    topic = lab.fresh_topic("gapped", replication_factor=3)
    producer = lab.producer({"transactional.id": lab.topic("gapped"), "linger.ms": 0})
    producer.init_transactions(10)
    for ends in (True, False, *(secrets.randbelow(2) for _ in range(3)), True, False):
        _in_one(producer, topic, [(0, "a record")] * (2 + secrets.randbelow(5)))
        producer.flush(10)
        (producer.commit_transaction if ends else producer.abort_transaction)(10)
    return topic


def committed_parts(notes: Sequence[TransactionNote], topics: Sequence[str]) -> Iterator[frozenset[str]]:
    """Yield for each transaction that was committed which of these topics it had written into."""
    for note in notes:
        if note.state == "PrepareCommit":
            yield frozenset(topic for topic, _ in note.partitions if topic in topics)


def coordinator_of_transactions(lab: Lab, transactional_id: str) -> int:
    """Return the broker that coordinates the transactions of a transactional.id, which must be in use.

    It leads the partition of `__transaction_state` that Java's hash of the name chooses.
    """
    partitions = topic_of(lab, STATE_TOPIC).partitions
    return leader_of(lab, STATE_TOPIC, abs(_java_hash(transactional_id)) % len(partitions))


def _java_hash(text: str) -> int:
    """Return what hashCode() of a Java String returns."""
    units = text.encode("utf-16-be", "surrogatepass")
    found = 0
    for place in range(0, len(units), 2):
        found = (31 * found + int.from_bytes(units[place : place + 2])) & 0xFFFFFFFF
    return found - (found >> 31 << 32)
