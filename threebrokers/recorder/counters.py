"""Cheap notes of when records passed: a few numbers for each burst, never an object for each record."""

from array import array
from threading import Lock

from threebrokers.recorder.data import KINDS, Burst, Flow, Holding, Run

# Records closer than this are one burst, which is cut after a while so that a picture can show its course.
JOIN_SECONDS, CUT_SECONDS = 0.025, 0.1
# A flow's client, kind, topic and partition.
Place = tuple[str, str, str, int | None]


class Tally:
    """The bursts and offsets of one flow while it goes on. Times are in s since 1970."""

    __slots__ = ("_begins", "_counts", "_ends", "_firsts", "_lasts", "count", "first", "last")

    def __init__(self) -> None:
        self._begins, self._ends = array("q"), array("q")
        self._firsts, self._lasts, self._counts = array("d"), array("d"), array("q")
        self.first = self.last = 0.0
        self.count = 0

    def add(self, at: float, count: int = 1, offset: int | None = None) -> None:
        """Note so many records of one moment, the first of them at this offset; a negative one is unknown."""
        if offset is not None and offset >= 0:
            self._reach(offset, offset + count - 1)
        # Before the last one: the system's time was set back.
        if 0 <= at - self.last < JOIN_SECONDS and at - self.first < CUT_SECONDS:
            self.count += count
        else:
            self._keep()
            self.first = at
            self.count = count
        self.last = at

    def _reach(self, first: int, last: int) -> None:
        if self._ends and first == self._ends[-1] + 1:
            self._ends[-1] = last
        else:
            self._begins.append(first)
            self._ends.append(last)

    def offsets(self) -> tuple[Run, ...]:
        """Return the offsets that were told so far, in the order in which they came."""
        return tuple(zip(self._begins, self._ends, strict=False))

    def bursts(self) -> tuple[Burst, ...]:
        """Return what was noted so far."""
        known = [*zip(self._firsts, self._lasts, self._counts, strict=False)]
        if self.count:
            known.append((self.first, self.last, self.count))
        return tuple(Burst(round(a, 3), round(b, 3), count) for a, b, count in known)

    def _keep(self) -> None:
        if self.count:
            self._firsts.append(self.first)
            self._lasts.append(self.last)
            self._counts.append(self.count)


class Notes:
    """All tallies of one recording, and what members of groups held."""

    def __init__(self) -> None:
        self._tallies: dict[Place, Tally] = {}
        self._holdings: list[Holding] = []
        self._lock = Lock()

    def tally(self, client: str, kind: str, topic: str, partition: int | None) -> Tally:
        """Return the tally of this flow, a new one the first time."""
        with self._lock:
            return self._tallies.setdefault((client, kind, topic, partition), Tally())

    def hold(self, holding: Holding) -> None:
        """Note that a member was given partitions, or that they were taken away."""
        self._holdings.append(holding)

    def holdings(self) -> tuple[Holding, ...]:
        """Return what members were told so far, oldest first."""
        return tuple(sorted(self._holdings, key=lambda holding: holding.at))

    def topics(self) -> list[str]:
        """Return the topics that clients used so far, sorted."""
        return sorted({topic for _, _, topic, _ in list(self._tallies)})

    def flows(self) -> tuple[Flow, ...]:
        """Return the flows noted so far: by kind, then client, topic and partition."""
        flows = [
            Flow(*place, tally.bursts(), tally.offsets()) for place, tally in list(self._tallies.items())
        ]
        used = [flow for flow in flows if flow.bursts]
        return tuple(sorted(used, key=_order))


def _order(flow: Flow) -> tuple[int, str, str, int]:
    partition = -1 if flow.partition is None else flow.partition
    return KINDS.index(flow.kind), flow.client, flow.topic, partition
