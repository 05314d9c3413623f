"""Signs, words and colours of all pictures and tables. No colour ever stands without the other two.

The colours of brokers are Okabe and Ito's, told apart by every kind of colour vision. They mean brokers 1, 2
and 3 and nothing else. Style sheets have the same colours as custom properties (`--tb-…`).
"""

from collections.abc import Collection
from typing import NamedTuple

INK, PAPER = "#1f2328", "#ffffff"
SOFT = "#59636e"  # words and borders that matter less
RULE = "#d1d9e0"  # thin lines
GREY, LIGHT, LIGHTEST = "#8a8f98", "#cdd3da", "#f3f4f6"
SKY, SKY_TINT = "#56b4e9", "#ddf0fb"  # where somebody reads, or writes with the keyboard
YELLOW, YELLOW_TINT = "#f0e442", "#f6eb90"  # what has just changed, or is not whole


class BrokerColour(NamedTuple):
    """The colour of a broker, a light tint of it, and the ink that is easier to read on the colour."""

    strong: str
    tint: str
    ink: str


BROKERS = {
    1: BrokerColour("#0072b2", "#d9ebf5", "#ffffff"),
    2: BrokerColour("#d55e00", "#fbe7d9", "#000000"),
    3: BrokerColour("#009e73", "#d9f2eb", "#000000"),
}
OTHER_BROKER = BrokerColour("#cc79a7", "#f7e9f1", "#000000")


def broker_colour(number: int) -> BrokerColour:
    """Return the colour of the broker with this number."""
    return BROKERS.get(number, OTHER_BROKER)


class Look(NamedTuple):
    """How something is shown: its sign, its word and its colour."""

    sign: str
    word: str
    colour: str

    def __str__(self) -> str:
        return f"{self.sign} {self.word}"


# Verdicts.
GOOD = Look("✓", "solved", "#1a7f37")
BAD = Look("✗", "not yet", "#d1242f")
OPEN = Look("○", "open", GREY)
WARNING = Look("⚠", "look here", "#9a6700")

# A broker, by the state that a look at the cluster finds; silent ones may have been started just now.
STATES = {
    "up": Look("●", "up", SOFT),
    "down": Look("✕", "down", BAD.colour),
    "paused": Look("❚❚", "paused", BAD.colour),
    "unknown": Look("?", "silent", SOFT),
    "starting": Look("◔", "starting", SOFT),
}
# The links of a broker that is up, by what was done to them.
LINKS = {
    "cut": Look("✂", "cut off", BAD.colour),
    "stall": Look("‖", "links stalled", BAD.colour),
    "slow": Look("≈", "links slowed", WARNING.colour),
}
# What a broker is to one partition. Who leads or is in sync has the broker's own colour.
REPLICAS = {
    "leader": Look("★", "leader", INK),
    "sync": Look("✓", "in sync", INK),
    "late": Look("…", "behind", SOFT),
    "claim": Look("⚑", "stale", BAD.colour),
    "none": Look("–", "", SOFT),
}
NO_LEADER = Look("✕", "no leader", BAD.colour)
QUORUM_LEADER = Look("♛", "active controller", INK)


# What stands for these colours in a drawing on a dark page; all others are seen on both.
DARK = {
    INK: "#e6edf3",
    PAPER: "#111111",  # JupyterLab's
    SOFT: "#a5afba",
    RULE: "#30363d",
    LIGHT: "#3d444d",
    LIGHTEST: "#1c2126",
    SKY_TINT: "#16384c",
    YELLOW_TINT: "#5c5415",
    BAD.colour: "#ff7b72",
    WARNING.colour: "#d29922",
    GOOD.colour: "#3fb950",
}


def dark_style() -> str:
    """Return a style sheet for an SVG: where the page around it is dark, its colours change places."""
    rules = "".join(
        f'[{what}="{light}"]{{{what}:{dark}}}' for light, dark in DARK.items() for what in ("fill", "stroke")
    )
    return f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>"


def exercise_look(number: str, solved: Collection[str], tried: Collection[str]) -> Look:
    """Return how an exercise is shown: solved, tried and not solved yet, or not begun."""
    return GOOD if number in solved else BAD if number in tried else OPEN


def state_look(state: str) -> Look:
    """Return how a broker in this state is shown; in one that is not known, as if it were silent."""
    return STATES.get(state, STATES["unknown"])


def links_look(kind: str) -> Look:
    """Return how a broker is shown whose links are so; in a way that is not known, as if they were cut."""
    return LINKS.get(kind, LINKS["cut"])
