"""A Spark cluster of this home, from the installed PySpark, on loopback only.

It is a master, two workers, and a server of Spark Connect: a driver for sessions without Java of their own.
"""

import functools
import json
import os
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec

from threebrokers.cluster import (
    locks,
    ports,
    process,
    pyspark_files,
    spark_java,
    spark_secret,
    spark_settings,
    state_file,
)
from threebrokers.cluster.jars import spark_jars
from threebrokers.cluster.java import environment, java, spark_java_home
from threebrokers.cluster.ports import HOST
from threebrokers.cluster.process import Identity
from threebrokers.cluster.spark_settings import MARK
from threebrokers.errors import LabError
from threebrokers.files import faults_told, set_aside
from threebrokers.paths import lab_command
from threebrokers.store import JsonFile
from threebrokers.text import last_line
from threebrokers.waiting import quiet_wait, wait_until

NAME = "-Dthreebrokers.spark.name="
MASTER, WORKERS, CONNECT = "master", ("worker-1", "worker-2"), "connect"
NAMES = (MASTER, *WORKERS, CONNECT)
# One core each, so that both get work; an executor of a lab's session takes 512 MB.
OFFER = ["--cores", "1", "--memory", "640m"]
FLAGS = ["-XX:+ExitOnOutOfMemoryError", *spark_java.FLAGS]
HEAP, DRIVER_HEAP = "-Xmx192m", "-Xmx640m"
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
# A port that is taken is a fault: Spark would take the next one. Its REST server runs anybody's programs, and
# its pages let anybody end a program or retire a worker.
SETTINGS = [
    "-Dspark.port.maxRetries=0",
    "-Dspark.master.rest.enabled=false",
    "-Dspark.ui.killEnabled=false",
    "-Dspark.master.ui.decommission.allow.mode=DENY",
]
# In containers, each of which has its own: docker-compose.yml.
FIXED = {MASTER: (7077, 8080), "worker-1": (7078, 8081), "worker-2": (7079, 8082), CONNECT: (15002, 4040)}
START_SECONDS, END_SECONDS, LOCK_SECONDS, ANSWER_SECONDS = 120.0, 8.0, 150.0, 2.0


Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]


@dataclass(frozen=True)
class SparkNode:
    """One of them as the system sees it: 'up', 'paused' or 'down'; `rss` in bytes; its page."""

    name: str
    state: str
    pid: int | None
    rss: int
    page: str


@dataclass
class _Saved:
    """The ports of each process (its own, and its page's), and who runs."""

    ports: dict[str, tuple[Port, Port]] = field(default_factory=dict)
    running: dict[str, Identity] = field(default_factory=dict)


def up(home: Path, say: Callable[[str], None], *, connect: bool = True) -> str:
    """Start what does not run of the master and the workers, and return the master's address.

    Sessions connect to it ("spark://127.0.0.1:port"), or to the server of Spark Connect (`connect_address`),
    which is started too unless `connect` is false. Those that run and do not know the home's secret are
    started anew. Raises LabError if a port is taken, or one of them does not start.
    """
    with _locked(home):
        saved = _found(home)
        secret = spark_secret.made(home)
        known = all(spark_secret.is_known_to(one, secret) for one in saved.running.values())
        if MASTER not in saved.running or not known:
            # Workers of a master that is gone, or all that was started before there was a secret.
            if saved.running and not known:
                say(
                    "Spark runs without this home's secret, so it is ended: session() again in each notebook."
                )
            process.end(list(saved.running.values()), END_SECONDS)
            saved = _Saved(_ports(home))
        wanted = [name for name in NAMES if connect or name != CONNECT]
        missing = [name for name in wanted if name not in saved.running]
        if missing:
            say(f"Starting Spark's {', '.join(missing)} …")
        for together in ((MASTER,), (*WORKERS, CONNECT)):  # a worker without its master waits for long
            began = {name: _launch(home, saved, name, secret) for name in together if name in missing}
            for name, place in began.items():
                _expect_started(home, saved, name, place)
        wait_until(
            lambda: _workers(saved) == len(WORKERS),
            what="both workers to register with Spark's master",
            within=START_SECONDS,
            otherwise=f"read the ends of the logs in {_log(home, MASTER).parent}",
        )
    return _address(saved)


