"""Checks of lab 00: what is a Kafka cluster?"""

from threebrokers.cluster.actions import action_kind
from threebrokers.lab.exercise import NotAttempted, NotYet, eventually, exercise
from threebrokers.lab.lab import Lab
from threebrokers.panel import Panel
from threebrokers.predictions import Prediction
from threebrokers.program import Program

TOPICS = ("ticks", "notes")
GROUPS = ()
BROKER = 2
PANEL = "the buttons in the panel above; run the exercise's cell again to begin anew"


@exercise("0.1", "Kill broker 2")
def broker_killed(lab: Lab, panel: Panel) -> str:
    """Broker 2 was killed since the panel was made, and all three are there again."""
    actions = lab.cluster.actions(panel.since)
    done = {action.kind for action in actions if action.broker == BROKER}
    killed = [action.broker for action in actions if action.kind == "kill"]
    if not any(action_kind(action.kind).takes_away for action in actions):
        raise NotAttempted("Exercise 0.1 is not attempted yet: press *kill* on broker 2 in the panel above.")
    if "kill" not in done and killed:
        raise NotYet(f"you killed broker {killed[0]} and not broker 2", "broker 2 is the one to kill", PANEL)
    if "stop" in done and "kill" not in done:
        found = "broker 2 was stopped politely, so it could give its work to the others first"
        raise NotYet(found, "this time it should have no time for that: kill it", PANEL)
    if "pause" in done and "kill" not in done:
        raise NotYet("broker 2 was only paused, and its process is the same as before", "kill it", PANEL)
    for broker, process in lab.cluster.processes().items():
        if process.state != "up":
            still = "still " if broker == BROKER else ""
            raise NotYet(f"broker {broker} is {still}{process.state}", "all three should be up", PANEL)
    if "kill" not in done:
        raise NotYet("broker 2 was not killed", "it should have been, and have come back", PANEL)
    eventually(lambda: _back(lab), what="broker 2 to have copied what it missed", within=15)
    return "the other two led its partitions while it was away, and it has copied what it had missed."


@exercise("0.2", "Choose a prediction")
def prediction_chosen(lab: Lab, guess: Prediction) -> str:
    """An answer was chosen, and the experiment was run after that."""
    look = "the cell with the question: run it again, choose, then run the cell after it"
    if guess.name != "0.a":
        raise NotYet("this is another question", "it should be the one about the 100 notes", look)
    if guess.late and guess.chosen is None:
        raise NotYet("your answer came after the run", "a prediction comes before it", look)
    if guess.chosen is None:
        raise NotAttempted(
            "Exercise 0.2 is not attempted yet: run the cell with the question, press a button, then go on."
        )
    if guess.truth is None:
        raise NotYet("the experiment has not run", "it shows whether you were right", "the cell above")
    return "you said what you expected before you knew, so you know now what you had in mind."


@exercise("0.3", "Kill a program")
def clock_killed(lab: Lab, clock: Program, line: str) -> str:
    """The clock's process was killed after its third tick."""
    if clock.name != "clock":
        raise NotYet(
            f"this is the program {clock.name!r}", "it should be the clock", "`clock`, in the first line"
        )
    if len(line.splitlines()) > 1:
        found = "`line` holds more than one line"
        raise NotYet(found, "it should be the one about tick 3", "what `wait_for` returns")
    if line.split()[-2:] != ["tick", "3"]:
        raise NotYet(f"{line!r} is not about tick 3", "it should be", "what `wait_for` waits for")
    if clock.exit_code is None:
        raise NotYet(
            "the clock still runs", "it should have been killed", "what `clock` can do besides waiting"
        )
    if clock.state == "ended by itself":
        raise NotYet(
            "the clock ended by itself, after its last tick", "it should be killed before", "`clock.kill`"
        )
    if clock.state != "ended by SIGKILL":
        found = f"the clock was not killed: it was {_asked(clock.state)}"
        raise NotYet(found, "a kill gives it no time to close anything", "`clock.kill`")
    return "its process is gone at once, and this page, the brokers and what was stored are not."


def _asked(state: str) -> str:
    return "asked to stop" if state.startswith("stopped") else state


def _back(lab: Lab) -> None:
    found = lab.cluster.state([lab.topic("ticks")]).topic(lab.topic("ticks"))
    if found is None or any(BROKER not in p.isr for p in found.partitions):
        raise NotYet(
            "broker 2 is up and not yet in sync",
            "its replica of each partition should be complete again",
            "the panel: wait for the last line, then run the check again",
        )
