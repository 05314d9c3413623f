"""What lab 07 says of partitions that change hands between two commits."""

import io
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from typing import Any

from confluent_kafka import TopicPartition

from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.shifts import HANDED
from threebrokers.text import numbered

LEDGER = "`handover_ledger.balance(…)`: processed again"


class _Listener:
    """Stands for a consumer that has read five records of a partition, and hears how it commits them."""

    def __init__(self, topic: str) -> None:
        self._place = TopicPartition(topic, 0, 5)
        self.commits = 0
        self.waits = False

    def commit(self, message: object = None, offsets: object = None, asynchronous: bool = True) -> list[Any]:
        self.commits, self.waits = self.commits + 1, self.waits or not asynchronous
        return [self._place]

    def position(self, *_: object, **__: object) -> list[TopicPartition]:
        return [self._place]

    assignment = position

    def committed(self, *_: object, **__: object) -> list[TopicPartition]:
        return [TopicPartition(self._place.topic, 0)]  # nothing

    def get_watermark_offsets(self, *_: object, **__: object) -> tuple[int, int]:
        return 0, 5


def expect_awaited(on_revoke: Callable[..., Any], topic: str) -> None:
    """Raise NotYet if a function commits and waits for no answer; what it does otherwise, nobody asks."""
    listener = _Listener(topic)
    with suppress(Exception), redirect_stdout(io.StringIO()):  # it may need more than there is here
        on_revoke(listener, [TopicPartition(topic, 0)])
    if listener.commits and not listener.waits:
        raise NotYet(
            "each record was done once, but `on_revoke` does not wait for its commit: it returns before the "
            "brokers have answered, and of a refused commit nobody hears",
            "they should have answered before the next owner begins",
            "`asynchronous=False`, and the error that it raises if there is nothing to commit",
        )


def judge_handover(lab: Lab, on_revoke: Callable[..., Any]) -> None:
    """Raise NotYet unless in this try's ledger each record was done once, and the function waits."""
    topic = lab.topic("handover")
    found = lab.join_ledger("handover").balance(topic)
    if len(found.attempted) > HANDED:
        raise NotYet(
            f"this ledger holds more than one try: {len(found.attempted)} records were sent",
            f"it should hold one, with {HANDED}",
            '`handover_ledger = lab.ledger("handover")`, with which the exercise\'s cell begins',
        )
    if len(found.attempted) < HANDED:
        raise NotYet(
            "A and B have done nothing yet in this ledger",
            f"together they should do all {HANDED} records",
            "`hand_over(lab, handover_ledger, on_revoke)`, and what your function raises",
        )
    if found.unprocessed:
        raise NotYet(
            f"{len(found.unprocessed)} of {HANDED} records were left out: nobody has done them",
            "A and B together should do all of them",
            "the offsets that your function commits: the next owner begins there",
        )
    counts = Counter(entry.partition or 0 for entry in found.processed_again)
    if counts and set(counts.values()) == {1}:
        raise NotYet(
            f"the last record of {numbered('partition', sorted(counts))} was done twice",
            "a committed offset is that of the next record to read",
            LEDGER,
        )
    if counts:
        raise NotYet(
            f"{sum(counts.values())} records of {numbered('partition', sorted(counts))} were done twice: "
            "what A had done since its last commit, the next owner did again",
            "each should be done once",
            f"{LEDGER}; what should A commit before it gives the partitions up?",
        )
    expect_awaited(on_revoke, topic)
