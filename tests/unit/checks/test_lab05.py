"""What lab 05's checks say of answers, without brokers."""

import json
import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Message, Producer, consistent, murmur2

from threebrokers.checks.lab05 import deciding, packed, places, sending, way_back, wrapping
from threebrokers.checks.lab05.heard import Heard
from threebrokers.errors import LabError
from threebrokers.kafka.batches import Batch
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios import refusals
from threebrokers.lab.scenarios.choosing import IMPORTANT, stock_prices
from threebrokers.lab.scenarios.packing import reading
from threebrokers.lab.scenarios.prices import StockPrice
from threebrokers.lab.scenarios.sending import AHEAD, SHOPS, EndlessError, Sending, _OnTheWay, shop_orders


def told(check: Callable[..., Any], *answers: Any) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers)
    return str(caught.value)


# 5.1

ORDERS = shop_orders(12)
LATE = [order["value"] for order in ORDERS if order["key"] == AHEAD]


def sent(returned: Any, **other: Any) -> Sending:
    stored = Counter(order["value"] for order in ORDERS if order["key"] != AHEAD)
    taken = {order["value"] for order in ORDERS}
    told_of = {"seconds": 0.1, "stored": stored, "unreported": 0, "listened": True, "taken": taken}
    return Sending("trial", ORDERS, returned=returned, **(told_of | other))


def judged(done: Sending, *made: Any) -> None:
    sending._judge(SimpleNamespace(producers=lambda: list(made)), done, [])  # type: ignore[arg-type]


def test_each_shop_has_a_partition_of_its_own():
    assert sorted(consistent(shop.encode(), 6) for shop in SHOPS) == [0, 1, 2, 3, 4, 5]


def test_orders_that_are_not_stored_may_be_returned_in_any_form():
    whole = [order for order in ORDERS if order["key"] == AHEAD]
    for returned in (
        LATE,
        tuple(LATE),
        {*LATE},
        [v.decode() for v in LATE],
        [json.loads(v) for v in LATE],
        whole,
    ):
        judged(sent(returned))


@pytest.mark.parametrize(
    ("done", "words"),
    [
        (sent(None), "`send` returned None (nothing was returned or kept); it should return a list"),
        (sent([]), "2 orders are not in the topic, and `send` did not return them; it should return each"),
        (sent([], listened=False), "no function was there for the delivery reports"),
        (
            sent([], listened=False, taken=frozenset()),
            "did not return them: it sent nothing with the `producer` that it was given; that one asks",
        ),
        (
            sent(None, fault=LabError("A callback is called with two", "give it a function that takes both")),
            "`send(producer, topic, orders)` ended in an error: a callback is called with two; give it a "
            "function that takes both. Look at: the cell",
        ),
        (sent(LATE, unreported=3), "returned while 3 orders had no delivery report"),
        (sent([*LATE, ORDERS[0]["value"]]), "`send` returned 1 order that is in the topic; only"),
        (sent([KafkaError(KafkaError.INVALID_TIMESTAMP)]), "a list with an error (INVALID_TIMESTAMP)"),
        (sent([None]), "a list with None"),
        (sent([], fault=BufferError("Local: Queue full")), "BufferError: 100 records wait"),
        (sent([], fault=NameError("name 'x' is not defined")), "ended with NameError: name 'x' is not"),
    ],
)
def test_what_is_wrong_with_a_sending_is_told(done: Sending, words: str):
    assert words in told(judged, done)


def test_orders_that_a_full_queue_cost_are_told_even_if_they_are_returned():
    good = [order["value"] for order in ORDERS if order["key"] != AHEAD]
    some = sent([*LATE, good[0]], stored=Counter(good[1:]), taken={*LATE, *good[1:]})
    assert "1 good order never came into the producer" in told(judged, some)
    judged(sent(LATE, taken={*good}))  # who looks at the clock first need not send what will be refused
    judged(sent(LATE, taken=frozenset()))  # a producer of its own


def test_a_program_that_sends_refused_orders_for_ever_is_told():
    fault = EndlessError("600 records were sent for 60 orders")
    assert "`send` does not end: 600 records were sent" in told(judged, sent(None, fault=fault))


