"""A small database for a sink, in which the lab can see each commit."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Literal

from threebrokers.spark.spark_session import fresh_folder

WAIT_SECONDS = 10.0


class Connection(sqlite3.Connection):
    """A connection of `sqlite3` that tells its book of each change, and closes itself after a `with`."""

    committed: Callable[[], None] | None = None
    # SQLite tells a connection only of changes that another one has made.
    watcher: sqlite3.Connection | None = None
    _seen = 0

    def watch(self, watcher: sqlite3.Connection, committed: Callable[[], None]) -> None:
        """Call `committed` after each commit that changes the database; `watcher` is another connection."""
        self.watcher, self.committed = watcher, committed
        self._seen = self._changes()

    def commit(self) -> None:
        """Commit, and tell the book if that has changed it."""
        super().commit()
        before, self._seen = self._seen, self._changes()
        if self._seen != before and self.committed is not None:
            self.committed()

    def close(self) -> None:
        """Close it, and what watches it."""
        if self.watcher is not None:
            self.watcher.close()
        super().close()

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

    def _changes(self) -> int:
        """Return a number that is another one after each change of the database."""
        return int(self.watcher.execute("PRAGMA data_version").fetchone()[0]) if self.watcher else 0


class Book:
    """An empty SQLite database, the file `path`; `on_commit` is called after each commit that changed it."""

    def __init__(self, name: str) -> None:
        self.path = Path(fresh_folder(f"book-{name}")) / f"{name}.sqlite"
        self.on_commit: Callable[[], None] | None = None

    def open(self) -> Connection:
        """Return a connection for one `with`: what happens in it is one transaction, closed at its end."""
        opened = sqlite3.connect(self.path, timeout=WAIT_SECONDS, factory=Connection)
        opened.watch(sqlite3.connect(self.path, timeout=WAIT_SECONDS), self._committed)
        # sqlite3 begins no transaction by itself for CREATE TABLE.
        opened.execute("BEGIN")
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
