"""Orders of six shops, some of which the brokers refuse; and what a program that sends them is worth."""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, Message

from threebrokers import clock, theme
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.interceptors import Delivery, ProducerInterceptor, ProducerRecord
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.lab import Lab
from threebrokers.text import counted

if TYPE_CHECKING:
    import pandas as pd

# This client puts each of them into a partition of its own: a batch has orders of one shop only.
SHOPS = ("Kyiv", "Rome", "Lima", "Turin", "Oslo", "Hanoi")
AHEAD = "Oslo"  # its clock is a day ahead, and leaders refuse a timestamp more than an hour ahead
DAY_MS = 86_400_000
SMALL_QUEUE = {"queue.buffering.max.messages": 100}
BASELINE, ORDERS, SAMPLE = 30, 300, 60
ENDLESS_TIMES = 10

Order = dict[str, Any]
Send = Callable[[LabProducer, str, Sequence[Order]], Any]


def shop_orders(count: int, first: int = 0) -> list[Order]:
    """Return orders of six shops in turn, each with the key, value and timestamp that produce() takes."""
    now = clock.now_ms()
    return [_order(number, now) for number in range(first, first + count)]


def fresh(lab: Lab, name: str, config: Mapping[str, str] | None = None) -> str:
    """Return a new topic for orders."""
    return lab.fresh_topic(name, partitions=len(SHOPS), replication_factor=3, config=config)


def _order(number: int, now: int) -> Order:
    shop = SHOPS[number % len(SHOPS)]
    value = json.dumps({"order": number, "shop": shop, "euro": 5 + number % 40})
    return {"key": shop, "value": value.encode(), "timestamp": now + (DAY_MS if shop == AHEAD else 0)}


@dataclass(frozen=True)
class Sending:
    """What a program has done with some orders: its time (s), what it returned, and what is stored.

    `stored` counts each value in the topic; `fault` is what ended the program; `unreported` are records whose
    report nobody has taken; `together` is how many records were on their way at once, on average (0 if it
    had a producer of its own), and `taken` are the values that the producer took from produce().
    """

    topic: str
    orders: Sequence[Order]
    seconds: float
    returned: Any
    stored: Counter[bytes]
    unreported: int
    listened: bool
    fault: Exception | None = None
    together: float = 0.0
    taken: Set[bytes] = frozenset()

    @property
    def known(self) -> int | None:
        """How many orders it says are not stored; None if it returned no list, tuple or set."""
        return len(self.returned) if isinstance(self.returned, list | tuple | set) else None

    @property
    def given_up(self) -> list[bytes]:
        """The values of good orders that are not stored, because the producer never took them.

        There are none if it took nothing: then the program had a producer of its own.
        """
        good = {order["value"] for order in self.orders if order["key"] != AHEAD}
        return [value for value in self.missing if value in good - self.taken] if self.taken else []

    @property
    def missing(self) -> list[bytes]:
        """The values of the orders that are not in the topic."""
        return [order["value"] for order in self.orders if not self.stored[order["value"]]]

    @property
    def rate(self) -> float:
        """Orders a second."""
        return len(self.orders) / self.seconds


class EndlessError(Exception):
    """A program has sent so many records that it will not come to an end by itself."""


class _OnTheWay(ProducerInterceptor, Delivery):
    """Adds up for how long records wait for their reports; `taken` are the values that the producer took.

    Raises EndlessError out of produce() if there are ten times as many records as orders.
    """

    def __init__(self, orders: int) -> None:
        self.taken: set[bytes] = set()
        self._orders = orders
        self._sent: list[float] = []
        self._reported: list[float] = []

    def on_send(self, record: ProducerRecord) -> Delivery:
        if len(self._sent) >= ENDLESS_TIMES * self._orders:
            raise EndlessError(f"{len(self._sent):,} records were sent for {self._orders} orders")
        return self

    def on_sent(self, record: ProducerRecord) -> None:
        self._sent.append(time.perf_counter())
        value = record.value
        self.taken.add(value.encode() if isinstance(value, str) else value or b"")

    def on_acknowledgement(self, error: KafkaError | None, message: Message) -> None:
        self._reported.append(time.perf_counter())

    def seconds(self, end: float) -> float:
        """Return the time that all records waited together, those without a report until `end`."""
        waiting = len(self._sent) - len(self._reported)
        return sum(self._reported) + waiting * end - sum(self._sent)


