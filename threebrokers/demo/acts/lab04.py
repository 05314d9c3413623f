"""The leader is stopped, killed, frozen and cut off, while a sensor writes and a monitor reads."""

from collections.abc import Iterator

from threebrokers.demo.acts import longest, wait_for_answers
from threebrokers.demo.lines import Line, doing, fact, truth
from threebrokers.demo.stage import Stage
from threebrokers.kafka.state import ClusterState
from threebrokers.lab.scenarios import Sensor, partition_of, wait_for_new_leaders
from threebrokers.waiting import quiet_wait

PATIENCE, CUT_SECONDS, CALM_READINGS = 2.5, 4.0, 30
UNDO = {"stop": "start", "kill": "start", "pause": "resume", "cut": "heal"}
DOES = {"stop": "is stopped in order", "kill": "is killed", "pause": "is frozen", "cut": "is cut off"}


def begin(stage: Stage) -> Iterator[Line]:
    """Start the sensor and the monitor."""
    yield doing("Waiting until all brokers are in sync, and until readings come (30 s at most).")
    sensor = stage.kept["sensor"] = stage.enter(Sensor(stage.lab, PATIENCE))
    stage.kept["silent"] = {}
    with stage.record("begin", [sensor.topic]) as recording:
        before = sensor.acknowledged
        stage.lab.wait_until(
            lambda: sensor.acknowledged >= before + CALM_READINGS, what="30 readings", within=30
        )
        yield fact("leader of the topic", f"broker {sensor.leader}")
        yield fact("longest time between two deliveries", longest(recording, "delivered"))


def stop(stage: Stage) -> Iterator[Line]:
    """Stop the leader in order."""
    yield from _silence(stage, "stop")


def kill(stage: Stage) -> Iterator[Line]:
    """Kill the leader."""
    yield from _silence(stage, "kill")


def pause(stage: Stage) -> Iterator[Line]:
    """Freeze the leader."""
    yield from _silence(stage, "pause")


def cut(stage: Stage) -> Iterator[Line]:
    """Cut the leader off from the other brokers; then all four silences are known."""
    yield from _silence(stage, "cut")
    yield _answer(stage.kept["silent"])


def _silence(stage: Stage, how: str) -> Iterator[Line]:
    sensor: Sensor = stage.kept["sensor"]
    cluster, leader, topic = stage.cluster, sensor.leader, sensor.topic
    with stage.record(how, [topic]) as recording:
        sensor.wait()
        wait_for_answers(stage, recording)
        epoch = partition_of(stage.lab, topic).leader_epoch
        yield doing(f"Broker {leader}, the leader, {DOES[how]}. Waiting for another leader (20 s at most).")
        getattr(cluster, how)(leader)
        wait_for_new_leaders(stage.lab, leader, topic)
        after = partition_of(stage.lab, topic)
        yield fact("the leader moved", f"broker {leader} → {after.leader}")
        yield fact("elections", after.leader_epoch - epoch)
        if how == "cut":
            yield doing(
                f"The links are mended {CUT_SECONDS:.0f} s later: the clients' patience is {PATIENCE} s."
            )
            quiet_wait(lambda: False, CUT_SECONDS)
        else:
            yield doing("Waiting until readings come again (30 s at most).")
            sensor.wait()
        getattr(cluster, UNDO[how])(leader)
        yield doing(f"Bringing broker {leader} back, until all are in sync and it leads again.")
        cluster.recover()
        sensor.wait()
    action = recording.action(how, leader)
    next_led = (
        s.at for s in recording.states if s.at > action.at and _leader(s, topic) not in (leader, None)
    )
    yield fact("another leader was there after", next(next_led, recording.data.ended) - action.at)
    # The longest of the whole act: it may have begun a moment before.
    yield fact("the sensor got no acknowledgement for", longest(recording, "acknowledged"))
    silent = stage.kept["silent"][how] = longest(recording, "delivered")
    yield fact("the monitor got no delivery for", silent)


def _leader(state: ClusterState, name: str) -> int | None:
    topic = state.topic(name)
    return topic.partitions[0].leader if topic else None


def _answer(silent: dict[str, float]) -> Line:
    """Return the answer that these silences are, as lab 04 finds it."""
    grows = silent["stop"] < silent["kill"] < silent["cut"] and silent["pause"] > PATIENCE
    two_each = all(1.5 < seconds < 2.5 for seconds in silent.values())
    if grows:
        return truth("4.a", "0.5 s · 2 s · 4 s · until the network is mended")
    return truth("4.a", "2 s after each of the four" if two_each else "")
