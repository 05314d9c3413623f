"""How lab 04 loses records: a leader that dies in the midst of sending, and two brokers away in turn."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

from threebrokers.errors import LabError
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.state import PartitionState
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import partition_of
from threebrokers.ledger import Ledger
from threebrokers.waiting import quiet_wait

# A producer that waits for each record takes no more numbers while a replica is missing. So an outage goes
# on after this time, and what such a producer has sent has little time to be stored; who takes the numbers at
# once has more. Two steps of either must be shorter than `replica.lag.time.max.ms` (4 s): then the missing
# replica still counts as in sync.
TAKEN_SECONDS, WAITING_SECONDS, STORED_SECONDS = 0.8, 0.5, 1.1
COPIED_SECONDS, STEP_SECONDS = 10.0, 30.0
# What is sent has so long to be acknowledged: a busy machine may need seconds for a producer's first records.
SENT_SECONDS, REPORTED_SECONDS = 10, 10
PART = 50
YESTERDAY, BEFORE, ALONE = 7, 5, 10


def through_a_kill(lab: Lab, topic: str, producers: int = 1) -> Iterator[int]:
    """Yield the numbers 0 to 199, and take the leader of the topic's partition away on the way.

    So many `producers` send each of them.

    After 50 numbers the last replica gets nothing more, after 100 none does, after 150 the leader is killed
    and stays down: the next replica has 50 to 99 and not 100 to 149. Who asks for no more numbers, because it
    waits for an acknowledgement, finds the leader killed all the same, about 3 s after the first 50.
    """
    outage = _Outage(lab, topic, PART * producers)
    try:
        yield from range(PART)
        outage.begin()
        yield from range(PART, 2 * PART)
        outage.taken(0)
        yield from range(2 * PART, 3 * PART)
        outage.taken(1)
        yield from range(3 * PART, 4 * PART)
    finally:
        outage.end()


class _Outage:
    """Takes the leader away in two steps, each when 50 more numbers are taken, or after a time.

    `part` is how many records these are in the log.
    """

    def __init__(self, lab: Lab, topic: str, part: int) -> None:
        partition = partition_of(lab, topic)
        if partition.leader is None or len(partition.isr) < 3:
            raise LabError(
                f"Three brokers should keep '{topic}'", "run the exercise's cell from its first line"
            )
        self.lab, self.topic, self.part, self.leader = lab, topic, part, partition.leader
        self.next, self.last = (broker for broker in partition.replicas if broker != self.leader)
        self.told, self.done = [threading.Event() for _ in range(2)], [threading.Event() for _ in range(2)]
        self.left = threading.Event()
        self.fault: Exception | None = None
        self.thread: threading.Thread | None = None

    def begin(self) -> None:
        """Wait until the first 50 are on every replica, and let the last one get nothing more.

        A program that has not sent them all is not waited for longer: its check says so.
        """
        quiet_wait(self._copied, COPIED_SECONDS)
        self.lab.cluster.cut(self.last, "brokers")
        self.thread = threading.Thread(target=self._go_on, daemon=True)
        self.thread.start()

    def taken(self, step: int) -> None:
        """Say that the numbers before a step are taken, and wait until it is done."""
        self.told[step].set()
        self.done[step].wait(STEP_SECONDS)
        if self.fault:
            raise self.fault

    def end(self) -> None:
        """Let the thread end, also if the numbers were not taken to the end; links are healed then."""
        self.left.set()
        for told in self.told:
            told.set()
        if self.thread:
            self.thread.join()

    def _go_on(self) -> None:
        steps: list[tuple[Callable[[], bool], Callable[[], None]]] = [
            (lambda: self._ends().get(self.next, 0) >= 2 * self.part, self._cut),
            (lambda: self._ends().get(self.leader, 0) >= 3 * self.part, self._kill),
        ]
        try:
            for step, (stored, act) in enumerate(steps):
                taken = self.told[step].wait(TAKEN_SECONDS)
                if self.left.is_set():
                    break
                quiet_wait(stored, STORED_SECONDS if taken else WAITING_SECONDS)
                act()
                self.done[step].set()
        except Exception as fault:  # the notebook's own thread raises it
            self.fault = fault
        finally:
            self.lab.cluster.heal()
            for done in self.done:
                done.set()

    def _cut(self) -> None:
        self.lab.cluster.cut(self.leader, "brokers")  # heartbeats to the active controller go on

    def _kill(self) -> None:
        self.lab.cluster.kill(self.leader)

    def _copied(self) -> bool:
        ends = self._ends().values()
        return len(ends) == 3 and min(ends) >= self.part and len(set(ends)) == 1

    def _ends(self) -> dict[int, int]:
        """Return the end of the log on each broker that tells it; nobody has to answer at every moment."""
        topic = self.lab.cluster.state([self.topic]).topic(self.topic)
        return dict(topic.partitions[0].log_end_offsets) if topic else {}


def two_writers(ledger: Ledger) -> tuple[dict[Any, LabProducer], dict[Any, list[str]]]:
    """Return a producer with acks=1 and one with acks=all, which give up after 2 s, and what each is told.

    Both are found by their acks, 1 and "all". A producer is told "acknowledged", or the name of an error.
    """
    told: dict[Any, list[str]] = {1: [], "all": []}
    writers = {
        acks: ledger.producer(
            {
                "acks": acks,
                "linger.ms": 0,
                "message.timeout.ms": 2000,
                "on_delivery": lambda error, message, acks=acks: told[acks].append(
                    error.name() if error else "acknowledged"
                ),
            }
        )
        for acks in told
    }
    return writers, told


def two_outages(lab: Lab, topic: str, ledger: Ledger, *beside: str) -> list[dict[str, object]]:
    """Cut off the follower of a topic of two replicas, then its leader; the follower comes back first.

    Seven records are there from before. The ledger's producer (acks=all) sends five in peace and ten to the
    leader alone. Returns who led and was in sync then, of this topic and those `beside` it. Raises LabError
    if another number of brokers keeps the topic.
    """
    replicas = partition_of(lab, topic).replicas
    if len(replicas) != 2:
        raise LabError(
            f"Two brokers should keep '{topic}', and the number of those that do is {len(replicas)}",
            "make it with `brokers=[…]`, as the cell says",
        )
    leader, follower = replicas
    settings = {"acks": "all", "linger.ms": 0, "message.timeout.ms": SENT_SECONDS * 1000}
    earlier, producer = lab.producer(settings), ledger.producer({**settings, "retries": 0})
    _send(earlier, topic, "yesterday", YESTERDAY)
    _send(producer, topic, "both have", BEFORE)
    lab.cluster.cut(follower)
    lab.wait_until(lambda: _thinks_alone(lab, topic, leader), what="an ISR of one", within=20)
    _send(producer, topic, "the leader alone has", ALONE)
    alone = [_told(partition_of(lab, name)) for name in (topic, *beside)]
    lab.cluster.cut(leader, force=True)
    lab.cluster.heal(follower)
    lab.wait_until(lambda: _gone(lab, topic, leader, follower), what="the leader to be missed", within=30)
    for name in (topic, *beside):
        quiet_wait(lambda name=name: partition_of(lab, name).leader == follower, 2)  # type: ignore[misc]
    lab.cluster.heal(leader)
    lab.cluster.recover()
    return alone


def _told(p: PartitionState) -> dict[str, object]:
    return {"topic": p.topic, "leader": p.leader, "in sync": list(p.isr), "ELR": list(p.elr)}


def _send(producer: LabProducer, topic: str, words: str, count: int) -> None:
    for number in range(count):
        producer.produce(topic, f"{words} {number}")
    # A leader that has only just lost its followers may still take a record, which then waits until its time
    # is over: its report comes a little later.
    producer.flush(SENT_SECONDS + REPORTED_SECONDS)


def _thinks_alone(lab: Lab, topic: str, leader: int) -> bool:
    """Tell whether the leader itself knows that it is the only one in sync."""
    view = lab.cluster.views([topic]).get(leader)
    told = view.topic(topic) if view else None
    return told is not None and told.partitions[0].isr == (leader,)


def _gone(lab: Lab, topic: str, leader: int, follower: int) -> bool:
    state = lab.cluster.state([topic])
    told = state.topic(topic)
    return follower in state.registered and told is not None and told.partitions[0].leader != leader
