"""A picture of how Spark reads a topic."""

from threebrokers.diagrams.dot import cell, graph, table
from threebrokers.diagrams.picture import Picture
from threebrokers.theme import INK, LIGHTEST, SOFT


def reading_picture(topic: str, partitions: int) -> Picture:
    """Draw how a topic becomes a table: each partition is read by a task of Spark, all fill one table."""
    whole = graph(rankdir="LR", ranksep="0.9", nodesep="0.25")
    boxes = [[cell(f"partition {p}", border=1, color=SOFT, port=f"p{p}")] for p in range(partitions)]
    whole.node("topic", label=table([[cell(f"topic {topic}", bold=True)], *boxes], frame=INK))
    tasks = [
        [cell(f"task {p}", "offset 0 to the end", border=1, color=SOFT, fill=LIGHTEST, port=f"t{p}")]
        for p in range(partitions)
    ]
    whole.node("spark", label=table([[cell("Spark", bold=True)], *tasks], frame=INK))
    names = ["key", "value", "partition", "offset", "timestamp"]
    title = cell("DataFrame: one row for each record", bold=True, colspan=len(names))
    head = [cell(name, border=1, color=SOFT, fill=LIGHTEST) for name in names]
    example = [cell(text) for text in ("N39463", "{…}", "0", "0", "10:15:31")]
    whole.node("table", label=table([[title], head, example], frame=INK))
    for p in range(partitions):
        whole.edge(f"topic:p{p}:e", f"spark:t{p}:w")
        whole.edge(f"spark:t{p}:e", "table")
    words = [
        f"Partition {p} is read by task {p}, from its first offset to its end." for p in range(partitions)
    ]
    words += ["Each record becomes one row of the DataFrame.", f"Some of its columns: {', '.join(names)}."]
    return Picture(f"How Spark reads the topic '{topic}'", "\n".join(words), str(whole.source))
