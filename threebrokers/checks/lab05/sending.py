"""Exercise 5.1: whether a program sends orders fast, with a small queue, and knows which are not stored."""

import json
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from confluent_kafka import KafkaError, Message

from threebrokers.checks.expect_calls import stumbled
from threebrokers.checks.expect_clients import client_setting
from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.sending import (
    AHEAD,
    BASELINE,
    ORDERS,
    SAMPLE,
    SMALL_QUEUE,
    EndlessError,
    Order,
    Sending,
    fresh,
    sent_by,
    shop_orders,
    wait_for_each,
)
from threebrokers.lab.values import told
from threebrokers.text import counted

TRIES = 3
TIMES = 10  # so much faster than waiting for each it should be
SLOW = 3  # who is not even so much faster on a few orders need not send all
# On a busy machine times say little: who has ten orders on their way at once does not wait for each, either.
TOGETHER = 10
LARGEST = 20_000  # bytes: all of a shop's other orders are less
QUEUE = SMALL_QUEUE["queue.buffering.max.messages"]


def judge_sending(lab: Lab, send: Callable[..., Any]) -> int:
    """Return how many times faster `send` is than waiting; NotYet unless it tells each order not stored."""
    topic = fresh(lab, "trial", {"max.message.bytes": str(LARGEST)})
    waiting = sent_by(lab, wait_for_each, shop_orders(BASELINE), topic).rate
    before = lab.producers()
    numbers = count(BASELINE, ORDERS)  # each try has orders of its own

    def tried(orders: list[Order]) -> Sending:
        done = sent_by(lab, send, orders, topic, SMALL_QUEUE)
        _judge(lab, done, before)
        return done

    _expect_fast(lambda: tried(shop_orders(SAMPLE, next(numbers))), waiting, SLOW, SLOW)
    return _expect_fast(
        lambda: tried(_with_a_long_one(shop_orders(ORDERS, next(numbers)))), waiting, TIMES, TOGETHER
    )


def _expect_fast(tried: Callable[[], Sending], waiting: float, times: float, together: float) -> int:
    """Return how many times faster the quickest try is; NotYet if all are too slow.

    A machine that stands still for a moment makes one try slow, and not each.
    """
    best = 0.0
    for _ in range(TRIES):
        done = tried()
        best = max(best, done.rate / waiting)
        if best >= times or done.together >= together:
            return int(best)
    raise _slow(best)


