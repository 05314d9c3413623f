"""Exercises 5.6 and 5.7: a serializer that refuses what is wrong, and a wrapper that traces every record."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from threebrokers.checks.expect import log_of
from threebrokers.checks.expect_calls import called, stumbled
from threebrokers.checks.lab05.heard import Heard
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.anew import defined_anew
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.prices import BAD_PRICES, GOOD_PRICES, MORE_BAD_PRICES, StockPrice
from threebrokers.lab.scenarios.sending import AHEAD, Order, shop_orders
from threebrokers.lab.values import told
from threebrokers.text import counted, listed

SERIALIZE = "`serialize` in the cell of the exercise"
TRACED = "`Traced` in the cell of the exercise"
WITH_ALL = "traced.produce(topic, value, key=…, headers=…, on_delivery=…)"
BARE = "traced.produce(topic, value, key=…)"
FLUSH_SECONDS = 5.0
TRACE_ID = "trace-id"
OWN = "program"  # the name of the program's own header


def judge_serializer(serialize: Callable[..., Any]) -> None:
    """Raise NotYet unless good prices become JSON in UTF-8, and each bad one an error with its field."""
    for price in GOOD_PRICES:
        _judge_good(price, _made(serialize, price))
    said: dict[str, str] = {}
    for price, field in (*BAD_PRICES, *MORE_BAD_PRICES):
        text = _without_values(_judge_bad(serialize, price, field), price)
        other = said.setdefault(text, field)
        if other != field:
            raise NotYet(
                "but for the values, the ValueError says the same of wrong "
                f"{other} and of wrong {field}: {text[:60]!r}",
                "it should name the field that is wrong, so that somebody can mend it",
                "the text of the error",
            )


def _made(serialize: Callable[..., Any], price: StockPrice) -> Any:
    try:
        return called(f"`serialize({price})`", serialize, price)
    except NotYet as fault:
        if not isinstance(fault.__cause__, ValueError) or isinstance(fault.__cause__, UnicodeError):
            raise
        raise NotYet(
            f"`serialize({price})` raised {type(fault.__cause__).__name__}: {str(fault.__cause__)[:60]}",
            "it should return bytes, because this price is right: dollars from 0, cents from 0 to 99",
            SERIALIZE,
        ) from fault


def _judge_good(price: StockPrice, made: Any) -> None:
    if not isinstance(made, bytes):
        advice = ", which .encode() makes of a text" if isinstance(made, str) else ""
        raise NotYet(
            f"`serialize({price})` returned {told(made)}",
            f"it should return bytes{advice}",
            "its `return`",
        )
    if made[:1] == b"\x80":
        raise NotYet(
            "what `serialize` returns is a pickle, which only Python can read, and which can run code",
            "programs in any language should be able to read it: JSON",
            SERIALIZE,
        )
    wanted = {"symbol": price.symbol, "dollars": price.dollars, "cents": price.cents}
    try:
        found = json.loads(made.decode("utf-8"))
    except ValueError:
        raise NotYet(
            f"what `serialize` returns is no JSON in UTF-8: {made[:40]!r}",
            f"it should be {json.dumps(wanted)}, as bytes",
            SERIALIZE,
        ) from None
    # In Python 141.0 == 141 and True == 1; a program in another language reads another type.
    if found != wanted or any(type(found[name]) is not type(value) for name, value in wanted.items()):
        raise NotYet(
            f"`serialize({price})` gives {json.dumps(found)}",
            f"it should give {json.dumps(wanted)}",
            "the names and types of its fields",
        )


def _judge_bad(serialize: Callable[..., Any], price: StockPrice, field: str) -> str:
    """Return what the error says of a bad price, without the price itself; NotYet if there is none."""
    try:
        made = serialize(price)
    except ValueError as fault:
        text = str(fault)
        for whole in (str(price), str(vars(price))):  # it names every field, right or wrong
            text = text.replace(whole, "")
        if field in text.lower():
            return text
        raise NotYet(
            f"for {price} the ValueError says {str(fault)[:60]!r}",
            f"it should name the field that is wrong, {field}, so that somebody can mend it",
            "the text of the error",
        ) from fault
    except Exception as fault:
        raise NotYet(
            f"`serialize({price})` ended with {type(fault).__name__}",
            f"it should raise a ValueError that names the field {field}",
            "what you compare before you know its type" if isinstance(fault, TypeError) else SERIALIZE,
        ) from fault
    if made is None:
        raise NotYet(
            f"`serialize({price})` returned None, and a record without a value would be sent",
            f"it should raise a ValueError that names the field {field}",
            SERIALIZE,
        )
    raise NotYet(
        f"`serialize({price})` returned {told(made)}",
        f"its {field} is wrong, so nothing should be sent: raise a ValueError that names the field",
        SERIALIZE,
    )


def _without_values(text: str, price: StockPrice) -> str:
    """Return the text with … for each value of the price, however it is written."""
    values = vars(price).values()
    written = {way(value) for value in values for way in (str, repr, json.dumps)} - {""}
    for value in sorted(written, key=len, reverse=True):  # 141.5 before the 5 in it
        text = text.replace(value, "…")
    return text


def judge_quotes(records: Sequence[Record]) -> None:
    """Raise NotYet unless the topic holds each good price once, and nothing else."""
    values = sorted(record.value or b"" for record in records)
    if len(values) != len(GOOD_PRICES):
        raise NotYet(
            f"the topic 'quotes' holds {len(values)} records",
            f"it should hold the {len(GOOD_PRICES)} good prices",
            "the cell of the exercise: run it again",
        )


def judge_traced(lab: Lab, traced: Callable[..., Any]) -> int:
    """Return how many orders were acknowledged; NotYet unless each has an id and the program hears all."""
    topic = lab.fresh_topic("traced", partitions=6, replication_factor=3)
    try:
        return _judge_class(lab, traced, topic)
    finally:  # what another producer still holds would come into the topic of the next check
        for one in lab.producers():
            if one.unreported(topic):
                with suppress(Exception):
                    one.flush(FLUSH_SECONDS)


def _judge_class(lab: Lab, traced: Callable[..., Any], topic: str) -> int:
    orders = [order for order in shop_orders(36) if order["key"] != AHEAD]
    producer = lab.producer({"enable.idempotence": True, "linger.ms": 1000})
    heard = Heard()
    wrapper: Any = called("`Traced(producer)`", traced, producer)
    own = [(OWN, b"orders")]  # one list for all records
    bare = orders[:2] * 2  # without headers and callback, and each value twice more
    with _sending(WITH_ALL):
        for order in orders:
            wrapper.produce(topic, order["value"], key=order["key"], headers=own, on_delivery=heard.of(order))
    early, reports = getattr(wrapper, "acknowledged", None), len(heard.calls)
    _judge_way(producer, topic)
    heard.judge_each()
    with _reporting("the program has given a callback"):
        producer.flush()
    with _sending(BARE):
        for order in bare:
            wrapper.produce(topic, order["value"], key=order["key"])
    with _reporting("the program has given no callback"):
        producer.flush()
    with _sending(WITH_ALL):
        wrapper.produce(topic, orders[0]["value"], key="Kyiv", on_delivery=heard.of(orders[0]))
    with _reporting("the record has failed"):
        producer.purge()  # this one is not sent any more, and its report is an error
        producer.flush()
    _judge_own(own)
    stored = log_of(lab, topic)
    _judge_records(stored, orders, bare)
    heard.judge(len(orders) + 1)
    if isinstance(early, int) and early > reports:
        raise NotYet(
            f"`acknowledged` was {early} when {reports or 'no'} reports had come",
            "a record counts when its report comes, not when it is sent",
            "where the count grows",
        )
    _judge_count(wrapper, len(stored))
    _judge_second(called("`Traced(producer)`", traced, producer))
    _judge_later_ids(lab, topic, traced)
    return len(stored)


@contextmanager
def _sending(how: str) -> Iterator[None]:
    """Say of what produce() of the learner raises how it was called."""
    try:
        yield
    except Exception as fault:
        what = f"`produce` of `Traced`, called as `{how}`,"
        raise stumbled(what, fault, f"{TRACED}: call it so yourself") from fault


@contextmanager
def _reporting(when: str) -> Iterator[None]:
    """Say of what the learner's function for reports raises, inside flush(), what the program has done."""
    try:
        yield
    except Exception as fault:
        raise stumbled("your function for the delivery reports", fault, f"what it calls if {when}") from fault


