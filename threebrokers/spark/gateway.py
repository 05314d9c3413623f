"""The Java process behind a Spark session: started with our settings, and ended for good.

PySpark is told of a Java process that runs already: its own script takes two, one after the other.
"""

import logging
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import pyspark
from py4j.protocol import Py4JNetworkError
from pyspark.conf import SparkConf
from pyspark.core.context import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from threebrokers.cluster import spark_java, spark_secret
from threebrokers.cluster.java import environment
from threebrokers.errors import LabError
from threebrokers.waiting import quiet_wait, shown, wait_until

START_SECONDS, EXIT_SECONDS = 120.0, 10.0
# Spark waits for executors for 30 s by default: on a busy machine two JVMs may need longer.
EXECUTORS_SECONDS, KNOWN_SECONDS = 120.0, 10.0
GOING_SECONDS = 0.5  # its connections break a moment before it has ended


def runs(settings: Mapping[str, str]) -> bool:
    """Tell whether this kernel has a live Spark with these settings (not one made by other code)."""
    context = SparkContext._active_spark_context
    if context is None or not java_runs():
        return False
    kept = context.getConf()
    if any(kept.get(name) != settings.get(name) for name in ("spark.master", "spark.app.name", "spark.jars")):
        return False
    if context._jsc.sc().isStopped():
        return False
    # The master was ended, and perhaps started anew, without the driver: nobody would ever do its work.
    return not (_has_workers(settings) and _is_alone(context))


def _has_workers(settings: Mapping[str, str]) -> bool:
    return settings["spark.master"].startswith("spark://")


def _is_alone(context: SparkContext) -> bool:
    return bool(context._jsc.sc().getExecutorMemoryStatus().size() == 1)  # the driver itself


def java_runs() -> bool:
    """Tell whether this kernel's Spark has a Java process that is alive."""
    gateway = SparkContext._gateway
    return gateway is not None and gateway.proc.poll() is None


def gone(fault: Exception) -> LabError | None:
    """Say in one sentence what is behind an error if this kernel's Java process has ended; else None."""
    gateway = SparkContext._gateway
    if gateway is None:
        return None
    if not isinstance(fault, Py4JNetworkError):  # which nothing else raises
        try:
            gateway.proc.wait(GOING_SECONDS)
        except subprocess.TimeoutExpired:
            return None
    return has_ended()


def has_ended() -> LabError:
    """Return what is said of a Java process that has ended."""
    return LabError(
        "Spark's Java process has ended", "run the cell with `spark = session()` again, then those after it"
    )


def kill() -> None:
    """Kill this kernel's Java process, as a fault of its machine would; what it was doing is left undone."""
    gateway = SparkContext._gateway
    if gateway is not None:
        _tell_nothing_more(gateway)
        gateway.proc.kill()
        gateway.proc.wait()


def start(settings: Mapping[str, str], log: Path, secret: str | None = None) -> SparkSession:
    """Start Java, send what it prints to `log`, return the session; raises PySpark's errors, and LabError.

    `secret` lets it into its master.
    """
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    quiet_errors()
    with _environment(log.parent), log.open("ab") as output:
        java, where = _launched(spark_java.command(Path(settings["spark.local.dir"])), output, secret)
        with _set_for_a_while(where):
            gateway = launch_gateway(conf)  # type: ignore[no-untyped-call]
        gateway.proc = java
        if _has_workers(settings):
            with shown("executors of the Spark cluster to come", EXECUTORS_SECONDS + KNOWN_SECONDS):
                context = SparkContext(conf=conf, gateway=gateway)
                # An executor that is registered tells a moment later where its blocks are.
                quiet_wait(lambda: not _is_alone(context), KNOWN_SECONDS)
        else:
            SparkContext(conf=conf, gateway=gateway)
        return SparkSession.builder.getOrCreate()


def _launched(
    command: list[str], output: BinaryIO, secret: str | None = None
) -> tuple["subprocess.Popen[bytes]", dict[str, str]]:
    """Start Java; return it, and the variables that tell PySpark where it listens.

    Java writes port and password into a file that only this user can read. It ends with its standard input.
    Raises PySpark's error if Java ends at once, and LabError if it says nothing for two minutes.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        told = Path(folder, "gateway")
        more = {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(told), "SPARK_CONNECT_MODE": "0"}
        if secret is not None:
            more[spark_secret.SECRET] = secret
        java = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env=environment() | more,
            start_new_session=True,  # an interrupted cell is no reason for Java to end
        )
        try:
            wait_until(
                lambda: told.exists() or java.poll() is not None,
                what="Spark's Java process to say where it listens",
                within=START_SECONDS,
                otherwise=f"run the cell again, or read the end of {output.name}",
            )
            if not told.exists():
                raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
            port, length = struct.unpack_from(">ii", data := told.read_bytes())
            password = data[8 : 8 + length].decode()
        except BaseException:  # also when the cell is interrupted
            java.kill()
            java.communicate()
            raise
    return java, {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": password}


def quiet_errors() -> None:
    """Keep PySpark from repeating on stderr, as JSON, an error that the cell shows anyway."""
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)


def end() -> None:
    """End the Spark of this kernel and its Java process, also when that is dead already."""
    context, gateway = SparkContext._active_spark_context, SparkContext._gateway
    if context is not None:
        if not java_runs():
            context._jsc = None  # there is nobody left to tell
        context.stop()
    if gateway is not None:
        _tell_nothing_more(gateway)
        with suppress(OSError):
            gateway.proc.stdin.close()  # Spark's sign to leave
        try:
            gateway.proc.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
            gateway.proc.wait()
    # PySpark would go on asking the Java process that it knows, and refuse a session of Spark Connect.
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _tell_nothing_more(gateway: Any) -> None:
    """Keep Python from telling Java, which ends now, which objects it forgets.

    Any thread may do so, at any moment; py4j prints a traceback for each.
    """
    gateway._gateway_client.is_connected = False


@contextmanager
def _environment(conf: Path) -> Iterator[None]:
    """Give Spark what it reads from the environment, and put it back after."""
    wanted: dict[str, str | None] = {
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_CONF_DIR": str(conf),
        # Without it Spark's workers are the first `python3` on the PATH.
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        **dict.fromkeys(("PYSPARK_GATEWAY_PORT", "SPARK_LOCAL_DIRS", "SPARK_REMOTE", "SPARK_TESTING")),
    }
    with _set_for_a_while(wanted):
        yield


@contextmanager
def _set_for_a_while(wanted: Mapping[str, str | None]) -> Iterator[None]:
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
