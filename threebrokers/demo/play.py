"""One demo, from the first look at the brokers to the last: who performs it, its page, and its end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
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
    starts: Callable[[], None] = lambda: None,
) -> Iterator[Running]:
    """Serve a demo until the block ends; then all brokers are back, and those that it started are stopped.

    They go on if others use them by then: `alone` says. `starts` is called before it starts them where none
    ran. It plays from a recording, `speed` times as fast, if it is `recorded` or if no broker can start.
    Raises LabError if there is no such demo.
    """
    known = script(number)
    with nullcontext(False) if recorded else _brokers(say, alone, starts) as live:
        performer = Stage(number, known) if live else Player(load(path_of(number)), speed)
        try:
            with _served(number, known, performer) as running:
                yield running
        finally:
            if not performer.recorded:
                say("Ending the demo: all brokers come back …")
            performer.end()


@contextmanager
def _served(number: str, known: Script, performer: Player | Stage) -> Iterator[Running]:
    """Serve the page of a performance, and end what it does when the block ends."""
    performance = Performance(number, known, performer)
    server = Server(known.title, performance.press)
    try:
        performance.listen(lambda scene: server.news.tell("scene", scene))
        performer.watch(lambda frame: server.news.tell("frame", frame))
        yield Running(server.address, performance)
    finally:
        performance.end()
        server.close()


@contextmanager
def _brokers(say: Say, alone: Callable[[], bool], starts: Callable[[], None]) -> Iterator[bool]:
    """Start the brokers that do not run, and stop them at the end, also those of a start that is broken off.

    It tells whether there are brokers to play on; if not, a sentence says so.
    """
    cluster, started, live = Cluster(), list[int](), False
    before: set[int] | None = None  # it cannot be told
    try:
        try:
            before = running_brokers(cluster)
            if not before and cluster.access is None:
                starts()  # first: a demo that opens from now on finds brokers
            started = cluster.up(say)
            live = True
        except LabError as fault:
            say(f"No brokers can start here, so the demo plays from its recording. ({fault})")
        yield live
    finally:
        if before is not None and alone():
            _stop(cluster, {*started, *running_brokers(cluster)} - before, before)


def running_brokers(cluster: Cluster) -> set[int]:
    """Return the brokers that run here; none of a cluster elsewhere, which no demo starts or stops."""
    found = {} if cluster.access else cluster.processes()
    return {n for n, process in found.items() if process.state != "down"}


def _stop(cluster: Cluster, new: set[int], before: set[int]) -> None:
    """Stop new brokers: all in one go if none ran before."""
    if before:
        for n in sorted(new & running_brokers(cluster)):
            cluster.stop(n, force=True)
    elif new:
        cluster.down()
