"""A clock that counts only while this process could have done something."""

import threading
from collections.abc import Iterator

import pytest

TICK_SECONDS = 0.02


class Ticks:
    """A clock of this process (s): it stands still while a busy machine lets none of its threads run."""

    def __init__(self) -> None:
        self.now = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(TICK_SECONDS):
            self.now += TICK_SECONDS

    def end(self) -> None:
        """Stop counting."""
        self._ended.set()
        self._thread.join()


@pytest.fixture
def ticks() -> Iterator[Ticks]:
    ticks = Ticks()
    yield ticks
    ticks.end()