def _with_a_long_one(orders: list[Order]) -> list[Order]:
    """Return the orders, one of them so long that the leader refuses its batch.

    Who knows of a clock that is wrong, and does not listen, does not know of this.
    """
    middle = next(n for n in range(len(orders) // 2, len(orders)) if orders[n]["key"] != AHEAD)
    long = {**json.loads(orders[middle]["value"]), "note": "please, " * (LARGEST // 8)}
    orders[middle] = {**orders[middle], "value": json.dumps(long).encode()}
    return orders


def _slow(times: float) -> NotYet:
    return NotYet(
        f"`send` is {times:.1f} times as fast as a program that waits for each order",
        f"it should be {TIMES} times as fast or more: most orders need not wait for the one before",
        "where `send` waits: how often does it call flush(), or poll() with a time?",
    )


def _judge(lab: Lab, done: Sending, before: Sequence[LabProducer]) -> None:
    if done.fault is not None:
        raise _fault(done)
    if done.unreported:
        raise NotYet(
            f"`send` returned while {counted(done.unreported, 'order')} had no delivery report",
            "it cannot know then which of them are stored",
            "the end of `send`: what waits for the last reports?",
        )
    if done.known is None:
        raise NotYet(
            f"`send` returned {told(done.returned)}",
            "it should return a list with the value of each order that is not stored",
            "its `return`",
        )
    _judge_returned(lab, done, before)


def _fault(done: Sending) -> NotYet:
    if isinstance(done.fault, BufferError):
        return NotYet(
            f"`send` ended with BufferError: {QUEUE} records wait in the producer, which takes no more",
            "the program should make room, and then send the same order",
            "poll(), which takes reports, and what your code does when the queue is full",
        )
    assert done.fault is not None
    if isinstance(done.fault, EndlessError):
        return NotYet(
            f"`send` does not end: {done.fault}",
            "an order that a broker refuses will be refused again, so it should be returned",
            "what the callback does with an error",
        )
    return stumbled("`send(producer, topic, orders)`", done.fault, "the cell of the exercise: its `trial`")


def _judge_returned(lab: Lab, done: Sending, before: Sequence[LabProducer]) -> None:
    if done.given_up:
        raise NotYet(
            f"{counted(len(done.given_up), 'good order')} never came into the producer",
            "no broker has refused them: when the queue is full, make room, and send the same order again",
            "what your code does after a BufferError",
        )
    values = [_value(item) for item in done.returned]
    if any(value is None for value in values):
        odd = next(item for item, value in zip(done.returned, values, strict=True) if value is None)
        raise NotYet(
            f"`send` returned a list with {_told(odd)}",
            "it should hold the value of each order that is not stored, so that it can be sent again",
            "what the callback keeps: message.value()",
        )
    missing, known = set(done.missing), {value for value in values if value is not None}
    extra = known - missing
    if unknown := missing - known:
        if extra & {order["value"] for order in done.orders}:
            raise NotYet(
                f"`send` returned {_orders(len(extra))} in the topic, and not {len(unknown)} that "
                f"{'is' if len(unknown) == 1 else 'are'} missing",
                "it should return each order that a report tells an error of",
                "the callback: message.value() is its own order; a variable of the loop has moved on",
            )
        raise _untold(lab, done, len(unknown), before)
    if extra:
        raise NotYet(
            f"`send` returned {_orders(len(extra))} in the topic",
            "only those that are not stored should be sent again",
            "the callback: it gets each report, and `error` is None if the order is stored",
        )
    if twice := sum(done.stored[order["value"]] > 1 for order in done.orders):
        raise NotYet(
            f"{counted(twice, 'order is', 'orders are')} in the topic twice",
            "each should be sent once",
            "what your code does after a BufferError: had produce() taken the order?",
        )


def _untold(lab: Lab, done: Sending, count: int, before: Sequence[LabProducer]) -> NotYet:
    them = "it" if count == 1 else "them"
    found = f"{counted(count, 'order is', 'orders are')} not in the topic, and `send` did not return {them}"
    made = [one for one in lab.producers() if all(one is not other for other in before)]
    if any(client_setting(one, "acks", "all") == "0" for one in made):
        return NotYet(
            f"{found}: with acks=0 no leader says whether it has stored a record",
            "an order counts when the replicas in sync have it",
            "the `producer` that `send` is given, which asks for acks=all",
        )
    if not done.taken:
        return NotYet(
            f"{found}: it sent nothing with the `producer` that it was given",
            "that one asks for acks=all, so a report tells whether an order is stored",
            "the producer whose produce() `send` calls",
        )
    if not done.listened:
        return NotYet(
            f"{found}: no function was there for the delivery reports",
            "each report tells of an error, or of none",
            "on_delivery=… of produce()",
        )
    return NotYet(
        found, "it should return each order that a report tells an error of", "the callback, and the `return`"
    )


def _orders(count: int) -> str:
    return counted(count, "order that is", "orders that are")


def _value(item: Any) -> bytes | None:
    """Return the value of an order in whatever form it was kept; None if this is none."""
    if isinstance(item, Message):
        return item.value()
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, bytes):
        return item
    if isinstance(item, dict):
        own = item.get("value")
        return _value(own) if own is not None else json.dumps(item).encode() if "order" in item else None
    return None


def _told(item: Any) -> str:
    return f"an error ({item.name()})" if isinstance(item, KafkaError) else told(item)
