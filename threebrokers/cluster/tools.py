"""Kafka's own command-line tools, run on the course's Java."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from threebrokers.cluster import jars, prepare
from threebrokers.cluster.java import java
from threebrokers.cluster.java import run as run_java
from threebrokers.cluster.remote import not_yours
from threebrokers.cluster.settings import as_text
from threebrokers.errors import LabError
from threebrokers.kafka import rights
from threebrokers.kafka.access import Access

TOOL_SECONDS = 60

_CLASSES = {
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-dump-log": "org.apache.kafka.tools.DumpLogSegments",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-replica-verification": "org.apache.kafka.tools.ReplicaVerificationTool",
    "kafka-storage": "kafka.tools.StorageTool",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
}
# What these need is on the disks of the brokers.
_WITHOUT_ADDRESS = {"kafka-dump-log", "kafka-storage"}


class ToolTimeoutError(LabError):
    """A tool was ended because it did not end by itself: it may have waited for brokers that are away."""


def run(
    name: str, arguments: list[str], bootstrap: str, typed: str = "", access: Access | None = None
) -> str:
    """Run one tool and return what it prints on standard output; `typed` is its standard input.

    `--bootstrap-server` is added where the tool takes it and the arguments do not name one; with `access`, to
    a cluster that is not the learner's, also how to get in. Raises LabError if there is no such tool, if it
    fails (with its own last words), or takes more than 60 s.
    """
    if name not in _CLASSES:
        raise LabError(f"There is no tool '{name}' here", f"the tools are {', '.join(sorted(_CLASSES))}")
    address = (
        []
        if name in _WITHOUT_ADDRESS or "--bootstrap-server" in arguments
        else ["--bootstrap-server", bootstrap]
    )
    if access and name in _WITHOUT_ADDRESS:
        raise not_yours(access, f"{name} finds no files of its brokers here")
    flags = prepare.prepare(_unheard).tool_flags
    path = os.pathsep.join(map(str, jars.kafka_jars()))
    command = [str(java()), *flags, "-cp", path, _CLASSES[name], *address, *map(str, arguments)]
    try:
        with _entry(access) as more:
            # Without input of its own a tool must not read the terminal's.
            done = run_java([*command, *more], TOOL_SECONDS, typed)
    except subprocess.TimeoutExpired:
        raise ToolTimeoutError(
            f"{name} did not end within {TOOL_SECONDS} s",
            "give it a bound such as --timeout-ms or --max-messages",
        ) from None
    if done.returncode != 0:
        said = _last_words(done.stderr) or _last_words(done.stdout)
        if access and (refused := rights.of_text(access, f"{done.stderr}\n{done.stdout}")):
            raise refused
        raise LabError(f"{name} failed: {said}")
    return done.stdout


@contextmanager
def _entry(access: Access | None) -> Iterator[list[str]]:
    """Give the arguments by which a tool gets into a cluster; the file with the password goes at the end."""
    if access is None or not access.settings:
        yield []
        return
    number, path = tempfile.mkstemp(prefix="threebrokers-", suffix=".properties")  # for its owner's eyes
    try:
        with os.fdopen(number, "w", encoding="ascii") as file:
            file.write(as_text(access.java()))
        yield ["--command-config", path]
    finally:
        Path(path).unlink(missing_ok=True)


def _last_words(text: str) -> str:
    """Return the line that says what went wrong: not a Java stack frame, not an empty line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("at ", "Caused by:", "..."))]
    wrong = [line for line in telling if "rror" in line or "xception" in line]
    return (wrong or telling or ["it wrote no message"])[0]


def _unheard(text: str) -> None:
    """Drop a message: a tool's caller wants the tool's own words only."""
