"""A small database for a sink, in which the lab can see each commit."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Literal

from threebrokers.spark.spark_session import fresh_folder

WAIT_SECONDS = 10.0


class Connection(sqlite3.Connection):
    """A connection of `sqlite3` that tells its book of each commit, and closes itself after a `with`."""

    committed: Callable[[], None] | None = None

    def commit(self) -> None:
        """Commit, and tell the book."""
        changed = self.in_transaction
        super().commit()
        if changed and self.committed is not None:
            self.committed()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> Literal[False]:
        # Python's own __exit__ commits without calling commit().
        try:
            if kind is None:
                self.commit()
            else:
                self.rollback()
        finally:
            self.close()
        return False


class Book:
    """An empty SQLite database, the file `path`; `on_commit` is called after each commit that changed it."""

    def __init__(self, name: str) -> None:
        self.path = Path(fresh_folder(f"book-{name}")) / f"{name}.sqlite"
        self.on_commit: Callable[[], None] | None = None

    def open(self) -> Connection:
        """Return a connection for one `with`: what happens in it is one transaction, closed at its end."""
        opened = sqlite3.connect(self.path, timeout=WAIT_SECONDS, factory=Connection)
        # sqlite3 begins no transaction by itself for CREATE TABLE.
        opened.execute("BEGIN")
        opened.committed = self._committed
        return opened

    def rows(self, question: str) -> list[tuple[object, ...]]:
        """Return what the database answers to a question in SQL. Raises sqlite3.Error."""
        opened = sqlite3.connect(self.path, timeout=WAIT_SECONDS)
        try:
            return opened.execute(question).fetchall()
        finally:
            opened.close()

    def _committed(self) -> None:
        if self.on_commit is not None:
            self.on_commit()
