"""One time line of a recording: a picture, and the same in words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from threebrokers.cluster.actions import Action
from threebrokers.recorder import page, svg
from threebrokers.recorder.data import Mark, RecordingData
from threebrokers.recorder.effects import effects
from threebrokers.recorder.elections import unclean_elections
from threebrokers.recorder.gaps import Gap
from threebrokers.recorder.lanes import broker_lanes, committed_lanes, flow_lanes, group_lanes, quorum_lane
from threebrokers.recorder.members import member_lanes
from threebrokers.recorder.spans import Drawn, Lane, Span
from threebrokers.recorder.topic_lanes import topic_lanes
from threebrokers.text import counted

# More changes or gaps than this are not read out one by one.
MANY, MANY_GAPS = 12, 6


@dataclass(frozen=True)
class TimeLine:
    """A drawing, its title, and the same in words: what is `said` of actions, and each of its `rows`."""

    title: str
    said: tuple[str, ...]
    rows: tuple[str, ...]
    drawing: svg.Drawing

    @property
    def words(self) -> str:
        """The same in one or more lines of text."""
        return "\n".join((*self.said, *self.rows))

    @property
    def svg(self) -> str:
        """The drawing as SVG."""
        return self.drawing.svg

    def __str__(self) -> str:
        return f"{self.title}\n{self.words}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        html = page.as_html(self.title, self.drawing, self.said, self.rows)
        return {"text/html": html, "text/plain": str(self)}


def draw(recording: RecordingData, gaps: Sequence[Gap], partitions: str = "") -> TimeLine:
    """Return the time line of a recording, in which `gaps` stand out, with the `partitions` of one topic."""
    unclean = unclean_elections(recording)
    # What clients felt is the answer that a reader looks for; what explains it stands below.
    lanes = [
        *_blind(recording),
        *flow_lanes(recording, gaps),
        *committed_lanes(recording),
        *broker_lanes(recording),
        quorum_lane(recording),
        *topic_lanes(recording, unclean, partitions),
        *group_lanes(recording),
    ]
    title = f"Time line of {recording.ended - recording.began:.1f} s"
    said = _said(recording, dict(effects(recording, gaps, unclean)))
    told = (*said.values(), *_missed(recording)) or ("Nothing was done to any broker.",)
    return TimeLine(title, told, tuple(_rows(recording, lanes)), svg.draw(recording, lanes, title, said))


def draw_members(recording: RecordingData) -> TimeLine:
    """Return the time line of the members of groups, in which the times without a partition stand out."""
    lanes = list(member_lanes(recording))
    title = f"Time line of {counted(len(lanes), 'member')}, {recording.ended - recording.began:.1f} s"
    said = _said(recording, dict(effects(recording, ())))
    drawing = svg.draw(recording, lanes, title, said, svg.OF_MEMBERS)
    told = (*said.values(), *_missed(recording))
    return TimeLine(title, told, tuple(_rows(recording, lanes)), drawing)


def _blind(recording: RecordingData) -> Iterable[Lane]:
    """Yield a lane of the times in which nobody looked at the brokers, if there were any."""
    if recording.missed:
        drawn = Drawn("not seen", ("not seen",), "unknown")
        yield Lane("brokers", tuple(Span(m.start, m.end, drawn) for m in recording.missed))


def _said(recording: RecordingData, came: dict[Action, str]) -> dict[Action | Mark, str]:
    """Return one sentence for each action and each note, in order of time."""
    words: dict[Action | Mark, str] = {}
    words.update(came.items())
    words |= {mark: f"your note: {mark.words}" for mark in recording.marks}
    found = sorted(words.items(), key=lambda each: each[0].at)
    return {done: f"At {done.at - recording.began:.1f} s: {told}." for done, told in found}


def _missed(recording: RecordingData) -> Iterator[str]:
    for missed in recording.missed:
        span = f"From {missed.start - recording.began:.1f} s to {missed.end - recording.began:.1f} s"
        yield f"{span} the brokers were not seen: {missed.words.rstrip('.')}."


def _rows(recording: RecordingData, lanes: Sequence[Lane]) -> Iterator[str]:
    """Yield one line for each lane."""
    for lane in lanes:
        parts = []
        if lane.records is not None:
            parts = [f"{lane.records:,} record{'' if lane.records == 1 else 's'}", *_gaps(lane, recording)]
        parts += _changes(lane, recording)
        yield f"{lane.name}: {'; '.join(parts)}. {lane.more}".rstrip()


def _gaps(lane: Lane, recording: RecordingData) -> Iterator[str]:
    longest = sorted(lane.gaps, key=lambda gap: -gap.seconds)[:MANY_GAPS]
    for gap in (gap for gap in lane.gaps if gap in longest):
        own = ", while your own program sent nothing" if gap in lane.own and gap.kind != "sent" else ""
        yield f"concluded: {gap}, from {gap.start - recording.began:.1f} s{own}"
    if more := len(lane.gaps) - len(longest):
        yield f"concluded: {counted(more, 'shorter gap')}"


def _changes(lane: Lane, recording: RecordingData) -> Iterator[str]:
    """Yield what was so from when on; of a lane with points, these: its spans only join them."""
    seen = [(point.at, point.told) for point in lane.points]
    if not seen:
        seen = [
            (span.start, f"{'' if span.drawn.seen else 'concluded: '}{span.drawn.told}")
            for span in lane.spans
        ]
    for at, told in seen[:MANY]:
        yield f"{'at' if lane.points else 'from'} {at - recording.began:.1f} s {told}"
    if len(seen) > MANY:
        yield counted(len(seen) - MANY, "more change")
