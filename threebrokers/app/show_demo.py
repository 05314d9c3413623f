"""One demo in a browser, from the command line to Ctrl-C."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from threebrokers.app.browser import can_open_browser, open_with_token
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
    from threebrokers.app import endings, make_lab
    from threebrokers.cluster import Cluster, sessions
    from threebrokers.demo.play import playing, running_brokers  # widgets, clients: only where one is played
    from threebrokers.paths import home

    def last_out() -> None:
        cluster = Cluster()
        if cluster.access or running_brokers(cluster):  # else the demo itself has stopped them
            make_lab.stop_brokers(cluster, say)

    # A recording needs no brokers: a `make lab` that ends before it leaves none running.
    entered: AbstractContextManager[sessions.Sitting | None] = (
        nullcontext() if recorded else sessions.entered(last_out, stops=False)
    )
    with endings.one_interrupt(make_lab.ALWAYS), entered as sitting:
        try:
            with playing(
                number,
                say,
                recorded=recorded,
                alone=lambda: len(sessions.still_open(home())) <= 1,
                starts=sitting.will_stop if sitting else lambda: None,
            ) as running:
                say(_address(running.address))
                if can_open_browser():
                    open_with_token(running.address, "demo")
                while True:  # until Ctrl-C
                    time.sleep(1)
        except KeyboardInterrupt:
            say("The demo has ended." if recorded else "The demo has ended, and all brokers are back.")


def _address(address: str) -> str:
    opens = "opens in your browser; if it does not" if can_open_browser() else "is ready"
    return (
        f"The demo {opens}: open this address\n\n    {address}\n\n"
        "Space is the next step, B brings all brokers back, S shows your notes. Ctrl-C here ends it."
    )
