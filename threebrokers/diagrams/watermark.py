"""A picture of how the high watermark moves: a record is written, and the followers fetch twice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from threebrokers.diagrams.dot import cell, lone_table
from threebrokers.diagrams.picture import Picture
from threebrokers.theme import SOFT, YELLOW_TINT, broker_colour

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


def watermark_story(leader: int = 1, followers: Sequence[int] = (2, 3)) -> Iterator[Moment]:
    """Yield what happens from the arrival of a record until consumers may read it; all are in sync."""
    ends = dict.fromkeys([leader, *followers], STORED)
    known = dict(ends)
    yield Moment("Three records; everybody has them.", dict(ends), dict(known))
    ends[leader] = known[leader] = STORED + 1
    yield Moment(f"A record is written: the leader appends it at offset {STORED}.", dict(ends), dict(known))
    for follower in followers:
        ends[follower] = STORED + 1
        said = f"Broker {follower} fetches from offset {STORED}: the answer brings the record."
        yield Moment(said, dict(ends), dict(known))
    for follower in followers:
        known[follower] = STORED + 1
        said = (
            f"Broker {follower} fetches from offset {STORED + 1}: the leader learns that it has the record."
        )
        yield Moment(said, dict(ends), dict(known))


def watermark_picture(leader: int = 1, followers: Sequence[int] = (2, 3)) -> Picture:
    """Draw, moment by moment, each replica's log and the leader's high watermark."""
    brokers = [leader, *followers]
    names = [f"broker {b}: {'leader' if b == leader else 'follower'}" for b in brokers]
    rows = [[cell(""), *(cell(name, bold=True) for name in names), cell("high watermark", bold=True)]]
    words = []
    before = STORED
    for number, moment in enumerate(watermark_story(leader, followers), 1):
        now = moment.high_watermark
        mark = cell(str(now)) if now == before else cell(f"{before} → {now}", bold=True, border=3)
        logs = [_log(moment, broker, now) for broker in brokers]
        rows.append([cell(f"{number}. {moment.what}", align="left"), *logs, mark])
        ends = ", ".join(f"{moment.ends[broker]} on broker {broker}" for broker in brokers)
        words.append(f"{number}. {moment.what} Log end offset: {ends}. High watermark: {now}.")
        before = now
    rows.append([cell(HIDDEN, text=SOFT, align="left", colspan=len(rows[0]))])
    return Picture("How the high watermark moves", "\n".join([*words, HIDDEN]), lone_table(rows))


def _log(moment: Moment, broker: int, high_watermark: int) -> str:
    """Return a cell with one box for each offset of a replica's log."""
    strong = broker_colour(broker).strong
    boxes = [cell(str(offset), border=1, color=strong, width=26) for offset in range(high_watermark)]
    for offset in range(high_watermark, moment.ends[broker]):
        boxes.append(cell(str(offset), border=1, color=strong, fill=YELLOW_TINT, style="dashed", width=26))
    boxes += [cell("", width=26)] * (STORED + 1 - len(boxes))  # a shorter log has no wider boxes
    return f'<td><table border="0" cellborder="0" cellspacing="2"><tr>{"".join(boxes)}</tr></table></td>'
