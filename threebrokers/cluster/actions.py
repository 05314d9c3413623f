"""What is done to brokers on purpose: a table of its kinds, and one action as a plain value."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """What somebody did to a broker on purpose; `kind` is the name of an ActionKind.

    `at` (s since 1970) is just before it was done; `more` is for people, for example "from clients".
    """

    at: float
    kind: str
    broker: int
    more: str = ""

    @property
    def words(self) -> str:
        """What was done, for people: for example "kill broker 1"."""
        return f"{self.kind} broker {self.broker}"


@dataclass(frozen=True)
class ActionKind:
    """One kind of action. Its name is that of the method of Cluster which does it.

    `sentence` says of a broker what was done to it, `past` how the broker is then, and `doing` what goes on
    meanwhile. `undo` names the kind that takes its effect back. `leaves` is the state of the broker's process
    after it, or empty if it is done to links. `button_in` are the states of a broker in which a panel has a
    button for it; for links it also depends on whether they are whole. `takes_away` tells whether the others
    may miss the broker then: so, if that costs the quorum, it must be asked for with `force`.
    """

    name: str
    past: str
    doing: str
    sentence: str
    undo: str = ""
    leaves: str = ""
    button_in: tuple[str, ...] = ()
    takes_away: bool = False

    @property
    def harm(self) -> bool:
        """Whether it takes something away that can be given back."""
        return bool(self.undo)

    @property
    def on_links(self) -> bool:
        """Whether it is done to the links of a broker, and its process goes on as before."""
        return not self.leaves


_RUNS = ("up", "unknown")
_PROCESS_KINDS = (
    ActionKind(
        "stop",
        past="stopped",
        doing="stopping …",
        sentence="you stopped broker {}",
        undo="start",
        leaves="down",
        button_in=_RUNS,
        takes_away=True,
    ),
    ActionKind(
        "kill",
        past="killed",
        doing="killing …",
        sentence="you killed broker {}",
        undo="start",
        leaves="down",
        button_in=(*_RUNS, "paused"),
        takes_away=True,
    ),
    ActionKind(
        "pause",
        past="paused",
        doing="pausing …",
        sentence="you paused broker {}",
        undo="resume",
        leaves="paused",
        button_in=_RUNS,
        takes_away=True,
    ),
    ActionKind(
        "resume",
        past="resumed",
        doing="waking …",
        sentence="you let broker {} go on",
        leaves="up",
        button_in=("paused",),
    ),
    ActionKind(
        "start",
        past="started",
        doing="starting …",
        sentence="you started broker {}",
        leaves="up",
        button_in=("down",),
    ),
)
_LINK_KINDS = (
    ActionKind(
        "cut",
        past="cut off",
        doing="cutting off …",
        sentence="you cut broker {} off",
        undo="heal",
        button_in=_RUNS,
        takes_away=True,
    ),
    ActionKind(
        "stall",
        past="links stalled",
        doing="stalling links …",
        sentence="you stalled the links of broker {}",
        undo="heal",
        takes_away=True,
    ),
    ActionKind(
        "slow",
        past="links slowed",
        doing="slowing links …",
        sentence="you slowed the links of broker {} down",
        undo="heal",
    ),
    ActionKind(
        "heal",
        past="links mended",
        doing="mending links …",
        sentence="you mended the links of broker {}",
        button_in=(*_RUNS, "paused", "down"),
    ),
)
ACTION_KINDS = {kind.name: kind for kind in (*_PROCESS_KINDS, *_LINK_KINDS)}


def hindered(actions: Iterable[Action], broker: int, at: float) -> Action | None:
    """Return what was done last to a broker's links and not mended at this time; None if they are whole."""
    last: Action | None = None
    for action in sorted(actions, key=lambda action: action.at):
        kind = action_kind(action.kind)
        if action.broker == broker and action.at <= at and kind.on_links:
            last = action if kind.harm else None
    return last


# A start that leads to a silence comes this long before it at most (s): states are seen twice a second.
STARTED_SECONDS = 2.0


def last_action(actions: Iterable[Action], broker: int, at: float) -> Action | None:
    """Return what was done last to a broker until this time; None if nothing was."""
    done = (action for action in actions if action.broker == broker and action.at <= at)
    return max(done, key=lambda action: action.at, default=None)


def was_started(actions: Iterable[Action], broker: int, since: float, at: float) -> bool:
    """Tell whether a broker that is silent since then was started just before: it needs some seconds."""
    last = last_action(actions, broker, at)
    return last is not None and last.kind == "start" and since <= last.at + STARTED_SECONDS


def action_kind(name: str) -> ActionKind:
    """Return the kind of this name; one that is not in the table (a recording may hold it) harms nobody."""
    return ACTION_KINDS.get(name) or ActionKind(name, name, f"{name} …", f"you did '{name}' to broker {{}}")
