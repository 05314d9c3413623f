"""Does your cluster keep what your settings promise? Send numbered records, break something, and verify.

    python delivery_ledger.py send my-topic ledger.db bootstrap.servers=broker:9092 acks=all
    (kill a leader, then the active controller, restart all brokers one after the other; then press Ctrl-C)
    python delivery_ledger.py verify ledger.db bootstrap.servers=broker:9092

The file ledger.db holds each record that was attempted, and what its delivery report said. `verify` reads
the topic to its end and compares: *lost* was acknowledged and is not there, *twice* is there more than once,
*failed* was reported as an error. It ends with code 1 if a record is lost or there twice, else with 0.

It needs Python and confluent-kafka. Behind the file stand settings of the client as name=value: take those of
your own program, those for TLS and passwords, too. Use a topic that is made like yours, for this test alone:
nothing in it may be deleted or compacted meanwhile. You may copy and change this file as you like.
"""

import argparse
import signal
import sqlite3
import sys
import time
import uuid
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

TABLES = """
CREATE TABLE IF NOT EXISTS run (id TEXT, topic TEXT);
CREATE TABLE IF NOT EXISTS begin_of_send (number INTEGER);  -- the first record of each `send`
CREATE TABLE IF NOT EXISTS record (
    number INTEGER PRIMARY KEY,  -- it stands in the record, too
    attempted REAL,              -- when it was handed to the producer (s since 1970)
    acknowledged REAL,           -- when its report came without an error
    place INTEGER, at INTEGER,   -- the partition and the offset that the report told (acks=0 tells none)
    error TEXT                   -- what the report said otherwise
);
"""
# A new leader learns a moment later how far it may let readers read: what is missing is waited for.
PATIENCE_SECONDS = 20.0


class Row(NamedTuple):
    """What the ledger knows of a record."""

    number: int
    acknowledged: float | None
    place: int | None
    at: int | None
    error: str | None


class Known(NamedTuple):
    """What a ledger holds: its id, its topic, its records, and with which of them each `send` began."""

    run: str
    topic: str
    rows: list[Row]
    begins: list[int]


class Found(NamedTuple):
    """What a ledger and a topic say together: numbers of records, and the longest pause (s)."""

    attempted: int
    acknowledged: int
    stored: int
    lost: list[int]
    twice: list[int]
    failed: list[int]
    failed_and_stored: list[int]
    no_report: list[int]
    deleted: list[int]
    pause: float

    def __str__(self) -> str:
        return "\n".join(
            [
                f"attempted     {self.attempted:>8}",
                f"acknowledged  {self.acknowledged:>8}",
                f"stored        {self.stored:>8}   each counted once",
                f"lost          {len(self.lost):>8}   {_some(self.lost)}",
                f"twice         {len(self.twice):>8}   {_some(self.twice)}",
                f"failed        {len(self.failed):>8}   {len(self.failed_and_stored)} of them are stored",
                f"no report     {len(self.no_report):>8}   {_some(self.no_report)}",
                f"deleted       {len(self.deleted):>8}   by the topic's retention: too old to tell",
                f"longest pause {self.pause:>8.1f} s between two acknowledgements",
            ]
        )


def compared(
    rows: Iterable[Row], stored: Mapping[int, int], starts: Mapping[int, int], begins: Sequence[int] = ()
) -> Found:
    """Compare a ledger with a topic: `stored` counts its numbers, `starts` are its first offsets.

    `begins` are the first numbers of each `send`: what lies between two of them is no pause.
    """
    known = list(rows)
    heard = [row for row in known if row.acknowledged is not None]
    missing = [row for row in heard if not stored.get(row.number)]
    deleted = {row.number for row in missing if row.at is not None and row.at < starts.get(row.place or 0, 0)}
    failed = [row.number for row in known if row.error is not None]
    moments: dict[int, list[float]] = defaultdict(list)  # of each `send`
    for row in heard:
        moments[bisect_right(begins, row.number)].append(row.acknowledged or 0.0)
    pauses = (after - before for each in moments.values() for before, after in pairwise(sorted(each)))
    return Found(
        attempted=len(known),
        acknowledged=len(heard),
        stored=sum(bool(stored.get(row.number)) for row in known),
        lost=[row.number for row in missing if row.number not in deleted],
        twice=[row.number for row in known if stored.get(row.number, 0) > 1],
        failed=failed,
        failed_and_stored=[number for number in failed if stored.get(number)],
        no_report=[row.number for row in known if row.acknowledged is None and row.error is None],
        deleted=sorted(deleted),
        pause=max(pauses, default=0.0),
    )


