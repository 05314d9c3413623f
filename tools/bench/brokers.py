"""How fast the course's brokers are here: `make bench` prints a table and saves build/bench.json."""

import argparse
import json
import os
import platform
import shutil
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from threebrokers.cluster import Cluster
from tools import ROOT
from tools.bench import cluster as bench_cluster
from tools.bench import commands, instruments, solutions
from tools.bench import flights as bench_flights
from tools.bench import links as bench_links


@dataclass(frozen=True)
class Measured:
    """What was measured, how often, and the limit for its median ("s", "ms", "MB" or "%")."""

    what: str
    unit: str
    limit: float
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The value in the middle."""
        return statistics.median(self.values)

    def row(self) -> list[str]:
        """Return its row of the table; a median over the limit is marked by a sign and a word."""
        digits = 0 if self.unit == "MB" else 2 if self.limit < 1 else 1
        shown = [f"{value:.{digits}f}" for value in (min(self.values), self.median, max(self.values))]
        kept = "✓" if self.median <= self.limit else "✗ over"
        return [self.what, *shown, self.unit, f"{self.limit:g}", kept]


def measure(home: Path, times: int, say: Callable[[str], None]) -> list[Measured]:
    """Measure everything so many times on a cluster in `home`, which must be empty."""
    say("Warming up: jars, class data …")
    bench_cluster.start(home / "warm-up")
    say(f"Starting from nothing, {times} times …")
    starts = [bench_cluster.start(home / f"start-{n}") for n in range(times)]
    cluster = Cluster(home)
    cluster.up()
    topic = bench_cluster.failsafe(cluster)
    say(f"Commands, {times} times …")
    version, status = (
        tuple(commands.seconds(home, word) for _ in range(times)) for word in ("--version", "status")
    )
    elections, returns = {}, []
    for kind, is_controller in (("another broker", False), ("the active controller", True)):
        say(f"Killing {kind} and starting it again, {times} times …")
        pairs = [bench_cluster.kill_and_return(cluster, topic, is_controller) for _ in range(times)]
        elections[kind] = tuple(election for election, _ in pairs)
        returns += [back for _, back in pairs]
    say(f"All flights through Kafka and Spark, {times} times …")
    for _ in range(bench_flights.WARM_UPS):
        bench_flights.in_own_process(home)
    flights = [bench_flights.in_own_process(home) for _ in range(times)]
    loaded = bench_cluster.memory(cluster)
    say(f"Clients with a recording and without, {times} times …")
    bench = instruments.Bench(cluster, home)
    slower = [bench.slowdown(recorded_first=bool(n % 2)) for n in range(times)]
    shares, sizes = tuple(bench.share() for _ in range(times)), (bench.size(),)
    panels = tuple(bench.panel_share() for _ in range(times))
    say(f"Cutting the leader off and healing, {times} times …")
    links = bench_links.cost(cluster).latency
    cuts = [bench_links.cut(cluster) for _ in range(times)]
    say(f"Resetting, {times} times …")
    resets = [bench_cluster.reset(cluster) for _ in range(times)]
    say("The solutions of the labs with Spark, once each …")
    labs = solutions.measured(home, say)
    return [
        Measured("threebrokers --version", "s", 0.4, version),
        Measured("threebrokers status, brokers up", "s", 0.4, status),
        Measured("nothing to three registered brokers", "s", 4, tuple(seconds for seconds, _ in starts)),
        *(Measured(f"kill -9 of {kind} to all led again", "s", 3, all_) for kind, all_ in elections.items()),
        Measured("restart to full ISR", "s", 4, tuple(returns)),
        Measured("memory of three fresh brokers", "MB", 650, tuple(used for _, used in starts)),
        Measured("memory after all flights", "MB", 650, (loaded,)),
        Measured("reset to three registered brokers", "s", 6, tuple(resets)),
        Measured("one producer: all 336,776 flights", "s", 15, tuple(f["send"] for f in flights)),
        Measured("Spark: its session", "s", 4, tuple(f["session"] for f in flights)),
        Measured("Spark: processor time of that", "s", 4, tuple(f["processor"] for f in flights)),
        Measured("Spark: read and aggregate them all", "s", 5, tuple(f["spark"] for f in flights)),
        Measured("Spark: a stream counts them by hour", "s", 15, tuple(f["windows"] for f in flights)),
        Measured("Spark: real-time mode, half within", "ms", 20, tuple(f["real time"] for f in flights)),
        *(Measured(f"solution of lab {lab}, with Spark", "s", 90, (took,)) for lab, took in labs.items()),
        Measured("a producer, recorded: longer by", "%", 10, tuple(sent for sent, _ in slower)),
        Measured("a consumer, recorded: longer by", "%", 10, tuple(read for _, read in slower)),
        Measured("a recording: share of one core", "%", 5, shares),
        Measured("a recording of five minutes", "MB", 5, sizes),
        Measured("a live panel: share of one core", "%", 5, panels),
        Measured("one record, acks=all, over links", "ms", 20, (links,)),
        Measured("leader cut off to a new leader", "s", 4, tuple(led for led, _ in cuts)),
        Measured("healed to full ISR", "s", 2, tuple(healed for _, healed in cuts)),
    ]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="how often each thing is measured (5)")
    times: int = parser.parse_args().times
    console = Console(highlight=False, markup=False, width=100)
    home = Path(tempfile.mkdtemp(prefix="threebrokers-bench-"))
    load = os.getloadavg()[0]
    try:
        results = measure(home, times, console.print)
    finally:
        Cluster(home).down()
        shutil.rmtree(home, ignore_errors=True)
    machine = {"cores": os.cpu_count(), "system": platform.platform(), "load at the start": round(load, 1)}
    told = {"machine": machine, "results": [asdict(result) | {"median": result.median} for result in results]}
    target = ROOT / "build" / "bench.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(told, indent=1) + "\n")
    table = Table("what", "min", "median", "max", "", "limit", "", box=box.SIMPLE_HEAD)
    for result in results:
        table.add_row(*result.row())
    console.print(table)
    console.print(f"{machine}\nSaved in {target.relative_to(ROOT)}.")
