"""Four members share a topic, and one after the other is closed, killed, and hangs."""

from collections.abc import Callable, Iterator

from threebrokers.demo.lines import Line, doing, fact, truth
from threebrokers.demo.stage import Stage
from threebrokers.lab.scenarios import Stream, Team

PATIENCE = {"session.timeout.ms": 2000, "max.poll.interval.ms": 3000}
CLERK = """
settings = {{"session.timeout.ms": 2000, "max.poll.interval.ms": 3000, "heartbeat.interval.ms": 200}}
clerk = lab.consumer({{"group.id": {group!r}, "client.id": "clerk", **settings}})
clerk.subscribe([{topic!r}], on_assign=lambda consumer, places: print("at work:", len(places)))
while True:
    clerk.poll(0.1)
"""
HANG_SECONDS, CALM_RECORDS, PARTITIONS = 8.0, 50, 6


def begin(stage: Stage) -> Iterator[Line]:
    """Start four members; one is a program of its own, so that it can be killed."""
    yield doing(
        "Making a topic of six partitions, and four members. Waiting until they share it (30 s at most)."
    )
    topic = stage.lab.fresh_topic("tickets", partitions=PARTITIONS, replication_factor=3)
    [group] = stage.groups
    clerk = stage.lab.programs.run("clerk", CLERK.format(group=group, topic=topic))
    clerk.wait_for("at work", within=30)
    team = stage.enter(Team(stage.lab, topic, group, PATIENCE))
    stage.kept |= {"team": team, "clerk": clerk, "waited": {}}
    team.grow(3, beside=1)
    stage.enter(Stream(stage.lab, topic))
    with stage.record("begin", [topic]):
        member = team["A"]
        wanted = member.handled + CALM_RECORDS
        stage.lab.wait_until(lambda: member.handled >= wanted, what="records for A", within=30)
        yield fact("members", "A, B, C and the clerk")
        yield fact("partitions of A, B and C", " · ".join(str(len(team[name].held)) for name in "ABC"))


def close(stage: Stage) -> Iterator[Line]:
    """Let B close its consumer."""
    yield from _goes(stage, "close", "B", stage.kept["team"]["B"].leave)


def kill(stage: Stage) -> Iterator[Line]:
    """Kill the clerk's process."""
    yield from _goes(stage, "kill", "clerk", stage.kept["clerk"].kill)


def hang(stage: Stage) -> Iterator[Line]:
    """Let C work on one record for 8 s; then all three times are known."""
    team: Team = stage.kept["team"]
    yield from _goes(stage, "hang", "C", lambda: team["C"].busy(stage.lab, HANG_SECONDS))
    closed, killed, hung = (seconds.missed for seconds in stage.kept["waited"].values())
    found = "3 s" if closed < killed < hung and 2.8 < hung < 7 else ""
    yield truth("7.b", found)


def _goes(stage: Stage, how: str, name: str, leave: Callable[[], object]) -> Iterator[Line]:
    team: Team = stage.kept["team"]
    with stage.record(how, stage.topics) as recording:
        stays = team["A"]
        wanted = stays.handled + CALM_RECORDS
        stage.lab.wait_until(lambda: stays.handled >= wanted, what="records for A", within=30)
        recording.mark(f"{name}: {how}")
        yield doing("Waiting until the others hold all six partitions (30 s at most).")
        seconds = team.take_over(name, leave)
        stage.kept["waited"][how] = seconds
        yield fact(f"the partitions of {name} waited for", seconds.held)
        # Who hangs has not heard yet that its partitions are others' now.
        left = {one: len(team[one].held) for one in "ABC" if one != name and team[one].held}
        # The others hold all: what these do not hold, the clerk does, which is a program of its own.
        left |= {"clerk": rest} if (rest := PARTITIONS - sum(left.values())) else {}
        yield fact("partitions now", ", ".join(f"{member}: {count}" for member, count in left.items()))
