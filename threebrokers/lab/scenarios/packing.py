"""What settings of a producer do to time and size: by reports, by a reader and by the log's own files."""

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from queue import Empty, Queue
from statistics import median
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, Message, TopicPartition

from threebrokers import theme
from threebrokers.diagrams.chart import chart
from threebrokers.errors import LabError
from threebrokers.kafka.batches import Batch, batches_in
from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.lab import Lab
from threebrokers.notebook import tell

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LONGEST = 30  # s until a record is readable: a leader that went would have a successor long before
ROUNDS = 160  # with 40, medians of the same thing differ by half on a busy machine
FEWEST = 200  # flights say enough of a batch of a hundred or fewer; each batch of one is a request
TURNS, SMALL = 3, b"x" * 100
A_TURN, A_SLOW_TURN = 8000, 2000  # without lingering each few records are a request: 200 a second if busy
Flight = tuple[bytes | None, bytes]


def stored_batches(lab: Lab, topic: str) -> list[Batch]:
    """Return the batches of a topic in order of partition and offset, from the files of the leaders."""
    state = lab.cluster.state([topic]).topic(topic)
    partitions = range(len(state.partitions) if state else 1)  # what is missing is told by segments()
    return [
        batch
        for partition in partitions
        for path in lab.cluster.segments(topic, partition)
        for batch in batches_in(path.read_bytes(), partition)
    ]


def bytes_stored(lab: Lab, topic: str) -> int:
    """Return the bytes of all batches of a topic, on one broker of each partition."""
    return sum(batch.size for batch in stored_batches(lab, topic))


def packed_sizes(
    lab: Lab, flights: Sequence[Flight], codecs: Sequence[str], sizes: Sequence[int]
) -> "pd.DataFrame":
    """Return the stored bytes in percent of the values' bytes, by records a batch (rows) and codec.

    Each combination is a partition of one topic. It gets as many flights as make a batch, at least FEWEST.
    """
    import pandas as pd  # only where a table is shown

    ways = list(itertools.product(sizes, codecs))
    topic = lab.fresh_topic("sizes", partitions=len(ways))
    producers = []
    for partition, (size, codec) in enumerate(ways):
        settings = {"compression.type": codec, "batch.num.messages": size, "linger.ms": 1000}
        producers.append(lab.producer({**settings, "enable.idempotence": True}))
        for key, value in flights[: max(size, FEWEST)]:
            producers[-1].produce(topic, value, key, partition=partition)
    for producer in producers:  # all of them send meanwhile
        producer.flush()
    stored = [0] * len(ways)
    for batch in stored_batches(lab, topic):
        stored[batch.partition] += batch.size
    table = pd.DataFrame(index=pd.Index(sizes, name="records a batch"), columns=list(codecs), dtype=float)
    for (size, codec), count in zip(ways, stored, strict=True):
        plain = sum(len(value) for _, value in flights[: max(size, FEWEST)])
        table.loc[size, codec] = 100 * count / plain
    return table


def two_latencies(lab: Lab, levels: Sequence[Any]) -> "pd.DataFrame":
    """Return for each level of `acks` after how many ms a record was acknowledged, and readable: medians.

    One record is on its way at a time. A round has one of each level, in any order, and what is told of a
    level is its median distance from the first one within a round: what slows a machine slows all of a round.
    """
    import pandas as pd  # only where a table is shown

    topic = lab.fresh_topic("latency", replication_factor=3)
    writers = {level: lab.producer({"acks": level, "linger.ms": 0}) for level in levels}
    taken: dict[Any, list[tuple[float, float]]] = {level: [] for level in levels}
    with _arrivals(lab, topic) as arrivals:
        for turn in range(ROUNDS + 2):
            for level in random.sample(levels, len(levels)):
                pair = _one_record(writers[level], arrivals, topic)
                if turn >= 2:  # the first ones pay for connections
                    taken[level].append(pair)
    columns = ["acknowledged (ms)", "readable (ms)"]
    rows = {f"acks={level}": _compared(taken[level], taken[levels[0]]) for level in levels}
    return pd.DataFrame(rows, index=columns).T


def _compared(pairs: Sequence[tuple[float, float]], first: Sequence[tuple[float, float]]) -> list[float]:
    """Return the medians of the first level, each with the median distance from it within a round."""
    return [
        median(base) + median(time - other for time, other in zip(times, base, strict=True))
        for times, base in zip(zip(*pairs, strict=True), zip(*first, strict=True), strict=True)
    ]


@contextmanager
def _arrivals(lab: Lab, topic: str) -> Iterator["Queue[float]"]:
    """Read a topic of one partition until the block ends; yield the times of its records' arrivals."""
    arrivals: Queue[float] = Queue()
    over = threading.Event()
    reader = lab.consumer({"group.id": lab.group("latency"), "enable.auto.commit": False})
    reader.assign([TopicPartition(topic, 0, 0)])

    def read() -> None:
        while not over.is_set():
            message = reader.poll(0.1)
            if message is not None and message.error() is None:
                arrivals.put(time.perf_counter())

    thread = threading.Thread(target=read, daemon=True)  # a closed kernel does not wait for it
    thread.start()
    try:
        yield arrivals
    finally:
        over.set()
        thread.join()
        reader.close()