def down(home: Path) -> list[str]:
    """End all of them with all that they run; return the names of those that ran."""
    if not _marked(home):
        return []
    with _locked(home):
        saved = _found(home)
        ended = [name for name in NAMES if name in saved.running]
        executors = [child for identity in saved.running.values() for child in process.children(identity)]
        # A driver lets its executors go, a worker ends those that are left; the master hears of it.
        process.end([saved.running[name] for name in (CONNECT,) if name in saved.running], END_SECONDS)
        process.end([saved.running[name] for name in WORKERS if name in saved.running], END_SECONDS)
        process.end(list(saved.running.values()), END_SECONDS)
        # An executor without its worker ends by itself, and so do its Python processes.
        quiet_wait(lambda: not any(one.process() for one in executors), END_SECONDS)
        _file(home).write(_Saved(saved.ports))
    return ended


def kill(home: Path, name: str) -> None:
    """Kill one of them, as a fault of its machine would; its executors end by themselves."""
    with _locked(home):
        saved = _found(home)
        process.end([saved.running[name]] if name in saved.running else [], 0)


def nodes(home: Path) -> list[SparkNode]:
    """Return all of this home as they are now."""
    saved = _file(home).read() or _Saved()
    found = []
    for name in NAMES:
        seen = process.look(0, saved.running.get(name))
        page = f"http://{HOST}:{saved.ports[name][1]}" if name in saved.ports else ""
        found.append(SparkNode(name, seen.state, seen.pid, seen.rss, page))
    return found


def address(home: Path) -> str | None:
    """Return the address of this home's Spark master if that runs, else None."""
    saved = _file(home).read() or _Saved()
    master = saved.running.get(MASTER)
    return _address(saved) if master is not None and master.process() else None


def secret(home: Path, name: str = MASTER) -> str | None:
    """Return the secret that lets one into this home's master, or server; None if that does not know it."""
    running = (_file(home).read() or _Saved()).running.get(name)
    known = spark_secret.kept(home)
    return known if running and known and spark_secret.is_known_to(running, known) else None


def connect_address(home: Path) -> str | None:
    """Return the address of this home's server of Spark Connect ("sc://…") if that runs, else None."""
    saved = _file(home).read() or _Saved()
    server = saved.running.get(CONNECT)
    return f"sc://{HOST}:{saved.ports[CONNECT][0]}" if server is not None and server.process() else None


def alone(home: Path, name: str) -> tuple[list[str], dict[str, str]]:
    """Return command and environment of one of them at fixed ports, for a container that runs nothing else.

    There is no secret: each has a home of its own, and only these containers reach their loopback address.
    Raises LabError.
    """
    return _command(home, _Saved(dict(FIXED)), name, f"{MARK}{home}"), _environment(home)


def _launch(home: Path, saved: _Saved, name: str, secret: str) -> int:
    """Start one of them; return where in its log it begins. Raises LabError if a port is taken."""
    for wanted in saved.ports[name]:
        if not quiet_wait(functools.partial(ports.is_free, wanted), ports.FREE_SECONDS):
            raise LabError(
                f"Port {wanted} (of Spark's {name}) is used by another program",
                "end it, or move everything with `threebrokers down`, then `threebrokers up` and "
                "`threebrokers spark up`",
            )
    log = _log(home, name)
    set_aside(log)
    began = log.stat().st_size if log.exists() else 0
    mark = f"{MARK}{home}"
    command = _command(home, saved, name, mark, spark_java.stored(), spark_secret.FLAGS)
    told = _environment(home) | spark_secret.variables(secret)
    saved.running[name] = process.launch(command, log, told, mark)
    _file(home).write(saved)
    return began


def _expect_started(home: Path, saved: _Saved, name: str, began: int) -> None:
    """Wait until one of them listens. Raises LabError, with the last words of its log, if it does not."""
    port, started, log = saved.ports[name][0], saved.running[name], _log(home, name)
    quiet_wait(lambda: ports.answers(port) or not started.process(), START_SECONDS)
    if not (started.process() and ports.answers(port)):
        process.end([started], 0)
        said = last_line(log.read_bytes()[began:].decode("utf-8", "replace"))
        raise LabError(f"Spark's {name} did not start ({said or 'it said nothing'})", f"read {log}")


def _command(
    home: Path,
    saved: _Saved,
    name: str,
    mark: str,
    stored: tuple[str, list[str]] | None = None,
    flags: Sequence[str] = (),
) -> list[str]:
    """Return the command of one of them; `stored` is a class path, and the flags for its stored classes.

    `flags` are more of Java's.
    """
    port, page = saved.ports[name]
    jars, quick = stored or (str(_pyspark() / "jars" / "*"), [])
    begin = [str(java()), mark, f"{NAME}{name}", *FLAGS, *quick, *SETTINGS, *flags]
    if name == CONNECT:
        kafka = os.pathsep.join(map(str, spark_jars()))
        settings = [f"-D{key}={value}" for key, value in _driver(home, saved, kafka).items()]
        path = jars if stored else f"{jars}{os.pathsep}{kafka}"
        return [*begin, DRIVER_HEAP, spark_java.LOG, *settings, "-cp", path, SERVER]
    listens = ["--host", HOST, "--port", str(port), "--webui-port", str(page)]
    does = ["org.apache.spark.deploy.master.Master", *listens]
    if name != MASTER:
        folder = _folder(home) / name
        does = ["org.apache.spark.deploy.worker.Worker", *listens, *OFFER]
        does += ["--work-dir", str(folder), _address(saved)]
    return [*begin, HEAP, "-cp", jars, *does]


