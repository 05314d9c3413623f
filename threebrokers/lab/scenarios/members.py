"""Members of a group that work side by side, each in a thread of its own, while lab 07 looks at them."""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, Self

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import ResourceType

from threebrokers.errors import LabError
from threebrokers.kafka.admin import change_config
from threebrokers.kafka.client_settings import is_new_protocol
from threebrokers.kafka.clients import refusal_told
from threebrokers.kafka.state import GroupState
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import topic_of
from threebrokers.waiting import quiet_wait

NAMES = "ABCDEFGHIJKL"
# A member hears of a rebalance with its next heartbeat: 3 s by default, and a page should not wait so long.
HEARTBEAT_MS = 200
ROUNDS = 3  # of which the quickest counts
SETTLE_SECONDS = 30.0
STREAM_SECONDS = 0.02
UNTIL_SECONDS = 15.0
# What a member can go on after by itself. All other errors end it: it was fenced, or its settings are wrong.
PASSING = (KafkaError._MAX_POLL_EXCEEDED, KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT)


def _at_once() -> bool:
    return True


def _nothing() -> None:
    """Do nothing."""


class Member:
    """A consumer that works in a thread of its own: it polls, and needs `seconds` for each record.

    `held` are the partitions that it was given, `handled` counts its records, `done_at` is when it had done
    the last one, `told_at` is whenever it was told to give up partitions or got some (by time.monotonic()),
    `fault` is the error that has ended it.
    """

    def __init__(self, lab: Lab, name: str, topic: str, settings: Mapping[str, Any], seconds: float) -> None:
        self.name, self.held, self.handled, self.done_at = name, set[int](), 0, 0.0
        self.told_at: list[float] = []
        self.fault: KafkaError | None = None
        with refusal_told():
            self.consumer = lab.consumer({"client.id": name, **settings})
        self._topic, self._seconds, self._task = topic, seconds, 0.0
        self._until: Callable[[], bool] = _at_once
        self._then: Callable[[], object] = _nothing
        self._ended, self._busy = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"member {name}", daemon=True)
        self._thread.start()

    @property
    def works(self) -> bool:
        """Whether it is neither busy with a long task nor gone."""
        return not (self._busy.is_set() or self._ended.is_set())

    def give(
        self, seconds: float, *, until: Callable[[], bool] = _at_once, then: Callable[[], object] = _nothing
    ) -> None:
        """Give it one task, in which it polls nothing; it calls `then` at the task's end.

        The task takes so many seconds from when `until()` is true, for which it waits 15 s at most.
        """
        self._until, self._then, self._task = until, then, seconds

    def busy(self, lab: Lab, seconds: float = 0.0) -> None:
        """Wait until it has begun with its task; give it one of so many seconds first."""
        if seconds:
            self.give(seconds)
        lab.wait_until(self._busy.is_set, what=f"{self.name} to begin")

    def end(self) -> None:
        """Have it close its consumer, and do not wait for that."""
        self._ended.set()

    def leave(self) -> None:
        """Have it close its consumer, and wait for that."""
        self.end()
        self._thread.join()

    def _work(self) -> None:
        listeners = {"on_assign": self._given, "on_revoke": self._taken, "on_lost": self._taken}
        self.consumer.subscribe([self._topic], **listeners)
        while not self._ended.is_set() and self.fault is None:
            message = self.consumer.poll(0.05)
            if message is not None:
                self._handle(message)
            if self._task:
                self._busy.set()
                quiet_wait(lambda: self._ended.is_set() or self._until(), UNTIL_SECONDS)
                self._ended.wait(self._task)  # the task itself: nothing is waited for
                self._task = 0.0
                self._then()
                self._busy.clear()
        with suppress(KafkaException, LabError):  # nobody stands above a thread to show it
            self.consumer.close()

    def _handle(self, message: Message) -> None:
        error = message.error()
        if error is None:
            time.sleep(self._seconds)  # the work on one record
            self.handled, self.done_at = self.handled + 1, time.monotonic()
        elif error.fatal() or error.code() not in PASSING:
            self.fault = error

    def _given(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self.told_at.append(time.monotonic())
        self.held |= {place.partition for place in partitions}

    def _taken(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self.told_at.append(time.monotonic())
        self.held -= {place.partition for place in partitions}


class TakenOver(NamedTuple):
    """How long a member was gone before another one was told (s), and before all partitions were held (s).

    The first is the coordinator's patience; the second has on top what sharing out takes on this machine.
    """

    missed: float
    held: float


class Team:
    """Members of one group, named A, B, C, …; all leave at the end of its `with`.

    `settings` are those of each consumer, or a function that returns them for a member's name. A record takes
    a member `seconds`. Unless told otherwise members begin at the start, and send a heartbeat each 0.2 s.
    """

    def __init__(
        self,
        lab: Lab,
        topic: str,
        group: str,
        settings: Mapping[str, Any] | Callable[[str], Mapping[str, Any]] | None = None,
        *,
        seconds: float = 0.0,
        called: str = "",
    ) -> None:
        self.lab, self.topic, self.group = lab, topic, group
        self.partitions = len(topic_of(lab, topic).partitions)
        self.members: dict[str, Member] = {}
        self._settings, self._seconds, self._called = settings, seconds, called

    @property
    def way(self) -> str:
        """How it shares out partitions: "consumer" (the new protocol), "cooperative" or "eager"."""
        own = {} if callable(self._settings) else self._settings or {}
        if is_new_protocol(own):
            return "consumer"
        return "cooperative" if "cooperative" in str(own.get("partition.assignment.strategy")) else "eager"

    def __getitem__(self, name: str) -> Member:
        return self.members[name]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        for member in self.members.values():  # all of them, also if somebody interrupts the waiting
            member.end()
        for member in self.members.values():
            member.leave()

    def join(self, name: str) -> Member:
        """Start a member, and do not wait until it has partitions."""
        own = self._settings(name) if callable(self._settings) else self._settings or {}
        shown = f"{self._called} {name}".strip()
        _expect_not_named({"group.id": self.group, "client.id": shown}, own)
        filled: dict[str, Any] = {"group.id": self.group, "auto.offset.reset": "earliest"}
        if is_new_protocol(own):
            hasten(self.lab, self.group)
        else:
            filled["heartbeat.interval.ms"] = HEARTBEAT_MS
        self.members[name] = Member(self.lab, shown, self.topic, {**filled, **own}, self._seconds)
        return self.members[name]

    def grow(self, size: int, *, beside: int = 0) -> None:
        """Start members until there are so many, and wait until the group has shared out its partitions.

        `beside` are members of the group that other programs have made.
        """
        for name in NAMES[len(self.members) : size]:
            self.join(name)
        self.settle(beside=beside)

    def settle(self, *, beside: int = 0) -> None:
        """Wait until every partition is held by one member, and members and coordinator agree who that is."""
        self.lab.wait_until(
            lambda: self._settled(beside),
            what="the group to share out its partitions",
            within=SETTLE_SECONDS,
        )

    def take_over(self, name: str, leave: Callable[[], object]) -> TakenOver:
        """Call `leave()`, after which this member works no more; return when others have taken over.

        A member of another program is named by its client.id.
        """
        others = [member for member in self.members.values() if member.name != name]
        own = {name, *(member.name for member in others)}
        began = time.monotonic()
        leave()

        def taken_over() -> bool:
            self._expect_alive()
            held = [set(member.held) for member in others]
            if sum(map(len, held)) < self.partitions:  # a member of another program may hold the rest
                told = _told(self.lab.cluster.state([self.topic], [self.group]).groups)
                held += [set(p) for other, p in told.items() if other not in own]
            return sum(map(len, held)) == len(set().union(*held)) == self.partitions

        self.lab.wait_until(taken_over, what="the others to take over", within=SETTLE_SECONDS)
        ended = time.monotonic()
        told_at = (at for member in others for at in member.told_at if at > began)
        return TakenOver(min(told_at, default=ended) - began, ended - began)

    def work_off(self, records: int) -> dict[str, Any]:
        """Send so many records to each partition, three times; return how the members shared them.

        The seconds are those of the quickest time: other work on the machine only makes it longer.
        """
        seconds = min(self._work_off(records) for _ in range(ROUNDS))
        sizes = sorted((len(member.held) for member in self.members.values()), reverse=True)
        shared = " · ".join(map(str, sizes))
        return {"members": len(sizes), "partitions of each": shared, "seconds": round(seconds, 2)}

    def _work_off(self, records: int) -> float:
        producer = self.lab.producer()
        wanted = self._handled() + records * self.partitions
        began = time.monotonic()
        for number in range(records * self.partitions):
            producer.produce(self.topic, f"ticket {number}", partition=number % self.partitions)
        producer.flush()
        self.lab.wait_until(
            lambda: self._handled() >= wanted, what=f"{records * self.partitions} records", within=60
        )
        return max(member.done_at for member in self.members.values()) - began

    def _handled(self) -> int:
        return sum(member.handled for member in self.members.values())

    def _settled(self, beside: int) -> bool:
        self._expect_alive()
        own = {member.name: set(member.held) for member in self.members.values()}
        if not beside and sum(map(len, own.values())) != self.partitions:
            return False  # before the brokers are asked, for that takes longer
        told = _told(self.lab.cluster.state([self.topic], [self.group]).groups)
        return (
            len(told) == len(own) + beside
            and all(told.get(name) == held for name, held in own.items())
            and sorted(p for held in told.values() for p in held) == list(range(self.partitions))
        )

    def _expect_alive(self) -> None:
        for member in self.members.values():
            if member.fault is not None:
                raise LabError(
                    f"Member {member.name} was ended by an error ({member.fault.str()})",
                    "look at the settings of the members",
                )


def _expect_not_named(names: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    """Raise LabError if settings name the group or the member otherwise than the team does."""
    for setting, name in names.items():
        if settings.get(setting, name) != name:
            raise LabError(
                f"The settings of the members have {setting!r}, which they have already ({name!r})",
                "leave it out of your settings",
            )


def hasten(lab: Lab, group: str) -> None:
    """Let members of a group of the new protocol send heartbeats as often as classic ones do here."""
    own = {"consumer.heartbeat.interval.ms": str(HEARTBEAT_MS)}
    change_config(lab.admin(), ResourceType.GROUP, group, own)


class Stream:
    """Sends one record to each partition of a topic, fifty times a second, until its `with` ends."""

    def __init__(self, lab: Lab, topic: str) -> None:
        self._topic, self._producer = topic, lab.producer()
        self._partitions = len(topic_of(lab, topic).partitions)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._send, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *fault: object) -> None:
        self._ended.set()
        self._thread.join()

    def _send(self) -> None:
        while not self._ended.wait(STREAM_SECONDS):
            for partition in range(self._partitions):
                self._producer.produce(self._topic, b"call", partition=partition)
            self._producer.poll(0)
        self._producer.flush(5)


def _told(groups: tuple[GroupState, ...]) -> dict[str, set[int]]:
    """Return what each member holds as the coordinator tells it, by its client.id.

    Asking a consumer for its memberid() waits in the client until it has one, and holds up all threads.
    """
    return {
        member.client: {partition for _, partition in member.partitions}
        for group in groups
        if group.state == "Stable"
        for member in group.members
    }