def sent_by(
    lab: Lab, send: Send, orders: Sequence[Order], topic: str, config: Mapping[str, Any] | None = None
) -> Sending:
    """Let a program send these orders to a topic, and return what became of them.

    Its producer is connected to the leaders before. When it returns, its producer ends as that of a program
    does: what still waits in it is thrown away.
    """
    producer = lab.producer(config)
    _connect(producer, topic)
    on_the_way = _OnTheWay(len(orders))
    producer.interceptors.append(on_the_way)
    returned, fault = None, None
    start = time.perf_counter()
    try:
        returned = send(producer, topic, orders)
    except Exception as error:
        fault = error
    end = time.perf_counter()
    seconds = end - start
    together = on_the_way.seconds(end) / seconds  # before discard(), which reports what still waits
    unreported = producer.unreported(topic)
    listened = producer.has_listener
    producer.discard()
    stored = Counter(record.value for record in read_log(lab.bootstrap, topic) if record.value is not None)
    return Sending(
        topic, orders, seconds, returned, stored, unreported, listened, fault, together, on_the_way.taken
    )


def _connect(producer: LabProducer, topic: str) -> None:
    """Send a record without a value to each partition: the first one takes longer than 30 others together."""
    for shop in SHOPS:
        producer.produce(topic, None, shop)
    producer.flush()


def _noted_in(refused: list[bytes]) -> Callable[[KafkaError | None, Message], None]:
    """Return a function for delivery reports that notes the values of the records that were refused."""

    def report(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            refused.append(message.value() or b"")

    return report


def wait_for_each(producer: LabProducer, topic: str, orders: Sequence[Order]) -> list[bytes]:
    """Send orders, and wait for each before the next one; return the values of those that were refused."""
    refused: list[bytes] = []
    report = _noted_in(refused)
    for order in orders:
        producer.produce(topic, **order, on_delivery=report)
        producer.flush()
    return refused


def send_and_listen(producer: LabProducer, topic: str, orders: Sequence[Order]) -> list[bytes]:
    """Send orders and take their reports as they come; return the values of those that were refused."""
    refused: list[bytes] = []
    report = _noted_in(refused)
    for order in orders:
        producer.produce(topic, **order, on_delivery=report)
        producer.poll(0)
    producer.flush()
    return refused


def compared_ways(lab: Lab, ways: Mapping[str, Send], count: int) -> "pd.DataFrame":
    """Send the same orders in each of these ways; return a table, a row for each."""
    import pandas as pd  # only where a table is shown

    rows = {}
    for name, send in ways.items():
        done = sent_by(lab, send, shop_orders(count), fresh(lab, "ways"))
        rows[name] = {
            "seconds": done.seconds,
            "orders a second": round(done.rate),
            "stored": count - len(done.missing),
            "not stored": len(done.missing),
            "errors it knows of": done.known or 0,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def trial(lab: Lab, send: Any) -> Sending | None:
    """Let `send` send 300 orders with a queue for 100 records, and print what became of them.

    Returns None, and prints nothing, while `send` is not written.
    """
    if not callable(send):
        return None
    done = sent_by(lab, send, shop_orders(ORDERS), fresh(lab, "trial"), SMALL_QUEUE)
    if done.fault is not None:
        print(f"{theme.BAD.sign} send() ended with {type(done.fault).__name__}: {done.fault}")
    told = "no" if done.known is None else done.known
    print(f"{ORDERS} orders in {done.seconds:.2f} s: {ORDERS - len(done.missing)} are stored,")
    print(f"{counted(len(done.missing), 'order is', 'orders are')} not, and send() returned {told} orders.")
    if done.together:
        many = counted(round(done.together), "order was on its way", "orders were on their way")
        print(f"On average {many} at once.")
    return done