def send(topic: str, ledger: str, settings: Mapping[str, str], rate: float, seconds: float) -> None:
    """Send `rate` numbered records a second until Ctrl-C, or for so many seconds.

    Each one is noted before it is sent, and again when its delivery report comes.
    """
    producer = Producer(dict(settings))  # before the ledger: a setting that it refuses leaves no file
    with closing(opened(ledger)) as database:
        run, first = begun(database, topic)

        def note(number: int, error: KafkaError | None, message: Message) -> None:
            if error is not None:
                database.execute("UPDATE record SET error = ? WHERE number = ?", (error.name(), number))
                return
            told = (time.time(), message.partition(), message.offset(), number)
            database.execute("UPDATE record SET acknowledged = ?, place = ?, at = ? WHERE number = ?", told)

        ends: list[int] = []
        for ending in (signal.SIGINT, signal.SIGTERM):
            signal.signal(ending, lambda which, _: ends.append(which))
        number, due = first, time.monotonic()
        until = due + seconds
        while not ends and due < until:
            database.execute("INSERT INTO record (number, attempted) VALUES (?, ?)", (number, time.time()))
            text = f"{run} {number}".encode()
            while not _taken(producer, topic, text, lambda e, m, n=number: note(n, e, m)):
                producer.poll(0.1)  # its queue is full: reports make room
            number, due = number + 1, max(due + 1 / rate, time.monotonic() - 1)
            while not ends and (left := due - time.monotonic()) > 0:
                producer.poll(min(left, 0.1))
        print("Waiting for the last reports, up to message.timeout.ms …", flush=True)
        producer.flush()
        print(f"{number - first} records are in {ledger}. Now: verify", flush=True)


def verify(ledger: str, settings: Mapping[str, str], patience: float = PATIENCE_SECONDS) -> Found:
    """Read the topic to its end, and compare it with the ledger."""
    run, topic, rows, begins = read(ledger)
    wanted = {row.number for row in rows if row.acknowledged is not None}
    stored: Counter[int] = Counter()
    seen: set[tuple[int | None, int | None]] = set()
    mine = {
        "group.id": "delivery-ledger",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        # If the log is cut meanwhile: by default, the reader would jump to its end, and miss the rest.
        "auto.offset.reset": "earliest",
    }
    consumer = Consumer({**settings, **mine})
    try:
        told = consumer.list_topics(topic, timeout=30).topics[topic]
        if told.error is not None or not told.partitions:
            why = told.error.str() if told.error is not None else "it has no partitions"
            raise SystemExit(f"The topic {topic} cannot be read ({why}): is it there, and may you read it?")
        places = [TopicPartition(topic, partition) for partition in sorted(told.partitions)]
        starts = {p.partition: consumer.get_watermark_offsets(p, timeout=30)[0] for p in places}
        consumer.assign([TopicPartition(topic, p, start) for p, start in starts.items()])
        ended: set[int | None] = set()
        until = time.monotonic() + patience
        while (len(ended) < len(places) or wanted - stored.keys()) and time.monotonic() < until:
            message = consumer.poll(0.5)
            if message is None:
                continue
            error, partition = message.error(), message.partition()
            if error is None:
                until = time.monotonic() + patience
                ended.discard(partition)
                if (place := (partition, message.offset())) in seen:
                    continue  # the reader has begun again
                seen.add(place)
                whose, _, number = bytes(message.value() or b"").decode(errors="replace").partition(" ")
                stored.update([int(number)] if whose == run else [])
            elif error.code() == KafkaError._PARTITION_EOF:
                ended.add(partition)
            else:
                raise KafkaException(error)
        if len(ended) < len(places):
            raise SystemExit(
                f"Only {len(ended)} of {len(places)} partitions were read to the end: is each led?"
            )
    finally:
        consumer.close()
    return compared(rows, stored, starts, begins)


