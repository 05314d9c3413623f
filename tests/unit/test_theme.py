"""Signs and colours are those of the theme everywhere, can be read, and mean one thing each."""

import re
from itertools import combinations
from math import dist
from operator import mul
from pathlib import Path

import pytest

import threebrokers
from threebrokers import theme
from threebrokers.spark import delays

ROOM = Path(threebrokers.__file__).parent
HEX = re.compile(r"#[0-9a-fA-F]{3,8}\b")
PROPERTY = re.compile(r"^  --tb-([a-z0-9-]+): (#[0-9a-f]{6});$", re.M)
DARK_PAGE = "#111111"  # JupyterLab's dark theme
VERDICTS = {"good": theme.GOOD, "bad": theme.BAD, "open": theme.OPEN, "warning": theme.WARNING}
COLOURS = {
    "ink": theme.INK,
    "paper": theme.PAPER,
    "grey": theme.GREY,
    "sky": theme.SKY,
    "yellow": theme.YELLOW,
    "other-broker": theme.OTHER_BROKER.strong,
    "other-broker-ink": theme.OTHER_BROKER.ink,
    **{f"broker-{number}": colour.strong for number, colour in theme.BROKERS.items()},
    **{f"broker-{number}-ink": colour.ink for number, colour in theme.BROKERS.items()},
    **{name: verdict.colour for name, verdict in VERDICTS.items()},
}


def linear(colour):
    """Return red, green and blue as amounts of light, 0 to 1."""
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def light(colour):
    """Return the relative luminance, as WCAG has it."""
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("path", sorted(ROOM.rglob("*.css")), ids=lambda path: path.name)
def test_a_style_sheet_has_the_colours_of_the_theme_and_no_others(path):
    text = path.read_text("utf-8")
    found = dict(PROPERTY.findall(text))
    assert found == {name: COLOURS[name] for name in found}
    assert HEX.findall(text) == list(found.values()), "a colour stands outside the custom properties"
    assert set(re.findall(r"var\(--tb-([a-z0-9-]+)\)", text)) == found.keys()


@pytest.mark.parametrize("ending", ["*.py", "*.js"])
def test_no_other_code_names_a_colour(ending):
    found = [path for path in ROOM.rglob(ending) if HEX.search(path.read_text("utf-8"))]
    assert [path.name for path in found] == (["theme.py"] if ending == "*.py" else [])


def test_the_panels_page_knows_every_sign():
    page = (ROOM / "panel" / "widget.js").read_text("utf-8")
    looks = [*theme.STATES.values(), *theme.REPLICAS.values(), theme.NO_LEADER, theme.QUORUM_LEADER]
    sent = {theme.STATES["up"].sign, theme.REPLICAS["none"].sign}  # in frames, and need no legend
    assert [look.sign for look in looks if look.sign not in page and look.sign not in sent] == []


@pytest.mark.parametrize("look", [*VERDICTS.values(), *theme.STATES.values()], ids=str)
def test_a_line_of_this_colour_is_seen_on_light_and_dark_pages(look):
    assert contrast(look.colour, theme.PAPER) >= 3
    assert contrast(look.colour, DARK_PAGE) >= 3


@pytest.mark.parametrize("colour", [theme.INK, theme.SOFT, theme.GOOD.colour, theme.BAD.colour])
def test_words_of_this_colour_can_be_read(colour):
    assert contrast(colour, theme.PAPER) >= 4.5


@pytest.mark.parametrize("broker", [*theme.BROKERS.values(), theme.OTHER_BROKER])
def test_words_on_the_colour_of_a_broker_can_be_read(broker):
    assert contrast(broker.ink, broker.strong) >= 4.5
    assert contrast(theme.INK, broker.tint) >= 4.5


def test_the_colours_of_brokers_mean_nothing_else():
    brokers = {colour.strong for colour in theme.BROKERS.values()}
    looks = [*VERDICTS.values(), *theme.STATES.values(), *theme.REPLICAS.values()]
    assert brokers.isdisjoint({look.colour for look in looks} | {theme.SKY, theme.YELLOW, theme.GREY})


# What eyes without one kind of cone make of red, green and blue (Machado, Oliveira and Fernandes, 2009).
SEEN = {
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
APART = 15  # of CIELAB's units; 2.3 of them can just be noticed


def lab(red, green, blue):
    """Return a colour in CIELAB, in which a distance is about as large as it looks."""
    rows = (0.4339, 0.3762, 0.1899), (0.2126, 0.7152, 0.0722), (0.0177, 0.1095, 0.8730)
    amounts = [sum(map(mul, row, (red, green, blue))) for row in rows]
    x, y, z = (p ** (1 / 3) if p > 0.008856 else 7.787 * p + 16 / 116 for p in amounts)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("eyes", SEEN)
def test_brokers_are_told_apart_by_every_kind_of_colour_vision(eyes):
    colours = [*(broker.strong for broker in theme.BROKERS.values()), theme.OTHER_BROKER.strong]
    seen = [
        lab(*(min(1, max(0, sum(map(mul, row, linear(colour))))) for row in SEEN[eyes])) for colour in colours
    ]
    assert min(dist(one, other) for one, other in combinations(seen, 2)) >= APART


@pytest.mark.parametrize("table", [theme.STATES, theme.REPLICAS, VERDICTS])
def test_each_state_has_a_sign_and_a_word_of_its_own(table):
    for one, other in combinations(table.values(), 2):
        assert one.sign != other.sign
        assert one.word != other.word


def test_an_exercise_is_solved_or_was_tried_or_is_open():
    looks = [
        theme.exercise_look(number, {"3.1": "today"}, {"3.1", "3.2"}) for number in ("3.1", "3.2", "3.3")
    ]
    assert looks == [theme.GOOD, theme.BAD, theme.OPEN]


def test_a_state_that_is_not_known_is_shown_as_silent():
    assert str(theme.state_look("melting")) == "? silent"


@pytest.mark.parametrize("airport", delays.LOOKS)
def test_a_line_of_the_flights_chart_can_be_seen_and_means_no_broker(airport):
    colour, _ = delays.LOOKS[airport]
    assert contrast(colour, theme.PAPER) >= 3
    assert colour not in {broker.strong for broker in theme.BROKERS.values()}


@pytest.mark.parametrize("colour", [theme.INK, theme.SOFT, theme.BAD.colour, theme.WARNING.colour])
def test_words_of_a_drawing_can_be_read_on_a_dark_page(colour):
    assert contrast(theme.DARK[colour], theme.DARK[theme.PAPER]) >= 4.5
    assert contrast(theme.DARK[colour], theme.DARK[theme.YELLOW_TINT]) >= 3
