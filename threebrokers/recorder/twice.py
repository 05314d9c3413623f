"""Records that came more than once, as far as offsets tell."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from threebrokers.recorder.data import Flow, RecordingData, Run
from threebrokers.text import counted


@dataclass(frozen=True)
class Extra:
    """What a flow of deliveries holds besides each record once.

    `again` came a second time, from the same offset. `untold` are records at offsets of which no producer
    here was told, between others that are: a retry stored a record twice, or another program wrote it.
    `older` lie before the first that was acknowledged.
    """

    again: int = 0
    untold: int = 0
    older: int = 0

    @property
    def brief(self) -> str:
        """Say the most important in two words; empty if there is nothing to say."""
        if self.untold:
            return f"{self.untold:,} extra"
        if self.again:
            return f"{self.again:,} again"
        return f"{self.older:,} older" if self.older else ""

    @property
    def words(self) -> str:
        """Say it in sentences, for people; empty if there is nothing to say."""
        said = []
        if self.untold:
            has = "has an offset" if self.untold == 1 else "have offsets"
            said.append(
                f"{counted(self.untold, 'record')} {has} of which no producer here was told: "
                "a retry stored a record twice, or another program wrote."
            )
        if self.again:
            said.append(f"{counted(self.again, 'record')} came again, from the same offset.")
        if self.older:
            was = "was" if self.older == 1 else "were"
            said.append(f"{counted(self.older, 'record')} {was} stored before the first that was sent here.")
        return " ".join(said)

    def __add__(self, other: "Extra") -> "Extra":
        return Extra(self.again + other.again, self.untold + other.untold, self.older + other.older)


def extra(recording: RecordingData, flows: Iterable[Flow]) -> Extra:
    """Return what these flows of deliveries hold besides each record once."""
    return sum((_of_one(recording, flow) for flow in flows), Extra())


def came_again(flows: Iterable[Flow]) -> Iterator[tuple[float, int]]:
    """Yield (s since 1970, how many) of records that came again in a row, where offsets tell when."""
    for flow in flows:
        if count(flow.offsets) != flow.records:  # of some records nobody knows which ones they are
            continue
        passed, highest = 0, -1
        for number, (first, last) in enumerate(flow.offsets):
            # Only a step back can bring the same again.
            again = overlap([(first, last)], merged(flow.offsets[:number])) if first <= highest else 0
            if again:
                yield _time(flow, passed), again
            passed, highest = passed + last - first + 1, max(highest, last)


def _time(flow: Flow, number: int) -> float:
    """Return when the record of this number, counted from 0, came at the earliest."""
    for burst in flow.bursts:
        if number < burst.records:
            return burst.first
        number -= burst.records
    return flow.bursts[-1].last


def _of_one(recording: RecordingData, flow: Flow) -> Extra:
    came = merged(flow.offsets)
    again = count(flow.offsets) - count(came)
    told = [
        f
        for f in recording.flows
        if (f.kind, f.topic, f.partition) == ("acknowledged", flow.topic, flow.partition)
    ]
    stored = merged(run for f in told for run in f.offsets)
    if not stored:
        return Extra(again)
    first, last = stored[0][0], stored[-1][1]
    inside = [(max(a, first), min(b, last)) for a, b in came if b >= first and a <= last]
    # An idempotent producer may be told that a record is stored, and not where.
    unknown = sum(f.records for f in told) - count(run for f in told for run in f.offsets)
    untold = max(0, count(inside) - overlap(inside, stored) - unknown)
    older = count((a, min(b, first - 1)) for a, b in came if a < first)
    return Extra(again, untold, older)


def merged(runs: Iterable[Run]) -> list[Run]:
    """Return the runs in order, each offset once."""
    found: list[Run] = []
    for first, last in sorted(runs):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def count(runs: Iterable[Run]) -> int:
    """Return how many offsets these are."""
    return sum(last - first + 1 for first, last in runs)


def overlap(one: list[Run], other: list[Run]) -> int:
    """Return how many offsets two lists of merged runs have in common."""
    return count(_common(one, other))


def _common(one: list[Run], other: list[Run]) -> Iterator[Run]:
    left, right = iter(one), iter(other)
    a, b = next(left, None), next(right, None)
    while a and b:
        first, last = max(a[0], b[0]), min(a[1], b[1])
        if first <= last:
            yield first, last
        if a[1] < b[1]:
            a = next(left, None)
        else:
            b = next(right, None)
