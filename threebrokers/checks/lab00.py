"""Checks of lab 00: what is a Kafka cluster?"""

import signal

from threebrokers import cells
from threebrokers.cluster.actions import Action, action_kind
from threebrokers.kafka.log_reader import read_log
from threebrokers.kafka.state import TopicState
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotAttempted, NotYet, eventually, exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.outage import no_answer
from threebrokers.panel import Panel
from threebrokers.program import Program

BROKER = 2
PANEL = "the buttons in the panel above; run the exercise's cell again to begin anew"
SYNC_SECONDS, END_SECONDS = 8.0, 1.0
# What a broker writes into its log when it has started, and when a signal asks it to stop.
STARTED, POLITE = "Kafka Server started", "Terminating process due to signal"
ENDED = {
    "before its end (killed": (
        "the clock should live until it has written the line",
        "the order of your lines: wait for the line, then kill",
    ),
    "runs no more (ended by itself)": (
        "the clock should be killed before its end, as soon as the line is there",
        "what your code waits for before it kills the clock",
    ),
}


@exercise("0.1", "Kill broker 2")
def broker_killed(lab: Lab, panel: Panel) -> str:
    """Broker 2 was killed since the panel was made, and all three are there again."""
    actions = _of_the_learner(lab.cluster.actions(panel.since))
    _killed(actions, "" if _ended_by_us(actions) else _ended_otherwise(lab, actions))
    for broker, process in lab.cluster.processes().items():
        if process.state != "up":
            still = "still " if broker == BROKER else ""
            raise NotYet(f"broker {broker} is {still}{process.state}", "all three should be up", PANEL)
    topic = eventually(lambda: _back(lab), what="broker 2 to have all records again", within=SYNC_SECONDS)
    # Who has given leadership back since, or opened the lab anew, is told only what can still be seen.
    moved = topic is not None and any(
        p.replicas[0] == BROKER and p.leader not in (None, BROKER) for p in topic.partitions
    )
    took = "another broker took over the partition that it led, and " if moved else ""
    return f"{took}broker 2 is in sync again; a cluster of three goes on without one of them."


def _of_the_learner(actions: list[Action]) -> list[Action]:
    """Leave out what the lesson's own cells did: the one of prediction 0.a kills broker 2, too."""
    history = cells.history()
    given = [run for run in history.runs if run.cell.startswith("code-")] if history else []
    return [
        action
        for action in actions
        if not any(run.began <= action.at <= (run.ended or action.at) for run in given)
    ]


def _ended_by_us(actions: list[Action]) -> bool:
    return any(action.broker == BROKER and action.kind in ("stop", "kill") for action in actions)


def _ended_otherwise(lab: Lab, actions: list[Action]) -> str:
    """Return "kill" or "stop" if the system's own commands have ended broker 2, as its log tells, else ""."""
    lives = lab.cluster.log(BROKER).read_text(encoding="utf-8", errors="replace").split(STARTED)
    if lab.cluster.processes()[BROKER].state == "down":
        return "stop" if POLITE in lives[-1] else "kill"
    # Who starts a broker that nobody has stopped here has ended it with kill(1), or from another program.
    started = any(action.broker == BROKER and action.kind == "start" for action in actions)
    if len(lives) > 2 and started:
        return "stop" if POLITE in lives[-2] else "kill"
    return ""


def _killed(actions: list[Action], otherwise: str = "") -> None:
    """Raise NotYet, with what was done instead, unless broker 2 was killed.

    `otherwise` is how it was ended if not by an action.
    """
    done = {action.kind for action in actions if action.broker == BROKER} | {otherwise} - {""}
    killed = [action.broker for action in actions if action.kind == "kill"]
    if not otherwise and not any(action_kind(action.kind).takes_away for action in actions):
        raise NotAttempted("Exercise 0.1 is not attempted yet: press kill on broker 2 in the panel above.")
    if "kill" in done:
        return
    if killed:
        raise NotYet(f"you killed broker {killed[0]} and not broker 2", "broker 2 is the one to kill", PANEL)
    if "stop" in done:
        found = "broker 2 was stopped politely, so it could give its work to the others first"
        raise NotYet(found, "this time it should not be able to: kill it", PANEL)
    if "pause" in done:
        raise NotYet("broker 2 was only paused, and its process is the same as before", "kill it", PANEL)
    if any(action_kind(kind).harm and action_kind(kind).on_links for kind in done):
        found = "only the links of broker 2 were broken, and its process is the same as before"
        raise NotYet(found, "kill it", PANEL)
    raise NotYet("broker 2 was not killed", "it should have been, and have come back", PANEL)


