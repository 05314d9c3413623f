"""A Spark cluster of this home: a master and two workers from the installed PySpark, on loopback only."""

import functools
import json
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec

from threebrokers.cluster import ports, process, pyspark_files, state_file
from threebrokers.cluster.java import environment, java, spark_java_home
from threebrokers.cluster.ports import HOST
from threebrokers.cluster.process import Identity
from threebrokers.errors import LabError
from threebrokers.files import faults_told, set_aside
from threebrokers.paths import lab_command
from threebrokers.store import JsonFile
from threebrokers.text import last_line
from threebrokers.waiting import quiet_wait, wait_until

MARK = "-Dthreebrokers.spark="  # of a process's command line, with the home
NAME = "-Dthreebrokers.spark.name="
MASTER, WORKERS = "master", ("worker-1", "worker-2")
NAMES = (MASTER, *WORKERS)
# One core each, so that both get work; an executor of a lab's session takes 512 MB.
OFFER = ["--cores", "1", "--memory", "640m"]
# What spark-class gives its JVMs, for the modules that Spark's network layer and its serializer open.
FLAGS = [
    "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.lang", "java.nio", "sun.nio.ch")),
]  # fmt: skip
# A port that is taken is a fault: Spark would take the next one. Its REST server runs anybody's programs.
SETTINGS = ["-Dspark.port.maxRetries=0", "-Dspark.master.rest.enabled=false"]
# In containers, each of which has its own: docker-compose.yml.
FIXED = {MASTER: (7077, 8080), "worker-1": (7078, 8081), "worker-2": (7079, 8082)}
START_SECONDS, END_SECONDS, LOCK_SECONDS, ANSWER_SECONDS = 120.0, 8.0, 150.0, 2.0


Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]


@dataclass(frozen=True)
class SparkNode:
    """A master or worker as the system sees it: 'up', 'paused' or 'down'; `rss` in bytes; its page."""

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


def up(home: Path, say: Callable[[str], None]) -> str:
    """Start what does not run of the master and the workers, and return the master's address.

    Sessions connect to it ("spark://127.0.0.1:port"). Raises LabError if a port is taken, or one of them
    does not start.
    """
    with _locked(home):
        saved = _found(home)
        if MASTER not in saved.running:
            process.end(list(saved.running.values()), END_SECONDS)  # workers of a master that is gone
            saved = _Saved(_ports(home))
        missing = [name for name in NAMES if name not in saved.running]
        if missing:
            say(f"Starting Spark's {', '.join(missing)} …")
        for name in missing:
            _start(home, saved, name)
        wait_until(
            lambda: _workers(saved) == len(WORKERS),
            what="both workers to register with Spark's master",
            within=START_SECONDS,
            otherwise=f"read the ends of the logs in {_log(home, MASTER).parent}",
        )
    return _address(saved)


def down(home: Path) -> list[str]:
    """End the workers and the master with all that they run; return the names of those that ran."""
    if not _marked(home):
        return []
    with _locked(home):
        saved = _found(home)
        ended = [name for name in NAMES if name in saved.running]
        executors = [child for identity in saved.running.values() for child in process.children(identity)]
        # A worker ends its executors; the master hears of it while it is there.
        process.end([saved.running[name] for name in WORKERS if name in saved.running], END_SECONDS)
        process.end(list(saved.running.values()), END_SECONDS)
        # An executor without its worker ends by itself, and so do its Python processes.
        quiet_wait(lambda: not any(one.process() for one in executors), END_SECONDS)
        _file(home).write(_Saved(saved.ports))
    return ended


def kill(home: Path, name: str) -> None:
    """Kill the master or a worker, as a fault of its machine would; its executors end by themselves."""
    with _locked(home):
        saved = _found(home)
        process.end([saved.running[name]] if name in saved.running else [], 0)


def nodes(home: Path) -> list[SparkNode]:
    """Return the master and the workers of this home as they are now."""
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


def alone(home: Path, name: str) -> tuple[list[str], dict[str, str]]:
    """Return command and environment of one of them at fixed ports, for a container that runs nothing else.

    Raises LabError.
    """
    return _command(home, _Saved(dict(FIXED)), name, f"{MARK}{home}"), _environment(home)


def _start(home: Path, saved: _Saved, name: str) -> None:
    port, page = saved.ports[name]
    for wanted in (port, page):
        if not quiet_wait(functools.partial(ports.is_free, wanted), ports.FREE_SECONDS):
            raise LabError(
                f"Port {wanted} (of Spark's {name}) is used by another program",
                "end it, or move everything with `threebrokers down`, and `threebrokers spark up` then",
            )
    log = _log(home, name)
    set_aside(log)
    began = log.stat().st_size if log.exists() else 0
    mark = f"{MARK}{home}"
    saved.running[name] = process.launch(_command(home, saved, name, mark), log, _environment(home), mark)
    _file(home).write(saved)
    started = saved.running[name]
    quiet_wait(lambda: ports.answers(port) or not started.process(), START_SECONDS)
    if not (started.process() and ports.answers(port)):
        process.end([started], 0)
        said = last_line(log.read_bytes()[began:].decode("utf-8", "replace"))
        raise LabError(f"Spark's {name} did not start ({said or 'it said nothing'})", f"read {log}")


def _command(home: Path, saved: _Saved, name: str, mark: str) -> list[str]:
    port, page = saved.ports[name]
    jars = str(_pyspark() / "jars" / "*")
    listens = ["--host", HOST, "--port", str(port), "--webui-port", str(page)]
    does = ["org.apache.spark.deploy.master.Master", *listens]
    if name != MASTER:
        folder = _folder(home) / name
        does = ["org.apache.spark.deploy.worker.Worker", *listens, *OFFER]
        does += ["--work-dir", str(folder), _address(saved)]
    return [str(java()), mark, f"{NAME}{name}", *FLAGS, *SETTINGS, "-cp", jars, *does]


def _environment(home: Path) -> dict[str, str]:
    """Return the environment of master and workers: nothing that somebody set for another Spark."""
    kept = {n: v for n, v in environment().items() if not n.startswith(("SPARK_", "PYSPARK_"))}
    found = pyspark_files.installed()
    return kept | {
        "JAVA_HOME": str(spark_java_home()),  # of the executors
        "SPARK_HOME": str(_pyspark()),
        # Otherwise it is looked for in the folders of a build.
        "SPARK_SCALA_VERSION": found.scala if found else "",
        "SPARK_LOCAL_IP": HOST,
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
    """Let one command at a time start or end this home's Spark cluster. Raises LabError, and Timeout."""
    with faults_told(home), _file(home).locked(LOCK_SECONDS):
        yield
