"""A Spark cluster for some cells of a lab: started by them, ended by them or with the kernel."""

import atexit
from collections import Counter

import psutil
from pyspark import SparkContext

from threebrokers.cluster import spark_cluster
from threebrokers.errors import LabError
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.lab import Lab
from threebrokers.paths import home
from threebrokers.spark import connect, gateway
from threebrokers.waiting import wait_until

# So many records of a partition are written: its task has begun, and is not near its end (about 290).
BEGUN, FAR = 20, 200
SECONDS = 120.0


def workers_up() -> str:
    """Start what does not run of Spark's master and its two workers, one core each; return their address.

    `session(address)` connects to them. They end with `workers_down`, with the kernel, and with the brokers.
    Raises LabError.
    """
    if spark_cluster.address(home()) is None:
        # A cluster that somebody started in a terminal is left alone at the kernel's end.
        atexit.unregister(workers_down)
        atexit.register(workers_down)
    return spark_cluster.up(home(), print, connect=False)


def workers_down() -> None:
    """End the session of this kernel, the executors, the workers and the master.

    A cluster that somebody started in a terminal ends, too, and so does the server of Spark Connect.
    """
    connect.end()
    gateway.end()
    spark_cluster.down(home())


def driver_process() -> int:
    """Return the id of the process in which the driver of this kernel's session runs; 0 if there is none."""
    if connect.current() is not None:
        servers = (node.pid for node in spark_cluster.nodes(home()) if node.name == spark_cluster.CONNECT)
        return next(servers, None) or 0
    made = SparkContext._gateway
    return int(made.proc.pid) if made is not None else 0


def kill_reader(lab: Lab, topic: str) -> None:
    """Kill the worker whose executor is in the middle of a partition, as a fault of its machine would.

    `topic` (a full name) is written meanwhile: the key of a record is its place ("partition-offset"), its
    value begins with the process that read it. Raises LabError.
    """
    executor = wait_until(
        lambda: _in_the_middle(lab, topic),
        what="an executor to be in the middle of a partition",
        within=SECONDS,
        otherwise="run the cell again",
    )
    try:
        worker = psutil.Process(executor).ppid()
    except psutil.NoSuchProcess as fault:
        raise LabError("The executor has ended already", "run the cell again") from fault
    names = [node.name for node in spark_cluster.nodes(home()) if node.pid == worker]
    if not names:
        raise LabError("No worker of this cluster reads for the query", "start it with session(workers_up())")
    spark_cluster.kill(home(), names[0])
    print(f"Killed: {names[0]}, in the middle of a partition.")


def _in_the_middle(lab: Lab, topic: str) -> int | None:
    """Return the process that has read so many records of the partition that was begun last."""
    begun: Counter[tuple[int, bytes]] = Counter()
    for record in read_log(lab.bootstrap, topic):
        process, part = int((record.value or b"0").split()[0]), (record.key or b"").split(b"-")[0]
        begun[process, part] += 1
    return next((process for (process, _), count in begun.items() if BEGUN <= count <= FAR), None)