def _back(lab: Lab) -> TopicState | None:
    name = lab.topic("ticks")
    state = lab.cluster.state([name])
    if state.last_response_at is None:
        raise no_answer(lab)
    found = state.topic(name)
    if any(fault.broker == BROKER or BROKER in fault.peers for fault in lab.cluster.faults()):
        raise NotYet(
            "broker 2 is up, and its links to the others are broken",
            "they should be whole, so that it gets all records again",
            "the triangle in the panel: press heal; run the exercise's cell again to begin anew",
        )
    if found is not None and any(BROKER not in p.isr for p in found.partitions):
        raise NotYet(
            "broker 2 is up and not yet in sync",
            "its replica of each partition should be complete again",
            "the panel: wait for the last line, then run the check again",
        )
    return found


@exercise("0.2", "Kill a program", errors=ENDED)
def clock_killed(lab: Lab, clock: Program, line: str) -> str:
    """The clock's process was killed after its third tick; the line about it is its own."""
    if clock.name != "clock":
        raise NotYet(
            f"this is the program {clock.name!r}", "it should be the clock", "`clock`, in the first line"
        )
    if len(line.splitlines()) > 1:
        found = "`line` holds more than one line"
        raise NotYet(found, "it should be the one about tick 3", "what `wait_for` returns")
    if not _about_tick_3(line):
        found = f"`line` is {line!r}, which is not about tick 3"
        raise NotYet(found, "it should be", "what `wait_for` waits for")
    _judge_end(clock)
    lines = [text.strip() for text in clock.output.splitlines()]
    if not any(map(_about_tick_3, lines)):
        found = "the clock has not written that line in this try: it was killed before tick 3"
        raise NotYet(found, "wait for the line first", "`clock.wait_for`, and the order of your lines")
    if line.strip() not in lines:
        found = f"`line` is {line!r}, which is no line that the clock has written"
        raise NotYet(found, "it should come from the program", "what `wait_for` returns")
    kept = _all_kept(lab, lines)
    rest = "every tick that was acknowledged to it is in the topic" if kept else "the brokers go on"
    return f"its process is gone at once, and {rest}."


def _all_kept(lab: Lab, lines: list[str]) -> bool:
    """Tell whether each tick that the clock knows to be acknowledged is in the topic, written in this try."""
    name, run = lab.topic("ticks"), attempt()
    if lab.cluster.state([name]).topic(name) is None:
        return False  # the lab was opened anew
    began = 1000 * run.began if run else 0.0
    kept = {r.value.decode() for r in read_log(lab.bootstrap, name) if r.value and r.timestamp >= began}
    said = {text.removeprefix("acknowledged: ") for text in lines if text.startswith("acknowledged: ")}
    return bool(said) and said <= kept


def _about_tick_3(line: str) -> bool:
    return line.split()[-2:] == ["tick", "3"]


def _judge_end(clock: Program) -> None:
    """Raise NotYet unless the clock was killed."""

    def ended() -> None:
        if clock.exit_code is None:
            raise NotYet(
                "the clock still runs",
                "it should have been killed",
                "what `clock` can do besides waiting; a method runs only with brackets behind its name",
            )

    eventually(ended, what="the clock to end", within=END_SECONDS)
    if clock.state == "ended by itself":
        found = "the clock ended by itself, after its last tick"
        raise NotYet(found, "it should be killed before", "`clock.kill`")
    if clock.state.startswith("failed"):
        found = "the clock failed before you killed it"
        raise NotYet(found, "it should run", "what it has written, under its cell")
    if clock.exit_code != -signal.SIGKILL:
        asked = "asked to stop" if clock.state.startswith("stopped") else clock.state
        found = f"the clock was not killed: it was {asked}"
        raise NotYet(found, "a kill gives it no time to close anything", "`clock.kill`")
