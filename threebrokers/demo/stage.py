"""The brokers as a demo uses them: what its acts do, share and record, and how all is mended at the end."""

import importlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from typing import Any, TypeVar

from confluent_kafka import KafkaException

from threebrokers.cluster import Cluster
from threebrokers.demo.lines import Line
from threebrokers.demo.script import Script
from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.names import Names
from threebrokers.lab.opening import join_lab
from threebrokers.panel.widget import Panel
from threebrokers.recorder import Recorder, Recording

T = TypeVar("T")


class Stage:
    """Three running brokers, and what the acts of one demo keep for each other (`kept`).

    `recordings` holds the recording of each act that was done. Only the topics and groups of the demo are
    made, and they are deleted at the end.
    """

    recorded = False

    def __init__(self, number: str, script: Script) -> None:
        self.lab: Lab = join_lab(number, secrets.token_hex(3))
        self.cluster: Cluster = self.lab.cluster
        self.script = script
        self.kept: dict[str, Any] = {}
        self.recordings: dict[str, Recording] = {}
        self._acts = importlib.import_module(f"threebrokers.demo.acts.lab{number}")
        self._ends = ExitStack()
        self._seen: Callable[[dict[str, Any]], None] = lambda frame: None
        self._panel: Panel | None = None

    @property
    def groups(self) -> list[str]:
        """The full names of the demo's groups."""
        return [self.lab.group(name) for name in self.script.groups]

    @property
    def topics(self) -> list[str]:
        """The full names of the demo's topics."""
        return [self.lab.topic(name) for name in self.script.topics]

    def watch(self, seen: Callable[[dict[str, Any]], None]) -> None:
        """Call `seen` with each frame of a live panel, from a thread of its own, until the end."""
        self._seen = seen
        self._panel = self.lab.watch(*self.topics, group=self.groups)
        self._panel.observe(lambda change: seen(change.new), "frame")
        seen(self._panel.frame)

    def perform(self, act: str, ended: Callable[[], bool] = lambda: False) -> Iterator[Line]:
        """Do an act, and yield what it tells; `ended` says whether nobody wants the rest of it."""
        with closing(getattr(self._acts, act)(self)) as lines:  # so what it has begun ends here
            for line in lines:
                if ended():
                    return
                yield line

    def enter(self, what: AbstractContextManager[T]) -> T:
        """Begin something that goes on in the acts that follow, until the demo is at rest again."""
        return self._ends.enter_context(what)

    @contextmanager
    def record(self, act: str, topics: Sequence[str]) -> Iterator[Recorder]:
        """Record an act, with the demo's groups."""
        with self.lab.record(*topics, groups=self.groups) as recording:
            self.recordings[act] = recording
            yield recording

    def recording(self, act: str) -> Recording | None:
        """Return the recording of an act that was done; else None."""
        return self.recordings.get(act)

    def rest(self) -> None:
        """End what the acts have begun, bring all brokers back, and forget what was measured."""
        try:
            self._ends.close()
        finally:
            self.lab.programs.close()
            self.kept, self.recordings = {}, {}
            self.cluster.recover()

    def end(self) -> None:
        """Be at rest, and delete the demo's topics and groups."""
        try:
            self.rest()
        finally:
            with suppress(LabError, KafkaException):  # brokers that are gone have nothing to delete
                self.lab.clear(Names(topics=list(self.script.topics), groups=list(self.script.groups)))
            self.lab.close()
