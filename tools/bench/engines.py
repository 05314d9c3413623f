"""The two engines beside each other: `make bench-engines` prints a table and saves build/bench-engines.json.

Needs Docker, with the image there.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from threebrokers.cluster import Cluster, engine
from tools import ROOT
from tools.bench import cluster as bench_cluster
from tools.proof import environment, nbval

Values = dict[str, list[float]]


def brokers(name: str, times: int, say: Callable[[str], None]) -> Values:
    """Measure starts, a death, a return, resets (s) and memory (MB) so many times on one engine."""
    found: Values = defaultdict(list)
    with environment.bench(name) as home, tempfile.TemporaryDirectory() as folder:
        say(f"{name}: starting from nothing, {times} times …")
        bench_cluster.start(Path(folder, "warm-up"))
        for n in range(times):
            seconds, memory = bench_cluster.start(Path(folder, str(n)))
            found["nothing to three registered brokers (s)"].append(seconds)
            found["memory of three fresh brokers (MB)"].append(memory)
        cluster = Cluster(home)
        cluster.up()
        topic = bench_cluster.failsafe(cluster)
        say(f"{name}: killing a broker and starting it again, {times} times …")
        for _ in range(times):
            led, back = bench_cluster.kill_and_return(cluster, topic, controller=False)
            found["kill -9 to all led again (s)"].append(led)
            found["start to full ISR (s)"].append(back)
        say(f"{name}: resetting, {times} times …")
        for _ in range(times):
            found["reset to three registered brokers (s)"].append(bench_cluster.reset(cluster))
    return found


def labs(name: str, say: Callable[[str], None]) -> Values:
    """Run every solution under nbval on one engine; return how long each took (s). Raises if one fails."""
    found: Values = {}
    with environment.bench(name):
        Cluster().up()
        for path in sorted((ROOT / "solutions").glob("*.ipynb")):
            say(f"{name}: {path.stem} …")
            began = time.monotonic()
            subprocess.run(nbval.command([path]), cwd=ROOT, check=True, capture_output=True)
            found[f"nbval of {path.stem} (s)"] = [time.monotonic() - began]
    return found


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="how often brokers are measured (5)")
    parser.add_argument("--lab-times", type=int, default=1, help="how often the labs are run (1)")
    asked = parser.parse_args()
    console = Console(highlight=False, markup=False, width=110)
    told: dict[str, Values] = {}
    for name in engine.NAMES:
        told[name] = brokers(name, asked.times, console.print)
    for _ in range(asked.lab_times):
        for name in engine.NAMES:
            for what, values in labs(name, console.print).items():
                told[name].setdefault(what, []).extend(values)
    target = ROOT / "build" / "bench-engines.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(told, indent=1) + "\n")
    table = Table("median (min to max)", *engine.NAMES, box=box.SIMPLE_HEAD)
    for what in told[engine.LOCAL]:
        table.add_row(what, *(_shown(told[name][what]) for name in engine.NAMES))
    console.print(table)
    console.print(f"Saved in {target.relative_to(ROOT)}.")


def _shown(values: list[float]) -> str:
    middle = f"{statistics.median(values):.1f}"
    return f"{middle} ({min(values):.1f} to {max(values):.1f})" if len(values) > 1 else middle
