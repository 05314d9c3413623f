"""A Spark session that reads and writes the course's brokers."""

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

from threebrokers.cluster import spark_cluster, spark_java, spark_secret
from threebrokers.cluster.jars import spark_jars
from threebrokers.cluster.spark_settings import COMPILER, SETTINGS
from threebrokers.errors import LabError
from threebrokers.files import faults_told
from threebrokers.kafka import access
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import opened_here
from threebrokers.lab.outcomes import show_in_words
from threebrokers.paths import home
from threebrokers.spark import connect, entrance, gateway
from threebrokers.spark.checkpoint import query_id

LOCAL, CLUSTER, CONNECT = "local[2]", "spark://", "sc://"
ANSWER_SECONDS = 3.0
NOT_OWN = (
    "`threebrokers spark status` tells the address of the course's own; if it is this one, start it anew: "
    "`threebrokers spark down`, then `threebrokers spark up`"
)
NO_LAB = "no-lab"
_begun: set[str] = set()  # openings of labs that have folders of their own by now


def session(master: str | None = None) -> SparkSession:
    """Return this kernel's Spark session; start it, in a few seconds, if there is none.

    Spark runs in a Java process of its own beside the kernel, with two threads; `master` names a
    Spark cluster instead (`spark://host:port`), or a server of Spark Connect (`sc://host:port`): then the
    driver runs there, and there is no Java beside the kernel. There is one session: asking for another
    master ends the one before. A streaming query that still runs is stopped: it belongs to an earlier
    opening of the lab. Times are shown in UTC. What Java prints goes to `log()`.
    Raises LabError.
    """
    wanted = LOCAL if master is None else _checked(master)
    if wanted.startswith(CONNECT):
        return _connected(wanted)
    connect.end()
    show_in_words((Py4JError, ConnectionError), gateway.gone)
    settings = _settings(wanted)
    if access.chosen():
        entrance.fill_in()
        settings |= entrance.HIDDEN
    if gateway.runs(settings):
        spark = SparkSession.builder.getOrCreate()
        for query in spark.streams.active:
            query.stop()
        return spark
    secret = _secret(wanted)
    if secret:
        settings |= spark_secret.SETTINGS
    gateway.end()
    _drop_old_scratch()
    try:
        return gateway.start(settings, log(), secret)
    except (PySparkException, Py4JError, OSError) as fault:
        gateway.end()
        raise LabError(f"Spark did not start ({_reason(fault)}): read the end of {log()}.") from fault


def _connected(address: str) -> SparkSession:
    if (way := access.chosen()) is not None and way.settings:  # which its readers and writers are not told
        raise LabError("Spark Connect cannot get into a cluster that is not yours", "call `session()`")
    if connect.same_place(address, spark_cluster.connect_address(home())):
        _own_secret(spark_cluster.CONNECT, address)
    gateway.end()
    gateway.quiet_errors()
    try:
        return connect.start(address)
    except (PySparkException, OSError) as fault:
        if connect.is_refused(fault):
            raise LabError(
                f"The server of Spark Connect at {address.removeprefix(CONNECT)} asks for the secret of its "
                "home, and that is not this home's",
                NOT_OWN,
            ) from fault
        raise LabError(
            f"No server of Spark Connect answers at {address.removeprefix(CONNECT)} ({_reason(fault)}): "
            "`threebrokers spark status` tells the address of the course's own."
        ) from fault


def log() -> Path:
    """Return the file that holds what Spark's Java process printed."""
    return _folder("") / "spark.log"


def fresh_folder(name: str) -> str:
    """Return the path of an empty folder of this lab, for example for a query's checkpoint.

    What it held is deleted, and a query that still runs and has its checkpoint there is stopped.
    """
    path = folder(name)
    _delete(path)
    with faults_told(path):
        path.mkdir()
    return str(path)


def folder(name: str) -> Path:
    """Return the folder that `fresh_folder` gave out under this name, as it is now.

    Each lab has its own; what stands there from an earlier opening of the lab is deleted first.
    """
    lab = max(opened_here(), key=lambda lab: lab.opened_at, default=None)
    path = folder_of(lab, "")
    if lab is not None and lab.opened not in _begun:
        _begun.add(lab.opened)
        for left in path.glob("*"):
            _delete(left)
    with faults_told(path):
        path.mkdir(exist_ok=True)
    return path / name


