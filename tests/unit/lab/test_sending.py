"""What lab 05 sends and measures, as far as it can be seen without brokers."""

import itertools
import re
from collections import Counter
from queue import Empty
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from threebrokers.errors import LabError
from threebrokers.kafka.batches import Batch
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.scenarios import choosing, packing, prices, refusals, sending


class Producer:
    """Takes every record, and refuses those of the shop whose clock is ahead; a queue of `room` records."""

    def __init__(self, log: list[Record], room: int = 1000) -> None:
        self.log, self.room, self.open, self.has_listener = log, room, [], False
        self.interceptors: list[Any] = []

    def produce(self, topic: str, value: Any, key: Any = None, on_delivery: Any = None, **more: Any) -> None:
        if len(self.open) >= self.room:
            raise BufferError("Local: Queue full")
        for interceptor in self.interceptors:
            interceptor.on_send(SimpleNamespace(value=value))
            interceptor.on_sent(SimpleNamespace(value=value))
        self.has_listener = self.has_listener or on_delivery is not None
        value = value.encode() if isinstance(value, str) else value
        key = key.encode() if key else None
        self.open.append((Record(topic, more.get("partition", 0), 0, key, value, -1, "create"), on_delivery))

    def poll(self, timeout: float) -> None:
        self.flush()

    def flush(self) -> int:
        waiting, self.open = self.open, []
        for record, report in waiting:
            for interceptor in self.interceptors:
                interceptor.on_acknowledgement(None, None)
            late = record.key == sending.AHEAD.encode()
            if not late:
                self.log.append(record)
            if report:
                error = KafkaError(KafkaError.INVALID_TIMESTAMP) if late else None
                report(error, SimpleNamespace(value=lambda record=record: record.value))
        return 0

    def unreported(self, topic: str) -> int:
        return len(self.open)

    def discard(self) -> None:
        self.open = []


@pytest.fixture
def lab(monkeypatch) -> Any:
    log: list[Record] = []

    def fresh_topic(name: str, **more: Any) -> str:
        log.clear()
        return name

    def producer(config: Any = None) -> Producer:
        return Producer(log, (config or {}).get("queue.buffering.max.messages", 1000))

    for module in (sending, choosing):
        monkeypatch.setattr(module, "read_log", lambda bootstrap, topic: list(log))
    return SimpleNamespace(fresh_topic=fresh_topic, producer=producer, bootstrap="", log=log)


def test_a_sixth_of_the_orders_is_refused_and_known(lab):
    for send in (sending.wait_for_each, sending.send_and_listen):
        done = sending.sent_by(lab, send, sending.shop_orders(12), "ways")
        assert done.fault is None
        assert not done.unreported
        assert done.listened
        assert len(done.missing) == 2
        assert Counter(done.returned) == Counter(done.missing)


@pytest.fixture
def steps(monkeypatch):
    """A clock that goes on by one each time when somebody looks: a busy machine changes nothing."""
    ticks = itertools.count()
    monkeypatch.setattr(sending, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))


@pytest.mark.usefixtures("steps")
def test_how_many_are_on_their_way_at_once(lab):
    alone = sending.sent_by(lab, sending.wait_for_each, sending.shop_orders(60), "ways")
    together = sending.sent_by(lab, sending.send_and_listen, sending.shop_orders(60), "ways")
    assert 0 < alone.together <= 1
    assert together.together <= 1  # this stand-in reports in poll(0) at once

    def all_at_once(producer: Any, topic: str, orders: Any) -> None:
        for order in orders:
            producer.produce(topic, **order)
        producer.flush()

    assert sending.sent_by(lab, all_at_once, sending.shop_orders(60), "ways").together > 10


@pytest.mark.usefixtures("steps")
def test_who_never_waits_has_no_more_on_their_way_than_were_sent(lab):
    def forget(producer: Any, topic: str, orders: Any) -> None:
        for order in orders:
            producer.produce(topic, **order)

    assert 1 < sending.sent_by(lab, forget, sending.shop_orders(60), "ways").together <= 60


def test_what_nobody_waited_for_is_thrown_away(lab):
    def forget(producer: Any, topic: str, orders: Any) -> None:
        for order in orders:
            producer.produce(topic, **order)

    done = sending.sent_by(lab, forget, sending.shop_orders(12), "ways")
    assert (len(done.missing), done.unreported, done.listened) == (12, 12, False)


def test_a_program_may_close_its_producer(monkeypatch):
    made: list[LabProducer] = []

    def producer(config: Any = None) -> LabProducer:
        filled = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0, "message.timeout.ms": 50}
        made.append(LabProducer(config or {}, filled))
        return made[-1]

    def send(producer: LabProducer, topic: str, orders: Any) -> None:
        with producer:
            for order in orders:
                producer.produce(topic, **order, on_delivery=lambda error, message: None)

    monkeypatch.setattr(sending, "read_log", lambda bootstrap, topic: [])
    one: Any = SimpleNamespace(producer=producer, bootstrap="")
    done = sending.sent_by(one, send, sending.shop_orders(12), "ways")
    assert (done.fault, done.unreported, len(done.missing)) == (None, 0, 12)


