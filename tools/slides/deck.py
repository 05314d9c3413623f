"""A deck of slides as an author writes it: Markdown, slides between lines `---`, notes under each."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
BREAK = re.compile(r"^---$", re.MULTILINE)
NOTES = re.compile(r"^Notes:(?P<notes>.*)\Z", re.DOTALL | re.MULTILINE)
PARTS = ("Say", "Ask", "Expect")
SETTING = re.compile(r"\w+=\S*$")
MINUTES = re.compile(r"(\d+) min\.")


class DeckError(Exception):
    """What an author wrote cannot be shown: one sentence says what was found and what was expected."""


@dataclass(frozen=True)
class Block:
    """What stands between fences: its kind, the words behind it, and its lines."""

    kind: str
    words: tuple[str, ...]
    body: str

    @property
    def settings(self) -> dict[str, str]:
        """The words of the form name=value."""
        return dict(word.split("=", 1) for word in self.words if SETTING.match(word))

    @property
    def names(self) -> list[str]:
        """The other words."""
        return [word for word in self.words if not SETTING.match(word)]


@dataclass(frozen=True)
class Notes:
    """What a teacher reads: `minutes` is None, and a part is empty, if the author left it out."""

    minutes: int | None
    said: dict[str, str]

    @property
    def missing(self) -> list[str]:
        """The parts that are not there."""
        left_out = [] if self.minutes is not None else ["Notes: N min."]
        return left_out + [f"{part}:" for part in PARTS if not self.said.get(part)]


@dataclass(frozen=True)
class Slide:
    """One slide: its number in the deck, heading, lines of text, blocks, and notes."""

    number: int
    heading: str
    lines: tuple[str, ...]
    blocks: tuple[Block, ...]
    notes: Notes

    @property
    def block(self) -> Block | None:
        """The picture of the slide, if it has one."""
        return self.blocks[0] if self.blocks else None


@dataclass(frozen=True)
class Deck:
    """A deck: the name of its file without its ending, which is the lesson's, its title and slides."""

    stem: str
    title: str
    slides: tuple[Slide, ...]

    @property
    def minutes(self) -> int:
        """How long the whole deck takes."""
        return sum(slide.notes.minutes or 0 for slide in self.slides)


def read(path: Path) -> Deck:
    """Read the deck in a file. Raises DeckError if it is no deck."""
    text = path.read_text("utf-8").replace("\r\n", "\n")
    first, *others = _parted(text)
    slides = tuple(_slide(number, part) for number, part in enumerate([first, *others], 1))
    title = slides[0].heading
    if not title or not first.lstrip().startswith("# "):
        raise DeckError(
            f"{path.name} begins without a title; the first line is `# ` and the lesson's question."
        )
    return Deck(path.stem, title, slides)


def _parted(text: str) -> list[str]:
    """Return the text of each slide; a line `---` in a block parts nothing."""
    held: list[str] = []

    def hide(found: re.Match[str]) -> str:
        held.append(found[0])
        return f"\0{len(held) - 1}\0"

    parts = BREAK.split(BLOCK.sub(hide, text))
    return [re.sub(r"\0(\d+)\0", lambda m: held[int(m[1])], part) for part in parts]


def _slide(number: int, text: str) -> Slide:
    notes = NOTES.search(text)
    shown = text[: notes.start()] if notes else text
    blocks = tuple(_block(found, number) for found in BLOCK.finditer(shown))
    shown = BLOCK.sub("", shown)
    if "```" in shown:
        raise DeckError(f"Slide {number}: a block is not closed; its last line is ``` alone.")
    lines = [line.strip() for line in shown.splitlines() if line.strip()]
    heads = [line for line in lines if line.startswith("#")]
    if len(heads) > 1:
        raise DeckError(f"Slide {number} has {len(heads)} headings; one idea has one.")
    heading = heads[0].lstrip("#").strip() if heads else ""
    rest = tuple(line for line in lines if not line.startswith("#"))
    return Slide(number, heading, rest, blocks, _notes(notes["notes"] if notes else ""))


def _block(found: re.Match[str], number: int) -> Block:
    try:
        kind, *words = shlex.split(found["info"])
    except ValueError as fault:
        raise DeckError(f"Slide {number}: the first line of a block cannot be read ({fault}).") from fault
    return Block(kind, tuple(words), found["body"].rstrip("\n"))


def _notes(text: str) -> Notes:
    said: dict[str, str] = {}
    part = ""
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        if colon and name in PARTS:
            part, line = name, rest
        if part:
            said[part] = f"{said.get(part, '')} {line.strip()}".strip()
    minutes = MINUTES.match(text.strip())
    return Notes(int(minutes[1]) if minutes else None, said)
