"""Looking at the bench in the background, at a steady pace."""

import threading
from collections.abc import Callable, Sequence
from time import monotonic

from threebrokers.errors import LabError
from threebrokers.kafka.poller import Looker
from threebrokers.kafka.state import ClusterState

Hearer = Callable[[ClusterState], None]


class Observer:
    """Looks every so many seconds, in a thread of its own that ends with the program.

    `topics()` and `groups()` are asked before each look: the names may change (topics: None for all). A
    look that fails is told in words to `missed`, and the next one comes at its time.
    """

    def __init__(
        self,
        looker: Looker,
        topics: Callable[[], Sequence[str] | None],
        groups: Callable[[], Sequence[str]] = tuple,
        *,
        every: float,
        missed: Callable[[str], None],
    ) -> None:
        self._looker, self._topics, self._groups, self._every = looker, topics, groups, every
        self._missed = missed
        self._hearers: list[Hearer] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="threebrokers-observer", daemon=True)
        self.latest: ClusterState | None = None

    def hear(self, hearer: Hearer) -> None:
        """Call `hearer` with every Sight from now on, in the observer's thread."""
        self._hearers.append(hearer)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Stop looking, and wait until the last look has ended (at most 2 s)."""
        self._ended.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=2)

    def _run(self) -> None:
        due = monotonic()
        try:
            while not self._ended.is_set():
                try:
                    self._look()
                except Exception as fault:  # nobody stands above a thread to show it
                    self._missed(in_words(fault))
                # A look that took too long is not made up for: the next one comes at the next beat.
                due = max(due + self._every, monotonic())
                self._ended.wait(due - monotonic())
        finally:
            self._looker.close()

    def _look(self) -> None:
        self.latest = self._looker.look(self._topics(), self._groups())
        for hearer in list(self._hearers):
            hearer(self.latest)


def in_words(fault: Exception) -> str:
    """Say what was raised: a foreseeable fault in its own sentence, another one with its kind."""
    return str(fault) if isinstance(fault, LabError) else f"{type(fault).__name__}: {fault}"