def test_a_trial_tells_what_ended_it(lab, capsys):
    def forget(producer: Any, topic: str, orders: Any) -> None:
        for order in orders:
            producer.produce(topic, **order)

    assert isinstance(sending.trial(lab, forget).fault, BufferError)
    said = capsys.readouterr().out
    assert "send() ended with BufferError" in said
    assert "0 are stored" in said


@pytest.mark.parametrize(
    ("given", "known"), [([b"1"], "1"), ((b"1", b"2"), "2"), ({b"1"}, "1"), (None, "no")]
)
def test_a_trial_counts_what_the_check_takes(lab, capsys, given, known):
    sending.trial(lab, lambda producer, topic, orders: given)
    assert f"send() returned {known} orders" in capsys.readouterr().out


def test_nothing_is_tried_while_a_function_is_not_written(lab, capsys):
    assert sending.trial(lab, ...) is None
    assert choosing.send_prices(lab, ...) is None
    prices.send_quotes(lab, ...)
    assert capsys.readouterr().out == ""


def test_prices_are_where_the_function_says(lab, capsys):
    table = choosing.send_prices(lab, lambda symbol, partitions: 3 if symbol else 1)
    assert table.loc["no key"].to_list() == [0, 20, 0, 0]
    assert table.loc["IBM"].to_list() == [0, 0, 0, 20]
    choosing.send_prices(lab, lambda symbol, partitions: len(symbol) % 4)
    assert "The sending ended with TypeError" in capsys.readouterr().out


def test_bad_prices_are_told_and_good_ones_sent(lab, capsys):
    def serialize(price: Any) -> bytes:
        if (price, "cents") in prices.BAD_PRICES:
            raise ValueError("cents")
        return b"{}"

    prices.send_quotes(lab, serialize)
    assert capsys.readouterr().out.count("ValueError: cents") == 3
    assert len(lab.log) == len(prices.GOOD_PRICES) + 4


def test_readings_come_at_their_pace():
    found = list(packing.readings(0.05, 1000))
    assert len(found) == 50
    assert len({key for key, _ in found}) == 30


def test_sizes_are_percent_of_the_values(monkeypatch, lab):
    lab.producer = lambda config: Producer([])
    stored = [
        Batch(0, 0, 2, 300, "none", 0, 0),
        Batch(1, 0, 1, 50, "zstd", 0, 0),
        Batch(1, 1, 1, 50, "zstd", 0, 0),
    ]
    monkeypatch.setattr(packing, "stored_batches", lambda lab, topic: stored)
    table = packing.packed_sizes(lab, [(None, b"x" * 100)] * 2, ["none", "zstd"], [2])
    assert table.loc[2].to_dict() == {"none": 150.0, "zstd": 50.0}