def read(ledger: str) -> Known:
    """Return what a ledger holds; nothing is made or changed."""
    missing = f"{ledger} is no ledger: give the name of the file that `send` has made."
    if not Path(ledger).is_file():
        raise SystemExit(missing)
    with closing(sqlite3.connect(ledger)) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        found = database.execute("SELECT id, topic FROM run").fetchone() if "run" in tables else None
        if found is None:
            raise SystemExit(missing)
        rows = database.execute("SELECT number, acknowledged, place, at, error FROM record ORDER BY number")
        known = [Row(*row) for row in rows]
        begins = []
        if "begin_of_send" in tables:  # older ledgers have none
            begins = [n for (n,) in database.execute("SELECT number FROM begin_of_send ORDER BY number")]
    run, topic = found
    return Known(run, topic, known, begins)


def opened(ledger: str) -> sqlite3.Connection:
    """Open a ledger, made if it is missing. Each statement is its own transaction."""
    database = sqlite3.connect(ledger, isolation_level=None)
    # What is written survives the death of this program; only that of the machine may take some of it.
    database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;" + TABLES)
    return database


def begun(database: sqlite3.Connection, topic: str) -> tuple[str, int]:
    """Return the id that all records of this ledger carry, and the number of the next one."""
    found = database.execute("SELECT id, topic FROM run").fetchone()
    if found is None:
        found = (uuid.uuid4().hex[:12], topic)
        database.execute("INSERT INTO run VALUES (?, ?)", found)
    if found[1] != topic:
        raise SystemExit(f"This ledger is of the topic {found[1]}: take another file for {topic}.")
    (highest,) = database.execute("SELECT coalesce(max(number), -1) FROM record").fetchone()
    database.execute("INSERT INTO begin_of_send VALUES (?)", (highest + 1,))
    return found[0], highest + 1


def _taken(producer: Producer, topic: str, text: bytes, told: Any) -> bool:
    """Hand a record to the producer; tell whether its queue had room."""
    try:
        producer.produce(topic, text, on_delivery=told)
    except BufferError:
        return False
    return True


def _some(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")


def _rate(text: str) -> float:
    rate = float(text)
    if not rate > 0:
        raise argparse.ArgumentTypeError(f"{text} is no rate: give a number above 0")
    return rate


def _refused(error: KafkaError) -> str:
    """Say what the client or the brokers refuse, and what to look at."""
    if error.code() == KafkaError._INVALID_ARG:
        return f"A setting is refused ({error.str()}): mend its name or its value."
    return f"Kafka refuses it ({error.str()}): do the brokers answer, is each partition led, may you do it?"


def main(words: list[str]) -> int:
    """Do what the command line says; return the code with which the program ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    sending = what.add_parser("send", help="send numbered records until Ctrl-C")
    sending.add_argument("topic")
    sending.add_argument("--rate", type=_rate, default=50, help="records a second (50)")
    sending.add_argument("--seconds", type=float, default=86_400, help="end by itself after so long (a day)")
    verifying = what.add_parser("verify", help="compare the topic with the ledger")
    for each in (sending, verifying):
        each.add_argument("ledger", help="a file; `send` makes it")
        each.add_argument("settings", nargs="+", metavar="name=value", help="settings of the client")
    asked = parser.parse_args(words)
    if wrong := [each for each in asked.settings if "=" not in each]:
        parser.error(f"{wrong[0]} is no setting: write name=value")
    settings = dict(each.split("=", 1) for each in asked.settings)
    try:
        if asked.what == "send":
            send(asked.topic, asked.ledger, settings, asked.rate, asked.seconds)
            return 0
        found = verify(asked.ledger, settings)
    except KafkaException as fault:
        raise SystemExit(_refused(fault.args[0])) from None
    except sqlite3.Error as fault:
        raise SystemExit(
            f"The ledger {asked.ledger} cannot be used ({fault}): "
            "is there such a folder, may you write in it, and is the file a ledger that nobody else uses?"
        ) from None
    print(found)
    return 1 if found.lost or found.twice else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
