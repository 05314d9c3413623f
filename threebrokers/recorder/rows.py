"""One lane of a time line as a row of the drawing: sameness is a thin line, a change has a box and words."""

from threebrokers import theme
from threebrokers.recorder.gaps import Gap
from threebrokers.recorder.labels import Label, Labels, Range, shortened, width
from threebrokers.recorder.shapes import (
    BAD,
    BAR,
    HATCHES,
    LEFT,
    LINE,
    LOOKS,
    RIGHT,
    ROW,
    TIER,
    WIDTH,
    Look,
    Scale,
    Sheet,
)
from threebrokers.recorder.spans import Drawn, Lane, Point, Span
from threebrokers.text import counted
from threebrokers.theme import INK, PAPER, RULE, SOFT

TICK, APART = 1.2, 3.0  # how wide a tick is, and how far apart ticks can still be told (px)
FOOT, UPPER_FOOT = 14.5, 11.5  # from a row's top to the foot of its words; so much if a line lies below them
DASH = 9  # so long are the parts of a line that several brokers share (px)
NAME = LEFT - 22
FEW_BURSTS = 12  # of so few bursts it is said how many records each holds
FEW_POINTS = 24  # of more points the row as a whole can be asked


class Row:
    """The row of one lane, whose bars begin `y` px from the top; `height` is known when it is drawn."""

    def __init__(self, sheet: Sheet, lane: Lane, scale: Scale, y: float) -> None:
        self._sheet, self._lane, self._scale, self._y = sheet, lane, scale, y
        self._labels = Labels(LEFT, WIDTH - RIGHT)
        self._boxes: list[Range] = []
        self._said: set[str] = set()
        self.height: float = ROW

    def draw(self) -> None:
        """Draw it all. Who comes first chooses first where words stand."""
        lane = self._lane
        for span in lane.spans:
            self._span(span)
        if lane.records is not None:
            self._ticks(BAD if lane.kind == "failed" else INK)
        self._boxes += [self._place(gap.start, gap.start + gap.seconds) for gap in lane.gaps]
        if lane.note:
            note = self._labels.note(WIDTH - 10, f"{theme.WARNING.sign} {lane.note}")
            self._write(note, BAD)
        self._gaps()
        self._points()
        self._states()
        if len(lane.bursts) <= FEW_BURSTS and not lane.spans:  # numbers would be taken for the bars' words
            self._counts()
        if lane.records is not None:
            self._sheet.text(WIDTH - 10, self._y + FOOT, f"{lane.records:,}", SOFT, anchor="end")
        self.height = ROW + self._labels.rows * TIER
        self._name()
        self._sheet.path(f"M{LEFT} {self._y + self.height - 3.5}H{WIDTH - RIGHT}", stroke=RULE)

    def _place(self, start: float, end: float) -> Range:
        return self._scale.x(start), self._scale.x(end)

    def _name(self) -> None:
        first, second = named(self._lane.name)
        middle = 0 if second else 7
        self._sheet.text(12, self._y + 7.5 + middle, first, SOFT)
        if second:
            self._sheet.text(12, self._y + 20.5, second, SOFT)

    def _span(self, span: Span) -> None:
        x, end = self._place(span.start, span.end)
        drawn, y = span.drawn, self._y
        if look := _look(drawn):
            height = BAR - LINE - 2 if drawn.line else BAR
            self._sheet.box(x, y, end - x, height, LOOKS[look])
            self._boxes.append((x, end))
            # Thin lines say that all is as usual; who wants more of them finds it in words.
            when = f"from {self._scale.second(span.start)} to {self._scale.second(span.end)}"
            self._sheet.spot(x, y, end - x, BAR, f"{self._lane.name}: {_told(drawn)}, {when}")
        for number, broker in enumerate(drawn.line):
            colour = theme.broker_colour(broker).strong if broker is not None else theme.GREY
            foot = y + BAR - LINE / 2
            parts = {
                "stroke_dasharray": f"{DASH} {DASH * (len(drawn.line) - 1)}",
                "stroke_dashoffset": f"{-DASH * number}",
            }
            self._sheet.path(
                f"M{x} {foot}H{max(end, x + 0.5)}",
                stroke=colour,
                stroke_width=f"{LINE}",
                **(parts if len(drawn.line) > 1 else {}),
            )

    def _states(self) -> None:
        """Write what was so: into boxes, or once below them; and above a line where it changed."""
        before, inside_none = tuple[str, ...](), list[Span]()
        for span in self._lane.spans:
            words, (x, end) = span.drawn.words, self._place(span.start, span.end)
            if _look(span.drawn) and words:
                if label := self._labels.inside(x, end, words):
                    self._state(span, label)
                else:
                    inside_none.append(span)
            elif words != before and (label := self._labels.at_start(x, end, words)):
                self._write(label, INK, UPPER_FOOT, anchor="start")
            before = words
        for span in inside_none:
            words, (x, end) = span.drawn.words, self._place(span.start, span.end)
            # What is written once in a lane is known there by its look, if nothing else looks so.
            if words[-1] not in self._said or self._alike(span) > 1:
                self._state(span, self._labels.below(x, end, words[-1]))

    def _alike(self, span: Span) -> int:
        """Return how many states of this lane have the look of this one."""
        all_drawn = (other.drawn for other in self._lane.spans)
        return len(
            {drawn.words[-1] for drawn in all_drawn if drawn.words and _look(drawn) == _look(span.drawn)}
        )

    def _state(self, span: Span, label: Label) -> None:
        self._said |= set(span.drawn.words)
        look = LOOKS[_look(span.drawn)]
        on = PAPER if label.row or look.fill in HATCHES else look.fill
        self._write(label, look.ink, UPPER_FOOT if span.drawn.line else FOOT, on=on)

    def _write(
        self, label: Label, ink: str, foot: float = FOOT, *, anchor: str = "middle", on: str = PAPER
    ) -> None:
        lower = BAR + TIER * label.row - 1.5
        self._sheet.label(label, self._y + (lower if label.row else foot), ink, anchor=anchor, on=on)

    def _points(self) -> None:
        points, few = self._lane.points, len(self._lane.points) <= FEW_POINTS
        for point in points:
            self._point(point, few)
        if points and not few:
            words = f"{self._lane.name}: {counted(len(points), 'change')}"
            self._sheet.spot(LEFT, self._y, WIDTH - RIGHT - LEFT, BAR, words)

    def _point(self, point: Point, asked: bool) -> None:
        x, ink = self._scale.x(point.at), BAD if point.bad else INK
        middle = self._y + (BAR - LINE / 2 if self._lane.spans else BAR / 2 - (4 if self._lane.bursts else 0))
        self._sheet.path(f"M{x - 4} {middle}l4 -4l4 4l-4 4z", fill=ink)
        if asked:
            told = f"{self._lane.name}: {point.told}, seen at {self._scale.second(point.at)}"
            self._sheet.spot(x - 5, self._y, 10, BAR, told)
        if not point.words:
            return
        if point.bad:
            never = [(other, other) for other in map(self._x, self._lane.points) if other != x]
            label = self._labels.beside(x - 4, x + 4, point.words, never=never, bold=True)
            self._write(label or self._labels.below(x, x, point.words, bold=True), BAD)
        elif label := self._labels.at_start(x - 2, self._next(x), [point.words]):
            self._write(label, INK, UPPER_FOOT, anchor="start")

    def _x(self, point: Point) -> float:
        return self._scale.x(point.at)

    def _next(self, x: float) -> float:
        return min((other for other in map(self._x, self._lane.points) if other > x), default=WIDTH - RIGHT)

    def _ticks(self, ink: str) -> None:
        """Records as ticks; where they are too close for that, as a bar from the first to the last."""
        widths: dict[float, float] = {}
        for first, last, records in self._lane.bursts:
            start, end = self._place(first, last)
            length = end - start
            if records * APART > length + APART:
                widths[start] = max(length, TICK)
            else:
                step = length / max(records - 1, 1)
                widths |= {round(start + step * number, 1): TICK for number in range(records)}
        # Words of boxes have the upper part of the row for themselves.
        top, height = (self._y + BAR - 5, 5) if self._lane.spans else (self._y + 6, BAR - 12)
        path = "".join(f"M{x} {top}h{width:.1f}v{height}h-{width:.1f}z" for x, width in widths.items())
        self._sheet.path(path, fill=ink, opacity="1" if ink == BAD else ".45")

    def _gaps(self) -> None:
        """A hatched box for each gap, with its length: in it, or below, at the foot of a line from it."""
        small = [gap for gap in sorted(self._lane.gaps, key=lambda gap: -gap.seconds) if not self._gap(gap)]
        for gap in sorted(small, key=lambda gap: -gap.start):
            x, end = self._place(gap.start, gap.start + gap.seconds)
            middle, look = (x + end) / 2, self._gap_look(gap)
            label = self._labels.led(middle, _length(gap))
            self._write(label, look.ink, anchor="start")
            foot = self._y + BAR + TIER * label.row - 1.5
            self._sheet.path(f"M{middle:.1f} {self._y + BAR}V{foot}", stroke=look.edge, stroke_width=".8")

    def _gap(self, gap: Gap) -> bool:
        """Draw the box; return whether its length has room in it, and stands there."""
        x, end = self._place(gap.start, gap.start + gap.seconds)
        look = self._gap_look(gap)
        self._sheet.box(x, self._y, end - x, BAR, look)
        why = "; your own program sent nothing" if gap in self._lane.own and gap.kind != "sent" else ""
        self._sheet.spot(x, self._y, end - x, BAR, f"{gap}, from {self._scale.second(gap.start)}{why}")
        label = self._labels.inside(x, end, (gap.words, _length(gap)))
        if label:
            self._write(label, look.ink)
        return label is not None

    def _gap_look(self, gap: Gap) -> Look:
        return LOOKS["own" if gap in self._lane.own else "concluded"]

    def _counts(self) -> None:
        """Say beside each burst how many records it holds, where there is room."""
        for first, last, records in self._lane.bursts:
            x, end = self._place(first, last)
            told = f"{self._lane.name}: {counted(records, 'record')} at {self._scale.second(first)}"
            self._sheet.spot(x, self._y, end - x, BAR, told)
            if records > 1 and (label := self._labels.beside(x, end, f"{records:,}", never=self._boxes)):
                self._write(label, SOFT)


def _length(gap: Gap) -> str:
    return f"{gap.seconds:.2f} s" if gap.over else f"> {gap.seconds:.2f} s"


def _look(drawn: Drawn) -> str:
    """Return the look of the box, or nothing if there is none."""
    return drawn.look if drawn.seen else "concluded"


def _told(drawn: Drawn) -> str:
    return drawn.told if drawn.seen else f"concluded: {drawn.told}"


def named(name: str) -> tuple[str, str]:
    """Return a lane's name in one line or two; what is too long for that ends in an ellipsis."""
    if width(name) <= NAME:
        return name, ""
    for mark in (" · ", " led by"):
        first, found, second = name.partition(mark)
        if found:
            return shortened(first, NAME), shortened(second or mark.strip(), NAME)
    first, _, second = name.rpartition(" ")
    return (shortened(first, NAME), shortened(second, NAME)) if first else (shortened(name, NAME), "")
