"""What followed each action of a recording, in one sentence an action."""

from collections.abc import Callable, Iterator, Sequence

from threebrokers.cluster.actions import Action, action_kind
from threebrokers.kafka.elections import UncleanElection
from threebrokers.kafka.state import ClusterState, PartitionState
from threebrokers.recorder.data import RecordingData
from threebrokers.recorder.gaps import Gap, own_silence
from threebrokers.recorder.topic_lanes import election_told, partitions_of
from threebrokers.text import counted

Place = tuple[str, int]
# What clients felt; when nobody led is told of the partitions.
FELT = ("acknowledged", "delivered", "processed")


def effects(
    recording: RecordingData, gaps: Sequence[Gap], unclean: Sequence[UncleanElection] = ()
) -> Iterator[tuple[Action, str]]:
    """Yield each action with what was done and what came of it before the next one, as far as it was seen.

    A silence of the own program is nobody's answer to it.
    """
    others = [gap for gap in gaps if not own_silence(recording, gap)]
    ends = [*(action.at for action in recording.actions[1:]), recording.ended]
    for action, end in zip(recording.actions, ends, strict=False):
        done = f"{action.words} {action.more}".rstrip()
        came = [
            *_of_leaders(recording, action, end),
            *(election_told(one) for one in unclean if action.at < one.at <= end),
            *_of_clients(action, others),
        ]
        yield action, done + (f": {'; '.join(came)}" if came else "")


def _of_clients(action: Action, gaps: Sequence[Gap]) -> Iterator[str]:
    for kind in FELT:
        longest = max(
            (gap for gap in gaps if gap.kind == kind and gap.after == action),
            key=lambda gap: gap.seconds,
            default=None,
        )
        if longest:
            yield longest.words


def _of_leaders(recording: RecordingData, action: Action, end: float) -> Iterator[str]:
    before = [state for state in recording.states if state.at <= action.at]
    after = [state for state in recording.states if action.at < state.at <= end]
    if not before or not after:
        return
    broker, last = action.broker, before[-1]
    if action_kind(action.kind).takes_away:
        led = [place for place, p in _places(last).items() if p.leader == broker]
        moved = {place: at for place in led if (at := _first(after, place, _led_by_another(broker)))}
        if moved:
            of = "" if len(moved) == len(led) else f" for {len(moved)} of {counted(len(led), 'partition')}"
            leaders = "a new leader" if len(led) == 1 else "new leaders"
            yield f"{leaders}{of} at most {max(moved.values()) - action.at:.1f} s later"
    else:
        missing = [
            place for place, p in _places(last).items() if broker in p.replicas and broker not in p.isr
        ]
        back = {place: at for place in missing if (at := _first(after, place, lambda p: broker in p.isr))}
        if missing and len(back) == len(missing):
            yield f"in sync again at most {max(back.values()) - action.at:.1f} s later"


def _led_by_another(broker: int) -> Callable[[PartitionState], bool]:
    return lambda p: p.leader not in (None, broker)


def _first(
    states: Sequence[ClusterState], place: Place, true: Callable[[PartitionState], bool]
) -> float | None:
    """Return when this was first seen to be true of a partition; None if it was not."""
    return next((s.at for s in states if (p := _places(s).get(place)) and true(p)), None)


def _places(state: ClusterState) -> dict[Place, PartitionState]:
    return {(p.topic, p.id): p for topic in state.topics for p in partitions_of(state, topic.name)}
