"""What lab 06's check says of a member that was asked to leave."""

import ast

from threebrokers.checks.lab06.loops import calls
from threebrokers.checks.lab06.program_text import name_of
from threebrokers.checks.lab06.runs import PROGRAM, expect_run
from threebrokers.checks.lab06.threads import closes_elsewhere, deaf, longest_sleep
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios import Departure

SOON = 1.0


def judge_leaving(departure: Departure) -> None:
    """Raise an Outcome unless the group was empty a second after Ctrl-C, and the program had ended."""
    expect_run("6.4", departure, "ended_by_ctrl_c")
    if not departure.joined:
        raise NotYet(
            "nobody joined the group, so nobody could leave it",
            "the program should be a member until Ctrl-C comes",
            "`subscribe([orders.topic])`, and `poll()` in a loop",
        )
    if departure.static and departure.seconds is None:
        raise NotYet(
            "the consumer has a group.instance.id: such a member keeps its place when it is closed, because "
            "it is expected back",
            "this one should leave for good",
            "the settings of the consumer",
        )
    program = _program()
    if closes_elsewhere(program):
        raise NotYet(
            "another thread closes the consumer than the one that polls it: in the middle of a poll() both "
            "may wait for each other for ever",
            "the thread of a consumer should close it, or have ended before another one does",
            f"who calls `close()` in {PROGRAM}",
        )
    if not departure.ended:
        raise _goes_on(departure, program)
    if departure.seconds is None:
        raise NotYet(
            "the program has ended, and its member is still in the group: nobody has closed the consumer. A "
            "daemon thread does not come to that, its thread ends with the program",
            "the consumer should be closed before the program ends",
            "`consumer.close()`, and who waits for the thread",
        )
    _expect_soon(departure.seconds, program)


def _expect_soon(seconds: float, program: ast.Module) -> None:
    """Raise NotYet if a member left late, and its program waits for so long where nothing wakes it."""
    waits, sleeps = _longest_wait(program), longest_sleep(program)
    # A busy machine may need more than a second; then it is not the program that waits.
    if seconds <= SOON or (waits is not None and waits + sleeps <= SOON):
        return
    late = f"the member left after {seconds:.1f} s"
    if waits is not None and waits <= SOON:
        late += f", and the program sleeps for {sleeps:g} s on its way"
    raise NotYet(late, f"it should leave within {SOON:g} s", "how long each thread needs to see its end")


def _goes_on(departure: Departure, program: ast.Module) -> NotYet:
    waits, sleeps = _longest_wait(program), longest_sleep(program)
    if waits is None or waits > SOON:
        bound = "without a bound" if waits is None else f"up to {waits:g} s"
        return NotYet(
            f"the program does not end, because poll waits too long ({bound}) to see that it is over",
            "the loop should look at its flag several times a second",
            f"`poll(…)` in {PROGRAM}",
        )
    if sleeps > SOON:
        return NotYet(
            f"the program does not end soon, because it sleeps for {sleeps:g} s, and nobody wakes it",
            "each thread should see several times a second whether it is over",
            f"what sleeps in {PROGRAM}: `over.wait(…)` waits too, and ends at once when `over` is set",
        )
    left = "has left" if departure.seconds is not None else "is still a member"
    return NotYet(
        f"its consumer {left}, and its program goes on after Ctrl-C",
        "both should end",
        f"what {PROGRAM} does with `KeyboardInterrupt`, what its threads wait for, and which one calls "
        "`close()`",
    )


def _program() -> ast.Module:
    """Return this try's program; an empty one if nobody can tell."""
    run = attempt()
    try:
        return ast.parse(run.source.partition("\n")[2] if run else "")
    except SyntaxError:
        return ast.parse("")


def _longest_wait(program: ast.Module) -> float | None:
    """Return the longest wait of a poll() or consume() that Ctrl-C does not end; None: without a bound.

    consume() notices it nowhere, poll() in the main thread within 0.2 s.
    """
    waits: list[float | None] = [0.0]
    unheard = deaf(program)
    for call in calls(program, "poll", "consume"):
        if call in unheard or name_of(call.func) == "consume":
            waits += _wait_of(call)
    return None if None in waits else max(wait for wait in waits if wait is not None)


def _wait_of(call: ast.Call) -> list[float | None]:
    place = {"poll": 0, "consume": 1}[name_of(call.func)]
    given = [*call.args[place : place + 1], *(word.value for word in call.keywords if word.arg == "timeout")]
    if not given:
        return [None]
    known = given[0].value if isinstance(given[0], ast.Constant) else 0.0
    return [float(known)] if isinstance(known, int | float) else [None]
