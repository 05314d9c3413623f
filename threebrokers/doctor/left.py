"""Brokers that run although nobody has a lab open there."""

from pathlib import Path

from threebrokers.doctor.finding import Finding
from threebrokers.forgotten import RunningBench

MEGA = 1_000_000


def look_for_forgotten(own: Path, benches: list[RunningBench]) -> Finding:
    """Name brokers that run although nobody has a lab open there."""
    left = [bench for bench in benches if not bench.lab_open]
    others = [bench for bench in left if bench.home != own]
    if others:
        found = "; ".join(
            f"{len(b.pids)} of {b.home} ({b.rss / MEGA:.0f} MB, process {', '.join(map(str, b.pids))})"
            for b in others
        )
        return Finding(
            "forgotten brokers", False, found, f"THREEBROKERS_HOME={others[0].home} threebrokers down"
        )
    if left:
        return Finding(
            "forgotten brokers", True, "yours run and no `make lab` is open", "`threebrokers down` ends them"
        )
    return Finding("forgotten brokers", True, "none")