def test_what_a_producer_takes_is_noted_and_ten_times_too_much_is_refused():
    producer = LabProducer({}, {"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
    seen = _OnTheWay(2)
    producer.interceptors.append(seen)
    for _ in range(10):
        for order in ORDERS[:2]:
            producer.produce("trial", order["value"])
    with pytest.raises(EndlessError, match="20 records were sent for 2 orders"):
        producer.produce("trial", b"one more")
    assert seen.taken == {order["value"] for order in ORDERS[:2]}
    producer.discard()


def test_orders_that_are_there_twice_are_told():
    stored = sent([]).stored
    assert "12 orders" not in told(judged, sent(LATE, stored=stored + stored))
    assert "10 orders are in the topic twice" in told(judged, sent(LATE, stored=stored + stored))


def test_who_returns_other_orders_than_those_that_are_missing_hears_of_both():
    others = [ORDERS[0]["value"], LATE[0]]
    assert "returned 1 order that is in the topic, and not 1 that is missing" in told(judged, sent(others))


def test_one_order_is_refused_for_another_reason_than_its_clock():
    orders = sending._with_a_long_one(shop_orders(12))
    long = [order for order in orders if len(order["value"]) > sending.LARGEST]
    assert len(long) == 1
    assert long[0]["key"] != AHEAD
    assert json.dumps(json.loads(long[0]["value"])).encode() == long[0]["value"]


def test_acks_0_of_a_producer_of_its_own_is_told():
    own = LabProducer({"acks": 0}, {"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
    assert "with acks=0 no leader says" in told(judged, sent([]), own)


# 5.2 and 5.5

FLIGHTS = [(f"N{n}".encode(), b"x" * 100) for n in range(100)]


def stored(flights: Sequence[tuple[bytes | None, bytes | None]]) -> list[Record]:
    return [Record("small", 0, n, key, value, -1, "create") for n, (key, value) in enumerate(flights)]


def test_flights_are_there_once_with_their_keys():
    packed.judge_flights(stored(FLIGHTS), FLIGHTS)
    packed.judge_flights(stored(FLIGHTS[::-1]), FLIGHTS)
    assert "the topic holds 99 records" in told(packed.judge_flights, stored(FLIGHTS[1:]), FLIGHTS)
    assert "the topic holds 200 records" in told(packed.judge_flights, stored(FLIGHTS * 2), FLIGHTS)
    keyless = stored([(None, value) for _, value in FLIGHTS])
    assert "a record has no key" in told(packed.judge_flights, keyless, FLIGHTS)
    swapped = stored([(value, key) for key, value in FLIGHTS])
    assert "the order of produce()'s arguments" in told(packed.judge_flights, swapped, FLIGHTS)
    with_none = [(None, b"y"), *FLIGHTS]
    keyless = stored([(None, value) for _, value in with_none])
    assert "a record has no key" in told(packed.judge_flights, keyless, with_none)
    by_number = [(key, b"flight %d" % n) for n, (key, _) in enumerate(FLIGHTS)]
    as_text = stored([(str(key).encode(), value) for key, value in by_number])
    said = told(packed.judge_flights, as_text, by_number)
    assert """the key b"b'N0'" (bytes), and its flight has b'N0' (bytes); each flight should keep""" in said
    odd = stored([*FLIGHTS[1:], (b"N0", b"packed by hand")])
    assert "has another value than each flight: b'packed by ha'" in told(packed.judge_flights, odd, FLIGHTS)


def batches(records: int, size: int, codec: str = "zstd", wait: int = 0) -> list[Batch]:
    """Return batches of 100 records in all, with so many records and bytes each."""
    return [Batch(0, n, records, size, codec, 1000, 1000 + wait) for n in range(0, 100, records)]


def packer(config: dict[str, Any]) -> LabProducer:
    return LabProducer(config, {"bootstrap.servers": "127.0.0.1:1", "log_level": 0})


@pytest.mark.parametrize(
    ("of", "setting", "config", "words"),
    [
        (
            batches(100, 9000, "none"),
            "producer",
            {},
            "90 % of the bytes of the values: nothing is compressed",
        ),
        (
            batches(1, 150, "none"),
            "producer",
            {"compression.type": "zstd"},
            "with one record a batch no codec",
        ),
        (batches(5, 300), "producer", {"compression.type": "zstd"}, "zstd packs 5.0 records at a time"),
        (batches(100, 2500, "lz4"), "producer", {}, "with lz4 and 100 records a batch"),
        (batches(100, 1000), "zstd", {}, "so the leader packs what comes in unpacked"),
        (batches(100, 9000, "none"), "uncompressed", {"compression.type": "zstd"}, "the leader unpacks all"),
    ],
)
def test_why_flights_are_too_large_is_told(monkeypatch, of, setting: str, config, words: str):
    monkeypatch.setattr(packed, "topic_setting", lambda lab, topic, name: setting)
    assert words in told(packed.judge_size, None, "small", packer(config), of, FLIGHTS)


def test_who_packs_is_not_known_of_a_plain_producer_if_the_topic_packs_too(monkeypatch):
    plain = Producer({"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
    monkeypatch.setattr(packed, "topic_setting", lambda lab, topic, name: "zstd")
    said = told(packed.judge_size, None, "small", plain, batches(100, 1000), FLIGHTS)
    assert "the topic's compression.type is zstd, and a plain producer does not tell" in said
    assert "`lab.producer`" in said
    monkeypatch.setattr(packed, "topic_setting", lambda lab, topic, name: "producer")
    assert packed.judge_size(None, "small", plain, batches(100, 1000), FLIGHTS) == 10


@pytest.mark.parametrize(("setting", "config"), [("producer", {}), ("zstd", {"compression.type": "zstd"})])
def test_a_fifth_is_enough(monkeypatch, setting: str, config: dict[str, Any]):
    monkeypatch.setattr(packed, "topic_setting", lambda lab, topic, name: setting)
    assert packed.judge_size(None, "small", packer(config), batches(100, 2000), FLIGHTS) == 20


@pytest.mark.parametrize(
    ("of", "config", "words"),
    [
        (batches(1, 99), {"linger.ms": 200}, "nothing travels together"),
        (batches(5, 99), {}, "waits for more for 5 ms"),
        (
            batches(5, 99),
            None,
            "its linger.ms is too short, a bound of its batches too small, or the loop waits",
        ),
        (batches(50, 99), {"linger.ms": 200, "batch.num.messages": 50}, "end at batch.num.messages=50"),
        (batches(1, 99), {"linger.ms": 200, "batch.num.messages": "1"}, "end at batch.num.messages=1"),
        (batches(50, 990), {"linger.ms": 200, "batch.size": 1000}, "most end at batch.size=1000"),
        (batches(23, 890), {"linger.ms": 400, "batch.size": "1000"}, "most end at batch.size=1000"),
        (
            batches(50, 500),
            {"linger.ms": 50, "batch.size": 1000},
            "a batch has 50 records, with linger.ms=50",
        ),
        (batches(50, 99), {"linger.ms": 50, "batch.num.messages": 60}, "50 records, with linger.ms=50"),
        (batches(50, 99), {"linger.ms": 50}, "a batch has 50 records, with linger.ms=50"),
        (batches(100, 99, wait=501), {"linger.ms": 5000}, "a reading waited 501 ms"),
    ],
)
def test_batches_of_a_stream_that_are_too_small_or_too_late_are_told(of, config, words: str):
    assert words in told(packed.judge_stream, of, config)


def test_who_waits_for_something_else_in_the_loop_is_told():
    slow = [Batch(0, n, 13, 99, "none", n * 1000, n * 1000 + 390) for n in range(20)]
    said = told(packed.judge_stream, slow, {"linger.ms": 400})
    assert "a batch has 13 records: the readings were sent over 19.4 s, and they come in for 0.7 s" in said
    assert said.endswith("Look at: the loop: what else does it wait for?")


@pytest.mark.parametrize("given", [True, False])
def test_what_was_sent_to_another_topic_is_told(monkeypatch, given: bool):
    own = packer({})
    monkeypatch.setattr(packed, "log_of", lambda lab, topic: [])
    own.produce("small" if given else "first", b"x")
    if given:
        packed.expect_given(None, "small", "small", own)  # another sentence says what is wrong
    else:
        said = told(packed.expect_given, None, "lab05.small", "small", own)
        assert (
            "the topic 'lab05.small' is empty: the producer that the check was given has sent nothing" in said
        )
        assert "to `small`. Look at: the topic that produce() names" in said
        monkeypatch.setattr(packed, "log_of", lambda lab, topic: [1])
        packed.expect_given(None, "lab05.small", "small", own)  # filled by another producer
    own.discard()


def test_a_hundred_a_batch_in_time_is_right():
    assert packed.judge_stream(batches(100, 99, wait=500), None) == (100, 500)


def test_a_first_batch_may_wait_for_its_connection_too():
    for config in (None, {"linger.ms": 500}, {"queue.buffering.max.ms": "400"}):
        assert packed.judge_stream(batches(100, 99, wait=530), config) == (100, 530)
    assert "a reading waited 530 ms" in told(
        packed.judge_stream, batches(100, 99, wait=530), {"linger.ms": 520}
    )
    assert "a reading waited 699 ms" in told(packed.judge_stream, batches(100, 99, wait=699), None)


def test_the_topic_of_the_readings_has_three_partitions():
    packed.expect_partitions(3)
    assert "the topic has 1 partition; it should have 3" in told(packed.expect_partitions, 1)


def read(
    pairs: Sequence[tuple[str, str]], changed: Callable[..., tuple[bytes | None, bytes]], ms: int = 1
) -> list[Record]:
    return [Record("s", 0, n, *changed(*pair), n * ms, "create") for n, pair in enumerate(pairs)]


@pytest.mark.parametrize(
    ("changed", "ms", "words"),
    [
        (lambda k, v: (None, v.encode()), 1, "some readings have no key"),
        (lambda k, v: (v.encode(), k.encode()), 1, "topic, value, key"),
        (lambda k, v: (k.encode(), b"reading"), 1, "and the value b'reading' (bytes)"),
        (lambda k, v: (k.encode(), v.encode()), 0, "sent within 0 ms"),
    ],
)
def test_readings_arrive_as_they_are_and_when_they_come(changed: Callable[..., Any], ms: int, words: str):
    pairs = [reading(number) for number in range(700)]
    packed.judge_readings(read(pairs, lambda k, v: (k.encode(), v.encode())))
    assert words in told(packed.judge_readings, read(pairs, changed, ms))


def test_the_readings_of_a_machine_stay_in_one_partition():
    right = read([reading(number) for number in range(700)], lambda k, v: (k.encode(), v.encode()))
    dealt = [replace(record, partition=n % 4) for n, record in enumerate(right)]
    assert "the readings of b'machine 0' (bytes) are in 2 partitions" in told(packed.judge_readings, dealt)


# 5.3


def right(symbol: str | None, partitions: int) -> int:
    last = partitions - 1
    return last if symbol in IMPORTANT or not last else murmur2((symbol or "").encode(), last)


def prices(partition_of: Callable[..., int]) -> list[Record]:
    return [
        Record("prices", partition_of(symbol, 4), n, symbol.encode() if symbol else None, b"1", -1, "create")
        for n, (symbol, _) in enumerate(stock_prices())
    ]


def test_a_partitioner_that_keeps_others_off_is_right():
    places.judge_function(right)
    places.judge_log(prices(right), len(stock_prices()))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            lambda s, n: n - 1 if s in IMPORTANT else consistent((s or "").encode(), n),
            "kept for IBM and UBER",
        ),
        (
            lambda s, n: n - 1 if s in IMPORTANT or n < 2 else hash(s) % (n - 1),
            "are those of Python's hash()",
        ),
        (lambda s, n: 7, "`partition_of('IBM', 4)` returned 7; the partitions are 0 to 3"),
        (lambda s, n: None, "`partition_of('IBM', 4)` returned None"),
        (lambda s, n: "0", "it should be a whole number"),
        (lambda s, n: len(s) % (n - 1), "it is important, and should go to the last one, 3"),
        (lambda s: 1, "`partition_of('IBM', 4)` ended with TypeError"),
        (lambda s, n: 3 if s in IMPORTANT else 0, "`partition_of('IBM', 1)` returned 3"),
        (lambda s, n: min(right(s, 4), n - 1), "of two partitions"),
        (
            lambda s, n: n - 1 if s == "IBM" or "UBER" else right(s, n),  # noqa: SIM222 - as learners do
            "Look at: how `partition_of` knows what is important: it puts every symbol there",
        ),
        (
            lambda s, n: n - 1 if s and s in "IBM, UBER" else right(s, n),
            "Look at: how `partition_of` knows what is important",
        ),
        (
            lambda s, n: n - 1 if s and s.startswith(("IBM", "UBER")) else right(s, n),
            "IBMX goes to partition 3, which is kept",
        ),
        (
            lambda s, n: n - 1 if s in IMPORTANT or n < 2 else murmur2((s or "").encode(), 3) % (n - 1),
            "136 other symbols use 3 of 6 partitions",
        ),
        (
            lambda s, n: min(3, n - 1) if s in IMPORTANT else min(right(s, n), max(n - 2, 0)),
            "of 7 partitions IBM goes to 3; it should go to the last one, 6",
        ),
        (
            lambda s, n: n - 1 if s in IMPORTANT or (s or "")[:2] == "ZZ" else right(s, n),
            "of 4 partitions other symbols use the last one, too",
        ),
        (
            lambda s, n: n - 1 if (s or "").upper() in IMPORTANT else right(s, n),
            "the symbol as it is written, or in other letters?",
        ),
        (
            lambda s, n: n - 1 if s in IMPORTANT or n < 2 else murmur2((s or "").encode("ascii"), n - 1),
            "`partition_of('NESTLÉ', 4)` ended with UnicodeEncodeError",
        ),
    ],
)
def test_what_is_wrong_with_a_partitioner_is_told(wrong: Callable[..., Any], words: str):
    assert words in told(places.judge_function, wrong)


def test_prices_without_a_symbol_that_only_sometimes_come_to_the_last_partition_are_told():
    def now_and_then(of: int, every: int) -> Callable[..., int]:
        """Return a partitioner that puts a price without a symbol wrong each so many times, of `of`."""
        asked = count(1)

        def partition_of(symbol: str | None, partitions: int) -> int:
            if symbol is None and partitions == of and not next(asked) % every:
                return partitions - 1
            return right(symbol, partitions)

        return partition_of

    assert "a price without a symbol goes to partition 3, which is kept" in told(
        places.judge_function, now_and_then(4, 20)
    )
    assert "of two partitions a price without a symbol goes to partition 1" in told(
        places.judge_function, now_and_then(2, 20)
    )
    log = prices(now_and_then(4, 20))
    assert "1 price without a symbol is in partition 3, which is kept for IBM and UBER" in told(
        places.judge_log, log, len(log)
    )


def test_a_symbol_has_one_partition_and_the_work_is_shared():
    log = prices(right)
    moved = [
        *log[:-13],
        Record("prices", (log[-13].partition + 1) % 3, 0, log[-13].key, b"", -1, "create"),
        *log[-12:],
    ]
    assert "the prices of AAPL are in 2 partitions" in told(places.judge_log, moved, len(log))
    assert "the topic holds 3 of 260 prices" in told(places.judge_log, log[:3], len(log))
    assert "136 other symbols use 1 of 3 partitions" in told(
        places.judge_function, lambda s, n: n - 1 if s in IMPORTANT else 0
    )


def test_who_puts_a_symbol_elsewhere_after_a_restart_is_told():
    def by_turn() -> Callable[..., int]:
        seen: dict[str | None, int] = {}
        return lambda s, n: n - 1 if s in IMPORTANT else seen.setdefault(s, len(seen)) % (n - 1)

    places.judge_restart(right, None)
    places.judge_restart(right, right)
    before = by_turn()
    for symbol, _ in stock_prices():
        before(symbol, 4)
    assert "if the program starts again, " in told(places.judge_restart, before, by_turn())

    def only_in_the_notebook(symbol: str | None, partitions: int) -> int:
        raise NameError("lab")

    places.judge_restart(right, only_in_the_notebook)


# 5.4


def decide(error: Any) -> str:
    if isinstance(error, BufferError):
        return "again"
    inner = error.args[0] if isinstance(error, KafkaException) else error
    if inner.fatal():
        return "stop"
    return "again" if inner.code() == KafkaError._MSG_TIMED_OUT else "aside"


def fenced() -> KafkaException:
    return KafkaException(KafkaError(KafkaError._FENCED, fatal=True))


def arrives() -> None:
    return None


def too_large() -> KafkaException:
    return KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE))


def silent() -> KafkaError:
    return KafkaError(KafkaError._MSG_TIMED_OUT)


def gone() -> KafkaError:
    return KafkaError(KafkaError._UNKNOWN_TOPIC)


def forbidden() -> KafkaError:
    return KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)


