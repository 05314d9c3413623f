"""What lab 04's check says of a group whose coordinator died."""

from threebrokers.checks.expect import committed
from threebrokers.checks.expect_actions import expect_action
from threebrokers.cluster.actions import Action
from threebrokers.kafka.state import ClusterState, GroupState
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.recorder import Recording

ASK = "coordinator_of(lab, group)"
FIRST, MORE = 20, 20  # records that the group has read before, and reads after the kill
KILL = f"lab.cluster.kill({ASK}) inside `with takeover:`"


def judge_coordinator(lab: Lab, recording: Recording, next_one: int) -> None:
    """Raise NotYet unless the group's coordinator was killed on the recording and another one took over."""
    expect_action(lab, "kill", KILL)
    if "readers-" not in (group := _group_of(recording)):
        raise NotYet(
            "the recording did not record the group",
            "it should see it all the time",
            "with takeover: and the lines that should be recorded",
        )
    killed = next((action for action in recording.actions if action.kind == "kill"), None)
    if killed is None:
        raise NotYet("nobody was killed while the recording ran", "the coordinator should die in it", KILL)
    # Nobody can be elected sooner than a session lasts, so what is seen just after the kill was so before.
    soon = [seen.coordinator for s in recording.states if s.at < killed.at + 1 and (seen := _seen(s, group))]
    was = soon[0] if soon else None
    if was is not None and was != killed.broker:
        raise NotYet(
            f"broker {killed.broker} did not coordinate the group {group!r}"
            f"{_work_of(recording, killed, lab.topic('readings'))}",
            f"that is the broker which keeps the offsets of just this group; it was broker {was}",
            f"{ASK}, with the whole name of the group, which `group` holds",
        )
    now = {told.coordinator for told in lab.cluster.state([], [group]).groups if told.coordinator is not None}
    if next_one == killed.broker:
        back = killed.broker in now
        again = ": it is back, and coordinates again" if back else ""
        raise NotYet(
            f"`next_one` is the broker that you killed{again}",
            "it should be the one that took over" if back else "another one is the coordinator now",
            f"{ASK}, asked after the kill" + (" and before the broker is started again" if back else ""),
        )
    took = {seen.coordinator for s in recording.states if s.at > killed.at and (seen := _seen(s, group))}
    if next_one not in (now | took) - {killed.broker} and now:
        raise NotYet(f"the coordinator is not broker {next_one}", "it should be the one that took over", ASK)
    topic = lab.topic("readings")
    offset = committed(lab, group, topic).get(0, 0)
    # As with the coordinator: what the group commits after the kill, it commits with the next one.
    until = (s for s in recording.states if s.at < killed.at + 1)
    before = max([FIRST, *(_committed(s, group, topic) for s in until)])
    if offset < before + MORE:
        raise NotYet(
            f"the group had committed offset {before} when its coordinator died, and {offset} in the end",
            f"it should go on to {before + MORE} or more after the kill",
            "read_and_commit(lab, reader) after the kill",
        )


def _group_of(recording: Recording) -> str:
    states = recording.states if recording.begun else ()
    return next((group.name for state in states for group in state.groups), "")


def _seen(state: ClusterState, group: str) -> GroupState | None:
    return next((g for g in state.groups if g.name == group and g.coordinator is not None), None)


def _committed(state: ClusterState, group: str, topic: str) -> int:
    places = (place for g in state.groups if g.name == group for place in g.committed)
    return max((offset for name, _, offset in places if name == topic), default=0)


def _work_of(recording: Recording, killed: Action, topic: str) -> str:
    """Say for what else a learner could have taken this broker; "" if nothing is known."""
    before = [state for state in recording.states if state.at < killed.at]
    seen = [found for state in before if (found := state.topic(topic)) is not None]
    if seen and seen[-1].partitions[0].leader == killed.broker:
        return ": it leads the partition of 'readings'"
    controllers = [state.quorum_leader for state in before if state.quorum_leader is not None]
    return ": it was the active controller" if controllers[-1:] == [killed.broker] else ""
