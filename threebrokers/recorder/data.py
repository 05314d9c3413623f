"""What a recording holds: states, actions, marks, when clients sent and got records, and what it missed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from threebrokers.cluster.actions import Action
from threebrokers.kafka.state import ClusterState

# What a client can do with a record, in the order in which it happens.
KINDS = ("sent", "acknowledged", "failed", "delivered", "processed")


class Burst(NamedTuple):
    """Records that came close together: the times of the first and the last one (s since 1970), how many."""

    first: float
    last: float
    records: int


# The first and the last of offsets that came one after another.
Run = tuple[int, int]


@dataclass(frozen=True)
class Flow:
    """When one client did one thing with records of one partition, oldest first.

    `kind` is one of KINDS. "sent" is the call of produce(); its partition is None unless the caller
    chose it. "acknowledged", "failed" and "delivered" are when the program was told. `offsets` are those of
    the records, as far as they were told, in the order in which they came.
    """

    client: str
    kind: str
    topic: str
    partition: int | None
    bursts: tuple[Burst, ...]
    offsets: tuple[Run, ...] = ()

    @property
    def records(self) -> int:
        """How many records."""
        return sum(burst.records for burst in self.bursts)

    def pauses(self) -> Iterator[tuple[float, float]]:
        """Yield (start, end) of every time between two bursts."""
        for before, after in zip(self.bursts, self.bursts[1:], strict=False):
            yield before.last, after.first

    def rhythm(self) -> float:
        """Return the usual time between two records (s): the median; 0 if there are fewer than two."""
        steps = [(after - before, 1) for before, after in self.pauses()]
        steps += [((b.last - b.first) / (b.records - 1), b.records - 1) for b in self.bursts if b.records > 1]
        passed, half = 0, sum(times for _, times in steps) / 2
        for step, times in sorted(steps):
            passed += times
            if passed >= half:
                return step
        return 0.0


@dataclass(frozen=True)
class Mark:
    """A note of the learner; `at` is in s since 1970."""

    at: float
    words: str


@dataclass(frozen=True)
class Holding:
    """A change of what a member of a group holds, as the member itself was told; `at` is in s since 1970.

    `what` is "assigned", "revoked" or "lost"; `places` are the (topic, partition) pairs that came or went.
    """

    at: float
    client: str
    group: str
    what: str
    places: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Missed:
    """A time (s since 1970) in which nobody looked at the brokers, and why, for people."""

    start: float
    end: float
    words: str


@dataclass(frozen=True)
class RecordingData:
    """One recording from `began` to `ended` (s since 1970, one clock), everything oldest first."""

    began: float
    ended: float
    states: tuple[ClusterState, ...] = ()
    actions: tuple[Action, ...] = ()
    marks: tuple[Mark, ...] = ()
    flows: tuple[Flow, ...] = ()
    missed: tuple[Missed, ...] = ()
    holdings: tuple[Holding, ...] = ()
