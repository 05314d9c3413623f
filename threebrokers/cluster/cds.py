"""Making, once, what later starts use: a formatted folder, and an archive of the classes that Kafka loads."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from threebrokers.cluster import log_dirs, ports, process, settings
from threebrokers.cluster.jars import kafka_jars
from threebrokers.cluster.java import environment
from threebrokers.cluster.java import run as run_java
from threebrokers.errors import LabError
from threebrokers.files import copy_tree
from threebrokers.text import last_line
from threebrokers.waiting import quiet_wait

TEMPLATE, CLASSES = "template", "kafka.jsa"
END_SECONDS = 15
TOOLS = "org.apache.kafka.tools"
TRY = (f"{TOOLS}.TopicCommand", "--version")
# One broker alone cannot keep three copies.
ALONE = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}


def make(java: Path, broker: list[str], tool: list[str], work: Path, say: Callable[[str], None]) -> Path:
    """Return a new folder inside `work` with the template and, if all goes well, the archive.

    `broker` and `tool` are JVM flags. The caller is the only one who works in `work`. Raises LabError if
    Kafka's own tool cannot format a folder.
    """
    say("Preparing quick starts of Kafka: once, about half a minute …")
    process.end(list(process.find(work).values()), 0)  # of a training that was killed
    shutil.rmtree(work, ignore_errors=True)
    made = work / "made"
    made.mkdir(parents=True)
    training = _Training(java, broker, tool, work)
    training.format(made / TEMPLATE)
    try:
        training.work_through()
        lists = sorted(work.glob("*.classes"))
        store(java, tool, training.path, lists, made / CLASSES)
    except (OSError, subprocess.SubprocessError, LabError) as fault:
        (made / CLASSES).unlink(missing_ok=True)
        say(f"The classes of Kafka could not be stored, so starts take longer ({_last_words(fault)}).")
    return made


class _Training:
    """One broker and Kafka's tools, run once to see which classes they load."""

    def __init__(self, java: Path, broker: list[str], tool: list[str], work: Path) -> None:
        self.java, self.broker, self.tool, self.work = java, broker, tool, work
        self.path = os.pathsep.join(map(str, kafka_jars()))
        numbers = dict(zip(settings.LISTENERS, _free_ports(len(settings.LISTENERS)), strict=True))
        addresses = {name: f"{ports.HOST}:{number}" for name, number in numbers.items()}
        self.port, self.address = numbers["CLIENT"], addresses["CLIENT"]
        self.data, self.conf = work / "data", work / "broker.properties"
        values = settings.properties(1, {1: addresses}, str(self.data)) | ALONE
        self.conf.write_text(settings.as_text(values), encoding="utf-8")

    def format(self, template: Path) -> None:
        """Let Kafka's own tool format a folder."""
        arguments = ["format", "--cluster-id", log_dirs.kafka_id(), "--config", str(self.conf)]
        try:
            run(self.java, self.tool, self.path, ["kafka.tools.StorageTool", *arguments])
        except subprocess.SubprocessError as fault:
            raise LabError(
                f"Kafka's storage tool could not format a folder ({_last_words(fault)})",
                "run `threebrokers doctor` to check Java and the jars",
            ) from fault
        copy_tree(self.data, template)

    def work_through(self) -> None:
        """Run a broker and the usual tools on it; each writes the list of its classes."""
        mark = [f"{process.MARK}{self.work}", f"{process.NODE}1"]
        log = self.work / "broker.log"
        command = [self.java, *self.broker, *mark, self._listing("broker"), "-cp", self.path, "kafka.Kafka"]
        broker = process.launch([*map(str, command), str(self.conf)], log, environment(), mark[0])
        try:
            quiet_wait(lambda: ports.answers(self.port) or not broker.process(), STEP_SECONDS)
            if not broker.process():
                raise LabError(last_line(log.read_text("utf-8", "replace")))
            self._tool("TopicCommand", "--create", "--topic", "t")
            self._tool("ConsoleProducer", "--topic", "t", given="a\nb\n")
            segments = ",".join(map(str, self.data.glob("t-0/*.log")))
            with ThreadPoolExecutor() as pool:
                runs = [
                    pool.submit(self._tool, "TopicCommand", "--describe"),
                    pool.submit(self._tool, "MetadataQuorumCommand", "describe", "--status"),
                    pool.submit(
                        self._tool, "consumer.ConsoleConsumer", "--topic", "t", "--group", "g",
                        "--from-beginning", "--max-messages", "2", "--timeout-ms", "20000",
                    ),
                    pool.submit(self._tool, "DumpLogSegments", "--files", segments, "--print-data-log"),
                ]  # fmt: skip
            for run in runs:
                run.result()
            self._tool("consumer.group.ConsumerGroupCommand", "--describe", "--group", "g")
        finally:
            process.end([broker], END_SECONDS)

    def _tool(self, name: str, *arguments: str, given: str = "") -> None:
        flags = [*self.tool, self._listing(f"{name}-{arguments[0]}")]
        ask = [] if name == "DumpLogSegments" else ["--bootstrap-server", self.address]
        run(self.java, flags, self.path, [f"{TOOLS}.{name}", *ask, *arguments], given)

    def _listing(self, name: str) -> str:
        return listing(self.work / f"{name}.classes")


