"""Polling the cluster in the background, at a steady pace."""

import threading
from collections.abc import Callable, Sequence
from time import monotonic

from threebrokers.errors import LabError
from threebrokers.kafka.poller import ClusterPoller
from threebrokers.kafka.state import ClusterState

Subscriber = Callable[[ClusterState], None]


class BackgroundPoller:
    """Polls every so many seconds, in a thread of its own that ends with the program.

    `topics()` and `groups()` are asked before each poll: the names may change (topics: None for all). A
    poll that fails is told in words to `missed`, and the next one comes at its time.
    """

    def __init__(
        self,
        poller: ClusterPoller,
        topics: Callable[[], Sequence[str] | None],
        groups: Callable[[], Sequence[str]] = tuple,
        *,
        every: float,
        missed: Callable[[str], None],
    ) -> None:
        self._poller, self._topics, self._groups, self._every = poller, topics, groups, every
        self._missed = missed
        self._subscribers: list[Subscriber] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="threebrokers-poller", daemon=True)
        self.latest: ClusterState | None = None

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call `subscriber` with every state from now on, in the thread that polls."""
        self._subscribers.append(subscriber)

    def start(self) -> None:
        """Poll for the first time now, and then at the pace."""
        self._thread.start()

    def close(self) -> None:
        """Stop polling, and wait until the last poll has ended (at most 2 s)."""
        self._ended.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=2)

    def _run(self) -> None:
        due = monotonic()
        try:
            while not self._ended.is_set():
                try:
                    self._poll()
                except Exception as fault:  # nobody stands above a thread to show it
                    self._missed(in_words(fault))
                # A poll that took too long is not made up for: the next one comes at the next beat.
                due = max(due + self._every, monotonic())
                self._ended.wait(due - monotonic())
        finally:
            self._poller.close()

    def _poll(self) -> None:
        self.latest = self._poller.poll(self._topics(), self._groups())
        for subscriber in list(self._subscribers):
            subscriber(self.latest)


def in_words(fault: Exception) -> str:
    """Say what was raised: a foreseeable fault in its own sentence, another one with its kind."""
    return str(fault) if isinstance(fault, LabError) else f"{type(fault).__name__}: {fault}"