SIX = {
    "queue full": refusals._Met(BufferError("Local: Queue full"), arrives, arrives),
    "too large": refusals._Met(too_large(), too_large, arrives),
    "timed out": refusals._Met(silent(), arrives, arrives),
    "no such topic": refusals._Met(gone(), gone, arrives),
    "fenced": refusals._Met(fenced(), fenced, fenced),
    "not allowed": refusals._Met(forbidden(), forbidden, arrives),
}


@pytest.fixture
def any_lab(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A lab in which the six errors happen without brokers."""
    monkeypatch.setattr(refusals, "_six", lambda lab, topic: SIX)
    return SimpleNamespace(fresh_topic=lambda name: name)


def test_three_answers_to_all_errors_are_right(any_lab: Any):
    deciding.judge_decisions(any_lab, decide)
    deciding.judge_decisions(any_lab, lambda error: f" {decide(error).upper()} ")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            lambda error: "again",
            "after 'too large' `decide` says 'again': the record was refused 3 times more, and a good one "
            "behind it was stored; it should be 'aside'",
        ),
        (lambda error: "aside", "after 'queue full' `decide` says 'aside': the record was kept apart"),
        (
            lambda error: "stop",
            "after 'queue full' `decide` says 'stop': the record was not sent, and a good one behind it was "
            "not sent",
        ),
        (lambda error: None, "after 'queue full' `decide` returned None"),
        (lambda error: "later", ": the record was forgotten, and a good one behind it was stored"),
        (lambda error: ["again"], "after 'queue full' `decide` returned ['again']"),
        (lambda error: "retry", 'it should return "again", "aside" or "stop"'),
        (
            lambda error: error.code(),
            "after 'queue full' `decide` ended with AttributeError: 'BufferError' object has no attribute "
            '\'code\'; it should return "again", "aside" or "stop". Look at: the error, which comes raised, '
            "as a BufferError",
        ),
        (
            lambda error: "stop" if decide(error) == "aside" else decide(error),
            "it should be 'aside': only this record is too large, and the producer can go on. Look at: the "
            "row 'too large' of the table under that cell",
        ),
        (
            lambda error: decide(error) if error is not SIX["not allowed"].error else "stop",
            "'aside': only this topic is forbidden, and the producer can send to others",
        ),
        (
            lambda error: "again" if isinstance(error, BufferError) else "aside",
            "after 'timed out' `decide` says 'aside': the record was kept apart",
        ),
        (
            lambda error: decide(error).replace("stop", "aside"),
            "after 'fenced' `decide` says 'aside': the record was kept apart, and a good one behind it was "
            "refused",
        ),
    ],
)
def test_a_wrong_decision_is_told_with_what_became_of_the_records(any_lab, wrong, words: str):
    assert words in told(deciding.judge_decisions, any_lab, wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            lambda error: "again" if error in (KafkaError.MSG_SIZE_TOO_LARGE,) else decide(error),
            "`decide` of MSG_SIZE_TOO_LARGE in a report says 'again'; it should be 'aside': a leader too",
        ),
        (lambda error: error.code(), "`decide` of MSG_SIZE_TOO_LARGE in a report returned 10"),
        (lambda error: error.args[0], "`decide` of MSG_SIZE_TOO_LARGE in a report ended with AttributeError"),
        (
            lambda error: {KafkaError.MSG_SIZE_TOO_LARGE: "aside"}[error.code()],
            "Look at: `decide(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART))`: call it yourself",
        ),
        (
            lambda error: "again" if "TIMED" in getattr(error, "name", str)() else decide(error),
            "time-out (_MSG_TIMED_OUT) says 'again'; it should be 'stop': after any fatal error a producer "
            "refuses every record. Look at: `decide(KafkaError(KafkaError._MSG_TIMED_OUT, fatal=True))`",
        ),
        (
            lambda error: "stop" if getattr(error, "code", int)() == KafkaError._FENCED else "aside",
            "the KafkaException of a producer that was fenced, fatal says 'aside'",
        ),
    ],
)
def test_errors_that_no_run_meets_are_decided_too(wrong: Callable[..., Any], words: str):
    deciding.judge_others(decide)
    assert words in told(deciding.judge_others, wrong)


# 5.6 and 5.7


def serialize(price: StockPrice) -> bytes:
    if not (isinstance(price.symbol, str) and price.symbol):
        raise ValueError("symbol")
    for name, most in (("dollars", 10**9), ("cents", 99)):
        number = getattr(price, name)
        if not (type(number) is int and 0 <= number <= most):
            raise ValueError(name)
    return json.dumps(vars(price)).encode()


def fails(price: StockPrice) -> bytes:
    raise KeyError("symbol")


def swallows(price: StockPrice) -> bytes | None:
    try:
        return serialize(price)
    except ValueError:
        return None


def vague(price: StockPrice) -> bytes:
    try:
        return serialize(price)
    except ValueError:
        raise ValueError("a bad price") from None


def beyond(**allowed: Any) -> Callable[[StockPrice], bytes]:
    """Return a serializer that refuses what is wrong, but allows one field one wrong value."""

    def too_kind(price: StockPrice) -> bytes:
        good = {"symbol": "IBM", "dollars": 141, "cents": 5}
        if vars(price) == good | allowed:
            return json.dumps(vars(price)).encode()
        return serialize(price)

    return too_kind


def names_all(price: StockPrice) -> bytes:
    try:
        return serialize(price)
    except ValueError:
        raise ValueError(f"symbol, dollars or cents is wrong in {price}") from None


def shows_json(price: StockPrice) -> bytes:
    try:
        return serialize(price)
    except ValueError:
        raise ValueError(f"bad price: {json.dumps(vars(price))}") from None


def shows_each(price: StockPrice) -> bytes:
    try:
        return serialize(price)
    except ValueError:
        raise ValueError(f"{price.symbol=}, {price.dollars=}, {price.cents=}") from None


def shows_all(price: StockPrice) -> bytes:
    try:
        return serialize(price)
    except ValueError:
        raise ValueError(price) from None


def refuses_0(price: StockPrice) -> bytes:
    if not price.dollars:
        raise ValueError("dollars")
    return serialize(price)


def in_capitals(price: StockPrice) -> bytes:
    try:
        return serialize(price)
    except ValueError as fault:
        raise ValueError(f"{str(fault).capitalize()} is wrong in {price}") from None


def with_json(price: StockPrice) -> bytes:
    try:
        return serialize(price)
    except ValueError as fault:
        raise ValueError(f"{json.dumps(vars(price))}: {fault} must not be so") from None


def ticks_off(price: StockPrice) -> bytes:
    is_good = {
        "symbol": isinstance(price.symbol, str) and price.symbol != "",
        "dollars": type(price.dollars) is int and price.dollars >= 0,
        "cents": type(price.cents) is int and 0 <= price.cents <= 99,
    }
    if not all(is_good.values()):
        raise ValueError(is_good)
    return json.dumps(vars(price)).encode()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (pickle.dumps, "is a pickle"),
        (lambda price: str(price).encode(), "is no JSON in UTF-8"),
        (lambda price: json.dumps(vars(price)), "which .encode() makes of a text"),
        (lambda price: json.dumps(vars(price)).encode(), "its cents is wrong, so nothing should be sent"),
        (lambda price: b'{"symbol": "IBM"}', 'gives {"symbol": "IBM"}'),
        (lambda p: json.dumps({**vars(p), "dollars": float(p.dollars)}).encode(), '"dollars": 141.0'),
        (lambda price: None, "returned None"),
        (swallows, "returned None, and a record without a value would be sent"),
        (vague, "says 'a bad price'; it should name the field that is wrong, cents"),
        (fails, "ended with KeyError"),
        (beyond(cents=100), "cents=100))` returned"),
        (beyond(cents=-1), "cents=-1))` returned"),
        (beyond(cents="5"), "cents='5'))` returned"),
        (beyond(dollars=-1), "dollars=-1, cents=5))` returned"),
        (beyond(dollars=141.5), "dollars=141.5, cents=5))` returned"),
        (beyond(cents=True), "cents=True))` returned"),
        (beyond(symbol=7), "symbol=7, dollars=141, cents=5))` returned"),
        (names_all, "says the same of wrong cents and of wrong dollars"),
        (
            shows_json,
            """of wrong cents and of wrong dollars: 'bad price: {"symbol": …, "dollars": …, "cents": …}'""",
        ),
        (shows_each, "but for the values, the ValueError says the same of wrong cents and of wrong dollars"),
        (shows_all, "it should name the field that is wrong, cents"),
        (refuses_0, "this price is right: dollars from 0"),
    ],
)
def test_what_is_wrong_with_a_serializer_is_told(wrong: Callable[..., Any], words: str):
    assert words in told(wrapping.judge_serializer, wrong)


def test_a_serializer_may_write_letters_as_they_are_and_show_the_price_in_its_error():
    wrapping.judge_serializer(serialize)
    wrapping.judge_serializer(in_capitals)
    wrapping.judge_serializer(with_json)
    wrapping.judge_serializer(ticks_off)
    wrapping.judge_serializer(lambda p: serialize(p) and json.dumps(vars(p), ensure_ascii=False).encode())


def traced(*headers: list[tuple[str, bytes]], value: bytes = b"order") -> list[Record]:
    return [Record("traced", 0, n, b"", value, -1, "create", tuple(own)) for n, own in enumerate(headers)]


@pytest.mark.parametrize(
    ("records", "words"),
    [
        (traced([("shop", b"x")]), "of 2 orders 1 are in the topic"),
        (traced([("shop", b"x")], [("id", b"1")]), "no header 'trace-id', but id and shop"),
        (traced([("trace-id", b"1")], [("trace-id", b"1")]), "2 records share 1 trace id;"),
        (traced([("trace-id", b"1")], [("trace-id", b"2")]), "the program's own headers are gone"),
        (traced([], [], value=b"1 order"), "a record has another value than the order"),
        (traced([], []), "no header 'trace-id', but none at all"),
        (traced([("trace-id", b"1")], [("trace-id", b"1"), ("trace-id", b"2")]), "has 2 headers 'trace-id'"),
    ],
)
def test_what_is_wrong_with_traced_records_is_told(records: list[Record], words: str):
    assert words in told(wrapping._judge_headers, records, {b"order"}, 2)


def test_records_keep_their_keys_and_each_is_there():
    order = {"key": "Kyiv", "value": b"order"}
    headers = [[("trace-id", b"1"), ("program", b"x")], [("trace-id", b"2")]]
    log = [replace(record, key=b"Kyiv") for record in traced(*headers)]
    wrapping._judge_records(log, [order], [order])
    keyless = [log[0], replace(log[1], key=None)]
    assert "1 record has another key" in told(wrapping._judge_records, keyless, [order], [order])


def test_the_programs_list_of_headers_stays_and_each_wrapper_counts_its_own():
    wrapping._judge_own([("program", b"x")])
    assert "has 2 pairs now, and had one" in told(
        wrapping._judge_own, [("program", b"x"), ("trace-id", b"1")]
    )
    wrapping._judge_second(SimpleNamespace(acknowledged=0))
    assert "which has sent nothing, is 30" in told(wrapping._judge_second, SimpleNamespace(acknowledged=30))


@pytest.mark.parametrize(
    ("sent_at", "unreported", "words"),
    [(0.0, 0, "nothing was sent with the producer"), (1.0, 0, "`Traced` waits for each")],
)
def test_a_wrapper_sends_with_its_producer_and_does_not_wait(sent_at: float, unreported: int, words: str):
    def producer(sent_at: float, unreported: int) -> Any:
        return SimpleNamespace(sent_at=sent_at, unreported=lambda topic: unreported)

    wrapping._judge_way(producer(1.0, 30), "traced")
    assert words in told(wrapping._judge_way, producer(sent_at, unreported), "traced")


FLUSHES: Any = SimpleNamespace(producer=lambda: SimpleNamespace(flush=lambda: 0))


class Sends:
    """A wrapper that sends a record by adding it to a log, with this id."""

    def __init__(self, log: list[Record], own: bytes) -> None:
        self.log, self.own = log, own

    def produce(self, topic: str, value: bytes, key: str) -> None:
        self.log.append(traced([("trace-id", self.own)])[0])


@pytest.mark.parametrize(
    ("second", "anew", "words"),
    [
        (
            b"1",
            None,
            "a second `Traced(producer)` gives its record the trace id b'1', which another record has",
        ),
        (b"2", b"1", "if the program starts again, `Traced` gives its record the trace id b'1'"),
        (b"2", b"3", ""),
        (b"2", None, ""),
    ],
)
def test_ids_do_not_come_again(monkeypatch, second: bytes, anew: bytes | None, words: str):
    log = traced([("trace-id", b"1")])
    again = None if anew is None else lambda producer: Sends(log, anew)
    monkeypatch.setattr(wrapping, "defined_anew", lambda name: again)
    monkeypatch.setattr(wrapping, "log_of", lambda lab, topic: list(log))
    judged = (FLUSHES, "traced", lambda producer: Sends(log, second))
    if words:
        assert words in told(wrapping._judge_later_ids, *judged)
    else:
        wrapping._judge_later_ids(*judged)


def test_what_only_the_notebook_has_is_no_fault_after_a_restart(monkeypatch):
    log: Any = []
    monkeypatch.setattr(wrapping, "defined_anew", lambda name: lambda producer: log.missing)
    monkeypatch.setattr(wrapping, "log_of", lambda lab, topic: list(log))
    wrapping._judge_later_ids(FLUSHES, "traced", lambda producer: Sends(log, b"1"))
    fails = told(wrapping._judge_later_ids, FLUSHES, "traced", lambda producer: log.missing)
    assert "`produce` of a second `Traced`" in fails


class ToldOf(Message):
    """A record's report, with an error or without."""

    def __init__(self, fault: KafkaError | None = None, value: bytes | None = None) -> None:
        super().__init__(value=value)
        self.fault = fault

    def error(self) -> KafkaError | None:
        return self.fault


PURGED = KafkaError(KafkaError._PURGE_QUEUE)
STORED_ONE, FAILED_ONE = (None, ToldOf()), (PURGED, ToldOf(PURGED))


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ([STORED_ONE, STORED_ONE], "heard of 2 of 3 orders, not of the one that failed"),
        ([FAILED_ONE], "heard of 1 of 3 orders; whoever wraps"),
        ([STORED_ONE, STORED_ONE, FAILED_ONE] * 2, "was called 6 times for 3 orders; it should hear of each"),
        ([(None, None)] * 3, "calls the program's own callback with (None, None); it should hear what"),
        ([(ToldOf(),)], "calls the program's own callback with 1 argument; as a callback"),
        (
            [STORED_ONE, STORED_ONE, (None, ToldOf(PURGED))],
            "was told the error None, and the report says _PURGE",
        ),
    ],
)
def test_what_the_program_hears_is_judged(calls: list[tuple[Any, ...]], words: str):
    def heard_of(calls: list[tuple[Any, ...]]) -> Heard:
        heard = Heard()
        for arguments in calls:
            heard.of({"value": None})(*arguments)
        return heard

    heard_of([STORED_ONE, FAILED_ONE, STORED_ONE]).judge(3)
    assert words in told(heard_of(calls).judge, 3)


