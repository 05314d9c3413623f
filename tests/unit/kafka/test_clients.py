"""Clients of a lab: what becomes of delivery reports when the program's callback fails, and counts."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from threebrokers.cells import LONGEST
from threebrokers.errors import LabError
from threebrokers.kafka import clients as module
from threebrokers.kafka.clients import Clients, LabConsumer, LabProducer, refusal_told

NOBODY = "127.0.0.1:1"  # so every record fails, and has a report all the same
SOON = {"message.timeout.ms": 50}


@pytest.fixture
def clients(tmp_path: Path) -> Iterator[Clients]:
    made = Clients(NOBODY, tmp_path)
    yield made
    made.close()


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The run of the one cell that there is; the last number is the run of now."""
    numbers = [1]
    monkeypatch.setattr(module, "running_cell", lambda: ("cell", numbers[-1]))
    return numbers


def send(producer: LabProducer, count: int, **more: object) -> None:
    for number in range(count):
        producer.produce("greetings", f"greeting {number}", **more)


@pytest.mark.parametrize("callback", [[].append, lambda message: None, lambda: None])
def test_a_callback_that_cannot_take_two_arguments_is_told_at_once(
    clients: Clients, callback: object
) -> None:
    with pytest.raises(LabError, match=r"two arguments, \(error, message\)"):
        send(clients.producer(SOON), 1, on_delivery=callback)
    with pytest.raises(LabError, match="two arguments"):
        clients.producer({**SOON, "on_delivery": callback})


@pytest.mark.parametrize("callback", [print, lambda *told: None, lambda error, message, more=1: None])
def test_a_callback_that_can_take_two_is_taken(clients: Clients, callback: object) -> None:
    send(clients.producer(SOON), 1, on_delivery=callback)


def failing() -> tuple[list[object], Callable[[object, object], None]]:
    """What a callback was told, and that callback, which raises each time."""
    told: list[object] = []

    def report(error: object, message: object) -> None:
        told.append(error)
        raise ValueError(f"report {len(told)}")

    return told, report


def polled(producer: LabProducer) -> None:
    while producer.unreported():
        producer.poll(1)


@pytest.mark.parametrize("serve", [LabProducer.flush, polled])
def test_what_a_callback_raises_reaches_the_program_once_and_every_record_is_reported(
    clients: Clients, serve: Callable[[LabProducer], object]
) -> None:
    told, report = failing()
    producer = clients.producer(SOON)
    send(producer, 10, on_delivery=report)
    with pytest.raises(ValueError, match=r"report 1$"):
        serve(producer)
    with contextlib.suppress(ValueError):
        producer.flush()
    assert len(told) == 10
    assert producer.flush() == 0


def left(producer: LabProducer) -> None:
    with producer:
        pass


@pytest.mark.parametrize("end", [LabProducer.close, left])
def test_what_a_callback_raises_reaches_the_program_that_closes_its_producer(
    clients: Clients, end: Callable[[LabProducer], object]
) -> None:
    told, report = failing()
    producer = clients.producer(SOON)
    send(producer, 3, on_delivery=report)
    with pytest.raises(ValueError, match=r"report 1$"):
        end(producer)
    assert (len(told), producer.unreported(), len(producer.settled_at)) == (3, 0, 1)
    assert clients.producer(SOON).close() is True


def test_what_a_block_raises_is_not_replaced_by_what_a_callback_raises(clients: Clients) -> None:
    told, report = failing()
    producer = clients.producer(SOON)

    def block() -> None:
        with producer:
            send(producer, 3, on_delivery=report)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        block()
    assert (len(told), producer.unreported(), len(producer.settled_at)) == (3, 0, 1)
    assert producer.unreported_topics() == []


def test_a_batch_is_produced_with_its_own_and_the_shared_arguments(clients: Clients) -> None:
    told: list[tuple[str, int | None, bytes | None]] = []
    producer = clients.producer(SOON)
    own = {"partition": 1, "callback": lambda _, message: told.append(("own", message.partition(), b"b"))}
    batch = [{"value": "a"}, {"value": "b", **own}, {}]
    count = producer.produce_batch(
        "greetings", batch, 2, lambda _, message: told.append(("all", message.partition(), message.value()))
    )
    assert (count, producer.given("greetings"), producer.unreported()) == (3, 3, 3)
    producer.flush()
    assert sorted(told, key=str) == [("all", 2, None), ("all", 2, b"a"), ("own", 1, b"b")]


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (({"value": "a"},), "messages must be a list"),
        ([{"value": "a"}, 3], "Message at index 1 must be a dict"),
        ([{"value": "a"}, {"key": 5}], "Message key at index 1 must be bytes or str"),
        ([{"value": "a"}, {"partition": "x"}], "Message partition at index 1 must be int"),
    ],
)
def test_nothing_is_taken_of_a_batch_of_a_wrong_form(clients: Clients, batch: Any, words: str) -> None:
    producer = clients.producer(SOON)
    with pytest.raises(TypeError, match=words):
        producer.produce_batch("greetings", batch)
    with pytest.raises(TypeError, match=words):
        Producer({"bootstrap.servers": NOBODY}).produce_batch("greetings", batch)  # the same words
    assert producer.unreported() == 0


