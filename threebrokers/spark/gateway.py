"""The Java process behind a Spark session: started with our settings, and ended for good."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark
from pyspark.conf import SparkConf
from pyspark.core.context import SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from threebrokers.cluster.java import spark_java_home

EXIT_SECONDS = 10.0
LOG4J = """rootLogger.level = warn
rootLogger.appenderRef.err.ref = err
appender.err.type = Console
appender.err.name = err
appender.err.target = SYSTEM_ERR
appender.err.layout.type = PatternLayout
appender.err.layout.pattern = %d %p %c{1}: %m%n
"""


def runs(settings: Mapping[str, str]) -> bool:
    """Tell whether this kernel has a live Spark with these settings (not one made by other code)."""
    context = SparkContext._active_spark_context
    if context is None or not java_runs():
        return False
    kept = context.getConf()
    return all(kept.get(name) == settings[name] for name in ("spark.master", "spark.jars"))


def java_runs() -> bool:
    """Tell whether this kernel's Spark has a Java process that is alive."""
    gateway = SparkContext._gateway
    return gateway is not None and gateway.proc.poll() is None


def kill() -> None:
    """Kill this kernel's Java process, as a fault of its machine would; what it was doing is left undone."""
    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.proc.kill()
        gateway.proc.wait()


def start(settings: Mapping[str, str], log: Path) -> SparkSession:
    """Start Java, send what it prints to `log`, and return the session; raises PySpark's errors."""
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    (log.parent / "log4j2.properties").write_text(LOG4J, encoding="utf-8")
    # PySparkLogger repeats on stderr, as JSON, an error that the cell shows anyway.
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)
    with _environment(log.parent), log.open("ab") as output:
        gateway = launch_gateway(conf, popen_kwargs={"stdout": output, "stderr": output})  # type: ignore[no-untyped-call]
        SparkContext(conf=conf, gateway=gateway)
        return SparkSession.builder.getOrCreate()


def end() -> None:
    """End the Spark of this kernel and its Java process, also when that is dead already."""
    context, gateway = SparkContext._active_spark_context, SparkContext._gateway
    if context is not None:
        if not java_runs():
            context._jsc = None  # there is nobody left to tell
        context.stop()
    if gateway is not None:
        with suppress(OSError):
            gateway.proc.stdin.close()  # Spark's sign to leave
        try:
            gateway.proc.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
            gateway.proc.wait()
    # PySpark would go on asking the Java process that it knows.
    SparkContext._gateway = SparkContext._jvm = None


@contextmanager
def _environment(conf: Path) -> Iterator[None]:
    """Give Spark's start scripts what they read from the environment, and put it back after."""
    wanted: dict[str, str | None] = {
        "JAVA_HOME": str(spark_java_home()),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_CONF_DIR": str(conf),
        # Without it Spark's workers are the first `python3` on the PATH.
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": "pyspark-shell",
        "SPARK_LOCAL_IP": "127.0.0.1",
        **dict.fromkeys(("PYSPARK_GATEWAY_PORT", "SPARK_LOCAL_DIRS", "SPARK_REMOTE", "SPARK_TESTING")),
    }
    before = {name: os.environ.get(name) for name in wanted}
    _set(wanted)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