def test_batches_are_counted_by_linger_without_the_first_record_of_each(monkeypatch, lab):
    class Writer:
        def produce(self, topic: str, value: bytes, partition: int) -> None:
            pass

        def flush(self, seconds: float) -> int:
            return 0

    lab.producer = lambda config: Writer()
    sent, slow = packing.TURNS * packing.A_TURN, packing.TURNS * packing.A_SLOW_TURN
    found = [Batch(p, 0, 1, 200, "none", 0, 0) for p in (0, 1)]
    found += [Batch(0, 1 + n, slow // 100, 200, "none", 0, 0) for n in range(100)]
    found += [Batch(1, 1, sent, 200, "none", 0, 0)]
    monkeypatch.setattr(packing, "stored_batches", lambda lab, topic: found)
    table = packing.by_linger(lab, [0, 20])
    assert table["records a batch"].to_dict() == {0: slow / 100, 20: sent}
    assert table.index.name == "linger.ms"
    assert (table["records a second"] > 0).all()
    monkeypatch.setattr(Writer, "flush", lambda self, seconds: 3)
    with pytest.raises(LabError, match="Not all records were acknowledged within 30 s"):
        packing.by_linger(lab, [0])


def test_what_a_program_does_after_an_error_is_told_with_both_records(monkeypatch, lab):
    full = BufferError("Local: Queue full")
    met = refusals._Met(full, lambda: None, lambda: None)
    finished = refusals._Met(KafkaError(KafkaError._FENCED, fatal=True), lambda: full, lambda: full)
    monkeypatch.setattr(refusals, "_six", lambda lab, topic: {"queue full": met, "fenced": finished})
    assert refusals.after_errors(lab, ...) is None
    table = refusals.after_errors(lab, lambda error: error.code())
    assert (
        table["decide(error)"].iloc[0].startswith("✗ AttributeError: 'BufferError' object has no attribute")
    )
    assert table["the record"].iloc[0] == "forgotten"
    for says, records, behind in (
        ("again", ["stored", "refused 3 times more"], ["stored", "refused"]),
        (" ASIDE", ["kept apart", "kept apart"], ["stored", "refused"]),
        ("stop", ["not sent", "not sent"], ["not sent", "not sent"]),
        (7, ["forgotten", "forgotten"], ["stored", "refused"]),
    ):
        table = refusals.after_errors(lab, lambda error, says=says: says)
        assert table is not None
        assert table["the record"].to_list() == records
        assert table["a good record behind it"].to_list() == behind


def test_the_transactional_id_of_the_fenced_one_begins_as_all_names_of_the_lab_do():
    named: list[str] = []
    fault = KafkaException(KafkaError(KafkaError._FENCED, fatal=True))

    class Fenced:
        def init_transactions(self, seconds: float) -> None:
            pass

        def begin_transaction(self) -> None:
            pass

        def produce(self, topic: str, value: bytes) -> None:
            raise fault

    def producer(config: Any) -> Fenced:
        named.append(config["transactional.id"])
        return Fenced()

    one: Any = SimpleNamespace(producer=producer, topic=lambda name: f"ada.{name}")
    assert refusals._fenced(one, "t")[1] is fault
    assert named == ["ada.one-name"] * 2


def test_a_record_has_the_error_that_was_raised_or_reported():
    error = KafkaError(KafkaError._MSG_TIMED_OUT)

    class Sender:
        def __init__(self, raised: Exception | None, reports: list[KafkaError | None]) -> None:
            self.raised, self.reports = raised, reports

        def produce(self, topic: str, value: bytes, on_delivery: Any) -> None:
            if self.raised:
                raise self.raised
            self.report = on_delivery

        def flush(self, seconds: float) -> None:
            for error in self.reports:
                self.report(error, None)

    full = BufferError("Local: Queue full")
    assert refusals._sent(Sender(full, []), "t") is full  # type: ignore[arg-type]
    assert refusals._told(Sender(None, [error]), "t") is error  # type: ignore[arg-type]
    assert refusals._sent(Sender(None, [None]), "t") is None  # type: ignore[arg-type]
    for silent, words in ((Sender(None, [None]), "no error was reported"), (Sender(None, []), "No report")):
        with pytest.raises(LabError, match=words):
            refusals._told(silent, "t")  # type: ignore[arg-type]
    with pytest.raises(LabError, match="a bad record was stored"):
        refusals._met(lambda: None, lambda: None)


def test_errors_say_where_they_come_from():
    table = refusals.in_words(
        {
            "full": BufferError("Local: Queue full"),
            "large": KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)),
            "fenced": KafkaError(KafkaError._FENCED, fatal=True),
        }
    )
    assert table["where"].to_list() == ["raised", "raised", "in a report"]
    assert table["name()"].to_list() == ["–", "MSG_SIZE_TOO_LARGE", "_FENCED"]
    assert table["fatal()"].to_list() == ["–", False, True]


def test_charts_say_their_numbers_in_words(monkeypatch):
    import pandas as pd

    told: list[str] = []
    monkeypatch.setattr(packing, "tell", lambda chart: told.extend(chart.words.splitlines()))
    packing.bar_chart({"a": 1.25, "b": 1000.0}, "title", "records a second", log=True)
    table = pd.DataFrame({"zstd": [90.0, 12.0]}, index=pd.Index([1, 100], name="records a batch"))
    packing.line_chart(table, "title", "%")
    assert told == [
        "a: 1.25 records a second.",
        "b: 1,000 records a second.",
        "zstd, % by records a batch: 1: 90, 100: 12.",
    ]


def test_moments_are_drawn_to_scale(monkeypatch):
    import pandas as pd

    drawn: list[str] = []
    monkeypatch.setattr(packing, "tell", lambda chart: drawn.append(chart.svg))
    table = pd.DataFrame({"lag": [0, 5, 6]}, index=pd.Index([0.0, 0.5, 4.5], name="s"))
    packing.line_chart(table, "title", "records")
    packing.line_chart(table, "title", "records", to_scale=True)
    evenly, to_scale = (_places(svg) for svg in drawn)
    assert evenly[1] - evenly[0] == pytest.approx(evenly[2] - evenly[1])
    assert 8 * (to_scale[1] - to_scale[0]) == pytest.approx(to_scale[2] - to_scale[1])


def _places(svg: str) -> list[float]:
    """Return where the points of a chart's only line are, from left to right."""
    line = re.search(r'<path d="(M[^"]+)" clip-path', svg)
    assert line is not None
    return [float(x) for x in re.findall(r"[ML] ([\d.]+) ", line[1])]


def test_what_slows_a_round_slows_all_levels_of_it():
    first = [(1.0, 2.0), (1.0, 2.0), (50.0, 60.0)]
    other = [(1.5, 2.0), (90.0, 99.0), (50.5, 60.0)]  # one of its rounds was slow in the middle
    assert packing._compared(first, first) == [1.0, 2.0]
    assert packing._compared(other, first) == [1.5, 2.0]  # medians alone would be 50.5 and 60


def test_a_record_that_does_not_come_is_told():
    class Writer:
        def produce(self, topic, value, on_delivery):
            self.report = on_delivery

        def poll(self, timeout):
            self.report(None, None)

    class Nothing:
        def get(self, timeout):
            raise Empty

    with pytest.raises(LabError, match="No record has come for 30 s: see `threebrokers doctor`"):
        packing._one_record(Writer(), Nothing(), "t")
