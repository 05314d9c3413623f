"""A recording, played again in the same panel: no cluster is needed, and none is touched."""

from bisect import bisect_right
from collections.abc import Sequence

from threebrokers.cluster.actions import Action
from threebrokers.cluster.link_faults import apart_since
from threebrokers.errors import LabError
from threebrokers.kafka.elections import Elections
from threebrokers.kafka.state import ClusterState, remembering
from threebrokers.panel.events import Event, action_event, events
from threebrokers.panel.frame import Scene, frame
from threebrokers.panel.history import MOST
from threebrokers.panel.widget import Panel


def replay(states: Sequence[ClusterState], actions: Sequence[Action] = ()) -> Panel:
    """Return a panel with a slider that plays these states. Raises LabError if there are none."""
    if not states:
        raise LabError("This recording holds no state of the cluster, so there is nothing to play.")
    return _Replay(states, actions).panel


class _Replay:
    def __init__(self, states: Sequence[ClusterState], actions: Sequence[Action]) -> None:
        self._states: list[ClusterState] = []
        self._actions = sorted(actions, key=lambda a: a.at)
        self._events: list[Event] = []
        elections = Elections()
        for state in sorted(states, key=lambda s: s.at):
            before = self._states[-1] if self._states else None
            unclean = elections.see(state, apart_since(self._actions, state.at))
            self._states.append(remembering(before, state))
            self._events += events(before, self._states[-1], self._actions, unclean)
        self._begun = self._states[0].at
        self._topics = list(dict.fromkeys(t.name for state in self._states for t in state.topics))
        self.panel = Panel()
        self.panel.times = [round(state.at - self._begun, 2) for state in self._states]
        self.panel.marks = [
            [round(action.at - self._begun, 2), action_event(action).words]
            for action in self._actions
            if self._begun <= action.at <= self._states[-1].at
        ]
        self.panel.observe(lambda change: self._draw(), ["opened", "position"])
        self._draw()

    def _draw(self) -> None:
        position = min(max(0, self.panel.position), len(self._states) - 1)
        state = self._states[position]
        self.panel.frame = frame(
            state,
            Scene(
                begun=self._begun,
                events=self._events[: bisect_right(self._events, state.at, key=lambda e: e.at)][-MOST:],
                actions=[action for action in self._actions if action.at <= state.at],
                topics=self._topics,
                opened=self.panel.opened,
                buttons=False,
            ),
        )
