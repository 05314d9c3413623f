"""How far Spark is with its work, and what it says if it fails."""

from typing import NamedTuple

import pandas as pd
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from threebrokers.spark import connect


class Tasks(NamedTuple):
    """How many tasks of a job are done, and how many have failed."""

    done: int
    failed: int


def jobs_so_far(spark: SparkSession) -> int:
    """Return how many jobs a session has started; with Spark Connect, how often it has asked for rows.

    The server of Spark Connect tells nobody of its jobs, but rows are the one reason for which it starts any.
    """
    if connect.current() is not None:
        return connect.plans_sent()
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup())


def last_tasks(spark: SparkSession) -> Tasks:
    """Return how many tasks of the job that was started last are done, and how many have failed.

    Raises LabError with Spark Connect, which tells nobody of its jobs.
    """
    if (why := connect.not_here("Counting tasks")) is not None:
        raise why
    tracker = spark.sparkContext.statusTracker()
    job = tracker.getJobInfo(max(tracker.getJobIdsForGroup(), default=-1))
    stages = [tracker.getStageInfo(stage) for stage in job.stageIds] if job else []
    known = [stage for stage in stages if stage]
    return Tasks(sum(s.numCompletedTasks for s in known), sum(s.numFailedTasks for s in known))


def who_read(records: DataFrame) -> pd.DataFrame:
    """Return one row for each partition and process that read of it: partition, process (id), records.

    `records` is what Spark's Kafka reader gives. On a Spark cluster the processes are its executors;
    without one there is a single process, the session's own.
    """
    process = F.expr("reflect('java.lang.ProcessHandle', 'current')").cast("long").alias("process")
    read = records.select("partition", process).groupBy("partition", "process")
    return read.agg(F.count("*").alias("records")).orderBy("partition", "process").toPandas()


def count_or_reason(table: DataFrame) -> int | str:
    """Return how many rows a table has, or, if a task of Spark fails, the first line of the reason."""
    try:
        return table.count()
    except Py4JJavaError as fault:
        told = str(fault.java_exception.getMessage())
    except PySparkException as fault:  # Spark Connect's
        if connect.current() is None:
            raise
        told = str(fault).removeprefix("(org.apache.spark.SparkException) ")
    return told.splitlines()[0].rstrip(";")
