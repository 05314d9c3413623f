"""What the brokers' cleaners do: waiting for their turn, what they tell, and what the files hold then."""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from threebrokers import clock
from threebrokers.kafka.log_reader import read_log
from threebrokers.kafka.segments import Segment, divided
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import partition_of, topic_of

if TYPE_CHECKING:
    import pandas as pd

WATCH = "cleaner-watch"
# It cleans whatever is closed, however little that is; so one small mark is a tiny share of its log.
WATCH_CONFIG = {"cleanup.policy": "compact", "max.compaction.lag.ms": "1", "min.cleanable.dirty.ratio": "1"}
FILLERS, FILLER_BYTES = 30, 1000
MARK = ("mark", "x")
CLEAN = 2  # segments: one that is closed, and the active one
TURN_SECONDS = 15.0

CLEANED = re.compile(
    r"cleaned log (?P<log>\S+) \(dirty section = \[(?P<first>\d+), (?P<end>\d+)\]\)"
    r".*?Start size: .*?\((?P<before>[\d.,\s]+) messages\).*?End size: .*?\((?P<after>[\d.,\s]+) messages\)",
    re.DOTALL,
)
# The log that is cleaned last has been cleaned by the time that somebody asks, so its lines are there.
ELSEWHERE = (
    "The broker's log says nothing of its cleaner: in a container, /opt/kafka/logs/log-cleaner.log does."
)

KeyAndValue = tuple[str, str | None]


class Writer:
    """Writes records with timestamps of its own, each call a batch, and waits until that is stored."""

    def __init__(self, lab: Lab) -> None:
        self._producer = lab.producer({"linger.ms": 1000})

    def write(self, topic: str, records: Iterable[KeyAndValue], stamp: int, partition: int = -1) -> None:
        """Write records with this timestamp (ms), by their keys or all to one partition."""
        self.add(topic, records, stamp, partition)
        self._producer.flush()

    def add(self, topic: str, records: Iterable[KeyAndValue], stamp: int, partition: int = -1) -> None:
        """Add records, with a timestamp of their own, to the batch that the next call of write() sends."""
        for key, value in records:
            self._producer.produce(topic, value, key, timestamp=stamp, partition=partition)


def wait_for_cleaner(lab: Lab, topic: str) -> None:
    """Wait until the cleaners of the topic's brokers have done all that they would do for it now.

    A broker's cleaner takes the log with the largest dirty share first. So a log with a tiny one is cleaned
    last: it gets one more record, and when that log is clean, there is nothing left to do for any other.
    """
    watch = lab.topic(WATCH)
    brokers = sorted({broker for partition in topic_of(lab, topic).partitions for broker in partition.isr})
    if not _is_whole(lab, watch, brokers):
        _new_watch(lab)
    _clean(lab, watch, brokers)


def _is_whole(lab: Lab, watch: str, brokers: Sequence[int]) -> bool:
    """Tell whether each broker's log is there with all that stays: its making may have been interrupted."""
    if lab.cluster.state([watch]).topic(watch) is None:
        return False
    logs = [_files(lab, watch, broker) for broker in brokers]
    return all(_bytes_of(files) > FILLERS * FILLER_BYTES for files in logs)


def _bytes_of(files: Iterable[Path]) -> int:
    try:
        return sum(path.stat().st_size for path in files)
    except FileNotFoundError:  # the cleaner has just put another file in its place
        return 0


def _new_watch(lab: Lab) -> None:
    """Make the log that is cleaned last, on each broker, with much that stays and is clean already."""
    brokers = [[broker] for broker in lab.cluster.brokers]
    watch = lab.fresh_topic(WATCH, partitions=len(brokers), config=WATCH_CONFIG, brokers=brokers)
    writer, now = Writer(lab), clock.now_ms()
    fillers = [(f"filler {n}", "x" * FILLER_BYTES) for n in range(FILLERS)]
    for partition in range(len(brokers)):
        writer.write(watch, fillers, now - 2000, partition)
        writer.write(watch, [MARK], now - 1000, partition)
    _clean(lab, watch, lab.cluster.brokers)


def _clean(lab: Lab, watch: str, brokers: Sequence[int]) -> None:
    """Write a mark, which closes the segment of the one before, and wait until all that is closed is one."""
    writer, now = Writer(lab), clock.now_ms()
    for broker in brokers:
        writer.write(watch, [MARK], now, lab.cluster.brokers.index(broker))
    for broker in brokers:
        lab.wait_until(
            lambda at=broker: len(_files(lab, watch, at)) <= CLEAN,  # type: ignore[misc]
            what="the cleaner to have its turn",
            within=TURN_SECONDS,
        )


def _files(lab: Lab, watch: str, broker: int) -> list[Path]:
    return lab.cluster.segments(watch, lab.cluster.brokers.index(broker), broker)


def segments_of(lab: Lab, topic: str, partition: int = 0) -> tuple[Segment, ...]:
    """Return the files of one partition on its leader, oldest first, each with the records that it holds."""

    def steady() -> tuple[Segment, ...] | None:
        before = _sizes(lab, topic, partition)
        records = read_log(lab.bootstrap, topic, partitions=[partition])
        return divided(before, records) if before and before == _sizes(lab, topic, partition) else None

    return lab.wait_until(steady, what="the cleaner to put its files in place")


def _sizes(lab: Lab, topic: str, partition: int) -> Mapping[int, int]:
    try:
        return {int(path.stem): path.stat().st_size for path in lab.cluster.segments(topic, partition)}
    except FileNotFoundError:  # the cleaner has just put another file in its place
        return {}


def cleaner_runs(lab: Lab, topic: str, partition: int = 0, broker: int | None = None) -> "pd.DataFrame":
    """Return what a broker's log, the leader's unless told, says of each cleaning of this partition."""
    import pandas as pd  # only where a table is shown

    asked = broker or partition_of(lab, topic, partition).leader
    text = lab.cluster.log(asked).read_text("utf-8", "replace") if asked else ""
    if not CLEANED.search(text):
        print(ELSEWHERE)
    columns = ["dirty from offset", "to offset", "records before", "records after"]
    return pd.DataFrame(runs_in(text, f"{topic}-{partition}"), columns=columns)


def runs_in(text: str, log: str) -> list[tuple[int, int, int, int]]:
    """Return each cleaning of a log that a broker tells since it made the log: from, to, before, after."""
    since = text.rfind(f"Created log for partition {log} ")
    return [
        (int(run["first"]), int(run["end"]), _number(run["before"]), _number(run["after"]))
        for run in CLEANED.finditer(text, max(since, 0))
        if run["log"] == log
    ]


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def let_pass(milliseconds: int) -> None:
    """Let a time pass that a setting of Kafka asks for: nothing can be seen that tells when it is over."""
    time.sleep(milliseconds / 1000)
