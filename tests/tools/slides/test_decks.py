"""Every deck of the course keeps the rules, every lesson has one, and what is shipped with them is whole."""

import hashlib

import pytest

from threebrokers.recorder import Recording
from tools import ROOT
from tools.lessons.lesson import lessons
from tools.slides import build, deck, page, rules
from tools.slides.recordings import FOLDER

DECKS = build.decks(ROOT)
# Lessons whose deck is still to be written. One that has a deck must not stand here.
COMING: set[str] = set()
VENDORED = ROOT / "tools" / "slides" / "reveal"


def test_each_lesson_has_a_deck_or_is_named_as_coming() -> None:
    numbers = {path.stem[:2] for path in lessons(ROOT)}
    assert {path.stem[:2] for path in DECKS} == numbers - COMING


@pytest.mark.parametrize("path", DECKS, ids=lambda path: path.stem)
def test_the_deck_keeps_the_rules_and_can_be_built(path) -> None:
    read = deck.read(path)
    assert rules.problems(read, ROOT) == []
    built = page.page(read)
    assert built.count("<section>") == len(read.slides) == built.count('class="notes"')
    assert not [word for word in ('src="http', 'href="http', "@import") if word in built]


def test_what_is_vendored_is_what_was_fetched() -> None:
    lines = [line.split() for line in (VENDORED / "files.lock").read_text("utf-8").splitlines()[1:]]
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDORED.iterdir()}
    found.pop("files.lock")
    assert {name: digest for digest, name in lines} == found


def test_every_recording_can_be_loaded_and_is_played() -> None:
    said = "".join(path.read_text("utf-8") for path in DECKS)
    kept = list(FOLDER.iterdir())
    assert FOLDER / "04_kill.json.gz" in kept
    for path in kept:
        assert Recording.load(path).states
        assert f"```recording {path.name.removesuffix('.json.gz')}\n" in said
