"""Which processes on this machine belong to some home, or sit on a home's ports."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import psutil

from threebrokers.cluster import sessions
from threebrokers.cluster.process import MARK
from threebrokers.doctor.finding import Finding


@dataclass(frozen=True)
class RunningHome:
    """A home with brokers that run: their process ids, their memory (bytes), and whether a lab is open."""

    home: Path
    pids: tuple[int, ...]
    rss: int
    lab_open: bool


def running_homes() -> list[RunningHome]:
    """Return every home of this machine that has a running broker, as far as this user may see."""
    found: dict[Path, list[psutil.Process]] = defaultdict(list)
    for process in psutil.process_iter(["cmdline", "memory_info"]):
        for word in process.info["cmdline"] or []:
            if word.startswith(MARK):
                found[Path(word.removeprefix(MARK))].append(process)
    return [
        RunningHome(
            home,
            tuple(process.pid for process in processes),
            sum(process.info["memory_info"].rss for process in processes if process.info["memory_info"]),
            bool(sessions.still_open(home)),
        )
        for home, processes in sorted(found.items())
    ]


def listeners(ports: set[int]) -> list[str]:
    """Return the programs that listen on these ports, in words, as far as this user may see."""
    try:
        connections = psutil.net_connections("tcp")
    except psutil.AccessDenied:  # macOS shows them to root alone
        return []
    found = {c.pid for c in connections if c.status == psutil.CONN_LISTEN and c.laddr.port in ports and c.pid}
    names = {pid: _name(pid) for pid in sorted(found)}
    return [f"{name} (process {pid})" for pid, name in names.items() if name]


def _name(pid: int) -> str:
    try:
        return str(psutil.Process(pid).name())
    except psutil.Error:  # it has ended since, or is not shown to this user
        return ""


MEGA = 1_000_000


def look_for_forgotten(own: Path, homes: list[RunningHome]) -> Finding:
    """Name brokers that run although nobody has a lab open there."""
    left = [home for home in homes if not home.lab_open]
    others = [home for home in left if home.home != own]
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
