"""What lab 11's check says of a shop's baskets: records in three topics, by one transaction or by several."""

import re

from confluent_kafka import Producer

from threebrokers.checks.expect import expect_topic, log_of
from threebrokers.kafka.batches import Batch
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.packing import stored_batches
from threebrokers.lab.scenarios.transactions import (
    BASKETS,
    REFUSED,
    committed_parts,
    coordinator_notes,
    open_at,
)
from threebrokers.lab.values import told
from threebrokers.ledger.table import ranges
from threebrokers.text import counted, listed

PAID = [number for number in range(BASKETS) if number not in REFUSED]
NAMES = {"shop-orders": "order", "shop-payments": "payment", "shop-audit": "audit entry"}
MARKS_SECONDS = 1.5  # the marks are written after commit_transaction() has returned


def judge_shop(lab: Lab, orders: str, payments: str, audit: str, desk: object) -> None:
    """Raise NotYet unless what readers see is whole, and written by transactions over all three topics."""
    if not isinstance(desk, Producer):
        raise NotYet(f"`desk` is {told(desk)}", "it should be your producer", "lab.producer({…})")
    topics = [orders, payments, audit]
    for topic, wanted in zip(topics, NAMES, strict=True):
        expect_topic(lab, topic, wanted)
    batches = {topic: [b for b in stored_batches(lab, topic) if not b.is_control] for topic in topics}
    _expect_transactions(batches)
    eventually(lambda: _expect_ended(lab, topics), what="the marks of the transactions", within=MARKS_SECONDS)
    seen = {topic: _numbers(lab, topic) for topic in topics}
    parts = _judge_parts(lab, topics, batches)
    _judge_seen(dict(zip(NAMES.values(), seen.values(), strict=True)))
    if parts:
        raise NotYet(
            "all baskets are whole in the end, but their records came with several transactions: who read "
            "between two commits saw a part of them",
            "the three records of a basket should be in the same transaction",
            "what is between begin_transaction() and commit_transaction()",
        )


def _expect_transactions(batches: dict[str, list[Batch]]) -> None:
    if not any(batches.values()):
        raise NotYet(
            "none of the three topics holds a record: nothing was sent, or everything was aborted",
            "only a basket that is refused should be taken back",
            "how many baskets are in one transaction",
        )
    outside = [topic for topic, found in batches.items() if any(not b.is_transactional for b in found)]
    if outside:
        raise NotYet(
            f"{listed(outside)} {'holds' if len(outside) == 1 else 'hold'} records that were written without "
            "a transaction",
            "all three records of a basket should be in one",
            "transactional.id in the settings of your producer, and begin_transaction()",
        )


def _expect_ended(lab: Lab, topics: list[str]) -> None:
    if waiting := [topic for topic in topics if open_at(lab, topic)]:
        raise NotYet(
            f"a transaction in {listed(waiting)} is still open: flush() only sends its records",
            "it should be committed, or aborted",
            "commit_transaction() at the end of each basket",
        )


def _judge_parts(lab: Lab, topics: list[str], batches: dict[str, list[Batch]]) -> list[frozenset[str]]:
    """Return, for each transaction that was committed with fewer than all three topics, which it had.

    Raises NotYet if there are more than refused baskets, of which others may have more to say.
    """
    producers = {(b.producer_id, b.producer_epoch) for found in batches.values() for b in found}
    notes = [n for n in coordinator_notes(lab) if (n.producer_id, n.producer_epoch) in producers]
    parts = [part for part in committed_parts(notes, topics) if 0 < len(part) < len(topics)]
    if len(parts) > len(REFUSED) and (empty := [topic for topic in topics if not batches[topic]]):
        raise NotYet(
            f"{listed(empty)} {'holds' if len(empty) == 1 else 'hold'} no record",
            "each of the three records of a basket should be in a topic of its own",
            "the topic in each call of produce()",
        )
    if len(parts) > len(REFUSED):
        same = all(part == parts[0] for part in parts)
        where = f"{listed(sorted(parts[0]))} alone" if same else "only a part of the three topics"
        raise NotYet(
            f"{counted(len(parts), 'transaction')} {'was' if len(parts) == 1 else 'were'} committed with "
            f"records of {where}",
            "the three records of a basket should be in the same transaction, or a crash between two of them "
            "leaves a part",
            "how often begin_transaction() is called for each basket",
        )
    return parts


def _judge_seen(seen: dict[str, list[int]]) -> None:
    if not any(seen.values()):
        raise NotYet(
            "nobody who reads committed records sees a basket: everything was aborted",
            "only a basket that is refused should be taken back",
            "how many baskets are in one transaction",
        )
    for what, numbers in seen.items():
        if refused := sorted(set(numbers) & set(REFUSED)):
            raise NotYet(
                f"the {what} of {ranges('basket', refused)} was committed, although the bank has refused",
                "what stands in its transaction should be taken back",
                "abort_transaction() where the error is caught",
            )
        if missing := [number for number in PAID if number not in numbers]:
            raise NotYet(
                f"the {what} of {ranges('basket', missing)} is missing",
                "every basket that is paid should be in all three topics",
                "what is done after a refused basket",
            )
        if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
            raise NotYet(
                f"the {what} of {ranges('basket', twice)} is there twice",
                "each should be there once",
                "how often each record is produced",
            )


def _numbers(lab: Lab, topic: str) -> list[int]:
    """Return the numbers of the baskets that a reader of committed records sees in a topic."""
    found = [re.match(rb"(\d+): ", record.value or b"") for record in log_of(lab, topic)]
    return [int(match[1]) for match in found if match]