def test_a_callback_is_called_by_place():
    heard = Heard()
    heard.of({"value": None})(error=None, message=ToldOf())
    assert "calls the program's own callback with names: error, message; it is called as" in told(
        heard.judge, 1
    )


def test_each_callback_hears_of_its_own_record():
    heard, values = Heard(), [b"order 0", b"order 1"]
    callbacks = [heard.of({"value": value}) for value in values]
    for callback, value in zip(callbacks, values, strict=True):
        callback(None, ToldOf(value=value))
    heard.judge(2)
    heard.calls.clear()
    for value in values:
        callbacks[-1](None, ToldOf(value=value))
    said = told(heard.judge, 2)
    assert "the program's callback for b'order 1'… heard of b'order 0'…; each should hear of its own" in said


def test_errors_in_a_wrapper_are_told_by_what_the_program_did():
    def fails() -> None:
        with wrapping._reporting("the program has given no callback"):
            raise TypeError("'NoneType' object is not callable")

    said = told(fails)
    assert (
        "your function for the delivery reports ended with TypeError: 'NoneType' object is not callable"
        in said
    )
    assert said.endswith("Look at: what it calls if the program has given no callback")

    def refused() -> None:
        with wrapping._sending(wrapping.BARE):
            raise LabError("A delivery callback has one argument", "give it two")

    said = told(refused)
    assert (
        "called as `traced.produce(topic, value, key=…)`, ended in an error: a delivery callback has" in said
    )
    assert "one argument; give it two. Look at: `Traced` in the cell" in said


