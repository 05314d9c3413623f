"""Work that a group must not lose or do twice: slow work, a hand-over, a restart, for lab 07."""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.members import HEARTBEAT_MS, Stream, Team
from threebrokers.ledger import Ledger
from threebrokers.waiting import quiet_wait

if TYPE_CHECKING:
    from threebrokers.recorder import Recorder, Recording

SCANS, SCAN_SECONDS = 24, 0.15
# After a scan, and while none has come. Not for all of them: who polls for each asks the brokers each time.
OPEN_SECONDS, EMPTY_SECONDS = 5.0, 8.0
MOST = 36  # one and a half times all scans: whoever comes so far has begun again


class Clinic:
    """A topic with 24 scans, each of which takes 0.15 s to examine, and the ledger that knows them.

    `settings` are those of its worker: a group of its own, a session of 2.5 s, no automatic commits.
    `thrown_out` tells whether the group of the worker had a member or its work once, and then no member;
    `examined` are the offsets of the scans that were examined, each time.
    """

    def __init__(self, lab: Lab) -> None:
        self.lab, self.group = lab, f"{lab.group('clinic')}-{time.time_ns()}"
        self.settings: dict[str, Any] = {
            "group.id": self.group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 2500,
            "heartbeat.interval.ms": HEARTBEAT_MS,
        }
        self.scans = lab.fresh_topic("scans")
        self.ledger = lab.ledger("scans")
        producer = self.ledger.producer()
        for number in range(SCANS):
            producer.produce(self.scans, f"scan {number}")
        producer.flush()
        self.thrown_out, self._joined = False, False
        self.examined: list[int | None] = []
        self._ends: float | None = None  # by time.monotonic(); None until somebody has asked for work
        self._begun, self._closed = False, False

    @property
    def open(self) -> bool:
        """Whether there is work: the group has not committed all scans.

        No longer than 5 s after a scan (8 s after the first question, if none comes), and until 36 were
        examined: somebody then has begun again. When it has ended it stays so, whatever the group does then.
        """
        self._ends = self._ends or time.monotonic() + EMPTY_SECONDS
        self._closed = self._closed or not self._goes_on()
        return not self._closed

    def _goes_on(self) -> bool:
        told = self.lab.cluster.state([self.scans], [self.group]).groups[0]
        if told.coordinator is None:  # nobody tells of the group in this moment
            return not self._over()
        self._joined = self._joined or bool(told.members) or self._begun
        self.thrown_out = self.thrown_out or (self._joined and not told.members)
        committed = max((offset for _, _, offset in told.committed), default=0)
        return committed < SCANS and not self._over()

    def examine(self, message: Message) -> None:
        """Examine a scan, and note in the ledger that this is done. What is no scan is left out."""
        if message.error() is not None:
            return
        if not self._begun or not self._over():
            self._begun, self._ends = True, time.monotonic() + OPEN_SECONDS
            time.sleep(SCAN_SECONDS)  # the work on one scan
            self.ledger.processed(message)
            self.examined.append(message.offset())

    def _over(self) -> bool:
        late = self._ends is not None and time.monotonic() > self._ends
        return late or len(self.examined) >= MOST


HANDED, BEFORE, EVERY = 200, 70, 50
IDLE_SECONDS = 5.0  # when nothing has come for so long, nothing will: somebody has committed too much


class _Worker:
    """A member that notes what it has done, and commits after each 50 records of its own."""

    def __init__(
        self, name: str, ledger: Ledger, settings: Mapping[str, Any], on_revoke: Callable[..., object]
    ) -> None:
        self.consumer = ledger.consumer({**settings, "client.id": name})
        self.count, self.uncommitted, self.revoked = 0, 0, 0
        self._name, self._ledger, self._on_revoke = name, ledger, on_revoke

    def subscribe(self, topic: str) -> None:
        self.consumer.subscribe([topic], on_revoke=self._revoked, on_lost=_do_nothing)

    def work(self) -> Message | None:
        """Do the next record, if there is one."""
        message = self.consumer.poll(0.02)
        if message is None or message.error() is not None:
            return None
        self._ledger.processed(message)
        self.count, self.uncommitted = self.count + 1, self.uncommitted + 1
        if self.count % EVERY == 0:
            self.commit()
        return message

    def commit(self) -> None:
        """Commit what it has done since its last commit, if there is anything."""
        if self.uncommitted:
            self.consumer.commit(asynchronous=False)
            self.uncommitted = 0

    def end(self) -> None:
        """Leave the group if it is still a member; the learner's function is not called any more."""
        self._on_revoke = _do_nothing
        self.consumer.close()

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Do what the learner's function does; the client raises its errors out of poll() or close()."""
        try:
            self._on_revoke(consumer, partitions)
        except KafkaException as fault:
            if self.uncommitted or fault.args[0].code() != KafkaError._NO_OFFSET:
                raise
            raise LabError(
                f"Your function raised _NO_OFFSET: {self._name} had nothing new to commit, and a healthy "
                "member would end",
                "go on after this error, and raise all others",
            ) from fault
        self.uncommitted, self.revoked = 0, self.revoked + 1


