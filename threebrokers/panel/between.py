"""One line of what happened, and what may have caused it."""

from collections.abc import Sequence
from typing import NamedTuple

from threebrokers.cluster.actions import ACTION_KINDS, Action, action_kind
from threebrokers.kafka.state import ClusterState

# Later than this a change is hardly the action's doing.
CAUSE_SECONDS = 30.0
BREAKING = tuple(kind.name for kind in ACTION_KINDS.values() if kind.takes_away)
MENDING = tuple({kind.undo for kind in ACTION_KINDS.values() if kind.harm})
# A broker that is stopped says so, and is replaced at once. Any other fault must first be noticed.
AT_ONCE = "stop"


class Event(NamedTuple):
    """What happened, and when (s since 1970).

    `kind` is 'action' (done on purpose), 'bad', 'good', 'note', or 'fault' (something could not be done).
    An action was done at this time. All else was seen then and happened before it, after the state before:
    what was seen at one time has no order.
    """

    at: float
    words: str
    kind: str = "note"


def action_event(action: Action) -> Event:
    """Say what was done."""
    words = action_kind(action.kind).sentence.format(action.broker)
    return Event(action.at, f"{words} {action.more}".rstrip(), "action")


class Between(NamedTuple):
    """The time between two states: from when the brokers were asked for the first to the second.

    `actions` are those of that time and of earlier.
    """

    asked: float
    at: float
    actions: Sequence[Action]

    @classmethod
    def of(cls, before: ClusterState, after: ClusterState, actions: Sequence[Action]) -> "Between":
        """Return the time between these two."""
        asked = before.at if before.asked_at is None else before.asked_at
        return cls(asked, after.at, actions)

    def after_breaking(self, broker: int | None) -> str:
        """Say how long after a broker was broken something was seen; empty if that is not its cause.

        It is the cause if it was not undone since, and if the first state came after it, still without the
        change. What is seen at the second happened before it, so the time is an upper bound.
        """
        causes = [
            action
            for action in self._recent(broker, BREAKING)
            if (action.at <= self.asked or action.kind == AT_ONCE) and not self._undone(action)
        ]
        return self._told(causes)

    def after_mending(self, broker: int) -> str:
        """Say how long after a broker was given back something was seen; empty if it was broken since."""
        mended = self._recent(broker, MENDING)
        broken = max((a.at for a in self._recent(broker, BREAKING)), default=0.0)
        return self._told([action for action in mended if action.at > broken])

    def _recent(self, broker: int | None, kinds: Sequence[str]) -> list[Action]:
        since = self.at - CAUSE_SECONDS
        return [a for a in self.actions if a.broker == broker and a.kind in kinds and since < a.at <= self.at]

    def _undone(self, action: Action) -> bool:
        undo = action_kind(action.kind).undo
        return any(action.at < later.at for later in self._recent(action.broker, [undo]))

    def _told(self, causes: Sequence[Action]) -> str:
        if not causes:
            return ""
        last = max(causes, key=lambda action: action.at)
        return f", at most {self.at - last.at:.1f} s after the {last.kind}"
