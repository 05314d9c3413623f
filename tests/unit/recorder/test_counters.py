"""What clients do is noted from the outside, and only while a recording runs."""

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.recorder.counters import Notes, Tally
from threebrokers.recorder.data import Burst
from threebrokers.recorder.interceptors import listen

NOWHERE = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0}


class Told:
    """A message, or what a delivery report tells of one."""

    def __init__(self, topic="beat", partition=0, error=None, offset=-1001):
        self._place, self._error, self._offset = (topic, partition), error, offset

    def topic(self):
        return self._place[0]

    def partition(self):
        return self._place[1]

    def error(self):
        return self._error

    def offset(self):
        return self._offset


class Arriving(Producer):
    """confluent-kafka's producer, whose records arrive at once, or fail."""

    error = None

    def produce(self, topic, value=None, key=None, partition=0, on_delivery=None, **named):
        self.last = value, key, partition, named
        if on_delivery:
            on_delivery(self.error, Told(topic, partition))


class StandIn(LabProducer, Arriving):
    """A lab's producer above that one."""


@pytest.fixture
def notes():
    return Notes()


def counted(notes):
    return {(flow.kind, flow.topic, flow.partition): flow.records for flow in notes.flows()}


def test_what_is_sent_and_acknowledged_is_counted(notes):
    producer = StandIn({}, NOWHERE)
    end = listen(producer, lambda: "p", notes)
    producer.produce("beat", b"1")
    producer.produce("beat", b"2", key="k", partition=1)
    assert producer.last == (b"2", "k", 1, {})
    end()
    producer.produce("beat", b"3")
    assert counted(notes) == {
        ("sent", "beat", None): 1,
        ("sent", "beat", 1): 1,
        ("acknowledged", "beat", 0): 1,
        ("acknowledged", "beat", 1): 1,
    }


@pytest.mark.parametrize("way", ["on_delivery", "callback", "fifth", "sixth", "config"])
def test_the_learner_is_told_too(notes, way):
    told = []

    def report(error, message):
        told.append((error, message.partition()))

    producer = StandIn({"on_delivery": report} if way == "config" else {}, NOWHERE)
    listen(producer, lambda: "p", notes)
    arguments = {
        "fifth": (b"1", None, 2, report),
        "sixth": (b"1", None, 2, None, report),
        "config": (b"1", None, 2),
    }
    if way in arguments:
        producer.produce("beat", *arguments[way])
    else:
        producer.produce("beat", b"1", partition=2, **{way: report})
    assert told == [(None, 2)]
    assert counted(notes)["acknowledged", "beat", 2] == 1


def test_each_learners_function_gets_its_own_reports(notes):
    told = []
    producer = StandIn({}, NOWHERE)
    listen(producer, lambda: "p", notes)
    for number in range(3):
        producer.produce("beat", on_delivery=lambda error, message, number=number: told.append(number))
    producer.produce("beat")
    assert told == [0, 1, 2]


def test_a_failure_is_no_acknowledgement(notes):
    producer = StandIn({}, NOWHERE)
    producer.error = KafkaError(KafkaError._MSG_TIMED_OUT)
    listen(producer, lambda: "p", notes)
    producer.produce("beat")
    assert counted(notes) == {("sent", "beat", None): 1, ("failed", "beat", 0): 1}


def test_what_the_client_refuses_was_not_sent(notes):
    producer = LabProducer({"queue.buffering.max.messages": 1}, NOWHERE)
    listen(producer, lambda: "p", notes)
    producer.produce("beat", b"1")
    with pytest.raises(BufferError):
        producer.produce("beat", b"2")
    assert counted(notes) == {("sent", "beat", None): 1}
    producer.purge()
    producer.flush(1)
    assert counted(notes)["failed", "beat", None] == 1


class Filled(Consumer):
    """confluent-kafka's consumer, which has these messages."""

    messages = ()

    def poll(self, timeout=-1):
        return self.messages.pop(0) if self.messages else None

    def consume(self, num_messages=1, timeout=-1):
        taken, self.messages = self.messages[:num_messages], self.messages[num_messages:]
        return taken


