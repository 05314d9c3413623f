"""What happened since the watching began: states and actions go in as they come, events come out in order."""

from bisect import insort
from collections.abc import Iterable

from threebrokers import clock
from threebrokers.cluster.actions import Action
from threebrokers.cluster.link_faults import apart_since
from threebrokers.kafka.elections import Elections
from threebrokers.kafka.state import ClusterState, remembering
from threebrokers.panel.events import Event, action_event, changes

MOST = 60


class Story:
    """The events since the first state. An action may be told late: it is put where its time belongs."""

    def __init__(self) -> None:
        self.begun: float | None = None
        self.actions: list[Action] = []
        self.state: ClusterState | None = None
        self.seen_topics: list[str] = []
        self._events: list[Event] = []
        self._elections = Elections()

    @property
    def events(self) -> list[Event]:
        """The latest events, oldest first, at most 60."""
        return self._events[-MOST:]

    def see(self, state: ClusterState) -> None:
        """Take the next state."""
        if self.begun is None:
            self.begun = state.at
        unclean = self._elections.see(state, apart_since(self.actions, state.at))
        state = remembering(self.state, state)
        self._add(changes(self.state, state, self.actions, unclean))
        self.state = state
        self.seen_topics += [t.name for t in state.topics if t.name not in self.seen_topics]

    def hear(self, action: Action) -> None:
        """Take something that was done to a broker."""
        self.actions.append(action)
        self._add([action_event(action)])

    def tell(self, event: Event) -> None:
        """Take a line from elsewhere."""
        self._add([event])

    def tell_once(self, fault: str) -> None:
        """Take a fault that may come with every state: it is told again when the line before has gone."""
        if fault not in (event.words for event in self.events):
            self.tell(Event(clock.now(), fault, "fault"))

    def _add(self, more: Iterable[Event]) -> None:
        for event in more:
            insort(self._events, event, key=lambda e: e.at)
        del self._events[: -2 * MOST]