def test_a_callback_that_raises_does_not_poison_the_next_run_of_its_cell(
    clients: Clients, runs: list[int]
) -> None:
    told: list[object] = []

    def report(error: object, message: object) -> None:
        told.append(error)
        raise ValueError

    send(clients.producer(SOON), 10, on_delivery=report)  # and no flush()
    runs.append(2)
    second = clients.producer(SOON)
    assert clients.made(LabProducer) == [second]
    assert told == []  # the list of the second try holds no report of the first
    assert second.flushed is None


def test_a_producer_that_was_closed_does_not_stop_the_next_run_of_its_cell(
    clients: Clients, runs: list[int]
) -> None:
    with clients.producer(SOON) as first:
        send(first, 1)
    runs.append(2)
    second = clients.producer(SOON)
    assert clients.made(LabProducer) == [second]
    second.close()


def test_what_a_program_has_closed_can_be_thrown_away_all_the_same(clients: Clients) -> None:
    with clients.producer(SOON) as first:
        send(first, 1)
    second = clients.producer(SOON)
    second.close()
    for one in (first, second):
        one.discard()
        assert one.unreported() == 0


def test_only_the_programs_own_flush_is_kept(clients: Clients) -> None:
    producer = clients.producer(SOON)
    producer.flush(0.5)
    producer.discard()
    assert producer.flushed == 0.5


def test_the_moments_are_kept_when_the_program_knew_of_every_record(clients: Clients) -> None:
    producer = clients.producer(SOON)
    producer.flush()
    producer.poll(0)
    assert not producer.settled_at  # nothing was sent
    for _ in range(2):
        send(producer, 2)
        producer.flush(0)
        producer.flush()
        producer.poll(0)
    first, second = producer.settled_at
    assert first < producer.sent_at < second


def test_records_without_a_report_are_counted_as_records(clients: Clients) -> None:
    producer = clients.producer(SOON)
    send(producer, 10, on_delivery=lambda error, message: None)
    producer.produce("others", "x")
    assert (producer.unreported(), producer.reported_errors) == (11, frozenset())
    assert producer.unreported("greetings") == 10
    assert producer.unreported("nothing") == 0
    producer.flush()
    assert producer.unreported() == producer.unreported("greetings") == 0
    assert producer.reported_errors == {KafkaError._MSG_TIMED_OUT}  # nobody is there


def test_a_default_callback_hears_every_report(clients: Clients) -> None:
    told = []
    producer = clients.producer({**SOON, "on_delivery": lambda error, message: told.append(message.value())})
    send(producer, 2)
    producer.produce("greetings", "own", on_delivery=lambda error, message: told.append("own"))
    producer.flush()
    assert sorted(told, key=str) == [b"greeting 0", b"greeting 1", "own"]
    assert producer.config["on_delivery"] is not None


@pytest.mark.parametrize("call", [lambda one: one.poll(0), lambda one: one.consume(1, 0), LabConsumer.close])
def test_what_a_rebalance_listener_raises_reaches_the_program_once(
    clients: Clients, monkeypatch: pytest.MonkeyPatch, call: Callable[[LabConsumer], object]
) -> None:
    def begin(consumer: object, places: object) -> None:
        raise KeyError("a wrong name")

    given: dict[str, Callable[[object, object], None]] = {}
    consumer = clients.consumer({"group.id": "readers"})
    monkeypatch.setattr(module, "heard", lambda interceptors, own, held: given.update(own) or own)
    consumer.subscribe(["greetings"], on_assign=begin)
    listener = consumer._kept(given["on_assign"])
    listener(consumer, [])
    with pytest.raises(KeyError, match="a wrong name"):
        call(consumer)
    if call is not LabConsumer.close:
        assert not call(consumer)
    with pytest.raises(TypeError):
        clients.consumer({"group.id": "readers"}).subscribe(["greetings"], on_assign="begin")


class Raising(Consumer):
    """A consumer whose first call runs a listener that raises, and has a record all the same."""

    _raised: BaseException | None
    calls = 0

    def poll(self, timeout: float = -1) -> Any:
        self.calls += 1
        if self.calls == 1:
            self._raised = KeyError("a wrong name")
        return SimpleNamespace(error=lambda: None, offset=lambda: self.calls)

    def consume(self, num_messages: int = 1, timeout: float = -1) -> list[Message]:
        return [Raising.poll(self)]


