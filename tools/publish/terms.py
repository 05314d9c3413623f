"""The terms that lessons explain: which one, in which section, and what is wrong with the marks."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from tools.lessons import lesson as lessons
from tools.lessons.lesson import Lesson

HEADING = re.compile(r"^#{2,4} +(.*\S)", re.MULTILINE)
SIGNS = re.compile(r"[`*]")
LEAST = 8  # terms that a lab explains


@dataclass(frozen=True)
class Term:
    """A term of Kafka's or Spark's, and where it is explained first: a lesson's stem and a heading.

    `is_code` says that the text writes it as code; `is_there`, that the text has it at all.
    """

    name: str
    stem: str
    section: str
    is_code: bool
    is_there: bool

    @property
    def key(self) -> str:
        """What two ways of writing one term have in common."""
        return self.name.partition(" (")[0].casefold().removesuffix("s")

    @property
    def link(self) -> str:
        """The address of the section, seen from docs/; JupyterLab's addresses have hyphens for spaces."""
        place = quote(SIGNS.sub("", self.section).replace(" ", "-"), safe="-,:'")
        return f"../labs/{self.stem}.ipynb#{place}"


def explained(root: Path) -> list[Term]:
    """Return each term that a Markdown cell names in `explains`, in the order of the course."""
    return [term for path in lessons.lessons(root) for term in _of(lessons.read(path))]


def problems(terms: list[Term]) -> list[str]:
    """Return what is wrong with the marks, one sentence each."""
    told = []
    first: dict[str, Term] = {}
    for term in terms:
        place = f"lessons/{term.stem}.py, '{term.section}': '{term.name}'"
        before = first.setdefault(term.key, term)
        if before is not term:
            where = f"lessons/{before.stem}.py, '{before.section}'"
            told.append(f"{place} is explained in {where} already; name it only there.")
        elif not term.section:
            told.append(f"{place} stands under no heading; explain it in a section.")
        elif not term.is_there:
            told.append(f"{place} is not a word of this cell; name what the text explains.")
    return told


def few(terms: list[Term], stems: list[str]) -> list[str]:
    """Return a sentence for each lesson that explains too few terms."""
    count = Counter(term.stem for term in terms)
    mend = 'name them: # %% [markdown] explains="high watermark, ISR"'
    return [
        f"lessons/{stem}.py names {count[stem]} terms that it explains (at least {LEAST}); {mend}."
        for stem in stems
        if count[stem] < LEAST
    ]


def _of(lesson: Lesson) -> Iterator[Term]:
    section = ""
    for cell in lesson.cells:
        if cell.kind != "markdown":
            continue
        headings = HEADING.findall(cell.source)
        section = headings[0] if headings else section
        text = SIGNS.sub("", cell.source).casefold()
        for name in str(cell.metadata.get("explains", "")).split(","):
            if plain := name.strip():
                word = plain.partition(" (")[0]
                is_code = f"`{word.casefold()}`" in cell.source.casefold()
                yield Term(plain, lesson.stem, section, is_code, word.casefold() in text)
