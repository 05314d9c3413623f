"""A picture of how Spark reads a topic."""

from threebrokers.diagrams.grid import arrow, box, cell, head, table
from threebrokers.diagrams.picture import Picture

COLUMNS = {"key": "N39463", "value": "{…}", "partition": "0", "offset": "0", "timestamp": "10:15:31"}


def reading_picture(topic: str, partitions: int) -> Picture:
    """Draw how a topic becomes a table: each partition is read by a task of Spark, all fill one table."""
    heads = [
        head(f"topic {topic}"),
        head("offset 0 to the end", kind="note"),
        head("Spark"),
        head("", kind="note"),
        head("DataFrame: one row for each record"),
    ]
    rows = []
    for p in range(partitions):
        steps = [box(f"partition {p}"), arrow(), box(f"task {p}", kind="card"), arrow()]
        filled = [cell(_example(), rowspan=partitions)] if p == 0 else []
        rows.append([*map(cell, steps), *filled])
    words = [
        f"Partition {p} is read by task {p}, from its first offset to its end." for p in range(partitions)
    ]
    words += ["Each record becomes one row of the DataFrame.", f"Some of its columns: {', '.join(COLUMNS)}."]
    return Picture(f"How Spark reads the topic '{topic}'", "\n".join(words), table(rows, heads=heads))


def _example() -> str:
    return table([list(map(cell, COLUMNS.values()))], heads=list(map(head, COLUMNS)), kind="frame")