class Joined(LabConsumer, Raising):
    """A consumer of the lab on top of that one."""


@pytest.mark.parametrize("call", [lambda one: [one.poll(0)], lambda one: one.consume(1, 0)])
def test_a_record_that_comes_with_a_listener_s_error_is_not_lost(
    call: Callable[[LabConsumer], list[Message]],
) -> None:
    consumer = Joined({"group.id": "readers"}, {"bootstrap.servers": "127.0.0.1:1"})
    assert [record.offset() for record in call(consumer)] == [1]
    with pytest.raises(KeyError, match="a wrong name"):
        call(consumer)
    assert [record.offset() for record in call(consumer)] == [2]
    assert consumer.received == 2


def test_a_consumer_knows_whether_it_was_told_what_to_read(clients: Clients) -> None:
    silent, subscribed, by_hand = (clients.consumer({"group.id": "readers"}) for _ in range(3))
    subscribed.subscribe(["greetings"])
    by_hand.assign([TopicPartition("greetings", 0)])
    assert [one.asked for one in (silent, subscribed, by_hand)] == [False, True, True]


def test_a_listener_that_closes_its_consumer_is_told_instead_of_hanging(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Callable[..., object]] = {}
    monkeypatch.setattr(module, "heard", lambda interceptors, own, held: given.update(own) or own)
    consumer = clients.consumer({"group.id": "readers"})
    consumer.subscribe(["greetings"], on_revoke=lambda consumer, partitions: consumer.close())
    consumer._kept(given["on_revoke"])(consumer, [])
    with pytest.raises(LabError, match="would wait for ever: close the consumer after its loop"):
        consumer.poll(0)
    consumer.close()  # behind the listener it does what it does always


def test_a_member_whose_close_never_ends_is_told(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def never(close: Callable[[], None], within: float) -> bool:
        asked.append(within)
        return False

    idle, alone = (clients.consumer({"group.id": "readers"}) for _ in range(2))
    idle.subscribe(["greetings"])
    idle.poll(0)
    with monkeypatch.context() as patched:
        patched.setattr(module, "ends_within", never)
        with pytest.raises(LabError, match="has not closed this consumer within 15 s: go on: its group"):
            idle.close()
        idle.discard()  # without a word
        alone.close()  # no member of a group
    assert asked == [module.CLOSE_SECONDS] * 2
    idle.close()


def test_the_end_of_a_with_block_closes_as_close_does(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Consumer] = []
    monkeypatch.setattr(module, "hear_of_rebalances", lambda consumer, held: heard.append(consumer))
    with clients.consumer({"group.id": "with"}) as reader:
        reader.subscribe(["t"])
    assert heard == [reader]
    with pytest.raises(RuntimeError, match="closed"):
        reader.poll(0)


def test_what_takes_too_long_is_left_alone() -> None:
    def fail() -> None:
        raise RuntimeError("closed already")

    over = threading.Event()
    assert module.ends_within(lambda: None, 5)
    assert not module.ends_within(lambda: over.wait() and None, 0.05)
    over.set()
    with pytest.raises(RuntimeError, match="closed already"):
        module.ends_within(fail, 5)


def test_a_consumer_that_is_closed_already_does_not_hold_up_the_next_run(
    clients: Clients, runs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def close(consumer: object) -> None:
        raise RuntimeError("closed already")

    clients.consumer({"group.id": "readers"})
    monkeypatch.setattr(LabConsumer, "discard", close)
    runs.append(2)
    again = clients.consumer({"group.id": "readers"})
    assert clients.made(LabConsumer) == [again]


def test_settings_that_the_client_refuses_are_told_in_one_sentence():
    wrong = {"group.id": "g", "session.timeout.ms": 45_000, "max.poll.interval.ms": 2500}
    words = r"^The client refuses these settings \(.*session.timeout.ms"
    with pytest.raises(LabError, match=words) as told, refusal_told():
        Consumer(wrong)
    assert str(told.value).endswith("): change the one that it names.")
    assert len(str(told.value)) < LONGEST, "a check cuts what is longer"


def test_a_consumer_is_told_by_its_group_and_what_it_reads(clients: Clients) -> None:
    reader = clients.consumer({"group.id": "page"})
    assert repr(reader) == "<consumer of group 'page': reads nothing; its partitions: none>"
    reader.subscribe(["greetings"])
    reader.held = {("greetings", 1), ("greetings", 0)}
    assert repr(reader) == (
        "<consumer of group 'page': reads greetings; its partitions: greetings 0, greetings 1>"
    )