def _free_ports(count: int) -> list[int]:
    probes = [socket.create_server((ports.HOST, 0)) for _ in range(count)]
    numbers = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return numbers


def _last_words(fault: Exception) -> str:
    if isinstance(fault, subprocess.TimeoutExpired):  # its own words are the whole command
        return f"it took more than {fault.timeout:.0f} s"
    said = fault.stderr or fault.stdout if isinstance(fault, subprocess.CalledProcessError) else None
    return last_line(said or str(fault)) or type(fault).__name__


STEP_SECONDS = 120
# Only G1 can store objects too, and linked classes; Java 17 knows no linking and leaves it out.
STORING = ("-Xmx512m", "-XX:+UseG1GC", "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+AOTClassLinking")
OTHERWISE = ("-Xmx", "-XX:+UseSerialGC", "-Xshare")


def listing(path: Path) -> str:
    """Return the flag that makes a JVM write down the classes that it loads."""
    return f"-XX:DumpLoadedClassList={path}"


def merged(lists: Iterable[Path]) -> str:
    """Return one list for several JVMs: each line once, without the numbers that one run gave to classes."""
    names: dict[str, None] = {}
    for path in lists:
        lines = path.read_text(encoding="utf-8").splitlines()
        names |= dict.fromkeys(line.partition(" id: ")[0] for line in lines if not line.startswith("#"))
    return "".join(f"{name}\n" for name in names)


def store(
    java: Path, flags: list[str], path: str, lists: list[Path], archive: Path, words: Sequence[str] = TRY
) -> None:
    """Write the archive of all classes in `lists`, for this class path, and make sure that a JVM takes it.

    `words` are a main class and its arguments, which end at once.
    Raises CalledProcessError or TimeoutExpired.
    """
    every = archive.with_suffix(".list")
    archived = f"-XX:SharedArchiveFile={archive}"
    kept = [flag for flag in flags if not flag.startswith(OTHERWISE)]
    try:
        every.write_text(merged(lists), encoding="utf-8")
        run(java, [*kept, *STORING, "-Xshare:dump", f"-XX:SharedClassListFile={every}", archived], path, [])
    finally:
        every.unlink(missing_ok=True)
    with archive.open("rb+") as file:
        os.fsync(file)  # a JVM crashes on an archive that lost a page in a power cut
    run(java, [*flags, "-Xshare:on", archived], path, [*words])


def run(java: Path, flags: list[str], path: str, words: list[str], given: str = "") -> None:
    """Run a main class with its arguments to its end. Raises CalledProcessError or TimeoutExpired."""
    command = [str(java), *flags, "-cp", path, *words]
    run_java(command, STEP_SECONDS, given).check_returncode()
