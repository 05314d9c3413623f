"""A member joins a group while another one is busy, for lab 07: who stops, and for how long?"""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.members import UNTIL_SECONDS, Stream, Team
from threebrokers.waiting import quiet_wait

if TYPE_CHECKING:
    from threebrokers.recorder import Recorder, Recording

PARTITIONS = 12
# How long C stays busy when the others have felt that D has come: on a busy machine that takes its time.
BUSY_SECONDS = 1.2
OTHERS, BUSY, NEW = ("A", "B"), "C", "D"
JOINS, FREE = f"{NEW} joins", f"{BUSY} is free again"
STOPPED, FIRST, FREED = "A and B stop for", f"{NEW} gets its first record after", f"{BUSY} is free after"

_JOINED: "WeakKeyDictionary[Recording, dict[str, Any]]" = WeakKeyDictionary()


def newcomer(lab: Lab, settings: Mapping[str, Any]) -> "Recorder":
    """Let D join a group of A, B and C while C is busy with one record; return a recording of that.

    The topic `calls` has twelve partitions and gets 600 records a second. All members have these settings.
    """
    if not isinstance(settings, Mapping):
        raise LabError(
            f"`settings` is {settings!r:.60}", "it should be a dictionary of the members' settings"
        )
    recording = newcomers(lab, {"": settings})
    _JOINED[recording] = dict(settings)
    return recording


def joined_with(recording: "Recording") -> dict[str, Any] | None:
    """Return the settings with which `newcomer` has made a recording; None if another has made it."""
    return _JOINED.get(recording)


def newcomers(lab: Lab, teams: Mapping[str, Mapping[str, Any]]) -> "Recorder":
    """Do what `newcomer` does with several groups at once, each with settings of its own, by their names."""
    topic = lab.fresh_topic("calls", partitions=PARTITIONS)
    run = time.time_ns()
    with ExitStack() as open_ones:
        all_teams = [
            open_ones.enter_context(
                Team(lab, topic, f"{lab.group('calls')}-{run}-{number}", settings, called=name)
            )
            for number, (name, settings) in enumerate(teams.items())
        ]
        for team in all_teams:
            for name in (*OTHERS, BUSY):
                team.join(name)
        for team in all_teams:
            team.settle()
        open_ones.enter_context(Stream(lab, topic))
        with lab.record(topic) as recording:
            _join(lab, all_teams, recording)
    return recording


def _join(lab: Lab, teams: list[Team], recording: "Recorder") -> None:
    """Let C of each team be busy, and D join; wait until all have their new share."""
    for team in teams:
        lab.wait_until(partial(_all_handle, team), what="records for each member")
    ended = count()

    def note() -> None:
        # Each C is free at a slightly other time, and no D may have waited for a later one than its own. A
        # member writes it down itself: who waits for it sees it late on a busy machine.
        if next(ended) == 0:
            recording.mark(FREE)

    for team in teams:
        team[BUSY].give(BUSY_SECONDS, until=lambda: all(map(_felt, teams)), then=note)
    for team in teams:
        team[BUSY].busy(lab)
    recording.mark(JOINS)
    for team in teams:
        team.join(NEW)
    free = f"{BUSY} to end its task"
    lab.wait_until(lambda: all(team[BUSY].works for team in teams), what=free, within=UNTIL_SECONDS + 5)
    for team in teams:
        team.settle()
    quiet_wait(lambda: all(team[NEW].handled for team in teams), 2)


def _felt(team: Team) -> bool:
    """Tell whether D's coming had the effect for which C is busy: D works, or A and B have stopped."""
    if team.way == "consumer":
        return NEW in team.members and bool(team[NEW].handled)
    return team.way == "cooperative" or not any(team[name].held for name in OTHERS)


def _all_handle(team: Team) -> bool:
    return all(member.handled for member in team.members.values())


def who_stopped(recording: "Recording", team: str = "") -> dict[str, float]:
    """Return how long (s) the others held no partition, and what happened how long after the newcomer came.

    `A and B stop for` is the longer one of both.
    """
    flows = recording.data.flows
    began, free = (next(m.at for m in recording.data.marks if m.words == words) for words in (JOINS, FREE))
    stopped = [recording.longest_gap("member", client=f"{team} {name}".strip()).seconds for name in OTHERS]
    new = f"{team} {NEW}".strip()
    first = [flow.bursts[0].first for flow in flows if (flow.kind, flow.client) == ("delivered", new)]
    return {
        STOPPED: max(stopped),
        FIRST: round(min(first, default=recording.data.ended) - began, 3),
        FREED: round(free - began, 3),
    }
