"""Topics that keep the last value of each key, for lab 09: prices of shares, a table of a book, alerts."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from confluent_kafka import TopicPartition

from threebrokers import clock
from threebrokers.kafka.log_reader import Record, read_log
from threebrokers.kafka.segments import Segment
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.cleaner import KeyAndValue, Writer, let_pass, segments_of, wait_for_cleaner
from threebrokers.lab.scenarios.partitions import config_of

LISTED = ("AAPL", "AMZN", "GOOG", "IBM", "MSFT")
QUICK = {"cleanup.policy": "compact", "segment.ms": "1000", "min.cleanable.dirty.ratio": "0.01"}


# --- prices, one after the other


def trade(lab: Lab, topic: str, rounds: int = 3) -> None:
    """Send so many prices of each of five shares; by their timestamps there is one a second, until now."""
    prices = [(name, f"{100 + 10 * n + number}") for number in range(rounds) for n, name in enumerate(LISTED)]
    writer, now = Writer(lab), clock.now_ms()
    for ago, price in zip(range(len(prices) - 1, -1, -1), prices, strict=True):
        writer.write(topic, [price], now - 1000 * ago)


# --- exercise 9.1: a day of 100 shares

SHARES, REPLACED, APART_MS = 100, 3, 4000
ALL_SHARES = SHARES + 2  # one comes at noon, another one in the evening


def share(number: int) -> str:
    """Return the name of a share."""
    return f"S{number:03}"


def price_of(number: int, at: str) -> str:
    """Return the price of a share at this time of the day, as JSON."""
    return f'{{"share": "{share(number)}", "at": "{at}", "dollars": {20 + number % 80}}}'


def trading_day(lab: Lab, settings: Any, *, name: str = "shares", replication_factor: int = 1) -> str:
    """Make the topic `name` with these settings, let a day pass, and return the topic's name.

    In the morning each share gets two prices, at noon one more share comes, and the cleaner has its turn. In
    the evening three shares get a new price, 4 s apart, and 4 s later one more share comes; all by their
    timestamps. Then the cleaner has its turn again.
    """
    config = config_of(settings)
    topic = lab.fresh_topic(name, replication_factor=replication_factor, config=config)
    writer, now = Writer(lab), clock.now_ms()
    # One batch, so the cleaner cannot come between the two prices of a morning.
    for clocked, ago, send in (("9:00", 600, writer.add), ("12:00", 500, writer.write)):
        send(topic, [(share(n), price_of(n, clocked)) for n in range(SHARES)], now - 1000 * ago)
    writer.write(topic, [(share(SHARES), price_of(SHARES, "12:01"))], now - 1000 * 400)
    wait_for_cleaner(lab, topic)
    for n in range(REPLACED):
        early = APART_MS * (REPLACED - n)
        writer.write(topic, [(share(n), price_of(n, "17:00"))], now - early)
    writer.write(topic, [(share(SHARES + 1), price_of(SHARES + 1, "17:01"))], now)
    wait_for_cleaner(lab, topic)
    return topic


# --- exercise 9.2: the worked table

# What an earlier cleaning has left (offsets 13, 17 and 19 of the first twenty), and what came since then.
TAIL = {13: ("K1", "V5"), 17: ("K5", "V2"), 19: ("K2", "V7")}
HEAD = {
    20: ("K7", "V1"),
    21: ("K8", "V4"),
    22: ("K4", "V6"),
    23: ("K1", "V1"),
    24: ("K1", "V2"),
    25: ("K1", "V9"),
    26: ("K9", "V6"),
    27: ("K8", "V22"),
    28: ("K2", "V25"),
}
NEXT = {29: ("K4", "V7")}


def worked_table(lab: Lab) -> str:
    """Return a new topic with the twelve records of the table, at the table's offsets.

    An earlier cleaning has left three of the first twenty records. The other nine are in the active segment.
    """
    topic, writer, now = lab.fresh_topic("worked-table", config=QUICK), Writer(lab), clock.now_ms()
    before = [TAIL.get(offset, _replaced(offset)) for offset in range(20)]
    writer.write(topic, before, now - 20_000)
    writer.write(topic, HEAD.values(), now - 10_000)
    wait_for_cleaner(lab, topic)
    return topic


def _replaced(offset: int) -> tuple[str, str]:
    """Return a record for an offset of the first twenty that the earlier cleaning removed."""
    return ("K1", "K5", "K2")[offset % 3] if offset < 12 else "K2", f"V{offset}"


def one_more_record(lab: Lab, topic: str) -> tuple[Segment, ...]:
    """Write the record with offset 29, which begins a segment, let the cleaner come, and look again."""
    Writer(lab).write(topic, NEXT.values(), clock.now_ms())
    wait_for_cleaner(lab, topic)
    return segments_of(lab, topic)


# --- exercise 9.3: a share that is not traded any more

DELETED_MS = 500
LISTING = (("AAPL", "186"), ("AMZN", "178"), ("GOOG", "171"), ("IBM", "141"), ("INTC", "43"), ("MSFT", "402"))
HALTED = ("SAP", "194")  # it gets no price any more, and so its last one has to stay


class Page:
    """A page of prices: what it has read it keeps in `table`, and the place where it goes on."""

    def __init__(self, lab: Lab, topic: str) -> None:
        self._lab, self._topic = lab, topic
        self._places: dict[int, int] = {}
        self.table: dict[str, str] = {}
        self.read_on()

    def read_on(self) -> int:
        """Read what came since the last time, into the table; return how many records that were."""
        read = [
            record
            for record in read_log(self._lab.bootstrap, self._topic)
            if record.offset >= self._places.get(record.partition, 0)
        ]
        for record in read:
            keep(self.table, record)
            self._places[record.partition] = record.offset + 1
        return len(read)


def keep(table: dict[str, str], record: Record) -> None:
    """Do to a table what a record says: the new value of its key, or that the key is gone."""
    key = (record.key or b"").decode("utf-8", "replace")
    if record.value is None:
        table.pop(key, None)
    else:
        table[key] = record.value.decode("utf-8", "replace")


def new_listing(lab: Lab) -> tuple[str, Page]:
    """Return a new topic of two partitions with the prices of seven shares, and a page that has read them."""
    config = {**QUICK, "delete.retention.ms": str(DELETED_MS)}
    topic, writer, now = lab.fresh_topic("listing", partitions=2, config=config), Writer(lab), clock.now_ms()
    writer.write(topic, [*LISTING, HALTED], now - 600_000)
    writer.write(topic, LISTING, now - 500_000)
    return topic, Page(lab, topic)


@dataclass(frozen=True)
class Day:
    """What a topic held before the others got new prices, and what it holds now.

    `between` is what it held, if somebody has looked, when the cleaner had come once.
    """

    topic: str
    before: tuple[Record, ...]
    after: tuple[Record, ...]
    between: tuple[Record, ...] | None = None

    def __repr__(self) -> str:
        looks = (("before the day", self.before), ("in between", self.between), ("now", self.after))
        return "\n".join(f"IBM {name}:{_told(seen)}" for name, seen in looks if seen is not None)


def _told(records: Iterable[Record]) -> str:
    of_ibm = [record for record in records if record.key == b"IBM"]
    told = [f"\n  partition {r.partition}, offset {r.offset}: {r.value!r}" for r in of_ibm]
    return "".join(told) or " no record"


def a_day_later(lab: Lab, topic: str) -> Day:
    """Let the other shares get new prices, and the cleaner have its turn, twice; return what the topic holds.

    Between the two turns lies the time for which a null stays, `delete.retention.ms`. The first one leaves it
    there, and until something new is dirty no other one comes.
    """
    before = tuple(read_log(lab.bootstrap, topic))
    others = [price for price in LISTING if price[0] != "IBM"]
    writer, now = Writer(lab), clock.now_ms()
    writer.write(topic, others, now + 10_000)
    wait_for_cleaner(lab, topic)
    between = tuple(read_log(lab.bootstrap, topic))
    let_pass(DELETED_MS)
    writer.write(topic, others, now + 20_000)
    wait_for_cleaner(lab, topic)
    return Day(topic, before, tuple(read_log(lab.bootstrap, topic)), between)


# --- exercise 9.4: a table from the topic alone

OPENING = {"AAPL": "187", "AMZN": "179", "INTC": "44", "MSFT": "404"}
LATER = {"AAPL": "187", "AMZN": "181", "INTC": "44", "ORCL": "126"}
# INTC is taken away and comes back, IBM is taken away for good.
MORNING: tuple[KeyAndValue, ...] = (
    *(("AAPL", "185"), ("AMZN", "178"), ("INTC", "43"), ("IBM", "141"), ("MSFT", "402")),
    *(("AAPL", "186"), ("INTC", None), ("IBM", None), ("MSFT", "403"), ("AMZN", "179")),
    *(("INTC", "44"), ("MSFT", "404"), ("AAPL", "187")),
)
AFTERNOON: tuple[KeyAndValue, ...] = (
    *(("MSFT", None), ("AMZN", "180"), ("ORCL", "125")),
    *(("ORCL", "126"), ("AMZN", "181")),
)
# They change nothing: one closes the segment of the afternoon, the other one makes the cleaner come again.
EVENING: tuple[KeyAndValue, ...] = (("ORCL", "126"), ("AMZN", "181"))


@dataclass(frozen=True)
class Starts:
    """The tables that a program has built from a topic at two starts, or what it returned instead."""

    topic: str
    first: Any
    second: Any

    def __repr__(self) -> str:
        return f"first start:  {self.first!r}\nsecond start: {self.second!r}"


def two_starts(lab: Lab, load: Callable[[str], Any] | Any) -> Starts | None:
    """Make a topic with the prices of a morning, load it, send those of the afternoon, and load it again.

    The cleaner has its turn before that, so the topic holds fewer records than its offsets say. Some shares
    are taken away in the morning, one more in the afternoon. Of that one the topic holds nothing any more,
    not even its null, at the second call, which is no restart but a call in the same process: so who goes on
    with what the first one has kept still shows it. Returns None while `load` is no function.
    """
    if not callable(load):
        return None
    topic = lab.fresh_topic("board", config={**QUICK, "delete.retention.ms": str(DELETED_MS)})
    writer, now = Writer(lab), clock.now_ms()
    writer.write(topic, MORNING, now - 60_000)
    first = load(topic)
    writer.write(topic, AFTERNOON, now - 20_000)
    writer.write(topic, EVENING[:1], now - 10_000)
    wait_for_cleaner(lab, topic)
    let_pass(DELETED_MS)
    writer.write(topic, EVENING[1:], now)
    wait_for_cleaner(lab, topic)
    return Starts(topic, first, load(topic))


# --- alerts by stage, in the partition that somebody chooses

REPORTS = (
    ("stage 7", "OK"),
    ("stage 3", "CRITICAL"),
    ("stage 7", "CRITICAL"),
    ("stage 7", "OK"),
    ("stage 3", "OK"),
)


def reported(lab: Lab, place: Callable[[str, str], int]) -> str:
    """Send five reports to a new topic of two partitions, where `place(stage, level)` says; return its name.

    One more record in each partition closes the segment, and the cleaner has its turn.
    """
    topic = lab.fresh_topic("stage-reports", partitions=2, config=QUICK)
    writer, now = Writer(lab), clock.now_ms()
    for number, (stage, level) in enumerate(REPORTS):
        writer.write(topic, [(stage, level)], now - 60_000 + 2000 * number, place(stage, level))
    for partition in range(2):
        writer.write(topic, [("end", "of the day")], now, partition)
    wait_for_cleaner(lab, topic)
    return topic


def folded(records: Iterable[Record]) -> dict[str, str]:
    """Return the table that these records make, one after the other."""
    table: dict[str, str] = {}
    for record in records:
        keep(table, record)
    return table


# --- records at times of their own, and a topic that is long to read

TICKS, TICKERS = 40_000, 100


def write_at(lab: Lab, topic: str, records: Iterable[tuple[float, str, str]]) -> None:
    """Write records, each with its time in minutes from now, its key and its value."""
    writer, now = Writer(lab), clock.now_ms()
    for minutes, key, value in records:
        writer.write(topic, [(key, value)], now + int(minutes * 60_000))


def ticks(lab: Lab) -> str:
    """Return a new compacted topic with 40,000 prices of 100 shares, all in the active segment."""
    topic = lab.fresh_topic("many-prices", config=QUICK)
    prices = [(share(n % TICKERS), price_of(n, "noon")) for n in range(TICKS)]
    Writer(lab).write(topic, prices, clock.now_ms() - 60_000)
    return topic


def seconds_to_read(lab: Lab, topic: str) -> float:
    """Return how long it takes to read partition 0 of a topic to its end: the best of three times."""
    return min(_seconds_to_read(lab, topic) for _ in range(3))


def _seconds_to_read(lab: Lab, topic: str) -> float:
    place = TopicPartition(topic, 0, 0)
    settings = {"group.id": lab.group("loader"), "enable.auto.commit": False, "enable.partition.eof": True}
    settings["fetch.wait.max.ms"] = 1  # the end is told by an answer without a record
    with lab.consumer(settings) as reader:
        start = time.perf_counter()
        reader.assign([place])
        while (message := reader.poll(1)) is None or not message.error():
            pass
        return time.perf_counter() - start
