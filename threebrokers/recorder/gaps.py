"""What follows from a recording: how long nothing came."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product

from threebrokers.cluster.actions import Action, action_kind
from threebrokers.kafka.state import ClusterState
from threebrokers.recorder.data import KINDS, Burst, Flow, RecordingData

# A pause counts as a gap if it is this many times as long as the flow's usual one.
RHYTHMS = 10
SLACK_RHYTHMS, SLACK_SECONDS = 5, 0.25
# What can only come while somebody sends.
ANSWERS = ("acknowledged", "delivered", "processed")
MEMBER = "member"  # the kind of a pause in which a group's member held no partition
WORDS = {
    "sent": "anything sent",
    "acknowledged": "an acknowledgement",
    "failed": "a failure",
    "delivered": "a delivery",
    "processed": "anything processed",
    "leader": "a leader",
    "quorum": "an active controller",
    MEMBER: "a partition",
}


@dataclass(frozen=True)
class Gap:
    """A time without something: `start` in s since 1970, `seconds` long.

    `kind` is "sent", "acknowledged", "failed", "delivered" or "processed" (between two records of one
    client and partition), "leader" (of a partition), "quorum" (its leader) or "member" (a member of a group
    held no partition). `after` is the last thing that was done to a broker before it. `over` is False if it
    lasted until the recording's end.
    """

    kind: str
    start: float
    seconds: float
    after: Action | None = None
    client: str = ""
    topic: str = ""
    partition: int | None = None
    over: bool = True

    @property
    def place(self) -> str:
        """Where it was, for people: for example "consumer 1, orders-0"."""
        partition = "" if self.partition is None else f"-{self.partition}"
        return ", ".join(part for part in (self.client, f"{self.topic}{partition}") if part)

    @property
    def words(self) -> str:
        """How long it was without what, for people: for example "1.95 s without a delivery"."""
        more = "" if self.over else " or more"
        return f"{self.seconds:.2f} s{more} without {WORDS[self.kind]}"

    def __str__(self) -> str:
        place = f" ({self.place})" if self.place else ""
        after = f", after {self.after.words}" if self.after else ""
        return f"{self.words}{place}{after}"

    __repr__ = __str__


def silences(recording: RecordingData, kinds: Collection[str] = KINDS) -> list[Gap]:
    """Return every pause between two bursts of every flow of these kinds, also the short ones, by time.

    A flow that never came back, while something was still sent, has a last pause that is not over.
    """
    found = [gap for flow in recording.flows if flow.kind in kinds for gap in _pauses(recording, flow)]
    return sorted(found, key=lambda gap: gap.start)


# After something was taken away, a pause of so many usual ones and so many seconds is worth a number too.
SHORT_RHYTHMS, SHORT_SECONDS = 3, 0.1
SOON_SECONDS = 2.0  # so soon it begins, or it is not the action's doing


def after_harm(recording: RecordingData) -> list[Gap]:
    """Return the longest pauses of acknowledgements and deliveries after each action that takes something.

    A clean stop is followed by one that is short, and beside the others that is what it has to show.
    """
    pauses = silences(recording, ("acknowledged", "delivered"))
    harm = [action for action in recording.actions if action_kind(action.kind).harm]
    found = []
    for action, kind in product(harm, ("acknowledged", "delivered")):
        fitting = [
            gap
            for gap in pauses
            if gap.kind == kind and gap.after == action and gap.start - action.at < SOON_SECONDS
        ]
        if fitting:
            longest = max(fitting, key=lambda gap: gap.seconds)
            if longest.seconds >= SHORT_SECONDS and unusual(recording, longest, SHORT_RHYTHMS):
                found.append(longest)
    return found


def unusual(recording: RecordingData, gap: Gap, rhythms: float = RHYTHMS) -> bool:
    """Tell whether this pause is so many times as long as its flow's usual ones."""
    place = (gap.kind, gap.client, gap.topic, gap.partition)
    flows = [f for f in recording.flows if (f.kind, f.client, f.topic, f.partition) == place]
    return all(gap.seconds >= rhythms * flow.rhythm() for flow in flows)


def with_action(recording: RecordingData, gap: Gap, rhythm: float = 0.0) -> Gap:
    """Return the gap with what was done last before it; `rhythm` (s) is how long its start is uncertain.

    The last record may have come a little before the action that silenced the next one. On a busy machine it
    came earlier: a pause that follows nothing, and in whose first quarter something was taken away, is
    that one's.
    """
    late = min(max(SLACK_RHYTHMS * rhythm, SLACK_SECONDS), gap.seconds / 2)
    before = [action for action in recording.actions if action.at <= gap.start + late]
    if not before or gap.start - before[-1].at > SOON_SECONDS:
        first = gap.start + late, gap.start + gap.seconds / 4
        inside = (action for action in recording.actions if first[0] < action.at <= first[1])
        before += [action for action in inside if action_kind(action.kind).harm][:1]
    return replace(gap, after=before[-1] if before else None)


