"""What every deck keeps to; each broken rule is a sentence."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tools.rules.wording import PATTERNS
from tools.slides import lesson_text, page
from tools.slides.deck import Deck, DeckError, Slide

MOST_SLIDES = 12
MOST_BULLETS, MOST_WORDS = 3, 25
CODE_LINES, CODE_WIDTH = 12, 64
REMEMBER = "What to remember"
SPOKEN = ("picture", "flow", "bars", "recording")  # these have words of their own


def problems(deck: Deck, root: Path) -> list[str]:
    """Return what is wrong with a deck, sentence by sentence."""
    found = [*_whole(deck, root), *_votes(deck)]
    for slide in deck.slides:
        found += [f"slide {slide.number}: {fault}" for fault in _slide(slide)]
    return [f"slides/{deck.stem}.md, {sentence}" for sentence in found]


def _whole(deck: Deck, root: Path) -> Iterator[str]:
    if len(deck.slides) > MOST_SLIDES:
        yield f"there are {len(deck.slides)} slides; {MOST_SLIDES} are the most."
    try:
        lesson = lesson_text.lesson_path(deck.stem[:2], root)
    except DeckError as fault:
        yield str(fault)
        return
    if lesson.stem != deck.stem:
        yield f"the lesson is named {lesson.stem}; the deck has its name."
    if deck.title != lesson_text.title(lesson):
        yield f"the title is {deck.title!r}; the lesson's is {lesson_text.title(lesson)!r}."
    last = deck.slides[-1]
    if last.heading != REMEMBER or not last.block or last.block.names != [deck.stem[:2]]:
        yield f"the last slide is not `## {REMEMBER}` with a block `remember {deck.stem[:2]}`."


def _votes(deck: Deck) -> Iterator[str]:
    """Each vote is followed by its reveal, and each reveal comes after its vote."""
    kinds = [(s.block.kind, s.block.names) if s.block else ("", []) for s in deck.slides]
    for number, (now, then) in enumerate(pairwise([*kinds, ("", [])]), 1):
        if now[0] == "vote" and then != ("reveal", now[1]):
            yield f"slide {number}: the vote {' '.join(now[1])} has no reveal on the next slide."
    for number, (now, then) in enumerate(pairwise([("", []), *kinds]), 1):
        if then[0] == "reveal" and now != ("vote", then[1]):
            yield f"slide {number}: the reveal {' '.join(then[1])} has no vote on the slide before."
    for kind, names in kinds:
        if kind == "vote" and not " ".join(names).startswith(f"{int(deck.stem[:2])}."):
            yield f"the vote {' '.join(names)} belongs to another lab."


def _slide(slide: Slide) -> Iterator[str]:
    missing = slide.notes.missing
    if missing:
        yield f"the notes have no {', no '.join(missing)}"
    vote = slide.block is not None and slide.block.kind == "vote"
    if vote and not slide.lines:
        yield "the vote has no sentence; who has not read the lab does not know what it is about."
    if not vote and slide.number > 1 and not slide.heading:
        yield "it has no heading; `## ` and a whole sentence is needed."
    if slide.heading and slide.number > 1 and slide.heading != REMEMBER and slide.heading[-1] not in ".?!":
        yield f"the heading {slide.heading!r} is no sentence; it ends with `.`, `?` or `!`."
    if len(slide.blocks) > 1:
        yield f"it has {len(slide.blocks)} blocks; one picture is the most."
    yield from _text(slide)
    yield from _block(slide)


def _text(slide: Slide) -> Iterator[str]:
    bullets = [line for line in slide.lines if line.startswith("- ")]
    if len(bullets) > MOST_BULLETS or (bullets and len(bullets) < len(slide.lines)):
        yield f"it has {len(bullets)} bullets in {len(slide.lines)} lines; {MOST_BULLETS} and no other line."
    if not bullets and len(slide.lines) > 1:
        yield f"it has {len(slide.lines)} lines of text; one sentence, or bullets."
    for line in (slide.heading, *slide.lines):
        if len(line.split()) > MOST_WORDS:
            yield f"{len(line.split())} words stand in one line; {MOST_WORDS} are the most."
    told = " ".join([slide.heading, *slide.lines, *slide.notes.said.values()])
    for pattern, use in PATTERNS.items():
        if found := pattern.search(re.sub("`[^`]*`", "", told)):
            yield f"{found[0]!r} is a word of another kind; write: {use}."


def _block(slide: Slide) -> Iterator[str]:
    block = slide.block
    if block is None:
        return
    try:
        shown = page.shown(block)
    except DeckError as fault:
        yield str(fault)
        return
    if block.kind in SPOKEN and not shown.words.strip():
        yield f"the {block.kind} has no words."
    lines = block.body.splitlines()
    if block.kind == "code" and (len(lines) > CODE_LINES or max(map(len, lines), default=0) > CODE_WIDTH):
        yield f"the code has more than {CODE_LINES} lines or {CODE_WIDTH} letters in one."
