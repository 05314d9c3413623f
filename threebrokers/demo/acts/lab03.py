"""A follower freezes while a producer writes with acks=all: who waits for whom, and for how long."""

from collections.abc import Iterator

from threebrokers import clock
from threebrokers.demo.acts import longest, wait_for_answers
from threebrokers.demo.lines import Line, doing, fact, truth
from threebrokers.demo.stage import Stage
from threebrokers.lab.scenarios import Sensor, partition_of

PATIENCE, READINGS = 15.0, 30
SHORT, LONG = 0.5, 10.0


def begin(stage: Stage) -> Iterator[Line]:
    """Start a producer with acks=all."""
    yield doing("Waiting until all brokers are in sync, and until records come (30 s at most).")
    sensor = stage.kept["sensor"] = stage.enter(Sensor(stage.lab, PATIENCE))
    with stage.record("begin", [sensor.topic]) as recording:
        wait_for_answers(stage, recording)
        _more(stage, sensor)
        yield fact("replicas in sync", _in_sync(stage, sensor))
        yield fact("longest time without an acknowledgement", longest(recording, "acknowledged"))


def freeze(stage: Stage) -> Iterator[Line]:
    """Freeze the follower that is not the active controller."""
    sensor: Sensor = stage.kept["sensor"]
    before = partition_of(stage.lab, sensor.topic)
    follower = stage.kept["follower"] = before.replicas[1]
    with stage.record("freeze", [sensor.topic]) as recording:
        wait_for_answers(stage, recording)
        yield doing(
            f"Broker {follower}, a follower, freezes. Waiting until it is out of the ISR (20 s at most)."
        )
        stage.cluster.pause(follower)
        stage.lab.wait_until(lambda: _in_sync(stage, sensor) == 2, what="an ISR of two", within=20)
        yield fact("replicas in sync", f"{len(before.isr)}, then {_in_sync(stage, sensor)}")
        yield doing("Waiting until records are acknowledged again (30 s at most).")
        _more(stage, sensor)
        after = partition_of(stage.lab, sensor.topic)
        waited = longest(recording, "acknowledged")  # it began before the freeze
        yield fact("longest time without an acknowledgement", waited)
        yield fact("leaders moved", "none" if after.leader == before.leader else f"to broker {after.leader}")
        yield fact("elections", after.leader_epoch - before.leader_epoch)
    told = (
        "at once"
        if waited < SHORT
        else "after some seconds"
        if waited < LONG
        else "when the follower is back"
    )
    yield truth("3.e", told)


def thaw(stage: Stage) -> Iterator[Line]:
    """Let the follower go on, until it has caught up."""
    sensor: Sensor = stage.kept["sensor"]
    with stage.record("thaw", [sensor.topic]) as recording:
        wait_for_answers(stage, recording)
        began = clock.now()
        yield doing("The follower goes on. Waiting until it is in sync again (30 s at most).")
        stage.cluster.resume(stage.kept["follower"])
        stage.lab.wait_until(lambda: _in_sync(stage, sensor) == 3, what="an ISR of three", within=30)
        yield fact("in sync again after", clock.now() - began)
        sensor.wait()
        yield fact("longest time without an acknowledgement", longest(recording, "acknowledged"))


def _in_sync(stage: Stage, sensor: Sensor) -> int:
    return len(partition_of(stage.lab, sensor.topic).isr)


def _more(stage: Stage, sensor: Sensor) -> None:
    """Wait until so many more records are acknowledged."""
    wanted = sensor.acknowledged + READINGS
    stage.lab.wait_until(lambda: sensor.acknowledged >= wanted, what=f"{READINGS} records", within=30)