def since(gap: Gap, action: Action) -> Gap | None:
    """Return what a gap had left when this was done; None if not in it, or it is this or a later action's."""
    end = gap.start + gap.seconds
    known = gap.after is not None and gap.after.at >= action.at
    if known or not gap.start < action.at < end:
        return None
    return replace(gap, start=action.at, seconds=round(end - action.at, 3), after=action)


def _pauses(recording: RecordingData, flow: Flow) -> Iterator[Gap]:
    rhythm = flow.rhythm()

    def gap(start: float, end: float, over: bool) -> Gap:
        seconds = round(end - start, 3)
        found = Gap(flow.kind, start, seconds, None, flow.client, flow.topic, flow.partition, over)
        return with_action(recording, found, rhythm)

    yield from (gap(start, end, True) for start, end in flow.pauses())
    last = flow.bursts[-1].last
    if flow.kind in ANSWERS and (still := _still(recording, flow)) > last:
        yield gap(last, still, False)


def _still(recording: RecordingData, flow: Flow) -> float:
    """Return until when a record was on its way that this flow could have told of; 0 if none was.

    Who has an answer for each of its records has only ended, whatever others still send to the topic.
    """
    of_topic = [other for other in recording.flows if other.topic == flow.topic]
    acknowledged = [f for f in of_topic if (f.kind, f.partition) == ("acknowledged", flow.partition)]
    own = {f.client for f in acknowledged} if flow.kind != "acknowledged" else {flow.client}
    sent = [f for f in of_topic if f.kind == "sent" and (not own or f.client in own)]
    answered = [f for f in of_topic if f.kind in ("acknowledged", "failed") and f.client in own]
    if own and sum(f.records for f in sent) <= sum(f.records for f in answered):
        sent = acknowledged if flow.kind != "acknowledged" else []
    return max((f.bursts[-1].last for f in sent), default=0.0)


# So much of a silence may lie beside the own program's, and it is still only the answer to that.
BESIDE = 0.1


def own_silence(recording: RecordingData, gap: Gap) -> bool:
    """Tell whether nothing came because the own program sent nothing to that topic.

    A program that sent nothing because it waited for an answer is not the cause: the answer came meanwhile.
    """
    if gap.kind == "sent":
        return True
    sent = _bursts(recording, gap.topic, "sent")
    if gap.kind not in ANSWERS or not sent:
        return False
    end, late = gap.start + gap.seconds, max(SLACK_SECONDS, BESIDE * gap.seconds)
    times = (at for burst in sent for at in (burst.first, burst.last))
    within = [gap.start, *sorted(at for at in times if gap.start < at < end), end]
    begin, stop = max(pairwise(within), key=lambda pause: pause[1] - pause[0])
    answers = _bursts(recording, gap.topic, "acknowledged", "failed")
    waited = any(begin + late < burst.first <= stop for burst in answers)
    return stop - begin >= (1 - BESIDE) * gap.seconds and not waited


def _bursts(recording: RecordingData, topic: str, *kinds: str) -> list[Burst]:
    return [b for flow in recording.flows if flow.kind in kinds and flow.topic == topic for b in flow.bursts]


# A process that is so serves nobody. One that only did not answer may be busy, so nothing follows from that.
GONE = ("down", "paused")


def leaderless(recording: RecordingData) -> list[Gap]:
    """Return when nobody led the quorum or a partition, as far as the states show, in order of time."""
    places = {
        (p.topic, p.id) for state in recording.states for topic in state.topics for p in topic.partitions
    }
    # If nobody answered, nobody said that there is none.
    told = [s for s in recording.states if s.quorum_leader is not None or s.last_response_at in (None, s.at)]
    spans = _spans(told, recording.ended, lambda state: serving(state, state.quorum_leader) is None)
    found = [Gap("quorum", start, seconds, over=over) for start, seconds, over in spans]
    for topic, number in sorted(places):
        nobody = partial(nobody_leads, topic=topic, partition=number)
        spans = _spans(recording.states, recording.ended, nobody)
        found += [Gap("leader", at, length, None, "", topic, number, over) for at, length, over in spans]
    return sorted((with_action(recording, gap) for gap in found), key=lambda gap: gap.start)


def serving(state: ClusterState, leader: int | None) -> int | None:
    """Return the leader that the metadata names, or None if its process is down or paused."""
    broker = state.broker(leader) if leader is not None else None
    return None if broker is not None and broker.state in GONE else leader


def nobody_leads(state: ClusterState, topic: str, partition: int) -> bool:
    """Tell whether this partition is there and has no leader that can serve."""
    found = state.topic(topic)
    told = next((p for p in found.partitions if p.id == partition), None) if found else None
    return told is not None and serving(state, told.leader) is None


def _spans(
    states: Iterable[ClusterState], ended: float, true: Callable[[ClusterState], bool]
) -> Iterator[tuple[float, float, bool]]:
    """Yield (start, seconds, over) of each time during which this was true in every state."""
    start: float | None = None
    for state in states:
        if true(state):
            start = state.at if start is None else start
        elif start is not None:
            yield start, round(state.at - start, 3), True
            start = None
    if start is not None:
        yield start, round(ended - start, 3), False
