"""What the command line shows: small tables."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table

from threebrokers import theme
from threebrokers.paths import home

if TYPE_CHECKING:
    from threebrokers.cluster import Cluster
    from threebrokers.doctor import Finding
    from threebrokers.kafka.state import ClusterState
    from threebrokers.progress import Guess

MEGA = 1_000_000


def show(table: RenderableType) -> None:
    """Print a table."""
    Console(highlight=False, markup=False, emoji=False, soft_wrap=True).print(table)


def status(cluster: "Cluster") -> RenderableType:
    """Return a table of the brokers, one row each, who is the active controller, and where they live."""
    from threebrokers.cluster import sessions

    state = cluster.state()
    leads = Counter(p.leader for topic in state.topics for p in topic.partitions)
    table = _table("broker", "state", "runs as", "address", "memory", "leads")
    processes = cluster.processes()
    for broker in state.brokers:
        row = str(broker.id), str(theme.state_look(broker.state))
        if broker.state == "down":
            table.add_row(*row, *["–"] * 4)
        else:
            known = (
                f"{leads[broker.id]} of {leads.total()} partitions"
                if state.last_response_at
                else "not known: no broker answers"
            )
            name, memory = processes[broker.id].name, f"{broker.rss / MEGA:.0f} MB"
            table.add_row(*row, name, broker.address, memory, known)
    orphans = [
        f"JupyterLab (process {one.pid}) runs without its `make lab`, which was killed: `make lab` goes on "
        "with it, `threebrokers down` ends it."
        for one in sessions.orphans(home())
    ]
    return Group(table, _active(state), *orphans, f"Home: {home()}")


def doomed(cluster: "Cluster") -> str:
    """Return in a sentence what a reset deletes."""
    state = cluster.state()
    names = [topic.name for topic in state.topics if not topic.name.startswith("__")]
    some = f" ({', '.join(names[:5])}{', …' if len(names) > 5 else ''})" if names else ""
    topics = (
        f"{len(names)} topic{'' if len(names) == 1 else 's'}{some}"
        if state.last_response_at
        else "all topics"
    )
    size = sum(path.stat().st_blocks * 512 for path in _files(home() / "data"))  # index files are sparse
    files = f"{size / MEGA:.0f} MB in {home() / 'data'}"
    where = files if cluster.engine == "local" else "the containers and their volumes"
    return (
        f"This deletes {topics}, all records and all groups: {where}. "
        "Your notebooks in work/ and your progress stay."
    )


def progress(
    titles: Mapping[str, Mapping[str, str]],
    solved: Mapping[str, datetime],
    tried: Iterable[str],
    guesses: Mapping[str, "Guess"],
) -> RenderableType:
    """Return a table of all exercises of all labs and which of them are solved, and count predictions."""
    table, known = _table("lab", "exercise", "", ""), [number for lab in titles.values() for number in lab]
    for lab, of_lab in titles.items():
        for number, title in of_lab.items():
            when = solved.get(number)
            told = (
                f"{theme.GOOD} {when.astimezone():%d %b %Y}"
                if when
                else str(theme.BAD)
                if number in tried
                else str(theme.OPEN)
            )
            table.add_row(lab, number, title, told)
    right = sum(guess.right for guess in guesses.values())
    told = f"{len(set(known) & set(solved))} of {len(known)} exercises solved."
    guessed = f" {right} of {len(guesses)} predictions were right at once." if guesses else ""
    return Group(table, told + guessed)


def findings(found: Iterable["Finding"]) -> str:
    """Return what the doctor found, a line each; a trouble is followed by its cure."""
    lines = []
    for finding in found:
        lines.append(f"{(theme.GOOD if finding.ok else theme.BAD).sign} {finding.about}: {finding.what}")
        if finding.cure:
            lines.append(f"    → {finding.cure}")
    return "\n".join(lines)


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column)
    return table


def _active(state: "ClusterState") -> str:
    if state.quorum_leader is None:
        return "There is no active controller now."
    return f"The active controller is broker {state.quorum_leader}."


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
