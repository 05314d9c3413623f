"""What the command line shows: small tables."""

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from threebrokers import theme
from threebrokers.paths import home, lab_command
from threebrokers.restore import Outline
from threebrokers.text import counted, listed

if TYPE_CHECKING:
    from threebrokers.cluster import Cluster
    from threebrokers.cluster.spark_cluster import SparkNode
    from threebrokers.doctor import Finding
    from threebrokers.kafka.state import ClusterState
    from threebrokers.progress import Guess

MEGA = 1_000_000
# The terminal's own colours: it knows whether its background is light or dark.
STYLES = {theme.GOOD: "green", theme.BAD: "red", theme.OPEN: "dim"}


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
            one = processes[broker.id]
            name, memory = one.name, "–" if one.elsewhere else f"{broker.rss / MEGA:.0f} MB"
            table.add_row(*row, name, broker.address, memory, known)
    orphans = [
        f"JupyterLab (process {one.pid}) runs without its `{lab_command()}`, which was killed: "
        f"`{lab_command()}` goes on with it, `threebrokers down` ends it."
        for one in sessions.orphans(home())
    ]
    if cluster.access:
        whose = f"This cluster, at {cluster.bootstrap}, is not yours: no broker is started or stopped here."
        own = f"Names of topics and groups begin with {cluster.access.prefix!r}; the others are not shown."
        return Group(table, whose, own, *orphans, f"Home: {home()}")
    return Group(table, _active(state), *orphans, f"Home: {home()}")


def spark(addresses: "Sequence[str | None]", nodes: "Sequence[SparkNode]") -> RenderableType:
    """Return a table of Spark's processes, one row each, and how a session gets to these addresses."""
    table = _table("Spark", "state", "process", "its page", "memory")
    for node in nodes:
        row = node.name, str(theme.state_look(node.state))
        if node.state == "down":
            table.add_row(*row, *["–"] * 3)
        else:
            table.add_row(*row, str(node.pid), node.page, f"{node.rss / MEGA:.0f} MB")
    ways = [f'session("{address}") connects to it.' for address in addresses if address]
    return Group(table, *(ways or ["`threebrokers spark up` starts it."]))


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
    files = f"{_size(home() / 'data') / MEGA:.0f} MB in {home() / 'data'}"
    where = files if cluster.engine == "local" else "the containers and their volumes"
    return (
        f"This deletes {topics}, all records and all groups: {where}. "
        "Your notebooks in work/ and your progress stay."
    )


def progress(
    labs: Mapping[str, Outline],
    solved: Mapping[str, datetime],
    tried: Collection[str],
    guesses: Mapping[str, "Guess"],
) -> RenderableType:
    """Return how many exercises are solved, a row for each lab, and which exercise is the next."""
    looks = {
        lab: [theme.exercise_look(number, solved, tried) for number in outline.exercises]
        for lab, outline in labs.items()
    }
    every = [look for of_lab in looks.values() for look in of_lab]
    first = f"{every.count(theme.GOOD)} of {len(every)} exercises are solved."
    right = sum(guess.right for guess in guesses.values())
    if guesses:
        first += f" {right} of {len(guesses)} predictions were right at once."
    table = _table("lab", "question", "exercises", "solved")
    for lab, outline in labs.items():
        signs = Text(" ").join(Text(look.sign, STYLES[look]) for look in looks[lab])
        table.add_row(
            lab, outline.title, signs, f"{looks[lab].count(theme.GOOD)} of {len(outline.exercises)}"
        )
    legend = ", ".join(map(str, STYLES))
    named = f"{legend}. `threebrokers progress 02` names the exercises of a lab."
    return Group(Text(first, "bold"), table, named, *_next(labs, solved, tried))


def progress_of(outline: Outline, solved: Mapping[str, datetime], tried: Collection[str]) -> RenderableType:
    """Return one lab's exercises, a row each: title, and since when it is solved."""
    looks = [theme.exercise_look(number, solved, tried) for number in outline.exercises]
    first = f"{outline.title} {looks.count(theme.GOOD)} of {len(looks)} exercises are solved."
    table = _table("", "exercise", "", "")
    for look, (number, title) in zip(looks, outline.exercises.items(), strict=True):
        day = f", {solved[number].astimezone():%d %b %Y}" if number in solved else ""
        table.add_row(Text(look.sign, STYLES[look]), number, title, look.word + day)
    return Group(Text(first, "bold"), table)


def _next(labs: Mapping[str, Outline], solved: Collection[str], tried: Collection[str]) -> list[str]:
    """Return a sentence about the exercise to go on with, in the lab that was begun last; none at the end."""
    left = {lab: [n for n in outline.exercises if n not in solved] for lab, outline in labs.items()}
    left = {lab: numbers for lab, numbers in left.items() if numbers}
    begun = [lab for lab in left if any(n in tried for n in labs[lab].exercises)]
    if not left:
        return []
    lab = begun[-1] if begun else next(iter(left))
    number = left[lab][0]
    return [f"Next: exercise {number}, {labs[lab].exercises[number]} (`{lab_command(lab)}`)."]


def findings(found: Sequence["Finding"]) -> RenderableType:
    """Return what the doctor found: the answer first, then a line each, a trouble followed by its cure."""
    troubles = [finding.about for finding in found if not finding.ok]
    if troubles:
        answer = Text(f"{theme.BAD.sign} Look at {listed(troubles)}: ", f"bold {STYLES[theme.BAD]}")
        answer.append(f"{len(troubles)} of {len(found)} looks found a trouble.")
    else:
        answer = Text(f"{theme.GOOD.sign} No trouble was found in {counted(len(found), 'look')}.", "bold")
    lines = [answer]
    for finding in found:
        look = theme.GOOD if finding.ok else theme.BAD
        line = Text.assemble((look.sign, STYLES[look]), " ", (finding.about, "bold"), f": {finding.what}")
        lines += [line, Text(f"    → {finding.cure}")] if finding.cure else [line]
    return Group(*lines)


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column)
    return table


def _active(state: "ClusterState") -> str:
    if state.quorum_leader is None:
        return "There is no active controller now."
    return f"The active controller is broker {state.quorum_leader}."


def _size(folder: Path) -> int:
    """Return how many bytes of the disk a folder takes, while brokers write and delete files in it."""
    blocks = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                blocks += Path(place, name).stat().st_blocks  # index files are sparse
    return blocks * 512
