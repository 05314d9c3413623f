"""The reckoning: what was sent, what the log holds, what was read; and where these differ."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from threebrokers.ledger.entries import Entry, Failure, again, entries, first, numbers, placed
from threebrokers.ledger.journal import Note, Number


@dataclass(frozen=True)
class Balance:
    """What became of a ledger's records in one topic. Lists are in order of number, if not said otherwise.

    What was noted: `attempted`; `acknowledged` with the place that the broker told; `failed`;
    `delivered` and `processed`, every time, in that order of time.
    What the log holds: `stored` with read_uncommitted, `committed` with read_committed; every copy, in
    order of place. `starts` are the first offsets that the partitions still keep; `hidden` are, for a
    partition whose copies do not agree yet, the high watermark and the end of the leader's log.
    `delivered_by` is how many records each consumer of the ledger (1, 2, …) got, each time counted.
    """

    topic: str
    attempted: Sequence[Number] = ()
    acknowledged: Sequence[Entry] = ()
    failed: Sequence[Failure] = ()
    delivered: Sequence[Entry] = ()
    processed: Sequence[Entry] = ()
    stored: Sequence[Entry] = ()
    committed: Sequence[Entry] = ()
    starts: Mapping[int, int] = field(default_factory=dict)
    hidden: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    delivered_by: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        topic: str,
        notes: Iterable[Note],
        stored: Iterable[Entry],
        committed: Iterable[Entry],
        starts: Mapping[int, int] | None = None,
        hidden: Mapping[int, tuple[int, int]] | None = None,
    ) -> Self:
        """Put the notes on one topic and what its log holds side by side."""
        about: dict[str, list[Note]] = {}
        for note in notes:
            if note.topic == topic:
                about.setdefault(note.what, []).append(note)
        told = {note.number for what in ("acknowledged", "failed") for note in about.get(what, ())}
        # What has a report was taken all the same: produce() was interrupted on its way back.
        refused = {note.number for note in about.get("refused", ())} - told
        return cls(
            topic=topic,
            attempted=sorted({n.number for n in about.get("attempted", ())} - refused),
            acknowledged=sorted(entries(about.get("acknowledged", ())), key=lambda entry: entry.number),
            failed=sorted(Failure(n.number, n.reason) for n in about.get("failed", ())),
            delivered=entries(about.get("delivered", ())),
            processed=entries(about.get("processed", ())),
            stored=placed(stored),
            committed=placed(committed),
            starts=dict(starts or {}),
            hidden=dict(hidden or {}),
            delivered_by=dict(sorted(Counter(n.by for n in about.get("delivered", ())).items())),
        )

    @cached_property
    def unknown(self) -> list[Number]:
        """Attempted, and no delivery report came (yet, or because the program ended)."""
        told = numbers(self.acknowledged) | numbers(self.failed)
        return [number for number in self.attempted if number not in told]

    @cached_property
    def lost(self) -> list[Entry]:
        """Acknowledged, and not in the log; neither deleted by retention nor only not readable yet."""
        return [entry for entry in self._absent if not (self._retired(entry) or self._hidden(entry))]

    @cached_property
    def not_yet_readable(self) -> list[Entry]:
        """Acknowledged, and on the leader's disk only: after the high watermark, so nobody may read it."""
        return [entry for entry in self._absent if self._hidden(entry)]

    @cached_property
    def expired(self) -> list[Entry]:
        """Acknowledged, and before the start of the log: deleted by retention or by somebody's hand."""
        return [entry for entry in self._absent if self._retired(entry)]

    @cached_property
    def duplicated(self) -> list[Entry]:
        """Every copy in the log but the first of each record."""
        return again(self.stored)

    @cached_property
    def out_of_order(self) -> list[Entry]:
        """Records that stand after a younger one of the same producer and partition; only first copies."""
        newest: dict[tuple[int, int | None], int] = {}
        late = []
        for entry in first(self.stored):
            row = entry.number.producer, entry.partition
            if entry.number.sequence < newest.get(row, -1):
                late.append(entry)
            newest[row] = max(newest.get(row, -1), entry.number.sequence)
        return late

    @cached_property
    def uncommitted(self) -> list[Entry]:
        """Stored, and hidden from read_committed: of a transaction that was aborted or is still open."""
        shown = set(self.committed)
        return [entry for entry in self.stored if entry not in shown]

    @cached_property
    def unacknowledged(self) -> list[Entry]:
        """In the log, although the producer reported a failure or nothing: a retry would double them."""
        acknowledged = numbers(self.acknowledged)
        return [entry for entry in first(self.stored) if entry.number not in acknowledged]

    @cached_property
    def unprocessed(self) -> list[Entry]:
        """Readable with read_committed, and never processed."""
        done = numbers(self.processed)
        return [entry for entry in first(self.committed) if entry.number not in done]

    @cached_property
    def processed_again(self) -> list[Entry]:
        """Every time that a record was processed but the first."""
        return again(self.processed)

    @cached_property
    def _absent(self) -> list[Entry]:
        there = numbers(self.stored)
        return [entry for entry in self.acknowledged if entry.number not in there]

    def _retired(self, entry: Entry) -> bool:
        return entry.offset is not None and entry.offset < self.starts.get(entry.partition or 0, 0)

    def _hidden(self, entry: Entry) -> bool:
        readable, end = self.hidden.get(entry.partition or 0, (0, 0))
        return entry.offset is not None and readable <= entry.offset < end
