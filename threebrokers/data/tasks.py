"""What the tasks of a Kafka Streams program could join: task 2 reads partition 2 of each of its topics."""

from typing import TYPE_CHECKING

from threebrokers.kafka.log_reader import end_offsets, read_log
from threebrokers.lab.lab import Lab

if TYPE_CHECKING:
    import pandas as pd


def found_by_tasks(lab: Lab, stream: str, table: str) -> "pd.DataFrame":
    """Return for each task how many records of `stream` it has, and for how many it finds a row in `table`.

    A task has the partition of its number of both topics (full names), and nothing else. The columns are
    `records` and `found`; the index is the task.
    """
    import pandas as pd  # only where a table is shown

    held = {(record.partition, record.key) for record in read_log(lab.bootstrap, table)}
    records = read_log(lab.bootstrap, stream)
    rows = pd.DataFrame(
        [(record.partition, (record.partition, record.key) in held) for record in records],
        columns=["task", "found"],
    )
    tasks = pd.RangeIndex(len(end_offsets(lab.bootstrap, stream)), name="task")
    found = rows.groupby("task")["found"].agg(records="size", found="sum")
    return found.reindex(tasks, fill_value=0).astype(int)
