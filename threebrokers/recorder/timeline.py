"""One time line of a recording: a picture, and the same in words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from threebrokers.diagrams import picture
from threebrokers.recorder import svg
from threebrokers.recorder.data import TapeData
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


def draw(tape: TapeData, gaps: Sequence[Gap]) -> TimeLine:
    """Return the time line of a recording, in which `gaps` stand out."""
    lanes = [
        *broker_lanes(tape),
        quorum_lane(tape),
        *topic_lanes(tape),
        *group_lanes(tape),
        *flow_lanes(tape, gaps),
    ]
    title = f"Time line of {tape.ended - tape.began:.1f} s"
    return TimeLine(title, "\n".join(_words(tape, lanes)), svg.draw(tape, [*_blind(tape), *lanes], title))


def _blind(tape: TapeData) -> Iterable[Lane]:
    """Yield a lane of the times in which nobody looked at the brokers, if there were any."""
    if tape.missed:
        words = "not seen", "?"
        yield Lane("brokers", tuple(Span(m.start, m.end, words, "unknown") for m in tape.missed))


def _words(tape: TapeData, lanes: Sequence[Lane]) -> Iterable[str]:
    def second(at: float) -> str:
        return f"{at - tape.began:.1f} s"

    for at, words in sorted(
        [(a.at, f"{a.verb}({a.broker}) {a.more}".rstrip()) for a in tape.acts]
        + [(m.at, f"your note: {m.words}") for m in tape.marks]
    ):
        yield f"At {second(at)}: {words}."
    for missed in tape.missed:
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
