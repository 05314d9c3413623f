"""One demo, from the first look at the brokers to the last: who performs it, its page, and its end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from threebrokers.cluster import Cluster
from threebrokers.demo.performance import Performance
from threebrokers.demo.played import Player, load, path_of
from threebrokers.demo.script import Script, script
from threebrokers.demo.server import Server
from threebrokers.demo.stage import Stage
from threebrokers.errors import LabError

Say = Callable[[str], None]


@dataclass(frozen=True)
class Running:
    """A demo that is served: what is opened in a browser, and the performance behind it."""

    address: str
    performance: Performance


@contextmanager
def playing(
    number: str,
    say: Say,
    *,
    recorded: bool = False,
    speed: float = 1.0,
    alone: Callable[[], bool] = lambda: True,
) -> Iterator[Running]:
    """Serve a demo until the block ends; then all brokers are back, and those that it started are stopped.

    They go on if others use them by then: `alone` says. It plays from a recording, `speed` times as fast, if
    it is `recorded` or if no broker can start. Raises LabError if there is no such demo.
    """
    known = script(number)
    started = None if recorded else _started(say)
    try:
        performer = Player(load(path_of(number)), speed) if started is None else Stage(number, known)
        try:
            with _served(number, known, performer) as running:
                yield running
        finally:
            if not performer.recorded:
                say("Ending the demo: all brokers come back …")
            performer.end()
    finally:
        if started and alone():
            Cluster().down()


@contextmanager
def _served(number: str, known: Script, performer: Player | Stage) -> Iterator[Running]:
    """Serve the page of a performance, and end what it does when the block ends."""
    performance = Performance(number, known, performer)
    server = Server(known.title, performance.press)
    try:
        performance.listen(lambda: server.news.tell("scene", performance.scene()))
        performer.watch(lambda frame: server.news.tell("frame", frame))
        yield Running(server.address, performance)
    finally:
        performance.end()
        server.close()


def _started(say: Say) -> list[int] | None:
    """Start the brokers that do not run, and return them; None if that cannot be done, with a sentence."""
    try:
        return Cluster().up(say)
    except LabError as fault:
        say(f"No brokers can start here, so the demo plays from its recording. ({fault})")
        return None
