"""Record what happens while a block of code runs."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Self

from confluent_kafka import Message

from threebrokers import clock
from threebrokers.cluster import Cluster
from threebrokers.cluster.action_log import ActionReader
from threebrokers.cluster.actions import Action
from threebrokers.errors import LabError
from threebrokers.kafka.background import BackgroundPoller
from threebrokers.kafka.clients import Clients, LabConsumer, LabProducer
from threebrokers.kafka.state import ClusterState, remembering
from threebrokers.recorder.counters import Notes
from threebrokers.recorder.data import Mark, Missed, RecordingData
from threebrokers.recorder.interceptors import listen
from threebrokers.recorder.recording import Recording
from threebrokers.waiting import quiet_wait

EVERY_SECONDS = 0.1
FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS = 3.0, 1.0


class Recorder(Recording):
    """A recording that is made from the beginning of its `with` block to the end, and can be asked meanwhile.

    It asks the brokers ten times a second, reads in the home's log what is done to them, and notes what the
    lab's clients in this program do. Without names: the topics that these clients use, and
    the groups of its consumers.
    """

    def __init__(
        self, cluster: Cluster, clients: Clients, topics: Sequence[str] = (), groups: Sequence[str] = ()
    ) -> None:
        self._cluster, self._clients, self._topics, self._groups = cluster, clients, topics, groups
        self._notes, self._names, self._ends = Notes(), Counter[str](), ExitStack()
        self._states, self._actions, self._marks = list[ClusterState](), list[Action](), list[Mark]()
        self._missed = list[Missed]()
        self._reader: ActionReader | None = None
        self._reading = threading.Lock()
        self._began: float | None = None
        self._whole: RecordingData | None = None

    @property
    def data(self) -> RecordingData:
        """What was recorded so far, as one plain value. Raises LabError before the beginning."""
        if self._began is None:
            raise LabError("This recording has not begun", "write `with lab.record() as recording:`")
        if self._whole is not None:
            return self._whole
        self._read_actions()
        return RecordingData(
            began=self._began,
            ended=round(clock.now(), 3),
            states=tuple(self._states),
            actions=tuple(sorted(self._actions, key=lambda action: action.at)),
            marks=tuple(self._marks),
            flows=self._notes.flows(),
            missed=tuple(self._missed),
            holdings=self._notes.holdings(),
        )

    @property
    def begun(self) -> bool:
        """Whether its `with` block has begun."""
        return self._began is not None

    def mark(self, words: str) -> None:
        """Write a note of your own on the recording, at this moment."""
        self._marks.append(Mark(round(clock.now(), 3), words))

    def processed(self, message: Message) -> None:
        """Note that the work for a message is done."""
        self._notes.tally("", "processed", str(message.topic()), message.partition()).add(
            clock.now(), offset=message.offset()
        )

    def __enter__(self) -> Self:
        if self._began is not None:
            raise LabError("This recording has begun before", "make a new one with `lab.record()`")
        self._began = round(clock.now(), 3)
        background = BackgroundPoller(
            self._cluster.poller(), self._watched, self._members, every=EVERY_SECONDS, missed=self._miss
        )
        background.subscribe(self._look)
        with ExitStack() as ends:  # Ctrl-C while it waits ends all that has begun
            self._reader = self._cluster.action_reader()
            ends.callback(self._reader.close)
            ends.callback(self._keep)
            ends.callback(self._clients.listen(self._listen))
            ends.callback(background.close)
            background.start()
            # What is done first in the block must find the recording running.
            quiet_wait(lambda: self._states, FIRST_LOOK_SECONDS)
            self._ends = ends.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                now = clock.now()
                quiet_wait(lambda: self._seen_since(now), LAST_LOOK_SECONDS)
        finally:  # also after Ctrl-C meanwhile: otherwise it would go on for the kernel's life
            self._ends.close()
        if kind is None and self._missed and not self._states:
            raise LabError(f"The recording has not seen the brokers: {self._missed[0].words}")

    def _seen_since(self, at: float) -> bool:
        """Tell whether the brokers were asked after this time: what was done last must be seen, too."""
        looked = self._states and (self._states[-1].asked_at or 0.0) >= at
        return bool(looked or (self._missed and self._missed[-1].end >= at))

    def _keep(self) -> None:
        self._whole = self.data

    def _watched(self) -> Sequence[str]:
        return self._topics or self._notes.topics()

    def _members(self) -> Sequence[str]:
        named = [client.config.get("group.id") for client in self._clients.made(LabConsumer)]
        return self._groups or sorted({str(name) for name in named if name})

    def _look(self, state: ClusterState) -> None:
        self._read_actions()
        self._states.append(remembering(self._states[-1] if self._states else None, state))

    def _miss(self, words: str) -> None:
        self._read_actions()
        now, since = round(clock.now(), 3), self._states[-1].at if self._states else self._began or 0.0
        if self._missed and self._missed[-1].start == since:
            self._missed[-1] = replace(self._missed[-1], end=now)
        else:
            self._missed.append(Missed(since, now, words))

    def _read_actions(self) -> None:
        """Take what was done to the brokers since the last time, by any program; not what began before."""
        with self._reading:  # the observer and who asks for `data` may come at once
            for action in self._reader.read() if self._reader else ():
                if self._began is not None and (at := round(action.at, 3)) >= self._began:
                    self._actions.append(replace(action, at=at))

    def _listen(self, client: LabProducer | LabConsumer) -> Callable[[], None]:
        kind = "producer" if isinstance(client, LabProducer) else "consumer"

        def name() -> str:
            # Counted when it does something: clients of earlier cells that do nothing have no number.
            self._names[kind] += 1
            return str(client.config.get("client.id") or f"{kind} {self._names[kind]}")

        return listen(client, name, self._notes)
