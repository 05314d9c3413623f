"""Making, once, what later starts use: a formatted folder, and an archive of the classes that Kafka loads."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from threebrokers.cluster import layout, ports, process, settings
from threebrokers.cluster.jars import kafka_jars
from threebrokers.errors import BenchError
from threebrokers.waiting import quiet_wait

TEMPLATE, CLASSES = "template", "kafka.jsa"
STEP_SECONDS = 120
TOOLS = "org.apache.kafka.tools"
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

    `broker` and `tool` are JVM flags. The caller is the only one who works in `work`. Raises BenchError if
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
        training.store(made / CLASSES)
    except (OSError, subprocess.SubprocessError, BenchError) as fault:
        (made / CLASSES).unlink(missing_ok=True)
        say(f"The classes of Kafka could not be stored, so starts take longer ({_last_words(fault)}).")
    return made


class _Training:
    """One broker and Kafka's tools, run once to see which classes they load."""

    def __init__(self, java: Path, broker: list[str], tool: list[str], work: Path) -> None:
        self.java, self.broker, self.tool, self.work = java, broker, tool, work
        self.path = os.pathsep.join(map(str, kafka_jars()))
        self.port, *others = _free_ports(len(settings.LISTENERS))
        addresses = dict(zip(settings.LISTENERS, _addresses([self.port, *others]), strict=True))
        self.address = addresses["CLIENT"]
        self.data, self.conf = work / "data", work / "broker.properties"
        values = settings.properties(1, {1: addresses}, str(self.data)) | ALONE
        self.conf.write_text(settings.as_text(values), encoding="utf-8")

    def format(self, template: Path) -> None:
        """Let Kafka's own tool format a folder."""
        arguments = ["format", "--cluster-id", layout.kafka_id(), "--config", str(self.conf)]
        try:
            self._run(self.tool, ["kafka.tools.StorageTool", *arguments])
        except subprocess.SubprocessError as fault:
            raise BenchError(
                f"Kafka's storage tool could not format a folder ({_last_words(fault)}): "
                "run `threebrokers doctor` to check Java and the jars."
            ) from fault
        shutil.copytree(self.data, template)

    def work_through(self) -> None:
        """Run a broker and the usual tools on it; each writes the list of its classes."""
        mark = [f"{process.MARK}{self.work}", f"{process.NODE}1"]
        log = self.work / "broker.log"
        command = [self.java, *self.broker, *mark, self._listing("broker"), "-cp", self.path, "kafka.Kafka"]
        broker = process.launch([*map(str, command), str(self.conf)], log, dict(os.environ))
        try:
            quiet_wait(lambda: ports.answers(self.port) or not broker.process(), STEP_SECONDS)
            self._tool("TopicCommand", "--create", "--topic", "t")
            self._tool("ConsoleProducer", "--topic", "t", given="a\nb\n")
            segment = next(self.data.glob("t-0/*.log"))
            with ThreadPoolExecutor() as pool:
                runs = [
                    pool.submit(self._tool, "TopicCommand", "--describe"),
                    pool.submit(self._tool, "MetadataQuorumCommand", "describe", "--status"),
                    pool.submit(
                        self._tool, "consumer.ConsoleConsumer", "--topic", "t", "--group", "g",
                        "--from-beginning", "--max-messages", "2", "--timeout-ms", "20000",
                    ),
                    pool.submit(self._tool, "DumpLogSegments", "--files", str(segment), "--print-data-log"),
                ]  # fmt: skip
            for run in runs:
                run.result()
            self._tool("consumer.group.ConsumerGroupCommand", "--describe", "--group", "g")
        finally:
            process.end([broker], STEP_SECONDS)

    def store(self, archive: Path) -> None:
        """Write the archive of all listed classes, and make sure that a JVM takes it."""
        names: dict[str, None] = {}  # in order, each once; a number after " id: " is one run's own
        for path in sorted(self.work.glob("*.classes")):
            lines = path.read_text(encoding="utf-8").splitlines()
            names |= dict.fromkeys(line.partition(" id: ")[0] for line in lines if not line.startswith("#"))
        every = self.work / "every.classes"
        every.write_text("\n".join(names) + "\n", encoding="utf-8")
        flags = [flag for flag in self.tool if not flag.startswith(("-Xmx", "-XX:+UseSerialGC", "-Xshare"))]
        # Only G1 can store objects too, and linked classes; Java 17 knows no linking and leaves it out.
        storing = ["-Xmx512m", "-XX:+UseG1GC", "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+AOTClassLinking"]
        archived = f"-XX:SharedArchiveFile={archive}"
        self._run([*flags, *storing, "-Xshare:dump", f"-XX:SharedClassListFile={every}", archived], [])
        self._run([*self.tool, "-Xshare:on", archived], [f"{TOOLS}.TopicCommand", "--version"])

    def _tool(self, name: str, *arguments: str, given: str = "") -> None:
        flags = [*self.tool, self._listing(f"{name}-{arguments[0]}")]
        ask = [] if name == "DumpLogSegments" else ["--bootstrap-server", self.address]
        self._run(flags, [f"{TOOLS}.{name}", *ask, *arguments], given)

    def _run(self, flags: list[str], words: list[str], given: str = "") -> None:
        command = [str(self.java), *flags, "-cp", self.path, *words]
        subprocess.run(command, input=given, capture_output=True, text=True, timeout=STEP_SECONDS, check=True)

    def _listing(self, name: str) -> str:
        return f"-XX:DumpLoadedClassList={self.work / name}.classes"


def _free_ports(count: int) -> list[int]:
    probes = [socket.create_server((ports.HOST, 0)) for _ in range(count)]
    numbers = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return numbers


def _addresses(numbers: list[int]) -> list[str]:
    return [f"{ports.HOST}:{number}" for number in numbers]


def _last_words(fault: Exception) -> str:
    said = fault.stderr or fault.stdout if isinstance(fault, subprocess.CalledProcessError) else None
    lines = [line.strip() for line in (said or str(fault)).splitlines() if line.strip()]
    return lines[-1] if lines else type(fault).__name__
