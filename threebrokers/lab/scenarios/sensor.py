"""A sensor and a monitor: a producer and a consumer that run while lab 04 takes their broker away."""

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

from confluent_kafka import KafkaError, Message, TopicPartition

from threebrokers.cluster.actions import ACTION_KINDS
from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import controller_last, partition_of, wait_for_new_leaders
from threebrokers.waiting import quiet_wait

if TYPE_CHECKING:
    from threebrokers.recorder import Recording

FROZEN_SECONDS = 8.0
PATIENCE_SECONDS = 2.5

_MEASURED: "WeakKeyDictionary[Recording, dict[str, Any]]" = WeakKeyDictionary()


class Sensor:
    """Sends twenty readings a second to a topic of its own, and reads them, until its `with` ends.

    The cluster is recovered first, and the topic is made afresh. Its one partition is kept by `brokers`, by
    all three unless told; the first one (`leader`) leads. Producer and consumer wait `patience` seconds for
    an answer, unless the consumer's own `settings` are given. Each works in a thread of its own; the
    consumer commits nothing.
    """

    def __init__(
        self,
        lab: Lab,
        patience: float,
        *,
        settings: Mapping[str, Any] | None = None,
        brokers: Sequence[int] = (),
    ) -> None:
        lab.cluster.recover()
        keepers = brokers or controller_last(lab)
        self.lab, self.leader = lab, keepers[0]
        self.topic = lab.fresh_topic("sensor", brokers=keepers, config={"min.insync.replicas": "2"})
        self.heard: Counter[int | None] = Counter()  # by leader epoch
        self.acknowledged = 0
        self.stopped = threading.Event()
        limit = {"socket.timeout.ms": int(patience * 1000)}
        sending = {"acks": "all", "request.timeout.ms": int(patience * 1000), "on_delivery": self._note}
        self.sending = {**sending, **limit}
        self.producer = lab.producer(self.sending)
        reading = {"group.id": lab.group("monitor"), "enable.auto.commit": False}
        self.reader = lab.consumer({**reading, **(limit if settings is None else settings)})
        self.reader.assign([TopicPartition(self.topic, 0, 0)])
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self._send, self._listen)]

    def wait(self) -> None:
        """Wait until three more have come from the leader of this moment, and three are acknowledged."""
        before, told = self.heard.copy(), self.acknowledged

        def came() -> bool:
            epoch = partition_of(self.lab, self.topic).leader_epoch
            return self.heard[epoch] >= before[epoch] + 3 and self.acknowledged >= told + 3

        self.lab.wait_until(came, what="readings from the leader", within=30)

    def send_past_leader(self) -> None:
        """Send with another producer, which knows the other brokers only."""
        others = [broker for broker in self.lab.cluster.brokers if broker != self.leader]
        addresses = ",".join(self.lab.cluster.address(broker) for broker in others)
        self.producer = self.lab.producer({**self.sending, "bootstrap.servers": addresses})

    def moved(self) -> bool:
        """Tell whether the consumer has heard from another leader than the first one."""
        return any(count and epoch for epoch, count in self.heard.items())

    def __enter__(self) -> Self:
        for thread in self.threads:
            thread.start()
        self.wait()
        return self

    def __exit__(self, *fault: object) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def _send(self) -> None:
        while not self.stopped.is_set():
            self.producer.produce(self.topic, b"21.5 degrees", partition=0)
            self.producer.poll(0.05)

    def _listen(self) -> None:
        while not self.stopped.is_set():
            message = self.reader.poll(0.05)
            if message is not None and message.error() is None:
                self.heard[message.leader_epoch()] += 1

    def _note(self, error: KafkaError | None, message: Message) -> None:
        self.acknowledged += error is None


def silences(recording: "Recording", sensor: Sensor) -> dict[str, dict[str, float]]:
    """Return after what was done to the sensor's leader how long (s) who waited, by kind of action.

    For each: how long until another broker led, and how long the producer and the consumer heard nothing.
    """
    found = {}
    for kind in (kind for kind, what in ACTION_KINDS.items() if what.harm):
        if not any(action.kind == kind for action in recording.actions):
            continue
        action = recording.action(kind, sensor.leader)
        found[kind] = {
            "next leader after": _next_leader(recording, sensor, action.at) - action.at,
            "sensor hears nothing": recording.longest_gap("acknowledged", after=action).seconds,
            "monitor hears nothing": recording.longest_gap("delivered", after=action).seconds,
        }
    return found


def _next_leader(recording: "Recording", sensor: Sensor, since: float) -> float:
    """Return when another broker led for the first time after that (s since 1970)."""
    for state in recording.states:
        told = state.topic(sensor.topic)
        if state.at > since and told and told.partitions[0].leader not in (sensor.leader, None):
            return state.at
    raise LabError("The recording shows no other leader", "run the cell that records again")


def measured_with(recording: "Recording") -> dict[str, Any] | None:
    """Return the settings with which `frozen_leader` has made a recording; None if another has made it."""
    return _MEASURED.get(recording)


def frozen_leader(lab: Lab, settings: Mapping[str, Any]) -> "Recording":
    """Freeze the broker that leads the sensor's topic; return a recording of a consumer with these settings.

    The broker goes on when the consumer has heard from the next leader, and after 8 s in any case. Another
    producer sends as soon as there is a new leader, so it is the consumer's own patience that counts.
    """
    sensor = Sensor(lab, PATIENCE_SECONDS, settings=settings)
    # In this order it begins before the sensor: a silence is measured from the last record that it has seen.
    with lab.record(sensor.topic) as recording, sensor:
        _MEASURED[recording] = dict(settings)
        began = time.monotonic()
        lab.cluster.pause(sensor.leader)
        wait_for_new_leaders(lab, sensor.leader, sensor.topic)
        sensor.send_past_leader()
        quiet_wait(sensor.moved, began + FROZEN_SECONDS - time.monotonic())
        lab.cluster.resume(sensor.leader)
        sensor.wait()
    return recording
