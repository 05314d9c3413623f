"""A live panel: a poller asks, a story remembers, and what is pressed is done in the background."""

import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any, Protocol

from threebrokers import clock
from threebrokers.cluster.action_log import ActionReader
from threebrokers.cluster.actions import Action, action_kind
from threebrokers.cluster.link_faults import Fault
from threebrokers.errors import LabError
from threebrokers.kafka.access import Access
from threebrokers.kafka.background import BackgroundPoller, in_words
from threebrokers.kafka.poller import ClusterPoller
from threebrokers.kafka.state import ClusterState
from threebrokers.notebook import running_cell
from threebrokers.panel.events import Event
from threebrokers.panel.frame import Frame, Scene, frame
from threebrokers.panel.history import Story
from threebrokers.panel.widget import Panel
from threebrokers.waiting import poll

EVERY_SECONDS = 0.5
FIRST_SECONDS = 2.0


class Breakable(Protocol):
    """What a panel needs of a cluster: a poller, and buttons that say what they cost."""

    @property
    def access(self) -> Access | None: ...
    def poller(self) -> ClusterPoller: ...
    def quorum_impacts(self) -> dict[int, str]: ...
    def action_reader(self) -> ActionReader: ...
    def faults(self) -> list[Fault]: ...
    def start(self, broker: int) -> None: ...
    def resume(self, broker: int) -> None: ...
    def stop(self, broker: int, *, force: bool = False) -> None: ...
    def kill(self, broker: int, *, force: bool = False) -> None: ...
    def pause(self, broker: int, *, force: bool = False) -> None: ...
    def cut(self, broker: int, *, force: bool = False) -> None: ...
    def heal(self, broker: int) -> None: ...


