"""The rules of what a lesson says: short paragraphs, no idioms, one word for one thing, labs that exist."""

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten

from tools.lessons import minutes
from tools.lessons.lesson import Cell, Lesson, lessons
from tools.rules import checks, predictions, quizzes

Fault = tuple[str, str, str]
PARAGRAPH_WORDS = 100

# What readers who are not native speakers stumbled over, or what has another word in this course; and what
# to write in its place. Each is a pattern between the borders of words, in any case.
WORDS = {
    # words that only its authors know
    r"bench(?:es)?": "cluster, your three brokers, or machine",
    r"tapes?": "recording",
    r"sights?": "state, or views",
    # one word for one thing
    r"confirm(?:s|ed|ing|ation)?": "acknowledge",
    r"sa(?:ys|id) ok": "acknowledges",
    r"(?:leads|led) the (?:quorum|others|brokers)|quorum leader": "active controller",
    # idioms
    r"(?:next|last) (?:\w+ )?but one": "name the cell",
    r"at a glance|in a nutshell|rule of thumb|under the hood|out of the box|behind the scenes": "plain words",
    r"before you run on|then run on|run on[.,;:]": "run the next cells",
    r"boils? down to|piece of cake|silver bullet|at the end of the day|needless to say": "plain words",
    r"blows?": "fault",
    r"change of office|in office": "election, or new leader",
    r"comes late, and that is meant": "say why it comes late",
    r"giv(?:es?|ing) way|gave way": "what it does",
    r"good-?bye": "what it sends",
    r"in good faith": "what it does not know",
    r"in peace": "before the fault",
    r"keep an eye on|on the fly|from scratch|as it were|so to speak|once and for all": "plain words",
    r"last word|no time for": "what it does not do any more",
    r"least for real use": "the smallest number that",
    r"mirror of": "how the two differ",
    r"old news": "what is out of date",
    r"overtakes? itself": "which record is stored before which",
    r"pull(?:s|ed)? the plug": "what fails: the process, or the power",
    r"quarrels?": "which leader counts, and why",
    r"the sound of": "what is seen",
}
PATTERNS = {re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE): use for pattern, use in WORDS.items()}


LABS = re.compile(r"\blabs? (\d\d(?:(?:, | and | or | to |, and )\d\d)*)", re.IGNORECASE)
COMING = "coming"


def faults(lesson: Lesson, root: Path) -> Iterator[Fault]:
    """Yield each paragraph that is too long, each word that should be another one, and each lab to come."""
    for cell in lesson.cells:
        if not cell.is_tried:
            yield from _words(cell.source, _place(cell))
        for paragraph in paragraphs(cell.source) if cell.kind == "markdown" else []:
            count = minutes.words(paragraph)
            if count > PARAGRAPH_WORDS:
                begin = " ".join(paragraph.split()[:5])
                wrong = f"the paragraph '{begin} …' has {count} words (at most {PARAGRAPH_WORDS})"
                yield _place(cell), wrong, "divide it, or leave something out"
    yield from _labs(lesson, {path.stem[:2] for path in lessons(root)})
    files = checks.modules(root, lesson.number)
    asked = [predictions.where(root, lesson.number), quizzes.where(root, lesson.number)]
    files += [file for file in asked if file.exists()]
    for file in files:
        yield from _words(file.read_text("utf-8"), str(file.relative_to(root)))


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a Markdown text: each point of a list is one, a table or a program is none."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line for line in prose.splitlines() if not line.lstrip().startswith(("|", "#"))]
    return [part for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", "\n".join(lines)) if part.strip()]


def _labs(lesson: Lesson, known: set[str]) -> Iterator[Fault]:
    """Yield each lab that is named and not there; one paragraph of a lesson may say which ones are coming."""
    said = False
    for cell in lesson.cells:
        for paragraph in cell.source.split("\n\n") if cell.kind == "markdown" else []:
            named = [number for match in LABS.finditer(paragraph) for number in re.findall(r"\d\d", match[1])]
            missing = sorted({number for number in named if number not in known})
            if missing and COMING in paragraph and not said:
                said = True
            elif missing:
                mend = f"write 'a later lab', or once, with the word '{COMING}', which ones there will be"
                yield _place(cell), f"it names lab {missing[0]}, which is not there", mend


def _place(cell: Cell) -> str:
    return f"the cell '{shorten(cell.source.partition(chr(10))[0], 70, placeholder=' …')}'"


def _words(text: str, place: str) -> Iterator[Fault]:
    for pattern, use in PATTERNS.items():
        for found in dict.fromkeys(match[0] for match in pattern.finditer(text)):
            yield place, f"'{found}' is an idiom, or has another word here", f"say it otherwise: {use}"
