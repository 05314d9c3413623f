"""Drawing one lane of a time line: bars of what was seen, ticks of records, hatched gaps."""

from collections.abc import Iterator

from threebrokers.recorder.data import Burst
from threebrokers.recorder.ink import BAD, INK, LOOKS, PAPER, RULE, SOFT, box, fits, text
from threebrokers.recorder.lanes import Lane, Span
from threebrokers.recorder.scale import BAR, LEFT, RIGHT, WIDTH, Scale

TICK, APART = 1.2, 3.0  # how wide a tick is, and how far apart ticks can still be told (px)
DOWN = 13  # from the top of a bar to the foot of its words


def drawn(lane: Lane, scale: Scale, y: float) -> Iterator[str]:
    """Yield the shapes and words of a lane whose bars begin `y` px from the top."""
    yield text(12, y + DOWN, lane.name, SOFT, limit=LEFT - 20)
    yield f'<path d="M{LEFT} {y + BAR + 4}H{WIDTH - RIGHT}" stroke="{RULE}"/>'
    for span in lane.spans:
        yield from _shares(span, scale, y) if span.shares else _bar(span, scale, y)
    if lane.records is not None:
        yield _ticks(lane.bursts, scale, y, BAD if lane.name.startswith("failed") else INK)
        yield from _gaps(lane, scale, y)
        yield text(WIDTH - 10, y + DOWN, f"{lane.records:,}", SOFT, anchor="end")


def _bar(span: Span, scale: Scale, y: float) -> Iterator[str]:
    fill, ink, line, dash = *LOOKS.get(span.look, LOOKS["unknown"]), "none", ""
    if span.look == "gone":
        fill, ink, line, dash = (PAPER, BAD, BAD, "4 3") if span.seen else ("url(#h)", BAD, BAD, "")
    x = scale.x(span.start)
    yield box(x, y, scale.x(span.end) - x, BAR, fill, line, dash=dash)
    yield from _words(span, scale, y, ink, fill if fill.startswith("#") else PAPER)


def _shares(span: Span, scale: Scale, y: float) -> Iterator[str]:
    """A bar that is divided from top to bottom, by how many partitions each broker leads."""
    x, at, whole = scale.x(span.start), y, sum(count for _, count in span.shares)
    for broker, count in span.shares:
        height = BAR * count / whole
        fill = "url(#h)" if broker is None else LOOKS.get(f"broker {broker}", LOOKS["good"])[0]
        yield box(x, at, scale.x(span.end) - x, height, fill, "none", radius=0)
        at += height
    yield from _words(span, scale, y, INK, PAPER)


def _words(span: Span, scale: Scale, y: float, ink: str, halo: str) -> Iterator[str]:
    x, end = scale.x(span.start), scale.x(span.end)
    for words in span.words:
        if fits(words, end - x):
            yield text((x + end) / 2, y + DOWN, words, ink, anchor="middle", bold=True, halo=halo)
            return


def _ticks(bursts: tuple[Burst, ...], scale: Scale, y: float, ink: str) -> str:
    """Records as ticks; where they are too close for that, as a bar from the first to the last."""
    widths: dict[float, float] = {}
    for first, last, records in bursts:
        start, length = scale.x(first), scale.x(last) - scale.x(first)
        if records * APART > length + APART:
            widths[start] = max(length, TICK)
        else:
            step = length / max(records - 1, 1)
            widths |= {round(start + step * number, 1): TICK for number in range(records)}
    path = "".join(f"M{x} {y + 2}h{width:.1f}v{BAR - 4}h-{width:.1f}z" for x, width in widths.items())
    return f'<path d="{path}" fill="{ink}" opacity=".45"/>'


def _gaps(lane: Lane, scale: Scale, y: float) -> Iterator[str]:
    gaps = sorted(lane.gaps, key=lambda gap: gap.start)
    starts = [scale.x(gap.start) for gap in gaps]
    for gap, free_until in zip(gaps, [*starts[1:], WIDTH - RIGHT], strict=False):
        x, end = scale.x(gap.start), scale.x(gap.start + gap.seconds)
        yield box(x, y, end - x, BAR, "url(#h)", BAD)
        short = f"{gap.seconds:.2f} s" if gap.over else f"> {gap.seconds:.2f} s"
        inside = next((words for words in (gap.words, short) if fits(words, end - x)), "")
        if inside:
            yield text((x + end) / 2, y + DOWN, inside, BAD, anchor="middle", bold=True, halo=PAPER)
        elif fits(short, free_until - end):
            yield text(end + 5, y + DOWN, short, BAD, bold=True, halo=PAPER)
