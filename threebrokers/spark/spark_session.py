"""A Spark session that reads and writes the course's brokers."""

import json
import os
import re
import shutil
import socket
from pathlib import Path

import psutil
from py4j.protocol import Py4JError
from pyspark.core.context import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from threebrokers.cluster.jars import spark_jars
from threebrokers.errors import LabError
from threebrokers.files import faults_told
from threebrokers.kafka import access
from threebrokers.paths import home
from threebrokers.spark import entrance, gateway

LOCAL = "local[2]"
# Java's thorough second compiler costs more in a lab's few minutes than it gives: 12 s against 4 s of
# processor time to start.
JAVA_FLAGS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
ANSWER_SECONDS = 3.0


def session(master: str | None = None) -> SparkSession:
    """Return this kernel's Spark session; start it, in about 5 s, if there is none.

    Spark runs in a Java process of its own beside the kernel, with two threads; `master` names a
    Spark cluster instead (`spark://host:port`). There is one session: asking for another master
    ends the one before. A streaming query that still runs is stopped: it belongs to an earlier opening of
    the lab. Times are shown in UTC. What Java prints goes to `log()`.
    Raises LabError.
    """
    settings = _settings(LOCAL if master is None else _checked(master))
    if access.chosen():
        entrance.fill_in()
        settings |= entrance.HIDDEN
    if gateway.runs(settings):
        spark = SparkSession.builder.getOrCreate()
        for query in spark.streams.active:
            query.stop()
        return spark
    gateway.end()
    _drop_old_scratch()
    try:
        return gateway.start(settings, log())
    except (PySparkException, Py4JError, OSError) as fault:
        gateway.end()
        raise LabError(f"Spark did not start ({_reason(fault)}): read the end of {log()}.") from fault


def log() -> Path:
    """Return the file that holds what Spark's Java process printed."""
    return _folder("") / "spark.log"


def fresh_folder(name: str) -> str:
    """Return the path of an empty folder, for example for a query's checkpoint; what it held is deleted.

    A query that still runs and has its checkpoint there is stopped.
    """
    _stop_query(folder(name))
    shutil.rmtree(folder(name), ignore_errors=True)
    with faults_told(folder(name)):
        folder(name).mkdir()
    return str(folder(name))


def folder(name: str) -> Path:
    """Return the folder that `fresh_folder` gave out under this name, as it is now."""
    return _folder("folders") / name


def _stop_query(checkpoint: Path) -> None:
    if SparkContext._active_spark_context is None:
        return
    try:
        kept = json.loads((checkpoint / "metadata").read_text(encoding="utf-8"))
        query = SparkSession.builder.getOrCreate().streams.get(kept["id"])
    except (OSError, ValueError, KeyError, PySparkException, Py4JError):
        return  # it is no checkpoint, or Spark has ended
    if query is not None:
        query.stop()


def _settings(master: str) -> dict[str, str]:
    scratch = _folder("scratch") / str(os.getpid())
    with faults_told(scratch):
        scratch.mkdir(exist_ok=True)
    return {
        "spark.master": master,
        "spark.app.name": "threebrokers",
        "spark.jars": ",".join(path.as_uri() for path in spark_jars()),
        # Nobody but this machine may reach the driver.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "768m",
        "spark.executor.memory": "512m",
        "spark.driver.extraJavaOptions": f'{JAVA_FLAGS} "-Djava.io.tmpdir={scratch}"',
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(_folder("warehouse")),
        # 200, the default, costs seconds for each aggregation of data as small as ours.
        "spark.sql.shuffle.partitions": "2",
        # The default is the machine's own zone: every learner would see other hours.
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # A producer that was kept (10 minutes is the default) goes on counting its batches when a lab makes
        # its topic afresh; in 1 of about 200 writes the new topic got them out of order, and refused the
        # rest until the producer gave up after 2 minutes.
        "spark.kafka.producer.cache.timeout": "1ms",
        "spark.kafka.producer.cache.evictorThreadRunInterval": "100ms",
        # On a cluster the first tasks wait for two executors: otherwise the first to come does all the work.
        "spark.cores.max": "2",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    }


def _checked(master: object) -> str:
    if not isinstance(master, str) or not re.fullmatch(r"local(\[(\d+|\*)\])?|spark://\S+:\d+", master):
        raise LabError(
            f"{master!r} is no Spark master: give 'spark://host:port', or nothing for Spark on this machine."
        )
    for address in master.removeprefix("spark://").split(",") if master.startswith("spark://") else ():
        host, _, port = address.rpartition(":")
        try:
            # Spark itself would try for a minute before it gives up.
            socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS).close()
        except (OSError, ValueError) as fault:
            raise LabError(
                f"No Spark master answers at {address} ({fault}): "
                "start it, or call session() without an address for Spark on this machine."
            ) from fault
    return master


def _folder(name: str) -> Path:
    path = home() / "spark" / name
    with faults_told(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


def _drop_old_scratch() -> None:
    for path in _folder("scratch").iterdir():
        if not (path.name.isdigit() and psutil.pid_exists(int(path.name))):
            shutil.rmtree(path, ignore_errors=True)


def _reason(fault: Exception) -> str:
    try:
        java = getattr(fault, "java_exception", None)
        text = str(java.getMessage() if java is not None else fault).strip()
    except (Py4JError, OSError):  # Java has died meanwhile: nobody is left who knows the message
        return "its Java process has ended"
    return text.splitlines()[0].rstrip(".") if text else type(fault).__name__
