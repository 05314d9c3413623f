"""What lab 10's checks say of the reason that a learner gives for what a changed setting did."""

from threebrokers.checks.expect import expect_choice

NOTHING_LOST = "it should be why the same kill took nothing that was acknowledged"
KEPT = {
    "copied": (
        "`kept_because` is “copied”: the leader was cut off before it got the last 100, so no follower could "
        "fetch one of them, whatever the producer had set",
        NOTHING_LOST,
        "what happens to the last 100 before the kill: the text of fault one",
    ),
    "refused": (
        "`kept_because` is “refused”: a leader refuses when too few replicas are in sync, and for this one "
        "all three still were; it had stored the last 100, and waited",
        NOTHING_LOST,
        "what acks=all waits for, and who could not fetch any more",
    ),
    "recovered": (
        "`kept_because` is “recovered”: the killed broker stays down, so nobody has read its disk since then",
        NOTHING_LOST,
        "who leads the partition now, and from whom it has the last 100",
    ),
}
STORED_ONCE = "it should be why the log holds each record once"
ONCE = {
    "compared": (
        "`once_because` is “compared”: a leader compares no values, and two calls of produce() with the same "
        "order are stored twice",
        STORED_ONCE,
        "what the producer gives to each batch",
    ),
    "sent once": (
        "`once_because` is “sent once”: no answer came, so the producer sent these 100 again, as it did "
        "before",
        STORED_ONCE,
        "what a producer can know when the connection breaks",
    ),
    "cleaned": (
        "`once_because` is “cleaned”: nobody deletes a record behind the producer's back; the second copy "
        "was never in the log",
        STORED_ONCE,
        "what the leader does before it stores a batch",
    ),
}


def expect_reason_kept(kept_because: str) -> None:
    """Raise NotYet unless this is why a producer with acks=all loses nothing when its leader is killed."""
    expect_choice("kept_because", kept_because, "waited", KEPT)


def expect_reason_once(once_because: str) -> None:
    """Raise NotYet unless this is why an idempotent producer stores nothing twice."""
    expect_choice("once_because", once_because, "known", ONCE)
