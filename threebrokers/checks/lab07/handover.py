"""What lab 07 says of partitions that change hands between two commits."""

from collections import Counter

from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.shifts import HANDED
from threebrokers.text import numbered

LEDGER = "`handover_ledger.balance(…)`: processed again"


def judge_handover(lab: Lab) -> None:
    """Raise NotYet unless in this try's ledger each record was done once."""
    topic = lab.topic("handover")
    found = lab.join_ledger("handover").balance(topic)
    if len(found.attempted) != HANDED:
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