def test_acknowledgements_are_counted():
    wrapping._judge_count(SimpleNamespace(acknowledged=30), 30)
    assert "is 31, and 30 records are acknowledged" in told(
        wrapping._judge_count, SimpleNamespace(acknowledged=31), 30
    )
    assert "`traced.acknowledged` is None" in told(wrapping._judge_count, object(), 30)


def test_a_try_that_is_slow_by_the_machines_fault_is_tried_again():
    def tries(*rates: float) -> Callable[[], Any]:
        left = [SimpleNamespace(rate=rate, together=0.0) for rate in rates]
        return lambda: left.pop(0)

    assert sending._expect_fast(tries(10, 500), 10, 10, 10) == 50
    with pytest.raises(NotYet, match=r"is 4\.0 times as fast as"):
        sending._expect_fast(tries(10, 40, 20), 10, 10, 10)


# 5.8


def stage_from_bytes(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


FIVE = {stage if stage is None else stage.encode(): stage for stage in way_back.STAGES}


def caught(instead: Callable[[Exception], Any]) -> Callable[[bytes | None], Any]:
    """Return a deserializer that gives back something of an error, and does not raise it."""

    def read(data: bytes | None) -> Any:
        try:
            return stage_from_bytes(data)
        except UnicodeDecodeError as fault:
            return instead(fault)

    return read


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (str, "\"b'welding'\" (str), which is how Python shows bytes"),
        (lambda data: data, "it should return the text 'welding', which .decode() makes of bytes"),
        (lambda data: data.decode(), "`stage_from_bytes(None)` ended with AttributeError"),
        (lambda data: (data or b"").decode(), "`stage_from_bytes(None)` returned ''"),
        (lambda data: data.decode() if data else None, "an empty text is a stage"),
        (lambda data: data and data.decode("latin-1"), "it should return 'Prüfung': the bytes are UTF-8"),
        (lambda data: None if data is None else data.decode(errors="ignore"), "a stage that nobody has"),
        (
            FIVE.__getitem__,
            "ended with KeyError: b'painting'; it should return 'painting': a stage can have any",
        ),
        (
            lambda data: None if data in (None, b"None") else data.decode(),
            "`stage_from_bytes(b'None')` returned None (nothing was returned or kept); it should return 'N",
        ),
        (
            lambda data: data if data is None else data.decode().strip(),
            "it should return ' welding ', as it was",
        ),
        (lambda data: data if data is None else data.decode("utf-8-sig"), "\\ufeffwelding', as it was given"),
        (caught(lambda fault: None), "returned None, as for an alert without a stage; it should raise"),
        (
            caught(lambda fault: fault),
            "returned an error (UnicodeDecodeError) as if it were a stage; it should",
        ),
        (caught(lambda fault: 7), "returned 7 (int); it should raise a ValueError"),
        (lambda data: {1: 2}[0], "ended with KeyError"),
    ],
)
def test_what_is_wrong_with_a_deserializer_is_told(wrong: Callable[..., Any], words: str):
    way_back.judge_deserializer(stage_from_bytes)
    assert words in told(way_back.judge_deserializer, wrong)


def test_bytes_that_nobody_can_read_are_a_value_error():
    def raises(fault: Exception) -> Callable[..., Any]:
        def read(data: bytes | None) -> str | None:
            if data in way_back.BROKEN:
                raise fault
            return stage_from_bytes(data)

        return read

    way_back.judge_deserializer(raises(ValueError("no stage")))
    assert "ended with KeyError; it should raise a ValueError" in told(
        way_back.judge_deserializer, raises(KeyError("no stage"))
    )


def test_the_topic_has_each_key_once():
    keys = [stage if stage is None else stage.encode() for stage in way_back.STAGES]
    way_back.judge_stages(stored([(key, b"look") for key in keys]))
    assert "holds 4 records" in told(way_back.judge_stages, stored([(key, b"look") for key in keys[1:]]))