def _do_nothing(consumer: Consumer, partitions: list[TopicPartition]) -> None:
    """What is lost has another owner already: nothing can be committed."""


def hand_over(lab: Lab, ledger: Ledger, on_revoke: Callable[..., object], *, name: str = "handover") -> None:
    """Let A work on 200 records of four partitions, and B join after 70; each commits after 50 of its own.

    Both call `on_revoke` when partitions are taken from them. The topic `name` is made afresh. When the
    group has done each record at least once, or gets no more for 5 s, both commit; then B leaves, so that A
    gives up its partitions with nothing new to commit, and A leaves.
    """
    topic = lab.fresh_topic(name, partitions=4)
    producer = ledger.producer()
    for number in range(HANDED):
        producer.produce(topic, f"record {number}", partition=number % 4)
    producer.flush()
    own = {
        "group.id": f"{lab.group(name)}-{time.time_ns()}",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "heartbeat.interval.ms": HEARTBEAT_MS,
    }
    pair = _Pair(*(_Worker(name, ledger, own, on_revoke) for name in "AB"))
    try:
        pair.a.subscribe(topic)
        lab.wait_until(pair.seventy_done, what="70 records", within=15)
        # So how much A has done when B comes is the same each time.
        pair.a.consumer.pause(pair.a.consumer.assignment())
        pair.b.subscribe(topic)
        lab.wait_until(pair.both_have_some, what="B to get its share", within=15)
        for worker in (pair.a, pair.b):
            worker.consumer.resume(worker.consumer.assignment())
        lab.wait_until(lambda: pair.all_done() or pair.idle(), what="the two to do the rest", within=15)
        for worker in (pair.a, pair.b):
            worker.commit()
        before = pair.a.revoked
        pair.b.consumer.close()
        lab.wait_until(lambda: pair.a_gave_up(before), what="A to hear that B has left", within=15)
        pair.a.consumer.close()
    finally:
        for worker in (pair.a, pair.b):
            worker.end()


class _Pair:
    """Two workers, and the places of the records that they have done."""

    def __init__(self, a: _Worker, b: _Worker) -> None:
        self.a, self.b = a, b
        self._done = set[tuple[int | None, int | None]]()
        self._last = time.monotonic()

    def seventy_done(self) -> bool:
        while self.a.count < BEFORE and self._work(self.a):
            continue
        return self.a.count >= BEFORE

    def both_have_some(self) -> bool:
        self._both()
        return bool(self.a.consumer.assignment() and self.b.consumer.assignment())

    def all_done(self) -> bool:
        while self._both():
            continue
        return len(self._done) >= HANDED

    def a_gave_up(self, before: int) -> bool:
        """Poll for A, whose work is done; tell whether it gave partitions up more often than `before`."""
        self.a.consumer.poll(0.02)
        return self.a.revoked > before

    def idle(self) -> bool:
        """Tell whether none of them has got a record for a while."""
        return time.monotonic() - self._last > IDLE_SECONDS

    def _both(self) -> bool:
        """Ask both for a record, for who is not asked holds up the other; tell whether one has got any."""
        worked = [self._work(worker) for worker in (self.a, self.b)]
        return any(worked)

    def _work(self, worker: _Worker) -> bool:
        message = worker.work()
        if message is not None:
            self._done.add((message.partition(), message.offset()))
            self._last = time.monotonic()
        return message is not None


AWAY_SECONDS = 1.4  # longer than the shortest session that the brokers allow here (1 s)
_DEPLOYED: "WeakKeyDictionary[Recording, dict[str, list[dict[str, Any]]]]" = WeakKeyDictionary()


def deploy(lab: Lab, settings: Callable[[str], Mapping[str, Any]]) -> "Recorder":
    """Restart B of a group of A and B, which is away for 1.4 s; return a recording of that.

    `settings(name)` returns the settings of a member, each time that it is started. The topic `deployed` has
    four partitions and gets 200 records a second.
    """
    topic = lab.fresh_topic("deployed", partitions=4)
    used: dict[str, list[dict[str, Any]]] = {}

    def asked(name: str) -> Mapping[str, Any]:
        given = settings(name)
        if not isinstance(given, Mapping):
            raise LabError(
                f"For member {name!r} your function returned {given!r:.60}",
                "let it return a dictionary of settings",
            )
        used.setdefault(name, []).append(dict(given))
        return used[name][-1]

    group = f"{lab.group('deployed')}-{time.time_ns()}"
    with Team(lab, topic, group, asked) as team, Stream(lab, topic):
        team.grow(2)
        with lab.record(topic) as recording:
            _DEPLOYED[recording] = used
            lab.wait_until(lambda: all(m.handled for m in team.members.values()), what="records for both")
            recording.mark("B stops")
            team["B"].leave()
            time.sleep(AWAY_SECONDS)  # the new version is installed
            recording.mark("B starts")
            team.join("B")
            quiet_wait(lambda: team["B"].handled, 5)
    return recording


def deployed_with(recording: "Recording") -> dict[str, list[dict[str, Any]]] | None:
    """Return each member's settings at each start, of a recording that `deploy` has made; None of another."""
    return _DEPLOYED.get(recording)
