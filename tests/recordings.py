"""Recordings written by hand, for the tests of what follows from them."""

from dataclasses import replace

from threebrokers.cluster.actions import Action
from threebrokers.kafka.state import (
    BrokerState,
    ClusterState,
    GroupState,
    MemberState,
    PartitionState,
    TopicState,
)
from threebrokers.recorder import Recording
from threebrokers.recorder.data import Burst, Flow, Mark, RecordingData

BEGAN = 1_790_000_000.0


def at(seconds):
    return round(BEGAN + seconds, 3)


def state(seconds, *, leader=2, isr=(1, 2, 3), down=(), paused=(), quorum=1, stale=(), topics=("beat",)):
    states = {n: "down" if n in down else "paused" if n in paused else "up" for n in (1, 2, 3)}
    partition = PartitionState("beat", 0, leader, 1, (2, 3, 1), tuple(isr), 0, 10, ((1, 10), (3, 9)), stale)
    return ClusterState(
        at=at(seconds),
        brokers=tuple(BrokerState(n, state, at(0), state == "up") for n, state in states.items()),
        quorum_leader=quorum,
        quorum_leader_epoch=3,
        topics=tuple(TopicState(name, (replace(partition, topic=name),)) for name in topics),
        groups=(
            GroupState("ear", "Stable", 1, (MemberState("m-1", "c", (("beat", 0),)),), (("beat", 0, 9),)),
        ),
        last_response_at=at(seconds),
    )


def beats(kind, *times, client="", partition=0):
    """A flow of one record at each time."""
    name = client or {"sent": "producer 1", "acknowledged": "producer 1"}.get(kind, "consumer 1")
    place = None if kind == "sent" else partition
    return Flow(name, kind, "beat", place, tuple(Burst(at(t), at(t), 1) for t in times))


def every(step, start, end):
    return [round(start + step * n, 3) for n in range(round((end - start) / step) + 1)]


KILL, START = Action(at(3.0), "kill", 2), Action(at(7.4), "start", 2)
PAUSE = Action(at(10.0), "pause", 3, "of everything")


def a_kill_and_a_pause():
    """A kill at 3.0 s that 1.95 s of silence follow, and a pause at 10.0 s with 0.8 s."""
    states = [state(s, leader=2) for s in every(0.1, 0.1, 3.0)]
    states += [state(s, leader=2, down=[2]) for s in every(0.1, 3.1, 4.8)]
    states += [state(s, leader=3, isr=[1, 3], down=[2]) for s in every(0.1, 4.9, 7.4)]
    states += [state(s, leader=3, isr=[1, 2, 3]) for s in every(0.1, 7.5, 13.0)]
    heard = [*every(0.02, 0.0, 2.98), *every(0.02, 4.93, 10.01), *every(0.02, 10.81, 13.0)]
    return Recording(
        RecordingData(
            began=at(0),
            ended=at(13.0),
            states=tuple(states),
            actions=(KILL, START, PAUSE),
            marks=(Mark(at(2.5), "now I kill it"),),
            flows=(
                beats("sent", *every(0.02, 0.0, 13.0)),
                beats("acknowledged", *(t for t in every(0.02, 0.0, 13.0) if not 2.99 < t < 4.95)),
                beats("delivered", *heard),
            ),
        )
    )


def four_topics():
    """Four topics of up to 13 partitions; broker 1 is killed, paused and cut off, one after the other."""
    replicas = {"beat": (3, 3), "copies-1": (13, 1), "copies-2": (13, 2), "copies-3": (13, 3)}
    actions = (
        *(Action(at(2), "kill", 1), Action(at(6), "start", 1)),
        *(Action(at(9), "pause", 1), Action(at(13), "resume", 1)),
        *(Action(at(16), "cut", 1, "from the other brokers"), Action(at(21), "heal", 1)),
    )
    flows = tuple(
        beats(kind, *(t for t in every(0.05, 0, 23) if not any(a < t < b for a, b in silent)))
        for kind, silent in (
            ("sent", ()),
            ("acknowledged", ((2, 3.8), (9, 12.6), (16, 19.5))),
            ("delivered", ((2, 3.8), (9, 13.4), (15.4, 15.97), (16, 22.3))),
        )
    )
    looks = tuple(_without_broker_1(seconds, replicas) for seconds in every(0.1, 0.1, 23))
    return Recording(RecordingData(at(0), at(23), states=looks, actions=actions, flows=flows))


def _without_broker_1(seconds, replicas):
    out = any(start + 1.7 < seconds < end for start, end in ((2, 8), (9, 13.5), (16, 21.5)))
    told = state(
        seconds,
        down=[1] if 2 < seconds < 6 else [],
        paused=[1] if 9 < seconds < 13 else [],
        quorum=2,
        topics=tuple(replicas),
    )
    topics = []
    for name, (partitions, copies) in replicas.items():
        made = []
        for number in range(partitions):
            mine = tuple((number + n) % 3 + 1 for n in range(copies))
            isr = tuple(b for b in mine if b != 1 or not out) or mine
            leader = next((b for b in mine if b != 1 or not out), None)
            [one] = told.topic(name).partitions
            made.append(replace(one, id=number, leader=leader, replicas=mine, isr=isr))
        topics.append(TopicState(name, tuple(made)))
    return replace(told, topics=tuple(topics))