class Live:
    """Keeps one panel up to date until it ends. Topics: these, or all but Kafka's own if None."""

    def __init__(
        self, cluster: Breakable, topics: Sequence[str] | None, groups: Sequence[str], big: bool = False
    ) -> None:
        self._cluster, self._topics = cluster, topics
        self._story = Story()
        self._drawing = threading.RLock()
        self._busy: dict[int, str] = {}
        self._missed = ""
        self._buttons = cluster.access is None  # nobody breaks what is another's
        self._costs: tuple[Any, dict[int, str]] = (None, {})
        self._ends = ExitStack()
        self.panel = Panel(self._press, self._ends.close, big)
        self.panel.observe(lambda change: self._draw(), "opened")
        with ExitStack() as undone:  # who cannot see the brokers, or is interrupted, leaves nothing behind
            undone.callback(self.panel.close)
            self._actions = cluster.action_reader()
            self._ends.callback(self._actions.close)
            self._begin(undone, groups)
            undone.pop_all()

    def _begin(self, undone: ExitStack, groups: Sequence[str]) -> None:
        """Look for the first time, and then in the background; `undone` closes what does that if it fails."""
        with suppress(LabError):  # then nobody carries the links, and brokers tell that by themselves
            # Nobody knows since when.
            broken = self._cluster.faults()
            self._story.actions += [Action(0.0, f.effect, f.broker, f.words) for f in broken]
        poller, topics = self._cluster.poller(), self._topics
        undone.callback(poller.close)
        self._see(_first_state(poller, topics, groups))  # so that the panel shows something from the start
        background = BackgroundPoller(
            poller, lambda: topics, lambda: groups, every=EVERY_SECONDS, missed=self._miss
        )
        self._ends.callback(background.close)
        background.subscribe(self._see)
        background.start()

    def _see(self, state: ClusterState) -> None:
        if self._topics is None:
            own = tuple(t for t in state.topics if not t.name.startswith("__"))
            state = replace(state, topics=own)
        with self._drawing:
            self._read_actions()
            self._story.see(state)
            if self._missed:
                self._story.tell(Event(state.at, "the brokers are seen again", "good"))
            self._missed = ""
            self._draw()

    def _read_actions(self) -> None:
        """Take what was done to the brokers since the last time, by this panel or by any other program."""
        for action in self._actions.read():
            self._story.hear(action)
            self._costs = (None, {})

    def _miss(self, words: str) -> None:
        with self._drawing:
            self._read_actions()
            if not self._missed:
                self._story.tell(Event(clock.now(), f"the brokers cannot be seen: {words}", "fault"))
            self._missed = words
            self._draw()

    def _draw(self) -> None:
        """Draw what is known. A fault stands among the events: who did something must not get it."""
        with self._drawing:
            state = self._story.state
            if state is None or self.panel.ended:
                return
            try:
                self._count_costs(state)
                self.panel.frame = self._frame(state)
            except Exception as fault:
                self._story.tell_once(f"the panel could not be drawn: {in_words(fault)}")

    def _count_costs(self, state: ClusterState) -> None:
        states = [b.state for b in state.brokers]
        if self._costs[0] == states:
            return
        try:
            self._costs = (states, self._cluster.quorum_impacts())
        except Exception as fault:
            self._costs = (None, {})
            self._story.tell_once(f"what the buttons cost is not known: {in_words(fault)}")

    def _frame(self, state: ClusterState) -> Frame:
        story = self._story
        return frame(
            state,
            Scene(
                begun=story.begun or state.at,
                events=story.events,
                actions=story.actions,
                topics=self._topics or story.seen_topics,
                opened=self.panel.opened,
                costs=self._costs[1],
                busy=self._busy,
                buttons=self._buttons,
                now=clock.now() if self._missed else None,
                missed=self._missed,
            ),
        )

    def _press(self, kind: str, broker: int, force: bool) -> None:
        with self._drawing:
            if broker in self._busy:
                return
            self._busy[broker] = action_kind(kind).doing
            self._draw()
        # In a thread of its own: stopping takes seconds, and the panel goes on meanwhile.
        threading.Thread(target=self._do, args=(kind, broker, force), daemon=True).start()

    def _do(self, kind: str, broker: int, force: bool) -> None:
        more = {"force": force} if action_kind(kind).takes_away else {}
        try:
            getattr(self._cluster, kind)(broker, **more)
        except Exception as fault:  # nobody stands above a pressed button to show it
            with self._drawing:
                words = f"could not {kind} broker {broker}: {in_words(fault)}"
                self._story.tell(Event(clock.now(), words, "fault"))
        finally:
            with self._drawing:
                self._busy.pop(broker, None)
                self._read_actions()
                self._draw()


def _first_state(poller: ClusterPoller, topics: Sequence[str] | None, groups: Sequence[str]) -> ClusterState:
    """Poll until every running broker has answered, at most 2 s: a busy machine may need a second try."""
    for state in poll(lambda: poller.poll(topics, groups), FIRST_SECONDS):
        if all(broker.state != "unknown" for broker in state.brokers):
            break
    return state


class Panels:
    """The panels of one cluster. A cell that runs again has its earlier panel closed first."""

    def __init__(self) -> None:
        self._made: list[tuple[tuple[str, int], Panel]] = []

    def watch(
        self,
        cluster: Breakable,
        topics: Sequence[str] | None = None,
        groups: Sequence[str] = (),
        big: bool = False,
    ) -> Panel:
        """Return a new panel that watches these topics (all but Kafka's own if None) and groups.

        With `big` its letters are half as large again, for a room.
        """
        cell, run = running_cell()
        kept = []
        for (by, when), panel in self._made:
            if cell and by == cell and when != run:
                panel.close()
            else:
                kept.append(((by, when), panel))
        self._made = kept
        panel = Live(cluster, topics, groups, big).panel
        self._made.append(((cell, run), panel))
        return panel

    def end(self) -> None:
        """Stop all panels; their last pictures stay."""
        for _, panel in self._made:
            panel.end()
