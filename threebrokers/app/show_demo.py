"""One demo in a browser, from the command line to Ctrl-C."""

import threading
import webbrowser
from collections.abc import Callable

from threebrokers.app.browser import can_open_browser
from threebrokers.demo.script import numbers, script

Say = Callable[[str], None]


def listing(say: Say) -> None:
    """Say which demos there are."""
    for number in numbers():
        known = script(number)
        say(f"  {number}  {known.title} ({len(known.steps)} steps)")
    say("Play one with `threebrokers demo 04`; without brokers, with `threebrokers demo 04 --recorded`.")


def show(number: str, recorded: bool, say: Say) -> None:
    """Play a demo until Ctrl-C. Raises LabError if there is none of this lab."""
    script(number)  # said before anything is started for nothing
    from threebrokers.app.make_lab import one_interrupt
    from threebrokers.cluster import Cluster, sessions
    from threebrokers.demo.play import playing  # widgets, clients: only where one is played
    from threebrokers.paths import home

    # Brokers that a `make lab` has left to this demo are stopped by whoever goes last.
    borrowed = bool(sessions.still_open(home()))

    def last_out() -> None:
        if borrowed:
            Cluster().down()

    with one_interrupt(), sessions.entered(last_out):
        try:
            with playing(
                number, say, recorded=recorded, alone=lambda: len(sessions.still_open(home())) <= 1
            ) as running:
                say(_address(running.address))
                if can_open_browser():
                    webbrowser.open(running.address)
                threading.Event().wait()  # for Ctrl-C
        except KeyboardInterrupt:
            say("The demo has ended." if recorded else "The demo has ended, and all brokers are back.")


def _address(address: str) -> str:
    opens = "opens in your browser; if it does not" if can_open_browser() else "is ready"
    return (
        f"The demo {opens}: open this address\n\n    {address}\n\n"
        "Space is the next step, B brings all brokers back, S shows your notes. Ctrl-C here ends it."
    )
