"""A deck as one page for reveal.js, which opens from a file and asks nobody for anything."""

import shutil
from collections.abc import Callable
from html import escape
from pathlib import Path

from threebrokers import theme
from threebrokers.diagrams.picture import STYLE
from tools.slides import outputs, pictures, recordings
from tools.slides.deck import Block, Deck, DeckError, Slide
from tools.slides.lesson_text import remember
from tools.slides.shown import Shown, inline

HERE = Path(__file__).parent
FILES = (
    *(HERE / "reveal" / name for name in ("reveal.js", "reveal.css", "notes.js", "LICENSE")),
    *(HERE / "assets" / name for name in ("slides.css", "slides.js")),
    STYLE,
)
KINDS: dict[str, Callable[[Block], Shown]] = {
    "picture": pictures.picture,
    "flow": pictures.flow,
    "bars": pictures.bars,
    "table": pictures.rows,
    "code": pictures.code,
    "output": outputs.output,
    "recording": recordings.player,
    "vote": outputs.vote,
    "reveal": outputs.reveal,
    "remember": remember,
}
CALL = '<p class="call">Vote: which answer do you expect?</p>'
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}: Three Brokers, lab {lab}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/reveal.css">
<link rel="stylesheet" href="assets/picture.css">
<style>{colours}</style>
<link rel="stylesheet" href="assets/slides.css">
</head>
<body>
<main class="reveal"><div class="slides">
{slides}
</div></main>
<script src="assets/reveal.js"></script>
<script src="assets/notes.js"></script>
<script src="assets/slides.js"></script>
</body>
</html>
"""


def shown(block: Block) -> Shown:
    """Return what a block shows. Raises DeckError for what cannot be shown."""
    if block.kind not in KINDS:
        raise DeckError(f"A block {block.kind!r} is not known; there are {', '.join(KINDS)}.")
    return KINDS[block.kind](block)


def page(deck: Deck) -> str:
    """Return a deck as HTML. Raises DeckError, with the slide's number, for what cannot be shown."""
    slides = "\n".join(_slide(slide, deck) for slide in deck.slides)
    return PAGE.format(title=escape(deck.title), lab=deck.stem[:2], colours=_colours(), slides=slides)


def copy_files(folder: Path) -> None:
    """Put beside the pages what all of them need."""
    target = folder / "assets"
    target.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        shutil.copyfile(file, target / file.name)


def _slide(slide: Slide, deck: Deck) -> str:
    block = slide.block
    try:
        what = shown(block) if block else Shown("")
        heading = outputs.question(block) if block and block.kind == "vote" else slide.heading
    except DeckError as fault:
        raise DeckError(f"Slide {slide.number}: {fault}") from fault
    level = "h1" if slide.number == 1 else "h2"
    kind = "first" if slide.number == 1 else block.kind if block else "words"
    head, lines = f"<{level}>{inline(heading)}</{level}>", _lines(slide.lines)
    # What a question is about comes before the question.
    first = [lines, head, CALL] if kind == "vote" else [head, lines]
    parts = [
        *first,
        f"<figure>{what.html}{_twin(what.words)}</figure>" if what.html else "",
        f'<p class="foot">Three Brokers · Lab {deck.stem[:2]} · {slide.number} of {len(deck.slides)}</p>',
    ]
    return f'<section><div class="slide {kind}">{"".join(parts)}</div>{_notes(slide, what.words)}</section>'


def _lines(lines: tuple[str, ...]) -> str:
    if lines and all(line.startswith("- ") for line in lines):
        return f"<ul>{''.join(f'<li>{inline(line[2:])}</li>' for line in lines)}</ul>"
    return "".join(f"<p>{inline(line)}</p>" for line in lines)


def _twin(words: str) -> str:
    """Return the words of a picture, for those who hear a page; the notes have them, too."""
    lines = "".join(f"<li>{escape(line)}</li>" for line in words.splitlines())
    return f'<figcaption class="twin"><ul>{lines}</ul></figcaption>' if lines else ""


def _notes(slide: Slide, words: str) -> str:
    said = [f"<p><strong>{slide.notes.minutes or 0} min.</strong></p>"]
    said += [f"<p><strong>{part}:</strong> {inline(text)}</p>" for part, text in slide.notes.said.items()]
    if words:
        said += ["<p><strong>The picture in words:</strong></p>"]
        said += [f"<p>{escape(line)}</p>" for line in words.splitlines()]
    return f'<aside class="notes">{"".join(said)}</aside>'


def _colours() -> str:
    names = {
        "ink": theme.INK, "paper": theme.PAPER, "soft": theme.SOFT, "rule": theme.RULE,
        "lightest": theme.LIGHTEST, "sky": theme.SKY, "sky-tint": theme.SKY_TINT,
        "good": theme.GOOD.colour, "bad": theme.BAD.colour,
    }  # fmt: skip
    names |= {f"broker-{number}": colour.strong for number, colour in theme.BROKERS.items()}
    names |= {f"broker-{number}-tint": colour.tint for number, colour in theme.BROKERS.items()}
    return f":root{{{''.join(f'--{name}:{colour};' for name, colour in names.items())}}}"
