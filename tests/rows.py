"""Tests that tell rows of a page in docs/: what each is about is in its mark, the row is told while it runs.

`python -m tools reliability` and `python -m tools facts` have the rows written down.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tools.publish.told import Key, Page, Row


class Teller:
    """The rows that tests tell of one page; a test that must tell one and does not, fails.

    `must` says which tests must, beside those with the mark; `call` is what a test has to call. With `agrees`
    a test also fails if the page has another row than it tells.
    """

    def __init__(
        self, page: Page, must: Callable[[pytest.Item], bool], call: str, *, agrees: bool = False
    ) -> None:
        self.page, self._must, self._call, self._agrees = page, must, call, agrees
        self._row = pytest.StashKey[Row]()

    def about(self, item: pytest.Item) -> Key | None:
        """Return what a test is about; None if it is about nothing of this page."""
        mark = item.get_closest_marker(self.page.mark)
        return Key(*mark.args) if mark else None

    def tell(self, item: pytest.Item, cells: Sequence[str]) -> None:
        """Keep the row that a test tells."""
        about = self.about(item)
        assert about, f'the test has no mark {self.page.mark}("Group", "subject")'
        item.stash[self._row] = Row((*about, *cells))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if about := self.about(item):
                _add(self.page.collected, about)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        yield
        if self.about(item) is None and not self._must(item):
            return
        if self._row not in item.stash:
            mark = self.page.mark
            pytest.fail(
                f"It passed, but told no row of {self.page.shown}: mark it {mark}(…), call {self._call}."
            )
        row = item.stash[self._row]
        _add(self.page.told, row)
        if self._agrees and self.page.told not in os.environ and row not in self.page.rows():
            pytest.fail(
                f"{self.page.shown} says something else than {tuple(row)}: run `make {self.page.word}`."
            )


def _add(variable: str, row: Sequence[str]) -> None:
    if path := os.environ.get(variable):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
