"""A state as the panel draws it: plain dicts, lists, texts and numbers. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from threebrokers.cluster.actions import ACTION_KINDS, Action, action_kind, hindered, last_action, was_started
from threebrokers.cluster.link_faults import broken
from threebrokers.kafka.state import BrokerState, ClusterState, PartitionState
from threebrokers.panel.cells import group_frame, topic_frame
from threebrokers.panel.events import Event, quorum_left
from threebrokers.panel.links import Side, is_broken, link_words, sides
from threebrokers.panel.text import words
from threebrokers.text import duration
from threebrokers.theme import links_look, state_look

Frame = dict[str, Any]

# So many partitions are drawn at once; with more, a topic shows them when it is opened.
OPEN_PARTITIONS = 40
# With more topics than these, those in which all is well share one line.
SINGLE_TOPICS = 8


@dataclass(frozen=True)
class Scene:
    """What the panel knows besides a state.

    `begun` is when the watching began. `topics` are names whose place is kept, seen or not. `opened`
    holds topics that a reader opened or closed. `costs` says what ending a broker would cost, `busy`
    what is being done to it now. `missed` says why nothing could be seen at `now`: the state is older then.
    """

    begun: float
    events: Sequence[Event] = ()
    actions: Sequence[Action] = ()
    topics: Sequence[str] = ()
    opened: Mapping[str, bool] = field(default_factory=dict)
    costs: Mapping[int, str] = field(default_factory=dict)
    busy: Mapping[int, str] = field(default_factory=dict)
    now: float | None = None
    missed: str = ""
    buttons: bool = True


def frame(state: ClusterState, scene: Scene) -> Frame:
    """Return everything that is drawn of one state; it can be written as JSON."""
    names = [*scene.topics, *(t.name for t in state.topics if t.name not in scene.topics)]
    partitions = [p for topic in state.topics for p in topic.partitions]
    many = len(names) > SINGLE_TOPICS
    opened = not many and len(partitions) <= OPEN_PARTITIONS
    starting = {broker.id for broker in state.brokers if _starts(state, broker, scene)}
    links, hurt = sides(state, scene.actions), {fault.broker for fault in broken(scene.actions, state.at)}
    told = [_blind(scene), words(state, starting), *_links(state, scene, links)]
    return {
        "time": f"{(scene.now or state.at) - scene.begun:.1f} s",
        "alarm": _blind(scene) or _alarm(state),
        "brokers": [_broker(state, b, scene, b.id in starting, b.id in hurt) for b in state.brokers],
        "links": {"sides": links, "words": link_words(links)},
        "many": many,
        "topics": [topic_frame(state, name, scene.opened.get(name, opened), starting) for name in names],
        "groups": [group_frame(state, group) for group in state.groups],
        "events": list(_lines(scene)),
        "sums": _sums(partitions, len(state.topics)),
        "buttons": scene.buttons,
        "words": "\n".join(filter(None, told)),
    }


def _lines(scene: Scene) -> Iterator[Frame]:
    """Yield the events. What was seen in one look has no order, so its time stands only once."""
    seen: float | None = None
    for event in scene.events:
        again = event.kind != "action" and event.at == seen
        seen = None if event.kind == "action" else event.at
        at = "" if again else f"{max(0.0, event.at - scene.begun):.1f} s"
        yield {"at": at, "words": event.words, "kind": event.kind}


def _links(state: ClusterState, scene: Scene, drawn: Sequence[Side]) -> Iterator[str]:
    """Say whose links are not whole."""
    for broker in state.brokers:
        if broker.state == "up" and (links := hindered(scene.actions, broker.id, state.at)):
            yield f"Broker {broker.id}: {links_look(links.kind).word} {links.more}".rstrip() + "."
    if is_broken(drawn):
        yield f"{link_words(drawn).capitalize()}."


# With so many topics their sum is worth a line.
SEVERAL = 3


def _sums(partitions: Sequence[PartitionState], topics: int) -> str:
    """Say how all topics are together; empty for a few."""
    if topics < SEVERAL:
        return ""
    alone = sum(p.leader is None for p in partitions)
    short = sum(len(p.isr) < len(p.replicas) for p in partitions)
    trouble = [f"{alone} without a leader"] * bool(alone) + [f"{short} with replicas out of sync"] * bool(
        short
    )
    return f"{topics} topics, {len(partitions)} partitions: {', '.join(trouble) or 'all replicas in sync'}"


def _blind(scene: Scene) -> str:
    """Say that nothing of the picture is of this moment; empty if it is."""
    return f"The brokers cannot be seen, this is how they were: {scene.missed}" if scene.missed else ""


def _alarm(state: ClusterState) -> str:
    """Say what makes the whole picture doubtful or the whole cluster unable; empty if nothing does."""
    if state.last_response_at is None:
        return "No broker has answered yet"
    if state.at - state.last_response_at > 1:
        silent = duration(state.at - state.last_response_at)
        return f"No broker has answered for {silent}: topics and groups are shown as they were then"
    if quorum_left(state) is not None:
        return "The quorum is lost: nothing can be elected until another broker returns"
    return ""


def _starts(state: ClusterState, broker: BrokerState, scene: Scene) -> bool:
    """Tell whether a broker that does not answer was started just now: it needs some seconds."""
    if broker.state != "unknown":
        return False
    started = was_started(scene.actions, broker.id, broker.since, state.at)
    return started or scene.busy.get(broker.id) == action_kind("start").doing


def _broker(
    state: ClusterState, broker: BrokerState, scene: Scene, starting: bool, broken_links: bool
) -> Frame:
    partitions = [p for topic in state.topics for p in topic.partitions]
    leads = sum(p.leader == broker.id for p in partitions)
    live = broker.state in ("up", "unknown")
    links = hindered(scene.actions, broker.id, state.at) if broker.state == "up" else None
    name = "starting" if starting else broker.state
    look = links_look(links.kind) if links else state_look(name)
    return {
        "id": broker.id,
        "state": broker.state,
        "look": "cut" if links else name,
        "sign": look.sign,
        "word": look.word,
        "address": broker.address or "no address yet",
        "note": _note(state, broker, scene.actions, starting),
        "leads": f"leads {leads} of {len(partitions)} partitions",
        "memory": f"{broker.rss / 1e6:.0f} MB" if broker.rss else "no process",
        "quorum": broker.id == state.quorum_leader,
        "cost": scene.costs.get(broker.id, "") if live else "",
        "busy": scene.busy.get(broker.id, ""),
        # Which buttons do something, and which of them cost what; their places never change.
        "can": sorted(_can(broker, broken_links)),
        "costly": sorted(kind.name for kind in ACTION_KINDS.values() if kind.takes_away),
    }


def _can(broker: BrokerState, broken_links: bool) -> Iterator[str]:
    for kind in ACTION_KINDS.values():
        if broker.state in kind.button_in and (not kind.on_links or kind.harm != broken_links):
            yield kind.name


def _note(state: ClusterState, broker: BrokerState, actions: Sequence[Action], starting: bool) -> str:
    """Say what the state alone does not: since when, by whom, or that the others do not know it yet."""
    last = last_action(actions, broker.id, state.at)
    kind = action_kind(last.kind) if last else None
    passed = duration(state.at - broker.since)
    told = state.last_response_at is not None and state.last_response_at >= state.at
    match broker.state:
        case "up":
            apart = ["the others do not count it"] if told and not broker.registered else []
            links = hindered(actions, broker.id, state.at)
            return "; ".join(([links.more] if links and links.more else []) + apart)
        case "unknown" if starting:
            since = f" {duration(state.at - last.at)} ago" if last and last.kind == "start" else ""
            return f"started by you{since}, no answer yet"
        case "unknown":
            return f"silent for {passed}"
        case word:
            mine = kind is not None and kind.leaves == word
            by = f"{kind.past} by you" if kind and mine else "gone" if word == "down" else word
            ago = duration(state.at - last.at) if last and mine else passed
            missed = "; still counted by the others" if told and broker.registered else ""
            return f"{by} {ago} ago{missed}"
