"""How far Spark is with its work, and what it says if it fails."""

from typing import NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession


class Tasks(NamedTuple):
    """How many tasks of a job are done, and how many have failed."""

    done: int
    failed: int


def last_tasks(spark: SparkSession) -> Tasks:
    """Return how many tasks of the job that was started last are done, and how many have failed."""
    tracker = spark.sparkContext.statusTracker()
    job = tracker.getJobInfo(max(tracker.getJobIdsForGroup(), default=-1))
    stages = [tracker.getStageInfo(stage) for stage in job.stageIds] if job else []
    known = [stage for stage in stages if stage]
    return Tasks(sum(s.numCompletedTasks for s in known), sum(s.numFailedTasks for s in known))


def count_or_reason(table: DataFrame) -> int | str:
    """Return how many rows a table has, or, if a task of Spark fails, the first line of the reason."""
    try:
        return table.count()
    except Py4JJavaError as fault:
        return str(fault.java_exception.getMessage()).splitlines()[0].rstrip(";")