class Reader(LabConsumer, Filled):
    """A lab's consumer above that one."""

    def __init__(self, *messages):
        super().__init__({"group.id": "g"}, NOWHERE)
        self.messages = list(messages)


def test_what_is_delivered_is_counted_errors_are_not(notes):
    messages = [
        Told(),
        Told(error="end"),
        Told(),
        Told(partition=1),
        Told("other"),
        Told(error="end"),
        Told(),
    ]
    consumer = Reader(*messages)
    listen(consumer, lambda: "c", notes)
    assert [consumer.poll(1), consumer.poll(timeout=1)] == messages[:2]
    assert consumer.consume(num_messages=5, timeout=1) == messages[2:]
    assert consumer.poll() is None
    assert counted(notes) == {
        ("delivered", "beat", 0): 3,
        ("delivered", "beat", 1): 1,
        ("delivered", "other", 0): 1,
    }
    consumer.close()


def test_two_recordings_at_once_both_hear_all(notes):
    outer, inner = notes, Notes()
    producer = StandIn({}, NOWHERE)
    end_outer = listen(producer, lambda: "p", outer)
    end_inner = listen(producer, lambda: "p", inner)
    producer.produce("beat")
    end_inner()
    producer.produce("beat")
    end_outer()
    producer.produce("beat")
    assert (counted(outer)["sent", "beat", None], counted(inner)["sent", "beat", None]) == (2, 1)


def test_a_client_is_named_when_it_does_something(notes):
    names = iter(["first"])
    producer = StandIn({}, NOWHERE)
    listen(StandIn({}, NOWHERE), lambda: next(names), notes)
    listen(producer, lambda: next(names), notes)
    producer.produce("beat")
    assert {flow.client for flow in notes.flows() if flow.kind == "sent"} == {"first"}


def test_records_that_come_close_together_are_one_burst():
    tally = Tally()
    for at in (1.0, 1.02, 1.04, 1.2, 1.22):
        tally.add(at)
    assert tally.bursts() == (Burst(1.0, 1.04, 3), Burst(1.2, 1.22, 2))


def test_offsets_are_kept_as_runs_in_the_order_in_which_they_came(notes):
    tally = Tally()
    for offset in (3, 4, 5, 9, 10, 4, -1, 5):
        tally.add(1.0, offset=offset)
    tally.add(1.0, 3, offset=6)
    assert tally.offsets() == ((3, 5), (9, 10), (4, 8))
    consumer = Reader(Told(offset=7), Told(offset=8), Told(offset=8))
    listen(consumer, lambda: "c", notes)
    consumer.consume(num_messages=3, timeout=1)
    assert notes.flows()[0].offsets == ((7, 8), (8, 8))


def test_a_burst_is_cut_so_that_its_course_can_be_seen():
    tally = Tally()
    for number in range(1000):
        tally.add(number / 1000)
    bursts = tally.bursts()
    assert 9 <= len(bursts) <= 11
    assert sum(burst.records for burst in bursts) == 1000


def test_what_a_member_is_told_of_its_partitions_is_noted(notes):
    consumer = Reader()
    listen(consumer, lambda: "A", notes)
    (told,) = consumer.interceptors
    told.on_assigned([TopicPartition("beat", 1), TopicPartition("beat", 0)])
    told.on_revoked([TopicPartition("beat", 1)], lost=False)
    told.on_revoked([TopicPartition("beat", 0)], lost=True)
    assert [(h.client, h.group, h.what, h.places) for h in notes.holdings()] == [
        ("A", "g", "assigned", (("beat", 0), ("beat", 1))),
        ("A", "g", "revoked", (("beat", 1),)),
        ("A", "g", "lost", (("beat", 0),)),
    ]
    consumer.close()


def test_what_a_member_held_before_is_noted_when_it_does_something(notes):
    consumer = Reader(Told(partition=2), Told(partition=2))
    consumer.held.add(("beat", 2))
    listen(consumer, lambda: "A", notes)
    assert notes.holdings() == ()
    consumer.poll()
    consumer.poll()
    assert [(h.what, h.places) for h in notes.holdings()] == [("assigned", (("beat", 2),))]
    consumer.close()