def _judge_way(producer: LabProducer, topic: str) -> None:
    if not producer.sent_at:
        raise NotYet(
            "nothing was sent with the producer that `Traced` was given",
            "the program made it, with its settings, and waits for its records",
            "__init__, and what produce() calls",
        )
    # The last record waits for a second in the producer, unless somebody asks for it.
    if not producer.unreported(topic):
        raise NotYet(
            "no record was on its way any more when produce() returned: `Traced` waits for each",
            "it should send as the producer does, which does not wait",
            "flush() in `Traced`: that is for the program, at its end",
        )


def _judge_own(headers: Sequence[tuple[str, bytes]]) -> None:
    if len(headers) != 1:
        raise NotYet(
            f"the program's own list of headers has {len(headers)} pairs now, and had one",
            "it may be used again for the next record, so it should stay as it is",
            "append() or +=, which change a list: make a new one",
        )


def _judge_second(wrapper: Any) -> None:
    if (count := getattr(wrapper, "acknowledged", None)) != 0:
        raise NotYet(
            f"`acknowledged` of a second `Traced(producer)`, which has sent nothing, is {told(count)}",
            "each should count its own records, from 0",
            "where the count is kept: in `self`, from __init__ on, and not in the class",
        )


def _judge_later_ids(lab: Lab, topic: str, traced: Callable[..., Any]) -> None:
    """Raise NotYet if ids come again with a second object, or when the program starts again."""
    producer = lab.producer()  # behind a record that was purged, an idempotent one has a gap in its numbers
    after_restart = defined_anew("Traced")
    for make, who in (
        (traced, "a second `Traced(producer)` gives"),
        (after_restart, "if the program starts again, `Traced` gives"),
    ):
        used = _ids_in(log_of(lab, topic))
        try:
            if make is not None:
                make(producer).produce(topic, b"one more", key="Kyiv")
                producer.flush()
        except Exception as fault:
            if make is after_restart:
                return  # it needs what only the notebook has
            raise stumbled(f"`produce` of a second `Traced`, called as `{BARE}`,", fault, TRACED) from fault
        ids = _ids_in(log_of(lab, topic))
        if twice := next((one for one in ids if ids[one] > used[one] > 0), None):
            raise NotYet(
                f"{who} its record the trace id {twice!r}, which another record has",
                "each record needs an id of its own, or nobody can follow it",
                "where the id is made: does a counter begin there again?",
            )


