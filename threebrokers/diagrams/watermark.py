"""A picture of how the high watermark moves: a record is written, and the followers fetch twice."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from threebrokers.diagrams.grid import box, boxes, cell, head, row_head, table
from threebrokers.diagrams.picture import Picture

LEADER, FOLLOWERS = 1, (2, 3)
BROKERS = (LEADER, *FOLLOWERS)
STORED = 3  # records that everybody has and may read when the story begins
HIDDEN = "A yellow box with a dashed border: stored, and not yet readable."


@dataclass(frozen=True)
class Moment:
    """What has just happened, the log end offset of each replica, and what the leader knows of it.

    The leader knows its own end, and of a follower only the offset that its last fetch request asked for.
    """

    what: str
    ends: Mapping[int, int]
    known: Mapping[int, int]

    @property
    def high_watermark(self) -> int:
        """The offset before which the leader knows that every in-sync replica has the log."""
        return min(self.known.values())


def watermark_story() -> Iterator[Moment]:
    """Yield what happens from the arrival of a record until consumers may read it; all are in sync."""
    ends = dict.fromkeys(BROKERS, STORED)
    known = dict(ends)
    yield Moment("Three records; everybody has them.", dict(ends), dict(known))
    ends[LEADER] = known[LEADER] = STORED + 1
    yield Moment(f"A record is written: the leader appends it at offset {STORED}.", dict(ends), dict(known))
    for follower in FOLLOWERS:
        ends[follower] = STORED + 1
        said = f"Broker {follower} fetches from offset {STORED}: the answer brings the record."
        yield Moment(said, dict(ends), dict(known))
    for follower in FOLLOWERS:
        known[follower] = STORED + 1
        said = (
            f"Broker {follower} fetches from offset {STORED + 1}: the leader learns that it has the record."
        )
        yield Moment(said, dict(ends), dict(known))


def watermark_picture() -> Picture:
    """Draw, moment by moment, each replica's log and the leader's high watermark."""
    heads = [head(f"broker {b}: {'leader' if b == LEADER else 'follower'}", broker=b) for b in BROKERS]
    heads = [cell(""), *heads, head("high watermark")]
    rows, words = [], []
    before = STORED
    for number, moment in enumerate(watermark_story(), 1):
        now = moment.high_watermark
        mark = box(str(now), kind="quiet") if now == before else box(f"{before} → {now}", kind="moved")
        logs = [cell(_log(moment, broker, now)) for broker in BROKERS]
        rows.append([row_head(f"{number}. {moment.what}", kind="room"), *logs, cell(mark)])
        ends = ", ".join(f"{moment.ends[broker]} on broker {broker}" for broker in BROKERS)
        words.append(f"{number}. {moment.what} Log end offset: {ends}. High watermark: {now}.")
        before = now
    rows.append([cell(HIDDEN, kind="note", colspan=len(rows[0]))])
    return Picture(
        "How the high watermark moves", "\n".join([*words, HIDDEN]), table(rows, heads=heads, kind="logs")
    )


def _log(moment: Moment, broker: int, high_watermark: int) -> str:
    """Return one box for each offset of a replica's log."""
    ends = range(moment.ends[broker])
    kinds = ((o, "stored" if o < high_watermark else "hidden-yet") for o in ends)
    return boxes(box(str(offset), kind=kind, broker=broker) for offset, kind in kinds)
