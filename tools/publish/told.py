"""Pages whose rows are told by tests: what is tested stands there, and nothing else.

A test carries the page's mark, with the group and the subject of its row; tests/rows.py writes down what it
tells.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from threebrokers.files import write_whole
from tools import ROOT

HEADING = re.compile(r"^## (.+)$")
SEPARATOR = re.compile(r"(?<!\\)\|")


class Key(NamedTuple):
    """What a row is about, and the group of the page under which it stands."""

    group: str
    subject: str


class Row(tuple[str, ...]):
    """A row of a page: its group, its subject, and what was told of it ("" for nothing)."""

    @property
    def key(self) -> Key:
        """What it is about."""
        return Key(*self[:2])


@dataclass(frozen=True)
class Page:
    """A page in docs/: `mark` is of the tests that tell its rows, `make WORD` writes it.

    `columns` are those after the group, the subject first; `shown` names the page in sentences.
    """

    path: Path
    mark: str
    word: str
    head: str
    columns: tuple[str, ...]

    @property
    def shown(self) -> str:
        """Its path in the repository."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def collected(self) -> str:
        """The variable that names a file: pytest adds to it what each collected test is about."""
        return f"THREEBROKERS_{self.mark.upper()}_COLLECTED"

    @property
    def told(self) -> str:
        """The variable that names a file: pytest adds to it each row that a test has told."""
        return f"THREEBROKERS_{self.mark.upper()}_TOLD"

    def text(self, rows: Iterable[Row]) -> str:
        """Return the page: a table for each group, in the order of the alphabet."""
        parts = [self.head]
        for group, found in groupby(sorted(rows), key=lambda row: row.key.group):
            lines = [_line(row[1:]) for row in found]
            parts.append("\n".join([f"## {group}", "", *self._table, *lines, ""]))
        return "\n".join(parts)

    def rows(self) -> list[Row]:
        """Return the rows that stand there now; none if there is no page yet."""
        return list(self.read(self.path.read_text("utf-8"))) if self.path.exists() else []

    def read(self, text: str) -> Iterator[Row]:
        """Yield the rows of a page's text."""
        group = ""
        for line in text.splitlines():
            if heading := HEADING.match(line):
                group = heading[1]
            elif line.startswith("| ") and line not in self._table:
                yield Row((group, *(_plain(cell) for cell in SEPARATOR.split(line)[1:-1])))

    @property
    def _table(self) -> list[str]:
        return [f"| {' | '.join(self.columns)} |", "|---" * len(self.columns) + "|"]


def problems(page: Page, known: Iterable[Row], collected: Iterable[Key]) -> list[str]:
    """Return what is wrong with a page, a sentence each, beside what the tests are about."""
    on_page, tested = {row.key for row in known}, set(collected)
    mend = f"run `make {page.word}`"
    return [
        *(
            f"{page.shown} lacks '{subject}' ({group}): {mend}."
            for group, subject in sorted(tested - on_page)
        ),
        *(f"No test is about '{subject}' ({group}): {mend}." for group, subject in sorted(on_page - tested)),
    ]


def merged(known: Iterable[Row], told: Iterable[Row], collected: Iterable[Key]) -> list[Row]:
    """Return the rows of a page: those of this run, and the older ones that still have a test.

    Raises ValueError if two tests of one subject tell different things.
    """
    found: dict[Key, set[Row]] = defaultdict(set)
    for row in told:
        found[row.key].add(row)
    if many := sorted(f"{key.subject}: {found[key]}" for key in found if len(found[key]) > 1):
        raise ValueError(f"Tests of one subject tell different things: {'; '.join(many)}")
    tested = set(collected)
    old = [row for row in known if row.key in tested and row.key not in found]
    return sorted([*old, *(row for one in found.values() for row in one)])


def main(page: Page, about: str | None, arguments: list[str] | None = None) -> int:
    """Run the command line of a page; return 0 if it holds a row for each of its tests."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument(
        "--check", action="store_true", help="run and write nothing; fail if the page is stale"
    )
    parser.add_argument("tests", nargs="*", help="only these (all)")
    asked = parser.parse_args(arguments)
    known = page.rows()
    collected = [Key(*line) for line in _pytest(page, page.collected, [*_files(page), *QUIET])[1]]
    if asked.check:
        wrong = problems(page, known, collected)
        print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
        return int(bool(wrong))
    code, lines = _pytest(page, page.told, asked.tests or _files(page))
    text = page.text(merged(known, map(Row, lines), collected))
    if not page.path.exists() or page.path.read_text("utf-8") != text:
        write_whole(page.path, text.encode())
        print(f"{page.shown}: written")
    return code


QUIET = ("--collect-only", "-qq")


def _files(page: Page) -> list[str]:
    """Return the files in which tests carry the mark: to collect all others takes seconds."""
    mark = f"mark.{page.mark}("
    return [
        str(path) for path in sorted((ROOT / "tests").rglob("test_*.py")) if mark in path.read_text("utf-8")
    ]


def _pytest(page: Page, variable: str, words: Sequence[str]) -> tuple[int, list[list[str]]]:
    """Run pytest on the tests of a page; return its exit code and the lines that they wrote."""
    quiet = "--collect-only" in words
    with tempfile.TemporaryDirectory(prefix=f"threebrokers-{page.word}-") as folder:
        file = Path(folder) / "lines"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-m", page.mark, *words],
            cwd=ROOT,
            env=os.environ | {variable: str(file)},
            stdout=subprocess.PIPE if quiet else None,
            text=True,
            check=False,
        )
        if quiet and done.returncode:
            raise SystemExit(f"✗ The tests could not be collected:\n{done.stdout}")
        told = file.read_text("utf-8").splitlines() if file.exists() else []
    return done.returncode, [json.loads(line) for line in told]


def _line(cells: Iterable[str]) -> str:
    return " ".join(["|", " | ".join(map(_cell, cells)), "|"])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;") or "–"


def _plain(cell: str) -> str:
    text = cell.strip().replace("\\|", "|").replace("&lt;", "<")
    return "" if text == "–" else text