def _ids_in(stored: Sequence[Record]) -> Counter[Any]:
    return Counter(value for record in stored for name, value in record.headers if name == TRACE_ID)


def _judge_records(stored: Sequence[Record], orders: Sequence[Order], bare: Sequence[Order]) -> None:
    """Raise NotYet unless these orders are there with keys and headers, and once more the `bare` ones."""
    values = {order["value"] for order in orders}
    _judge_headers(stored, values, len(orders), len(bare))
    wanted = Counter((order["key"].encode(), order["value"]) for order in (*orders, *bare))
    there = Counter((record.key, record.value or b"") for record in stored)
    if missing := wanted - there:
        key = next(iter(there - wanted))[0]
        raise NotYet(
            f"{counted(missing.total(), 'record has', 'records have')} another key than the program gave, "
            f"for example {'none' if key is None else repr(key)}",
            "the key chooses the partition, so it should travel as it is",
            "key=… of produce()",
        )


def _judge_headers(stored: Sequence[Record], values: set[bytes], count: int, bare: int = 0) -> None:
    """Raise NotYet unless each record has an id of its own, and `count` of them the program's header."""
    if len(stored) != count + bare:
        raise NotYet(
            f"of {count + bare} orders {len(stored)} are in the topic",
            "each call of produce() should send one record, with the producer that `Traced` is given",
            TRACED,
        )
    if any(record.value not in values for record in stored):
        raise NotYet(
            "a record has another value than the order",
            "the value belongs to the program: a note on the outside is a header",
            "headers=… of produce()",
        )
    kept = [[value for name, value in record.headers if name == TRACE_ID] for record in stored]
    if [] in kept:
        names = sorted({name for record in stored for name, _ in record.headers})
        raise NotYet(
            f"{kept.count([])} of {len(kept)} records have no header {TRACE_ID!r}, but "
            f"{listed(names) if names else 'none at all'}",
            "every record should have one",
            "headers=… of produce()",
        )
    if (most := max(map(len, kept))) > 1:
        raise NotYet(
            f"a record has {most} headers {TRACE_ID!r}, those of records before it too",
            "every record should have one",
            "the list of headers: is it a new one for each record?",
        )
    ids = {one for own in kept for one in own}
    if len(ids) < len(kept):
        raise NotYet(
            f"{len(kept)} records share {counted(len(ids), 'trace id')}",
            "each record needs an id of its own, or nobody can follow it",
            "where the id is made",
        )
    if sum(OWN in dict(record.headers) for record in stored) < count:
        raise NotYet(
            "the program's own headers are gone",
            "the trace id should stand beside them",
            "the `headers` that the program gives to produce()",
        )


def _judge_count(wrapper: Any, stored: int) -> None:
    count = getattr(wrapper, "acknowledged", None)
    if isinstance(count, bool) or not isinstance(count, int):
        raise NotYet(
            f"`traced.acknowledged` is {told(count)}",
            "it should be the number of records that were acknowledged",
            TRACED,
        )
    if count != stored:
        raise NotYet(
            f"`traced.acknowledged` is {count}, and {stored} records are acknowledged",
            "a record counts when its report comes without an error",
            "where the count grows",
        )
