"""One time line of a recording: a picture, and the same in words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from threebrokers.diagrams import picture
from threebrokers.recorder import svg
from threebrokers.recorder.data import RecordingData
from threebrokers.recorder.gaps import Gap
from threebrokers.recorder.lanes import (
    Lane,
    Span,
    broker_lanes,
    flow_lanes,
    group_lanes,
    quorum_lane,
    topic_lanes,
)

# More changes than this are not read out one by one.
MANY = 12


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
    lanes = [
        *broker_lanes(recording),
        quorum_lane(recording),
        *topic_lanes(recording),
        *group_lanes(recording),
        *flow_lanes(recording, gaps),
    ]
    title = f"Time line of {recording.ended - recording.began:.1f} s"
    return TimeLine(
        title, "\n".join(_words(recording, lanes)), svg.draw(recording, [*_blind(recording), *lanes], title)
    )


def _blind(recording: RecordingData) -> Iterable[Lane]:
    """Yield a lane of the times in which nobody looked at the brokers, if there were any."""
    if recording.missed:
        words = "not seen", "?"
        yield Lane("brokers", tuple(Span(m.start, m.end, words, "unknown") for m in recording.missed))


def _words(recording: RecordingData, lanes: Sequence[Lane]) -> Iterable[str]:
    def second(at: float) -> str:
        return f"{at - recording.began:.1f} s"

    for at, words in sorted(
        [(a.at, f"{a.kind}({a.broker}) {a.more}".rstrip()) for a in recording.actions]
        + [(m.at, f"your note: {m.words}") for m in recording.marks]
    ):
        yield f"At {second(at)}: {words}."
    for missed in recording.missed:
        span = f"From {second(missed.start)} to {second(missed.end)}"
        yield f"{span} the brokers were not seen: {missed.words.rstrip('.')}."
    for lane in lanes:
        if lane.records is not None:
            yield f"{lane.name}: {lane.records:,} records."
            for gap in lane.gaps:
                yield f"{lane.name}, concluded: {gap}, from {second(gap.start)}."
            continue
        parts = [
            f"{'' if span.seen else 'concluded: '}{span.words[0]} until {second(span.end)}"
            for span in lane.spans[:MANY]
        ]
        more = f"; {len(lane.spans) - MANY} more changes" if len(lane.spans) > MANY else ""
        yield f"{lane.name}: {'; '.join(parts)}{more}."
