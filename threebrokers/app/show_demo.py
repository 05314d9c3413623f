"""One demo in a browser, from the command line to Ctrl-C."""

import time
from collections.abc import Callable
from contextlib import nullcontext

from threebrokers.app.browser import can_open_browser, open_with_token
from threebrokers.demo.script import numbers, script

Say = Callable[[str], None]
LOOK_SECONDS = 1.0  # no `make lab` is so short that it is missed


def listing(say: Say) -> None:
    """Say which demos there are."""
    for number in numbers():
        known = script(number)
        say(f"  {number}  {known.title} ({len(known.steps)} steps)")
    say("Play one with `threebrokers demo 04`; without brokers, with `threebrokers demo 04 --recorded`.")


def show(number: str, recorded: bool, say: Say) -> None:
    """Play a demo until Ctrl-C. Raises LabError if there is none of this lab."""
    script(number)  # said before anything is started for nothing
    from threebrokers.app import make_lab
    from threebrokers.cluster import Cluster, sessions
    from threebrokers.demo.play import playing  # widgets, clients: only where one is played
    from threebrokers.paths import home

    shared = False

    def look() -> None:
        nonlocal shared
        shared = shared or any(lab.jupyter for lab in sessions.still_open(home()))

    def last_out() -> None:
        if shared:  # a `make lab` has left its brokers to this demo
            make_lab.stop_brokers(Cluster(), say)

    # A recording needs no brokers: a `make lab` that ends before it leaves none running.
    with make_lab.one_interrupt(), nullcontext() if recorded else sessions.entered(last_out):
        try:
            with playing(
                number, say, recorded=recorded, alone=lambda: len(sessions.still_open(home())) <= 1
            ) as running:
                say(_address(running.address))
                if can_open_browser():
                    open_with_token(running.address, "demo")
                while True:  # until Ctrl-C
                    look()
                    time.sleep(LOOK_SECONDS)
        except KeyboardInterrupt:
            say("The demo has ended." if recorded else "The demo has ended, and all brokers are back.")


def _address(address: str) -> str:
    opens = "opens in your browser; if it does not" if can_open_browser() else "is ready"
    return (
        f"The demo {opens}: open this address\n\n    {address}\n\n"
        "Space is the next step, B brings all brokers back, S shows your notes. Ctrl-C here ends it."
    )
