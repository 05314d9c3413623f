"""Pain 9 of learners, silent waits: groups that wait for a member that is frozen, or that nobody polls."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import psutil

from threebrokers.doctor.finding import Finding
from threebrokers.kafka.state import ClusterState, GroupState, MemberState, lag
from threebrokers.text import shortened
from threebrokers.waiting import poll
from threebrokers.why_empty.facts import REBALANCING

# A rebalance among members that poll takes less; clients commit every 5 s (auto.commit.interval.ms).
REBALANCE_SECONDS, WATCH_SECONDS = 3.0, 6.0
CLOSE = "close() it, or restart the kernel of the notebook that made it"

Look = Callable[[], ClusterState]


@dataclass(frozen=True)
class Held:
    """Records that wait in a partition which a member of a group holds."""

    group: GroupState
    member: MemberState
    topic: str
    partition: int
    committed: int
    waiting: int


def look_at_rebalances(look: Look, within: float = REBALANCE_SECONDS) -> Finding:
    """Name groups that are still sharing out their partitions after `within` seconds.

    A moment in which no coordinator tells of a group says nothing of it: what was told last holds.
    """
    told: dict[str, GroupState | None] = {}
    for state in poll(look, within):
        told = {g.name: told.get(g.name) if g.coordinator is None else g for g in state.groups}
        stuck = [group for group in told.values() if group and group.state in REBALANCING]
        if not stuck and all(told.values()):
            break
    if not stuck:
        known = sum(group is not None for group in told.values())
        return Finding("groups", True, f"none of {known} waits for a member")
    names = shortened([f"'{g.name}' ({g.state}, {len(g.members)} members)" for g in stuck])
    return Finding(
        "groups",
        False,
        f"group {names} has been sharing out its partitions for {within:g} s, because a member does not call "
        "poll(), or is frozen",
        "call poll() on each of its consumers, and close the forgotten ones: restarting the kernel of the "
        "notebook that made them is enough",
    )


def look_for_forgotten_members(look: Look, within: float = WATCH_SECONDS) -> Finding:
    """Name members that hold records and read none while another of the same name is in the group.

    They are watched for `within` seconds, if there are any: a member that reads commits within 5 s. A moment
    in which nobody tells of a group says nothing of its members, so a busy machine is asked again first, for
    as long.
    """
    for first in poll(look, within):
        if first.last_response_at is not None and not untold(first):
            break
    still = {(h.group.name, h.topic, h.partition): h for h in twins(first)}
    states = iter(poll(look, within) if still else ())
    while still and (state := next(states, None)):
        now = {(h.group.name, h.topic, h.partition): h for h in twins(state)}
        silent = untold(state) | {group.name for group in state.groups if group.state in REBALANCING}
        still = {
            place: h
            for place, h in still.items()
            if state.last_response_at is None
            or place[0] in silent
            or (place in now and now[place].committed == h.committed)
        }
    if not still:
        return Finding("forgotten members", True, "none holds records that it does not read")
    held = next(iter(still.values()))
    return Finding(
        "forgotten members",
        False,
        f"group '{held.group.name}' has {len(held.group.members)} members, several called "
        f"'{held.member.client}', and {held.member.id} reads nothing of {held.topic}-{held.partition}, where "
        f"{held.waiting} records wait: it may be the consumer of a cell that ran twice",
        f"{CLOSE}; consumers made with lab.consumer() are closed for you when their cell runs again",
    )


def untold(state: ClusterState) -> set[str]:
    """Return the groups of which this moment does not tell all: no coordinator answered, or no leader."""
    found = set()
    for group in state.groups:
        committed = {(topic, partition) for topic, partition, _ in group.committed}
        held = [place for member in group.members for place in member.partitions if place in committed]
        if group.coordinator is None or any(lag(state, group, *place) is None for place in held):
            found.add(group.name)
    return found


def twins(state: ClusterState) -> list[Held]:
    """Return what waits in partitions of members that share a client id with another one of their group."""
    found = []
    for group in state.groups:
        names = Counter(member.client for member in group.members)
        committed = {(topic, partition): offset for topic, partition, offset in group.committed}
        for member in group.members:
            for place in member.partitions if names[member.client] > 1 else ():
                waiting = lag(state, group, *place)
                if waiting and not _is_gone(state, *place, committed[place]):
                    found.append(Held(group, member, *place, committed[place], waiting))
    return found


def _is_gone(state: ClusterState, topic: str, partition: int, offset: int) -> bool:
    """Tell whether the log begins behind this offset: who is sent to its end commits nothing there."""
    told = state.topic(topic)
    starts = {p.id: p.log_start_offset or 0 for p in told.partitions} if told else {}
    return offset < starts.get(partition, 0)


def look_for_frozen(ports: Collection[int], own: Collection[int]) -> Finding:
    """Name stopped processes of this machine that are connected to brokers; `own` are the brokers'."""
    frozen = [
        f"process {process.pid} ({process.name()})"
        for process in psutil.process_iter(["status"])
        if process.info["status"] == psutil.STATUS_STOPPED
        and process.pid not in own
        and set(ports) & _connected(process)
    ]
    if not frozen:
        return Finding("frozen clients", True, "none")
    pid = frozen[0].split()[1]
    return Finding(
        "frozen clients",
        False,
        f"{shortened(frozen)} is connected to the brokers and stopped, and its group waits for it until "
        "session.timeout.ms is over",
        f"`kill -CONT {pid}` lets it go on, `kill -KILL {pid}` ends it",
    )


def _connected(process: psutil.Process) -> set[int]:
    try:
        found: Iterable[psutil._common.pconn] = process.net_connections("tcp")
    except psutil.Error:  # it has ended, or is another user's
        return set()
    return {connection.raddr.port for connection in found if connection.raddr}
