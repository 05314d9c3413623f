"""Recordings of real brokers with known faults."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from uuid import uuid4

import pytest

from threebrokers import clock
from threebrokers.errors import BenchError
from threebrokers.lab.lab import Lab
from threebrokers.recorder import Tape

TOPIC = "recorded"
BEAT_SECONDS = 0.02
# A paused broker gives no error: what ends the wait is the client's own patience.
IMPATIENT = {"socket.timeout.ms": 3000, "topic.metadata.refresh.interval.ms": 500}


@pytest.fixture
def lab(cluster) -> Iterator[Lab]:
    cluster.up()
    lab = Lab("00", cluster, lambda: ModuleType("recorded"), uuid4().hex[:6])
    lab.fresh_topic(TOPIC, partitions=1, replication_factor=3, config={"min.insync.replicas": "2"})
    yield lab
    lab.close()
    cluster.up()


@contextmanager
def heartbeat(lab):
    """A producer and a consumer that go on until the block ends; yields what they counted."""
    ended = threading.Event()
    producer = lab.producer(
        {**IMPATIENT, "enable.idempotence": True, "linger.ms": 0, "request.timeout.ms": 2000}
    )
    consumer = lab.consumer({**IMPATIENT, "group.id": lab.group("ear"), "auto.offset.reset": "earliest"})
    consumer.subscribe([TOPIC])
    counts = {"acknowledged": 0, "delivered": 0}

    def beat():
        def report(error, message):
            counts["acknowledged"] += error is None

        while not ended.is_set():
            producer.produce(TOPIC, b"beat", on_delivery=report)
            producer.poll(0)
            ended.wait(BEAT_SECONDS)
        producer.flush(10)

    def hear():
        while not ended.is_set():
            message = consumer.poll(0.1)
            counts["delivered"] += message is not None and message.error() is None

    threads = [threading.Thread(target=work) for work in (beat, hear)]
    for thread in threads:
        thread.start()
    lab.wait_until(lambda: counts["delivered"], what="the first heartbeat", within=20)
    try:
        yield counts
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def leader_of(cluster):
    return cluster.state([TOPIC]).topic(TOPIC).partitions[0].leader


def copies(cluster):
    return len(cluster.state([TOPIC]).topic(TOPIC).partitions[0].isr)


def recorded(lab, fault, mend):
    """A recording of one fault at the leader, from a healthy bench until it is healthy again."""
    cluster = lab.cluster
    with heartbeat(lab) as counts, lab.record() as tape:
        at_first = counts["delivered"]
        lab.wait_until(lambda: counts["delivered"] > at_first + 25, what="some heartbeats")
        tape.mark("now")
        broken = leader_of(cluster)
        getattr(cluster, fault)(broken)
        lab.wait_until(lambda: leader_of(cluster) not in (None, broken), what="a new leader", within=20)
        before = counts["delivered"]
        lab.wait_until(lambda: counts["delivered"] > before + 25, what="heartbeats again", within=30)
        getattr(cluster, mend)(broken)
        lab.wait_until(lambda: copies(cluster) == 3, what="all copies", within=30)
    return tape, broken


@pytest.mark.parametrize(("fault", "mend"), [("kill", "start"), ("pause", "resume")])
def test_a_fault_and_its_silence_are_on_the_tape(lab, tmp_path, fault, mend, notes):
    tape, broken = recorded(lab, fault, mend)
    act, back = tape.acts
    assert [(a.verb, a.broker) for a in tape.acts] == [(fault, broken), (mend, broken)]
    changed = next(s.at for s in tape.sights if s.at > act.at and led(s) not in (None, broken))

    acknowledged, delivered = (tape.silence(kind, after=act) for kind in ("acknowledged", "delivered"))
    for gap in (acknowledged, delivered):
        assert gap.start - 0.5 < act.at < changed < gap.start + gap.seconds + 0.2
        assert gap in tape.gaps()
    nobody = tape.silence("leader", after=act)
    assert nobody.start + nobody.seconds == pytest.approx(changed)
    assert nobody.seconds < acknowledged.seconds
    assert tape.silence("sent", after=act).seconds < nobody.seconds
    assert [m.words for m in tape.data.marks] == ["now"]
    assert tape.data.began < tape.data.marks[0].at < act.at < back.at < tape.data.ended <= clock.now()

    kept = Tape.load(tape.save(tmp_path / "tape.json"))
    assert kept.data == tape.data
    assert f"concluded: no leader: {broken} cannot serve" in kept.show().words
    notes.append(f"recorder: {fault}: {acknowledged}; {delivered}; {nobody}")


def led(sight):
    found = sight.topic(TOPIC)
    return found.partitions[0].leader if found else None


def test_without_a_fault_nothing_stands_out(lab):
    with heartbeat(lab) as counts, lab.record() as tape:
        before = counts["delivered"]
        lab.wait_until(lambda: counts["delivered"] > before + 100, what="a hundred heartbeats")
        half_way = tape.data
    assert [gap for gap in tape.gaps(1) if gap.kind in ("leader", "quorum")] == []
    assert half_way.sights == tape.sights[: len(half_way.sights)]
    group = lab.group("ear")
    assert {g.name for sight in tape.sights for g in sight.groups} == {group}
    assert {t.name for sight in tape.sights for t in sight.topics} == {TOPIC}


def test_every_record_is_counted_once(lab):
    with lab.record() as tape, heartbeat(lab) as counts:
        lab.wait_until(lambda: counts["delivered"] > 50, what="fifty heartbeats")
        consumer = lab.consumers()[-1]
    records = {flow.kind: flow.records for flow in tape.flows}
    assert records["acknowledged"] == records["sent"] == counts["acknowledged"]
    assert records["delivered"] == counts["delivered"]
    assert "poll" not in vars(consumer)
    ended = tape.flows
    lab.producer().produce(TOPIC, b"later")
    assert tape.flows == ended


def test_processing_is_noted_by_the_program(lab):
    producer = lab.producer()
    consumer = lab.consumer({"group.id": lab.group("worker"), "auto.offset.reset": "earliest"})
    consumer.subscribe([TOPIC])
    with lab.record() as tape:
        for _ in range(3):
            producer.produce(TOPIC, b"work")
        producer.flush()
        for _ in range(3):
            message = consumer.poll(20)
            tape.processed(message)
    flow = tape.flows[-1]
    assert (flow.kind, flow.topic, flow.partition, flow.records) == ("processed", TOPIC, 0, 3)


def test_a_recording_has_a_beginning_and_only_one(lab):
    tape = lab.record(TOPIC)
    with pytest.raises(BenchError, match="has not begun"):
        tape.gaps()
    with tape:
        pass
    with pytest.raises(BenchError, match="has begun before"), tape:
        pass
