"""What the picture of a time line answers first, and whether all its words can be read."""

import re
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

from tests.recordings import a_kill_and_a_pause, at, beats, every, four_topics, state
from threebrokers import theme
from threebrokers.cluster.actions import Action
from threebrokers.recorder import Recording
from threebrokers.recorder.data import Burst, Flow, Mark, RecordingData
from threebrokers.recorder.gaps import own_silence
from threebrokers.recorder.lanes import broker_lanes, flow_lanes
from threebrokers.recorder.rows import named
from threebrokers.recorder.shapes import LEFT, LOOKS, RIGHT, WIDTH

SVG = "{http://www.w3.org/2000/svg}"
# A line from a gap to its number below (x, top, foot), and a gap (left, top, length).
LEADING = re.compile(r'd="M([\d.]+) ([\d.]+)V([\d.]+)" stroke="[^"]+" stroke-width=".8"')
GAP = re.compile(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="20.0" rx="3" fill="url')
NARROW = 700  # px: a notebook beside another window


class Box(NamedTuple):
    """Words, and the place that they need."""

    words: str
    left: float
    right: float
    top: float
    bottom: float


class Fonts:
    """How wide words are in DejaVu Sans, the widest of the fonts that a notebook may have."""

    def __init__(self, size):
        self.size = size
        self._fonts = {
            bold: FT2Font(font_manager.findfont(f"DejaVu Sans:{'bold' if bold else 'regular'}"))
            for bold in (False, True)
        }

    def width(self, words, bold):
        font = self._fonts[bold]
        font.set_size(100, 72)
        font.set_text(words)
        return font.get_width_height()[0] / 64 * self.size / 100


def boxes(shown):
    """Every text of the picture with its place."""
    root = ElementTree.fromstring(shown.svg)
    fonts = Fonts(float(root.get("font-size")))
    found = []
    for shape in root.iter(f"{SVG}text"):
        length = fonts.width(shape.text, shape.get("font-weight") is not None)
        x, foot = float(shape.get("x")), float(shape.get("y"))
        left = {"middle": x - length / 2, "end": x - length}.get(shape.get("text-anchor"), x)
        # From the top of a capital to a little below the line.
        found.append(Box(shape.text, left, left + length, foot - 0.73 * fonts.size, foot + 1))
    return found


def crowded():
    """Twelve gaps that leave no room beside each other, and as many actions and notes."""
    heard, end = [], 0.0
    for number in range(12):
        heard += every(0.02, end, end + 0.5)
        end += 1.05 + number / 30
    heard += every(0.02, end, 60)
    actions = tuple(Action(at(20 + n / 5), ("pause", "resume")[n % 2], n % 3 + 1) for n in range(10))
    marks = tuple(
        Mark(at(59 + n / 5), "a note that is rather long, and goes on and on and on") for n in range(3)
    )
    return Recording(
        RecordingData(
            at(0),
            at(60),
            states=(state(0),),
            actions=actions,
            marks=marks,
            flows=(beats("delivered", *heard), beats("sent", *every(0.02, 0, 60))),
        )
    )


PICTURES = {
    "one topic": lambda: a_kill_and_a_pause().show(),
    "four topics": lambda: four_topics().show(),
    "many partitions": lambda: four_topics().show(partitions="copies-3"),
    "a crowd": lambda: crowded().show(),
}


@pytest.fixture(params=PICTURES)
def shown(request):
    return PICTURES[request.param]()


def test_no_words_lie_on_others_or_outside(shown):
    found = boxes(shown)
    height = float(ElementTree.fromstring(shown.svg).get("viewBox").split()[3])
    for one in found:
        assert one.left >= 0, one
        assert one.right <= WIDTH, one
        assert one.top >= 0, one
        assert one.bottom <= height, one
    for one, other in combinations(found, 2):
        apart = one.right <= other.left or other.right <= one.left
        assert apart or one.bottom <= other.top or other.bottom <= one.top, (one, other)


def test_words_are_eleven_px_high_at_700(shown):
    root = ElementTree.fromstring(shown.svg)
    sizes = [float(shape.get("font-size")) for shape in root.iter() if shape.get("font-size")]
    assert sizes
    assert min(sizes) * NARROW / WIDTH >= 11


def rows(shown):
    """The lanes' names from top to bottom."""
    return [line.partition(":")[0] for line in shown.rows]


def test_the_answer_comes_first_then_brokers_then_one_row_a_topic():
    shown = four_topics().show()
    assert rows(shown) == [
        *("delivered", "acknowledged", "sent", "committed"),
        *("broker 1", "broker 2", "broker 3", "active controller"),
        *("beat led by", "copies-1 led by", "copies-2 led by", "copies-3 led by"),
        *("group ear", "member 1 reads"),
    ]
    names = rows(shown)
    tops = {box.words: box.top for box in boxes(shown) if box.left == 12 or box.words not in names}
    places = [tops[name] for name in names]
    assert places == sorted(places)
    assert max(tops["kill broker 1"], tops["cut broker 1"]) < tops["delivered"]


def test_actions_are_named_in_words():
    words = [box.words for box in boxes(four_topics().show())]
    assert {"kill broker 1", "pause broker 1", "cut broker 1", "heal broker 1"} <= set(words)
    assert not [one for one in words if re.search(r"\(\d\)", one)]


def numbers(shown):
    return sorted(re.findall(r"(?m)^(?:> )?(\d+\.\d\d s)", "\n".join(box.words for box in boxes(shown))))


@pytest.mark.parametrize("make", [a_kill_and_a_pause, four_topics, crowded])
def test_each_large_gap_has_its_number(make):
    recording = make()
    large = [g for g in recording.gaps() if g.kind in ("sent", "acknowledged", "delivered")]
    assert len(large) >= 3
    assert [n for n in numbers(recording.show()) if n in {f"{g.seconds:.2f} s" for g in large}] == sorted(
        f"{gap.seconds:.2f} s" for gap in large
    )


@pytest.mark.parametrize(("make", "count"), [(a_kill_and_a_pause, 1), (crowded, 12)])
def test_a_number_below_stands_at_the_foot_of_a_line_from_its_gap_which_crosses_no_words(make, count):
    recording = make()
    shown = recording.show()
    scale = (WIDTH - LEFT - RIGHT) / (recording.data.ended - recording.data.began)
    lines = [[float(n) for n in way] for way in LEADING.findall(shown.svg)]
    spans = [[float(n) for n in found] for found in GAP.findall(shown.svg)]
    words = boxes(shown)
    assert len(lines) == count
    for x, top, foot in lines:
        (length,) = [length for left, y, length in spans if left < x < left + length and y + 20 == top]
        (number,) = [box for box in words if abs(box.bottom - 1 - foot) < 0.1 and 0 < box.left - x < 8]
        assert length == pytest.approx(float(number.words.removesuffix(" s")) * scale, abs=1)
        assert [box.words for box in words if box.left < x < box.right and top < box.bottom < foot] == []


def test_a_state_has_one_wording_and_it_is_that_of_the_panel():
    words = {box.words for box in boxes(four_topics().show())}
    assert str(theme.NO_LEADER) in words
    assert str(theme.STATES["down"]) in words
    assert str(theme.STATES["paused"]) in words
    isr = {
        one.split(" · ")[-1] for one in words if "sync" in one and not one.startswith(("as usual", "seen"))
    }
    assert isr == {"1 of 2 in sync", "2 of 3 in sync"}
    assert not {"none", "nobody", "3", "2 of 3"} & words


def test_a_state_without_room_is_named_below_unless_its_look_says_it():
    def written(*downs):
        looks = tuple(state(s, **down) for s, down in zip(every(0.5, 0.5, 20), downs, strict=True))
        shown = Recording(RecordingData(at(0), at(20), states=looks)).show()
        return [box.words for box in boxes(shown) if box.words in ("✕ down", "❚❚ paused")]

    calm, down, paused = {}, {"down": [2]}, {"paused": [2]}
    few = [*[calm] * 10, down, *[calm] * 10, down]
    assert written(*few, *[calm] * 18) == ["✕ down"]
    assert written(*few, *[calm] * 10, paused, *[calm] * 7) == ["✕ down", "✕ down", "❚❚ paused"]


def shapes(shown, **wanted):
    """The shapes that have these properties."""
    return [
        shape
        for shape in ElementTree.fromstring(shown.svg).iter()
        if all(shape.get(name.replace("_", "-")) == value for name, value in wanted.items())
    ]


def test_what_stays_the_same_is_a_thin_line_without_words():
    recording = a_kill_and_a_pause()
    one, *_ = broker_lanes(recording.data)
    assert [(span.drawn.look, span.drawn.words, span.drawn.line) for span in one.spans] == [("", (), (1,))]
    assert "● up" not in [box.words for box in boxes(recording.show())]
    strong = theme.BROKERS[1].strong
    thin = shapes(recording.show(), stroke=strong)
    assert {shape.get("stroke-width") for shape in thin} == {"4"}
    assert [shape.get("height") for shape in shapes(recording.show(), fill=strong)] == ["4.0"], "the legend"


def test_the_line_of_broker_0_has_a_brokers_colour_and_that_of_no_broker_is_grey():
    look = state(0, leader=0)
    far = replace(look, brokers=(replace(look.brokers[0], id=0), *look.brokers))
    shown = Recording(RecordingData(at(0), at(20), states=(far,))).show()
    assert len(shapes(shown, stroke=theme.OTHER_BROKER.strong)) == 2, "the broker, and what it leads"
    assert len(shapes(shown, stroke=theme.GREY, stroke_width="4")) == 3, "the group: it, its member, offsets"


def silent(*, sent, acknowledged=(), delivered=()):
    """A program that sends 20 records a second, and its answers; each (start, end) is a silence (s)."""

    def times(pauses, late):
        return [t + late for t in every(0.05, 0, 20) if not any(a < t < b for a, b in pauses)]

    flows = (
        beats("sent", *times(sent, 0)),
        beats("acknowledged", *times(acknowledged, 0.004)),
        beats("delivered", *times(delivered, 0.008)),
    )
    return Recording(RecordingData(at(0), at(20), states=(state(0),), flows=flows))


def own(recording):
    lanes = flow_lanes(recording.data, recording.gaps())
    return {lane.name: [len(lane.own), len(lane.gaps)] for lane in lanes}


def test_a_silence_of_the_own_program_is_apart_from_that_of_others():
    both = (3, 6), (9, 16)
    recording = silent(sent=both[1:], acknowledged=both, delivered=both)
    assert own(recording) == {"delivered": [1, 2], "acknowledged": [1, 2], "sent": [1, 1]}
    legend = 1
    assert len(shapes(recording.show(), fill="url(#o)")) == 3 + legend
    assert len(shapes(recording.show(), fill="url(#h)")) == 2 + legend
    assert "your own program sent nothing" in [box.words for box in boxes(recording.show())]
    assert "while your own program sent nothing" in recording.show().words


def test_who_waits_for_an_answer_is_not_silent_by_itself():
    """`flush()` after each record: nothing is sent, because nothing is acknowledged."""
    times = [*every(0.05, 0, 3), *every(0.05, 8, 12)]
    answered = [t + 0.004 for t in times if t != 3.0] + [7.99]
    flows = (beats("sent", *times), beats("acknowledged", *answered), beats("delivered", *sorted(answered)))
    recording = Recording(
        RecordingData(at(0), at(12), flows=(flows[0], beats("acknowledged", *sorted(answered))))
    )
    [gap] = [gap for gap in recording.gaps() if gap.kind == "acknowledged"]
    assert gap.seconds > 4
    assert not own_silence(recording.data, gap)
    heard = Recording(RecordingData(at(0), at(12), flows=flows))
    assert not any(own_silence(heard.data, gap) for gap in heard.gaps() if gap.kind != "sent")


def test_an_own_silence_is_no_effect_of_an_action():
    recording = silent(sent=((9, 16),), acknowledged=((9, 16),), delivered=((9, 16),))
    shown = Recording(replace(recording.data, actions=(Action(at(8.9), "start", 1),))).show()
    assert shown.said == ("At 8.9 s: start broker 1.",)


def test_without_senders_a_silence_is_that_of_others():
    heard = beats("delivered", *every(0.05, 0, 5), *every(0.05, 8, 10))
    recording = Recording(RecordingData(at(0), at(10), flows=(heard,)))
    assert own(recording) == {"delivered": [0, 1]}


def test_a_time_without_failures_is_no_gap():
    flow = beats("failed", 1, 1.1, 1.2, 5, 5.1)
    shown = Recording(RecordingData(at(0), at(10), flows=(flow,))).show()
    assert not [box.words for box in boxes(shown) if "failure" in box.words or box.words.endswith(".80 s")]
    assert shown.rows[0] == "failed: 5 records."


def test_records_that_came_again_have_a_mark_where_they_came():
    bursts = tuple(Burst(at(n), at(n + 0.01), 10) for n in (1, 2, 3))
    flow = Flow("c", "delivered", "beat", 0, bursts, ((0, 19), (15, 24)))
    [lane] = flow_lanes(RecordingData(at(0), at(5), flows=(flow,)), ())
    assert [(point.at, point.told) for point in lane.points] == [
        (at(3), "5 records came again, from the same offset")
    ]
    unknown = replace(flow, bursts=bursts[:2])
    [lane] = flow_lanes(RecordingData(at(0), at(5), flows=(unknown,)), ())
    assert not lane.points, "of some nobody knows when they came"


def test_what_happened_can_be_asked_with_the_keyboard():
    recording = four_topics()
    html = recording.show()._repr_mimebundle_()["text/html"]
    spots = re.findall(r'<input[^>]* type="radio" hidden name="tb-[0-9a-f]{8}" aria-label="([^"]+)"', html)
    assert spots[0].startswith("At 2.0 s: kill broker 1: new leaders ")
    assert any(spot.startswith("6.30 s without a delivery (consumer 1, beat-0)") for spot in spots)
    assert any(spot.startswith("broker 1: ✂ cut off from the other brokers, from 16.0 s") for spot in spots)
    assert len(spots) == html.count("<input")
    for left, width in re.findall(r"left:([\d.]+)%;top:[\d.]+%;width:([\d.]+)%", html):
        assert float(left) + float(width) <= 100


def test_the_same_in_words_is_one_sentence_an_action():
    shown = four_topics().show()
    html = shown._repr_mimebundle_()["text/html"]
    said, _, each_row = html.partition("<summary>Each row in words</summary>")
    assert said.count("<li>") == len(shown.said) == 6
    assert each_row.count("<li>") == len(shown.rows)


def _light(colour):
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one, other):
    light, dark = sorted((_light(one), _light(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("shades", [{}, theme.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", LOOKS)
def test_words_can_be_read_on_what_they_lie_on_and_edges_are_seen(name, shades):
    look, paper = LOOKS[name], shades.get(theme.PAPER, theme.PAPER)
    # On hatches words have an edge of paper.
    ground = paper if look.fill.startswith("url") else shades.get(look.fill, look.fill)
    assert _contrast(shades.get(look.ink, look.ink), ground) >= 4.5
    if look.edge != "none":
        assert _contrast(shades.get(look.edge, look.edge), paper) >= 3


@pytest.mark.parametrize("make", [a_kill_and_a_pause, four_topics])
def test_each_colour_of_a_drawing_can_be_seen_on_dark_pages_too(make):
    svg = make().show().svg
    assert theme.dark_style() in svg
    drawn = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', svg.replace(theme.dark_style(), "")))
    assert theme.INK in drawn
    for colour in drawn - theme.DARK.keys():
        assert _contrast(colour, theme.DARK[theme.PAPER]) >= 3
        assert _contrast(colour, theme.PAPER) >= 3


def test_brokers_colours_mean_brokers_only():
    colours = {shade for colour in theme.BROKERS.values() for shade in colour[:2]}
    assert not colours & {shade for look in LOOKS.values() for shade in look}
    nothing = Recording(RecordingData(at(0), at(1), flows=(beats("sent", 0.5),))).show()
    assert not [shade for shade in colours if shade in nothing.svg]


def test_a_long_name_has_two_lines_and_is_never_cut_in_its_last_words():
    assert named("beat led by") == ("beat led by", "")
    assert named("payments-approved-by-hand led by")[1] == "led by"
    assert named("delivered · consumer 12") == ("delivered", "consumer 12")
    assert named("x" * 60)[0].endswith("…")