def _one_record(writer: LabProducer, arrivals: "Queue[float]", topic: str) -> tuple[float, float]:
    """Send a record; return after how many ms it was acknowledged and read."""
    told: list[float] = []

    def report(error: KafkaError | None, message: Message) -> None:
        told.append(time.perf_counter())

    start = time.perf_counter()
    writer.produce(topic, b"a record", on_delivery=report)
    while not told:
        writer.poll(1)
    try:
        read = arrivals.get(timeout=LONGEST)
    except Empty:
        raise LabError(
            f"No record has come for {LONGEST} s", "see `threebrokers doctor`, then run the cell again"
        ) from None
    return (told[0] - start) * 1000, (read - start) * 1000


def by_linger(lab: Lab, lingers: Sequence[int]) -> "pd.DataFrame":
    """Return for each linger.ms how many records a second were acknowledged, and how many a batch has.

    Each has a producer, and a partition of one topic with three replicas. They take turns, each with A_TURN
    records of 100 bytes as fast as they come (A_SLOW_TURN with linger.ms=0); the speed is that of its median
    turn, and batches are counted in the files of the leaders.
    """
    import pandas as pd  # only where a table is shown

    topic = lab.fresh_topic("sizes", partitions=len(lingers), replication_factor=3)
    writers = [lab.producer({"linger.ms": linger}) for linger in lingers]
    for partition, writer in enumerate(writers):  # the first record pays for the connection
        _send_all(writer, topic, partition, 1)
    turns: list[list[float]] = [[] for _ in lingers]
    sizes = [A_TURN if linger else A_SLOW_TURN for linger in lingers]
    for _ in range(TURNS):
        for partition, writer in enumerate(writers):
            turns[partition].append(_send_all(writer, topic, partition, sizes[partition]))
    batches = [batch for batch in stored_batches(lab, topic) if batch.base_offset > 0]
    counts = Counter(batch.partition for batch in batches)
    rows = [[median(turns[n]), TURNS * sizes[n] / counts[n]] for n in range(len(lingers))]
    index = pd.Index(lingers, name="linger.ms")
    return pd.DataFrame(rows, index=index, columns=["records a second", "records a batch"]).round()


def _send_all(writer: LabProducer, topic: str, partition: int, count: int) -> float:
    """Send so many records as fast as they come; return how many a second were acknowledged."""
    start = time.perf_counter()
    for _ in range(count):
        writer.produce(topic, SMALL, partition=partition)
    if writer.flush(LONGEST):
        raise LabError(
            f"Not all records were acknowledged within {LONGEST} s",
            "if `threebrokers doctor` finds no trouble, end other work of the machine; run the cell again",
        )
    return count / (time.perf_counter() - start)


def readings(seconds: float, rate: int) -> Iterator[tuple[str, str]]:
    """Yield so many readings a second as they come in, of 30 machines: a key and a value each."""
    start = time.perf_counter()
    for number in range(int(seconds * rate)):
        early = start + number / rate - time.perf_counter()
        if early > 0.002:  # shorter pauses would be longer than asked for
            time.sleep(early)
        yield reading(number)


def reading(number: int) -> tuple[str, str]:
    """Return the key and the value of one of the readings."""
    return f"machine {number % 30}", f"reading {number}: {number % 97 / 10} mm"


def line_chart(table: "pd.DataFrame", title: str, unit: str, *, to_scale: bool = False) -> None:
    """Draw a line for each column over the table's index; its steps are equally far apart, or `to_scale`."""
    places = list(table.index if to_scale else range(len(table.index)))
    steps = [str(step) for step in table.index]

    def draw(axes: "Axes") -> None:
        looks = zip(itertools.cycle("osD^v"), itertools.cycle(("-", "--", ":", "-.")), strict=False)
        for column, (marker, dash) in zip(table, looks, strict=False):
            axes.plot(places, table[column], marker=marker, linestyle=dash, color=theme.INK, label=column)
        axes.set(xlabel=table.index.name, ylabel=unit)
        if not to_scale:
            axes.set_xticks(places, steps)
        axes.set_ylim(bottom=0)
        if len(table.columns) > 1:
            axes.legend()

    def row(column: str) -> str:
        values = (f"{step}: {_short(value)}" for step, value in zip(steps, table[column], strict=True))
        return f"{column}, {unit} by {table.index.name}: {', '.join(values)}."

    tell(chart(title, "\n".join(map(row, table)), draw))


def bar_chart(values: Mapping[str, float], title: str, unit: str, *, log: bool = False) -> None:
    """Draw a bar for each value, with its number; on a logarithmic scale if `log`."""

    def draw(axes: "Axes") -> None:
        bars = axes.barh(list(values), list(values.values()), color=theme.LIGHT, edgecolor=theme.INK)
        axes.bar_label(bars, fmt=_short, padding=4)
        axes.set(xlabel=f"{unit}{', each step is ten times more' if log else ''}")
        if log:
            axes.set_xscale("log")
        axes.margins(x=0.2)  # room for the longest bar's number
        axes.invert_yaxis()

    words = "\n".join(f"{name}: {_short(value)} {unit}." for name, value in values.items())
    tell(chart(title, words, draw, 0.6 + 0.5 * len(values)))


def _short(value: float) -> str:
    return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"