def folder_of(lab: Lab | None, name: str) -> Path:
    """Return the folder of this name of a lab, from any process; nothing is deleted."""
    return _folder("folders") / (lab.number if lab else NO_LAB) / name


def _delete(path: Path) -> None:
    _stop_query(path)
    shutil.rmtree(path, ignore_errors=True)


def _stop_query(checkpoint: Path) -> None:
    if SparkContext._active_spark_context is None and connect.current() is None:
        return
    if (number := query_id(checkpoint)) is None:
        return
    try:
        query = connect.in_use().streams.get(number)
    except (OSError, ValueError, PySparkException, Py4JError):
        return  # it is no query's id, or Spark has ended
    if query is not None:
        query.stop()


def _settings(master: str) -> dict[str, str]:
    scratch = _folder("scratch") / str(os.getpid())
    with faults_told(scratch):
        scratch.mkdir(exist_ok=True)
    return {
        **SETTINGS,
        # A driver that does all itself listens, too: for that Spark makes up a secret, new each time.
        **(_of_executors() if CLUSTER in master else {"spark.authenticate": "true"}),
        "spark.master": master,
        "spark.app.name": "threebrokers",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(_folder("warehouse")),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # On a cluster the first tasks wait for two executors: otherwise the first to come does all the work.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{gateway.EXECUTORS_SECONDS:.0f}s",
    }


def _of_executors() -> dict[str, str]:
    """Return what executors of a cluster are given: the connector's jars, and what makes their start quick.

    Those are the classes that this machine has stored. Java takes them if the class path of which they are
    comes first; on another machine, where nothing is at these places, it passes over them.
    """
    # The driver has the jars on its class path.
    jars = {"spark.jars": ",".join(path.as_uri() for path in spark_jars())}
    path, flags = spark_java.stored() or ("", [])
    if not path or any(" " in flag for flag in flags):  # Spark would take one such option for several
        return jars
    options = " ".join([*COMPILER, *flags])
    return jars | {"spark.executor.extraClassPath": path, "spark.executor.extraJavaOptions": options}


def _checked(master: object) -> str:
    right = r"local(\[(\d+|\*)\])?|spark://\S+:\d+"
    if not isinstance(master, str) or not (re.fullmatch(right, master) or connect.ADDRESS.fullmatch(master)):
        raise LabError(
            f"{master!r} is no Spark master: give 'spark://host:port', 'sc://host:port' for Spark Connect, "
            "or nothing for Spark on this machine."
        )
    if master.startswith(CLUSTER):
        for address in master.removeprefix(CLUSTER).split(","):
            _expect_answer("Spark master", address)
    elif found := connect.ADDRESS.fullmatch(master):
        _expect_answer("server of Spark Connect", f"{found['host']}:{found['port']}")
    return master


def _secret(master: str) -> str | None:
    """Return the secret that lets a driver into `master`; None if that asks for none.

    Raises LabError if it asks for one that is not this home's, or is this home's own and asks for none.
    """
    if not master.startswith(CLUSTER):
        return None
    places = master.removeprefix(CLUSTER)
    if connect.same_place(master, spark_cluster.address(home())):
        return _own_secret(spark_cluster.MASTER, master)
    if any(spark_secret.is_asked(place) for place in places.split(",")):
        raise LabError(
            f"The Spark master at {places} asks for the secret of its home, and that is not this home's",
            NOT_OWN,
        )
    return None


def _own_secret(name: str, address: str) -> str:
    """Return the secret for one of this home's own Spark. Raises LabError if it runs without: for anybody."""
    if (known := spark_cluster.secret(home(), name)) is not None:
        return known
    raise LabError(
        f"The Spark at {address} was not started with the secret that this home has now",
        "`threebrokers spark down`, then `threebrokers spark up`",
    )


def _expect_answer(what: str, address: str) -> None:
    host, _, port = address.rpartition(":")
    try:
        # Spark itself would try for a minute before it gives up.
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_SECONDS).close()
    except (OSError, ValueError, OverflowError) as fault:
        raise LabError(
            f"No {what} answers at {address} ({fault}): "
            "start it, or call session() without an address for Spark on this machine."
        ) from fault


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
