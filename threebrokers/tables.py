"""What the command line shows: small tables."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from confluent_kafka import KafkaException
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table

from threebrokers.cluster import Cluster
from threebrokers.home import home
from threebrokers.machine import Finding
from threebrokers.state import ClusterState

SIGNS = {"up": "●", "paused": "‖", "down": "○"}
MEGA = 1_000_000


def status(cluster: Cluster) -> RenderableType:
    """Return a table of the brokers, one row each, and a line on where they live."""
    state = _state(cluster)
    leads = (
        Counter(p.leader for topic in state.topics for p in topic.partitions)
        if state
        else Counter[int | None]()
    )
    table = _table("broker", "state", "process", "address", "memory", "leads")
    for broker, process in cluster.processes().items():
        known = f"{leads[broker]} of {leads.total()} partitions" if state else "not known: no broker answers"
        row = str(broker), f"{SIGNS.get(process.state, ' ')} {process.state}"
        if process.state == "down":
            table.add_row(*row, *["–"] * 4)
        else:
            memory = f"{process.rss / MEGA:.0f} MB"
            table.add_row(*row, str(process.pid), cluster.address(broker), memory, known)
    return Group(table, f"Home: {home()}")


def doomed(cluster: Cluster) -> str:
    """Return in a sentence what a reset deletes."""
    state = _state(cluster)
    names = [topic.name for topic in state.topics if not topic.name.startswith("__")] if state else []
    some = f" ({', '.join(names[:5])}{', …' if len(names) > 5 else ''})" if names else ""
    topics = f"{len(names)} topic{'' if len(names) == 1 else 's'}{some}" if state else "all topics"
    size = sum(path.stat().st_blocks * 512 for path in _files(home() / "data"))  # index files are sparse
    return (
        f"This deletes {topics}, all records and all groups: {size / MEGA:.0f} MB in {home() / 'data'}. "
        "Your notebooks in work/ and your progress stay."
    )


def progress(
    titles: Mapping[str, Mapping[str, str]], solved: Mapping[str, datetime], tried: Iterable[str]
) -> RenderableType:
    """Return a table of all exercises of all labs and which of them are solved."""
    table, known = _table("lab", "exercise", "", ""), [number for lab in titles.values() for number in lab]
    for lab, of_lab in titles.items():
        for number, title in of_lab.items():
            when = solved.get(number)
            told = (
                f"✓ solved {when.astimezone():%d %b %Y}"
                if when
                else "✗ not yet"
                if number in tried
                else "○ open"
            )
            table.add_row(lab, number, title, told)
    return Group(table, f"{len(set(known) & set(solved))} of {len(known)} exercises solved.")


def findings(found: Iterable[Finding]) -> str:
    """Return what the doctor found, a line each; a trouble is followed by its cure."""
    lines = []
    for finding in found:
        lines.append(f"{'✓' if finding.ok else '✗'} {finding.about}: {finding.what}")
        if finding.cure:
            lines.append(f"    → {finding.cure}")
    return "\n".join(lines)


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column)
    return table


def _state(cluster: Cluster) -> ClusterState | None:
    if all(process.state == "down" for process in cluster.processes().values()):
        return None
    try:
        return cluster.state()
    except KafkaException:  # it asked one that is paused, or all are silent
        return next(iter(cluster.views().values()), None)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
