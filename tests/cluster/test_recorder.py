"""Recordings of real brokers with known faults."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from uuid import uuid4

import pytest
from confluent_kafka import TopicPartition

from threebrokers import clock
from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.recorder import Recording

TOPIC = "recorded"
BEAT_SECONDS = 0.02
SLACK = 1.0  # s by which a busy broker, or a busy recorder, tells of something later than it was
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
def heartbeat(lab, *, member=True):
    """A producer and a consumer that go on until the block ends; yields what they counted."""
    ended = threading.Event()
    producer = lab.producer(
        {**IMPATIENT, "enable.idempotence": True, "linger.ms": 0, "request.timeout.ms": 2000}
    )
    consumer = lab.consumer({**IMPATIENT, "group.id": lab.group("ear"), "auto.offset.reset": "earliest"})
    if member:
        consumer.subscribe([TOPIC])
    else:
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
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
    # A group's member has a second silence of its own: with its coordinator on the broken broker, its session
    # (6 s) can end, and the group then waits as long again for the member that it was before.
    with heartbeat(lab, member=False) as counts, lab.record() as recording:
        at_first = counts["delivered"]
        lab.wait_until(lambda: counts["delivered"] > at_first + 25, what="some heartbeats")
        recording.mark("now")
        broken = leader_of(cluster)
        getattr(cluster, fault)(broken)
        lab.wait_until(lambda: leader_of(cluster) not in (None, broken), what="a new leader", within=20)
        before = counts["delivered"]
        lab.wait_until(lambda: counts["delivered"] > before + 25, what="heartbeats again", within=30)
        getattr(cluster, mend)(broken)
        lab.wait_until(lambda: copies(cluster) == 3, what="all copies", within=30)
    return recording, broken


@pytest.mark.parametrize(("fault", "mend"), [("kill", "start"), ("pause", "resume")])
def test_a_fault_and_its_silence_are_on_the_tape(lab, tmp_path, fault, mend, notes):
    recording, broken = recorded(lab, fault, mend)
    action, back = recording.actions
    assert [(a.kind, a.broker) for a in recording.actions] == [(fault, broken), (mend, broken)]
    changed = next(s.at for s in recording.states if s.at > action.at and led(s) not in (None, broken))
    # A busy recorder sees the new leader later than clients do. So long it asked, and there was none yet.
    looks = [s for s in recording.states if action.at < s.at < changed and s.last_response_at == s.at]
    last = max([action.at, *(s.asked_at for s in looks)])

    acknowledged, delivered = (over(recording, kind, last) for kind in ("acknowledged", "delivered"))
    for gap in (acknowledged, delivered):
        assert gap.start - 0.5 < action.at <= last < gap.start + gap.seconds + SLACK
        # On a busy machine another one may be longer.
        assert recording.longest_gap(gap.kind, after=action).seconds > gap.seconds - 0.5
    nobody = recording.longest_gap("leader", after=action)
    assert nobody.start + nobody.seconds == pytest.approx(changed, rel=0, abs=0.002)
    assert last - nobody.start < acknowledged.seconds + SLACK
    assert recording.longest_gap("sent", after=action).seconds < nobody.seconds
    assert [m.words for m in recording.data.marks] == ["now"]
    assert (
        recording.data.began
        < recording.data.marks[0].at
        < action.at
        < back.at
        < recording.data.ended
        <= clock.now()
    )

    kept = Recording.load(recording.save(tmp_path / "recording.json.gz"))
    assert kept.data == recording.data
    assert f"concluded: no leader (broker {broken} cannot serve)" in kept.show().words
    notes.append(f"recorder: {fault}: {acknowledged}; {delivered}; {nobody}")


def over(recording, kind, moment):
    """Return the silence that had begun by this moment and ends last."""
    gaps = [gap for gap in recording.gaps() if gap.kind == kind and gap.start <= moment]
    return max(gaps, key=lambda gap: gap.start + gap.seconds)


def led(state):
    found = state.topic(TOPIC)
    return found.partitions[0].leader if found else None


def test_without_a_fault_nothing_stands_out(lab):
    for _ in range(2):  # on a busy machine a broker may answer late twice, or lose its session
        with heartbeat(lab) as counts, lab.record() as recording:
            before = counts["delivered"]
            lab.wait_until(lambda b=before, c=counts: c["delivered"] > b + 100, what="a hundred heartbeats")
            half_way = recording.data
        if not (standing_out := [gap for gap in recording.gaps(1) if gap.kind in ("leader", "quorum")]):
            break
    assert standing_out == []
    assert half_way.states == recording.states[: len(half_way.states)]
    group = lab.group("ear")
    assert {g.name for state in recording.states for g in state.groups} == {group}
    assert {t.name for state in recording.states for t in state.topics} == {TOPIC}


def test_every_record_is_counted_once(lab):
    with lab.record() as recording, heartbeat(lab) as counts:
        lab.wait_until(lambda: counts["delivered"] > 50, what="fifty heartbeats")
        consumer = lab.consumers()[-1]
    records = {flow.kind: flow.records for flow in recording.flows}
    assert records["acknowledged"] == records["sent"] == counts["acknowledged"]
    assert records["delivered"] == counts["delivered"]
    assert "poll" not in vars(consumer)
    ended = recording.flows
    lab.producer().produce(TOPIC, b"later")
    assert recording.flows == ended


def test_processing_is_noted_by_the_program(lab):
    producer = lab.producer()
    consumer = lab.consumer({"group.id": lab.group("worker"), "auto.offset.reset": "earliest"})
    consumer.subscribe([TOPIC])
    with lab.record() as recording:
        for _ in range(3):
            producer.produce(TOPIC, b"work")
        producer.flush()
        for _ in range(3):
            message = consumer.poll(20)
            recording.processed(message)
    flow = recording.flows[-1]
    assert (flow.kind, flow.topic, flow.partition, flow.records) == ("processed", TOPIC, 0, 3)


def test_a_recording_has_a_beginning_and_only_one(lab):
    recording = lab.record(TOPIC)
    with pytest.raises(LabError, match="has not begun"):
        recording.gaps()
    with recording:
        pass
    with pytest.raises(LabError, match="has begun before"), recording:
        pass
