"""Two versions of a query side by side on one topic, while departures come in and an office reads."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from threebrokers.data.replay import late_departures, replay_messages
from threebrokers.data.topics import send
from threebrokers.kafka.log_reader import end_offsets, read_log
from threebrokers.lab.lab import Lab
from threebrokers.spark import connect
from threebrokers.spark.gateway import java_runs
from threebrokers.spark.office import Arrivals, Change, Office, key_of
from threebrokers.spark.queries import java_there, why_ended
from threebrokers.spark.steps import offsets
from threebrokers.text import counted, listed
from threebrokers.waiting import wait_until

FIRST = 600  # so many departures are in the topic when the day is looked at
READ_FIRST = "exact-late-v1"
SECONDS = 120.0


@dataclass(frozen=True)
class Day:
    """What came of a day: `arrived` departures, of which those before the offsets `first` were there early.

    `old` is the id of the first version's query and that of its run, `running` the same of all that ran when
    `change_over` was done, and `reads` has the topics of each of these queries. The office has read `topic`
    last; `sent` are the keys of its vouchers, each with the topic of which it came.
    """

    arrived: int
    first: Mapping[int, int]
    old: tuple[str, str]
    running: Mapping[str, str]
    reads: Mapping[str, frozenset[str]]
    changes: tuple[Change, ...]
    topic: str
    sent: Mapping[str, str]
    left_out: int

    def __repr__(self) -> str:
        topics = list(dict.fromkeys(self.sent.values()))
        by_topic = [f"{sum(one == topic for one in self.sent.values())} from {topic}" for topic in topics]
        lines = [
            f"{self.arrived} departures have come in.",
            *(f"The office changed over to {one.topic} after {one.arrived} of them." for one in self.changes),
            f"It has sent {counted(len(self.sent), 'voucher')}: {listed(by_topic) or 'none'}.",
            f"It left out {counted(self.left_out, 'record')} whose key it had sent already.",
        ]
        return "\n".join(lines)


def live_day(
    lab: Lab,
    topic: str,
    version_1: DataStreamWriter,
    change_over: Callable[[StreamingQuery, Office], object],
) -> Day:
    """Let departures come into `topic` (a full name) while `change_over(old, office)` is called.

    600 are there before. `old` is the query that `version_1` has become; it has read those. The office reads
    the topic `exact-late-v1` until it is told another one. At the end all departures of the day come in; the
    queries that still run read them, and the office what they write. Then they are stopped, also if something
    fails. Raises LabError.
    """
    messages = replay_messages(late_departures())
    with java_there(), ExitStack() as at_the_end:
        send(lab, topic, messages[:FIRST])
        first = end_offsets(lab.bootstrap, topic)
        at_the_end.callback(stop_all)
        old = version_1.start()
        _read_to(old, topic, first)
        arrivals = Arrivals(lab, topic, messages[FIRST:], FIRST)
        at_the_end.callback(arrivals.stop)
        office = at_the_end.enter_context(Office(lab, READ_FIRST, running, lambda: arrivals.count))
        change_over(old, office)
        there = running()
        arrivals.finish()
        reads = {}
        for query in connect.in_use().streams.active:
            _read_to(query, topic, end_offsets(lab.bootstrap, topic))
            reads[query.id] = frozenset(_topics(query))
    return Day(
        arrived=arrivals.count,
        first=first,
        old=(old.id, old.runId),
        running=there,
        reads=reads,
        changes=tuple(office.changes),
        topic=office.topic,
        sent=office.sent,
        left_out=office.left_out,
    )


def keys_of_both(lab: Lab, versions: Mapping[str, StreamingQuery]) -> list[set[str]]:
    """Return the keys in the topic of each version, of the departures that all versions have read.

    The key of a record is its place ("partition-offset"). One version is always a little ahead.
    """
    with java_there():
        read = [_places(query) for query in versions.values()]
    both = {part: min(places.get(part, 0) for places in read) for part in {*read[0]}.union(*read)}
    found = []
    for name in versions:
        keys = (key_of(record.key) for record in read_log(lab.bootstrap, lab.topic(name)))
        found.append({key for key in keys if is_before(key, both)})
    return found


def is_before(key: str, places: Mapping[int, int]) -> bool:
    """Tell whether a key ("partition-offset") is a place before these."""
    part, _, offset = key.partition("-")
    return int(offset) < places.get(int(part), 0)


def running() -> dict[str, str]:
    """Return the ids of this kernel's queries that run now, each with the id of its run."""
    return {query.id: query.runId for query in connect.in_use().streams.active}


def stop_all() -> None:
    """Stop all queries of this kernel that run now; without Spark none does."""
    if java_runs() or connect.answers():
        for query in connect.in_use().streams.active:
            query.stop()


def _places(query: StreamingQuery) -> dict[int, int]:
    """Return the offsets to which a query has read its topic, and written what comes of it."""
    [places] = _topics(query).values() or [{}]
    return places


def _topics(query: StreamingQuery) -> dict[str, dict[int, int]]:
    """Return the offsets to which a query has read, by topic and partition."""
    told = query.lastProgress
    return offsets(told["sources"][0]["endOffset"]) if told is not None else {}


def _read_to(query: StreamingQuery, topic: str, ends: Mapping[int, int]) -> None:
    """Wait until a query of one topic has read it to these offsets. Raises LabError."""

    def has_read() -> bool:
        places = _places(query)
        if all(places.get(part, 0) >= end for part, end in ends.items()):
            return True
        if not query.isActive:
            raise why_ended(query)
        return False

    what = f"a query to read '{topic}' to its end"
    wait_until(has_read, what=what, within=SECONDS, otherwise="run the cell again")
