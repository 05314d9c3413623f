"""Record the demos anew, on brokers in a home of their own: what they play where no broker can start."""

import argparse
import sys
from dataclasses import replace

from threebrokers import clock
from threebrokers.cluster import Cluster
from threebrokers.demo.played import Played, Told, path_of, save
from threebrokers.demo.script import numbers, script
from threebrokers.demo.stage import Stage
from threebrokers.errors import LabError
from threebrokers.recorder.data import RecordingData
from tools import ROOT
from tools.proof import environment
from tools.slides.outputs import truth

TRIES = 3  # a busy machine may need more than one
NOBODY_SECONDS = 1.0  # then a panel says that nobody answers, which no act means


def recorded(number: str) -> dict[str, Played]:
    """Do all acts of a demo, one after the other, and return what was seen. Raises LabError."""
    stage, acts = Stage(number, script(number)), {}
    try:
        for act in stage.script.acts:
            told = tuple(Told(round(clock.now(), 3), line) for line in stage.perform(act))
            recording = stage.recording(act)
            if recording is None:
                raise LabError(f"The act {act!r} of demo {number} recorded nothing.")
            acts[act] = Played(_without_others(_undisturbed(act, recording.data), stage.groups), told)
            for one in told:
                print(f"  {act}: {one.line.words} {one.line.value}".rstrip())
    finally:
        try:
            stage.end()
        except LabError as fault:  # on a busy machine; what was recorded is whole, and `up` brings all back
            print(f"At the end of demo {number}: {fault}", file=sys.stderr)
    return acts


def _undisturbed(act: str, seen: RecordingData) -> RecordingData:
    """Return what was seen of an act. Raises LabError if the machine was too busy to show it as it is."""
    states = sorted(seen.states, key=lambda state: state.at)
    if any(broker.state == "unknown" for broker in states[0].brokers):
        raise LabError(f"A broker was silent when the act {act!r} began")
    if any(state.at - (state.last_response_at or 0.0) > NOBODY_SECONDS for state in states):
        raise LabError(f"For {NOBODY_SECONDS:g} s no broker answered in the act {act!r}")
    return seen


def _without_others(seen: RecordingData, groups: list[str]) -> RecordingData:
    """Leave out the groups that the demo's panel does not show."""
    states = (
        replace(state, groups=tuple(group for group in state.groups if group.name in groups))
        for state in seen.states
    )
    return replace(seen, states=tuple(states))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if all were recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("demo", nargs="*", metavar="04", help="only these (default: all)")
    chosen = parser.parse_args(arguments).demo or numbers()
    left = 0
    with environment.bench():
        Cluster().up()
        for number in chosen:
            if not any(_kept(number) for _ in range(TRIES)):
                left = 1
        Cluster().down()
    return left


def _kept(number: str) -> bool:
    """Record a demo and keep it; tell whether all of it happened, with the answers of the lab's solution."""
    path = path_of(number)
    try:
        acts = recorded(number)
        for one in (one.line for act in acts.values() for one in act.told if one.line.kind == "truth"):
            if one.value != truth(one.words):
                raise LabError(f"The solution has another answer to {one.words} than {one.value!r}.")
        save(path, acts)
    except LabError as fault:
        print(f"Demo {number}: {fault}", file=sys.stderr)
        return False
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} kB")
    return True
