"""One time line of a recording: a picture, and the same in words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from threebrokers.diagrams import picture
from threebrokers.recorder import svg
from threebrokers.recorder.data import RecordingData
from threebrokers.recorder.effects import effects
from threebrokers.recorder.elections import unclean_elections
from threebrokers.recorder.gaps import Gap
from threebrokers.recorder.lanes import broker_lanes, committed_lanes, flow_lanes, group_lanes, quorum_lane
from threebrokers.recorder.members import member_lanes
from threebrokers.recorder.spans import Lane, Span
from threebrokers.recorder.topic_lanes import topic_lanes
from threebrokers.text import counted

# More changes or gaps than this are not read out one by one.
MANY, MANY_GAPS = 12, 6


@dataclass(frozen=True)
class TimeLine:
    """A drawing (SVG), its title, and `words`: the same in one or more lines of text."""

    title: str
    words: str
    svg: str

    def __str__(self) -> str:
        return f"{self.title}\n{self.words}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        html = picture.as_html(self.title, self.words, self.svg)
        return {"text/html": html, "text/plain": str(self)}


def draw(recording: RecordingData, gaps: Sequence[Gap]) -> TimeLine:
    """Return the time line of a recording, in which `gaps` stand out."""
    # What clients felt is the answer that a reader looks for; what explains it stands below.
    lanes = [
        *flow_lanes(recording, gaps),
        *committed_lanes(recording),
        *broker_lanes(recording),
        quorum_lane(recording),
        *topic_lanes(recording, unclean_elections(recording)),
        *group_lanes(recording),
    ]
    title = f"Time line of {recording.ended - recording.began:.1f} s"
    words = "\n".join(_words(recording, lanes, gaps))
    return TimeLine(title, words, svg.draw(recording, [*_blind(recording), *lanes], title))


def draw_members(recording: RecordingData) -> TimeLine:
    """Return the time line of the members of groups, in which the times without a partition stand out."""
    lanes = list(member_lanes(recording))
    title = f"Time line of {counted(len(lanes), 'member')}, {recording.ended - recording.began:.1f} s"
    words = "\n".join(_words(recording, lanes, ()))
    return TimeLine(title, words, svg.draw(recording, lanes, title, svg.OF_MEMBERS))


def _blind(recording: RecordingData) -> Iterable[Lane]:
    """Yield a lane of the times in which nobody looked at the brokers, if there were any."""
    if recording.missed:
        words = "not seen", "?"
        yield Lane("brokers", tuple(Span(m.start, m.end, words, "unknown") for m in recording.missed))


def _words(recording: RecordingData, lanes: Sequence[Lane], gaps: Sequence[Gap]) -> Iterator[str]:
    def second(at: float) -> str:
        return f"{at - recording.began:.1f} s"

    for at, words in sorted(
        [(action.at, said) for action, said in effects(recording, gaps)]
        + [(mark.at, f"your note: {mark.words}") for mark in recording.marks]
    ):
        yield f"At {second(at)}: {words}."
    for missed in recording.missed:
        span = f"From {second(missed.start)} to {second(missed.end)}"
        yield f"{span} the brokers were not seen: {missed.words.rstrip('.')}."
    for lane in lanes:
        if lane.records is None or lane.spans:
            yield _spans(lane, recording.began)
        if lane.records is None:
            continue
        many = f"{lane.records:,} record{'' if lane.records == 1 else 's'}"
        yield f"{lane.name}: {many}. {lane.more}".rstrip()
        longest = sorted(lane.gaps, key=lambda gap: -gap.seconds)[:MANY_GAPS]
        for gap in (gap for gap in lane.gaps if gap in longest):
            yield f"{lane.name}, concluded: {gap}, from {second(gap.start)}."
        if more := len(lane.gaps) - len(longest):
            yield f"{lane.name}, concluded: {counted(more, 'shorter gap')}."


def _spans(lane: Lane, began: float) -> str:
    parts = []
    for span in lane.spans[:MANY]:
        words = span.words[0] if span.words else span.mark
        parts.append(f"{'' if span.seen else 'concluded: '}{words} from {span.start - began:.1f} s")
    more = f"; {counted(len(lane.spans) - MANY, 'more change')}" if len(lane.spans) > MANY else ""
    return f"{lane.name}: {'; '.join(parts)}{more}."
