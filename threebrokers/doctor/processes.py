"""Which processes on this machine belong to some home, or sit on a home's ports."""

import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from threebrokers.cluster import sessions
from threebrokers.cluster.process import MARK
from threebrokers.doctor.finding import Finding
from threebrokers.paths import lab_command
from threebrokers.text import counted


@dataclass(frozen=True)
class RunningHome:
    """A home with brokers that run: their process ids, their memory (bytes), and whether a lab is open."""

    home: Path
    pids: tuple[int, ...]
    rss: int
    lab_open: bool


def running_homes() -> list[RunningHome]:
    """Return every home of this user that has a running broker; what another user runs is theirs."""
    found: dict[Path, list[psutil.Process]] = defaultdict(list)
    for process in psutil.process_iter(["cmdline", "memory_info", "uids"]):
        uids = process.info["uids"]
        for word in process.info["cmdline"] or []:
            if word.startswith(MARK) and uids and uids.real == os.getuid():
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
        found = {c.pid for c in psutil.net_connections("tcp") if _listens(c, ports) and c.pid}
    except psutil.AccessDenied:  # macOS shows all at once to root alone, and to each user their own
        found = {p.pid for p in psutil.process_iter() if any(_listens(c, ports) for c in _connections(p))}
    names = {pid: _name(pid) for pid in sorted(found)}
    return [f"{name} (process {pid})" for pid, name in names.items() if name]


def _listens(connection: Any, ports: set[int]) -> bool:
    return connection.status == psutil.CONN_LISTEN and connection.laddr.port in ports


def _connections(process: psutil.Process) -> list[Any]:
    try:
        return list(process.net_connections("tcp"))
    except psutil.Error:  # it has ended, or is another user's
        return []


def _name(pid: int) -> str:
    try:
        return str(psutil.Process(pid).name())
    except psutil.Error:  # it has ended since, or is not shown to this user
        return ""


MEGA = 1_000_000


def look_for_forgotten(own: Path, homes: list[RunningHome]) -> Finding:
    """Mention brokers of this home that run although nobody has a lab open, and count those of other homes.

    Others belong to another clone, or to tests that run now: they are no trouble of this home, are not named
    in what a teacher may collect, and end where they were started.
    """
    others = [home for home in homes if home.home != own]
    what, cure = "none", ""
    if any(home.home == own and not home.lab_open for home in homes):
        what, cure = f"yours run and no `{lab_command()}` is open", "`threebrokers down` ends them"
    if others:
        brokers = counted(sum(len(home.pids) for home in others), "broker")
        memory = sum(home.rss for home in others) / MEGA
        what += f"; {brokers} of {counted(len(others), 'other home')} run too ({memory:.0f} MB)"
    return Finding("forgotten brokers", True, what, cure)


def look_for_orphans(own: Path) -> Finding:
    """Name a JupyterLab of this home that has lost its `make lab`."""
    left = sessions.orphans(own)
    if not left:
        return Finding("JupyterLab", True, f"none runs without its `{lab_command()}`")
    found = ", ".join(str(one.pid) for one in left)
    cure = f"`{lab_command()}` goes on with it, `threebrokers down` ends it"
    what = f"process {found} runs without its `{lab_command()}`, which was killed"
    return Finding("JupyterLab", False, what, cure)
