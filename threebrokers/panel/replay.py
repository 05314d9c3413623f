"""A recording, played again in the same panel: no cluster is needed, and none is touched."""

from bisect import bisect_right
from collections.abc import Sequence

from threebrokers.cluster.actions import Action
from threebrokers.errors import LabError
from threebrokers.kafka.state import ClusterState
from threebrokers.panel.events import Event, action_event, events
from threebrokers.panel.frame import Scene, frame
from threebrokers.panel.history import MOST, remembering
from threebrokers.panel.widget import Panel


def replay(sights: Sequence[ClusterState], actions: Sequence[Action] = ()) -> Panel:
    """Return a panel with a slider that plays these looks. Raises LabError if there are none."""
    if not sights:
        raise LabError("This recording holds no look at the cluster, so there is nothing to play.")
    return _Replay(sights, actions).panel


class _Replay:
    def __init__(self, sights: Sequence[ClusterState], actions: Sequence[Action]) -> None:
        self._sights: list[ClusterState] = []
        self._actions = sorted(actions, key=lambda a: a.at)
        self._events: list[Event] = []
        for sight in sorted(sights, key=lambda s: s.at):
            before = self._sights[-1] if self._sights else None
            self._sights.append(remembering(before, sight))
            self._events += events(before, self._sights[-1], self._actions)
        self._begun = self._sights[0].at
        self._topics = list(dict.fromkeys(t.name for sight in self._sights for t in sight.topics))
        self.panel = Panel()
        self.panel.times = [round(sight.at - self._begun, 2) for sight in self._sights]
        self.panel.marks = [
            [round(action.at - self._begun, 2), action_event(action).words]
            for action in self._actions
            if self._begun <= action.at <= self._sights[-1].at
        ]
        self.panel.observe(lambda change: self._draw(), ["opened", "position"])
        self._draw()

    def _draw(self) -> None:
        position = min(max(0, self.panel.position), len(self._sights) - 1)
        sight = self._sights[position]
        self.panel.frame = frame(
            sight,
            Scene(
                begun=self._begun,
                events=self._events[: bisect_right(self._events, sight.at, key=lambda e: e.at)][-MOST:],
                actions=[action for action in self._actions if action.at <= sight.at],
                topics=self._topics,
                opened=self.panel.opened,
                buttons=False,
            ),
        )