def _driver(home: Path, saved: _Saved, kafka: str) -> dict[str, str]:
    """Return the settings of the server of Spark Connect; `kafka` is the class path of the connector."""
    port, page = saved.ports[CONNECT]
    scratch = _folder(home) / CONNECT
    with faults_told(scratch):
        scratch.mkdir(parents=True, exist_ok=True)
    return {
        **spark_settings.SETTINGS,
        **spark_settings.SHARING,
        "spark.master": _address(saved),
        "spark.app.name": "threebrokers-connect",
        "spark.connect.grpc.binding.address": HOST,
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.port": str(page),
        # Each session has class loaders of its own, which do not know jars that came with the program.
        "spark.executor.extraClassPath": kafka,
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "java.io.tmpdir": str(scratch),
    }


def _environment(home: Path) -> dict[str, str]:
    """Return the environment of all of them: nothing that somebody set for another Spark."""
    foreign = ("SPARK_", "PYSPARK_", spark_secret.SECRET)
    kept = {n: v for n, v in environment().items() if not n.startswith(foreign)}
    found = pyspark_files.installed()
    return kept | {
        "JAVA_HOME": str(spark_java_home()),  # of the executors
        "SPARK_HOME": str(_pyspark()),
        # Otherwise it is looked for in the folders of a build.
        "SPARK_SCALA_VERSION": found.scala if found else "",
        "SPARK_LOCAL_IP": HOST,
        # A server of Spark Connect starts Python itself, for functions of the learner.
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_DIRS": str(_folder(home) / "local"),
        "MALLOC_ARENA_MAX": "2",
    }


def _workers(saved: _Saved) -> int:
    """Return how many workers the master counts; 0 while it does not answer. Raises LabError if one died."""
    for name, identity in saved.running.items():
        if not identity.process():
            raise LabError(f"Spark's {name} has ended", "`threebrokers spark up` starts it again")
    no_proxy = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with no_proxy.open(f"http://{HOST}:{saved.ports[MASTER][1]}/json/", timeout=ANSWER_SECONDS) as told:
            said: dict[str, Any] = json.load(told)
    except (OSError, ValueError):
        return 0
    return int(said.get("aliveworkers", 0))


def _found(home: Path) -> _Saved:
    """Return what is remembered, without who has ended, and with who runs and was not known."""
    saved = _file(home).read() or _Saved()
    saved.running = _marked(home)
    if saved.ports.keys() != {*NAMES}:
        process.end(list(saved.running.values()), 0)  # nobody knows any more where they listen
        return _Saved(_ports(home))
    return saved


def _marked(home: Path) -> dict[str, Identity]:
    return process.named(f"{MARK}{home}", NAME)


def _ports(home: Path) -> dict[str, tuple[Port, Port]]:
    """Return this home's ports for Spark: they go with those of its brokers, which no other home has."""
    first = ports.spark(state_file.load(home).ports or ports.claim(home))
    return {name: (first + 2 * i, first + 2 * i + 1) for i, name in enumerate(NAMES)}


def _address(saved: _Saved) -> str:
    return f"spark://{HOST}:{saved.ports[MASTER][0]}"


def _pyspark() -> Path:
    """Return the folder of the installed PySpark. Raises LabError."""
    found = pyspark_files.folder()
    if found is None:
        raise LabError("PySpark is not installed", f"`{lab_command()}` installs what the course needs")
    return found


def _log(home: Path, name: str) -> Path:
    return home / "logs" / f"spark-{name}.log"


def _folder(home: Path) -> Path:
    return home / "spark" / "cluster"


def _file(home: Path) -> JsonFile[_Saved]:
    return JsonFile(home / "spark-cluster.json", _Saved)


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    """Let one command at a time start or end this home's Spark cluster. Raises LabError after 150 s."""
    late = LabError(
        f"Another command has been starting or ending Spark for more than {LOCK_SECONDS:g} s",
        "end it, then try again",
    )
    with faults_told(home), locks.held(_file(home), LOCK_SECONDS, late):
        yield
