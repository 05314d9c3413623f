"""What lessons do to a cluster, as far as it can be seen without brokers."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError

from threebrokers.errors import LabError
from threebrokers.kafka.state import ClusterState, PartitionState, TopicState
from threebrokers.lab.scenarios import (
    ORDERS,
    accepted,
    compose_file,
    connections_into,
    controller_last,
    leaderless_everywhere,
    megabytes_written_per_second,
    partitions,
    take_down,
    through_a_kill,
    wait_for_new_leaders,
)
from threebrokers.lab.scenarios.metadata_log import in_words
from threebrokers.lab.scenarios.outages import is_after_two_outages
from threebrokers.lab.scenarios.partitions import existing, heirs, topic_of
from threebrokers.waiting import quiet_wait


class Producer:
    """Reports at each flush, in turn, what `answers` say of each record."""

    def __init__(self, answers: list[KafkaError | None], on_delivery: Any = None) -> None:
        self.answers, self.waiting, self.on_delivery = answers, [], on_delivery

    def produce(self, topic: str, value: Any, partition: int = 0, on_delivery: Any = None) -> None:
        self.waiting.append((topic, on_delivery or self.on_delivery))

    def flush(self, timeout: float = -1) -> None:
        for topic, report in self.waiting:
            report(self.answers.pop(0), SimpleNamespace(topic=lambda topic=topic: topic))
        self.waiting = []


def lab_with(answers: list[KafkaError | None]) -> Any:
    return SimpleNamespace(producer=lambda config: Producer(answers, config.get("on_delivery")))


def test_records_that_were_accepted_are_counted_by_topic():
    refused = KafkaError(KafkaError.NOT_ENOUGH_REPLICAS)
    assert accepted(lab_with([None, refused, None, refused]), ["a", "b"], partitions=2) == {"a": 1, "b": 1}


def test_the_active_controller_is_the_last_victim():
    state = SimpleNamespace(quorum_leader=1)
    cluster = SimpleNamespace(brokers=(1, 2, 3), state=lambda topics: state)
    assert controller_last(SimpleNamespace(cluster=cluster)) == [2, 3, 1]  # type: ignore[arg-type]


@pytest.mark.parametrize(("leaders", "so"), [((None, None), True), ((1, None), False), ((None,), False)])
def test_two_brokers_must_know_that_a_partition_has_no_leader(leaders: tuple[int | None, ...], so: bool):
    topics = [TopicState("single", (PartitionState("single", 0, leader, 0, (1,), ()),)) for leader in leaders]
    views = {n: SimpleNamespace(topic=lambda name, topic=topic: topic) for n, topic in enumerate(topics)}
    lab: Any = SimpleNamespace(cluster=SimpleNamespace(views=lambda names: views))
    assert leaderless_everywhere(lab, "single") is so


def test_the_connections_of_a_client_are_those_to_addresses_that_it_was_told():
    table: dict[int, dict[str, Any]] = {}
    note = connections_into(table)["stats_cb"]
    told = {"nodeid": 3, "source": "learned", "state": "TRY_CONNECT", "tx": 0}
    given = {"nodeid": -1, "source": "configured", "state": "UP", "tx": 2}
    internal = {"nodeid": -1, "source": "internal", "state": "INIT", "tx": 0}
    brokers = {"127.0.0.1:9/3": told, "127.0.0.1:8/bootstrap": given, ":0/internal": internal}
    note(json.dumps({"brokers": brokers}))
    assert list(table) == [3]
    assert list(table[3].values()) == ["127.0.0.1:9", False, 0]


def test_two_outages_are_known_by_leaders_and_isr():
    def topic(leaders: tuple[int, ...], isr: tuple[int, ...]) -> TopicState:
        partitions = (
            PartitionState("work", n, leader, 0, order, isr)
            for n, (order, leader) in enumerate(zip(ORDERS, leaders, strict=True))
        )
        return TopicState("work", tuple(partitions))

    assert is_after_two_outages(topic((1, 1, 1, 2, 1, 2), (1, 2)))
    assert not is_after_two_outages(topic((1, 1, 2, 2, 1, 2), (1, 2)))
    assert not is_after_two_outages(topic((1, 1, 1, 2, 1, 2), (1, 2, 3)))
    assert not is_after_two_outages(None)


def test_nobody_is_killed_for_a_topic_that_is_not_there():
    killed: list[int] = []
    cluster = SimpleNamespace(
        state=lambda names: ClusterState(0.0, (), last_response_at=0.0),
        processes=lambda: {2: SimpleNamespace(state="up")},
        kill=killed.append,
    )
    lab: Any = SimpleNamespace(cluster=cluster)
    with pytest.raises(LabError, match="There is no topic 'clicks': run the cell that makes it again"):
        take_down(lab, 2, ["clicks"])
    assert not killed


def test_a_topic_that_is_gone_is_told_in_a_sentence():
    with pytest.raises(LabError, match="There is no topic 'films': run the cell that makes it again"):
        existing(None, "films")


def test_the_compose_file_tells_of_listeners():
    assert "KAFKA_ADVERTISED_LISTENERS" in compose_file()


class Cluster:
    """Brokers 1, 2 and 3 with one topic, led by 1; what is done to them is kept, and what is sent counts."""

    brokers = (1, 2, 3)

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []
        self.sent = 0

    def state(self, topics: Any = None) -> ClusterState:
        away = {broker for what, broker, *_ in self.done if what == "cut"}
        has = {1: self.sent, 2: 100 if 1 in away else self.sent, 3: 50 if away else self.sent}
        ends = tuple((broker, min(self.sent, count)) for broker, count in has.items())
        told = PartitionState("transfers", 0, 1, 0, (1, 2, 3), (1, 2, 3), log_end_offsets=ends)
        return ClusterState(0, (), topics=(TopicState("transfers", (told,)),), last_response_at=0)

    def cut(self, broker: int, from_: str) -> None:
        self.done.append(("cut", broker, from_))

    def kill(self, broker: int) -> None:
        self.done.append(("kill", broker))

    def heal(self) -> None:
        self.done.append(("heal", 0))


def lab_of(cluster: Cluster) -> Any:
    def wait_until(look: Any, *, what: str, within: float) -> None:
        assert quiet_wait(look, within), what

    return SimpleNamespace(cluster=cluster, wait_until=wait_until)


OUTAGE = [("cut", 3, "brokers"), ("cut", 1, "brokers"), ("kill", 1), ("heal", 0)]


def test_the_leader_dies_when_150_numbers_are_taken():
    cluster, done = Cluster(), {}
    for number in through_a_kill(lab_of(cluster), "transfers"):
        done[number] = len(cluster.done)
        cluster.sent += 1
    assert cluster.done == OUTAGE
    assert sorted(done) == list(range(200))
    assert [done[number] for number in (49, 50, 99, 100, 149)] == [0, 1, 1, 2, 2]
    assert done[150] >= 3


def test_the_leader_dies_also_while_somebody_waits_for_record_50():
    cluster = Cluster()
    numbers = through_a_kill(lab_of(cluster), "transfers")
    while next(numbers) < 50:
        cluster.sent += 1
    assert quiet_wait(lambda: cluster.done == OUTAGE, 10)
    assert list(numbers) == list(range(51, 200))


class Busy(Cluster):
    """Brokers that run, and give no answer to every second question."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def state(self, topics: Any = None) -> ClusterState:
        self.asked += 1
        return ClusterState(0, ()) if self.asked % 2 else super().state(topics)

    def processes(self) -> dict[int, Any]:
        return {1: SimpleNamespace(state="up")}


def test_brokers_that_are_too_busy_to_answer_at_every_moment_are_no_fault():
    cluster = Busy()
    for _ in through_a_kill(lab_of(cluster), "transfers"):
        cluster.sent += 1
    assert cluster.done == OUTAGE


def test_who_runs_is_waited_for_and_who_does_not_is_told_at_once(monkeypatch: pytest.MonkeyPatch):
    cluster: Any = Busy()
    assert topic_of(lab_of(cluster), "transfers").name == "transfers"
    cluster.state = lambda topics: ClusterState(0, ())
    monkeypatch.setattr(partitions, "ANSWER_SECONDS", 0.1)
    with pytest.raises(LabError, match=r"No broker has answered for 0\.1 s"):
        topic_of(lab_of(cluster), "transfers")
    monkeypatch.setattr(partitions, "ANSWER_SECONDS", 60)
    cluster.processes = lambda: {1: SimpleNamespace(state="down")}
    with pytest.raises(LabError, match="No broker is up"):
        topic_of(lab_of(cluster), "transfers")


def test_who_takes_no_more_numbers_leaves_healthy_links():
    cluster = Cluster()
    numbers = through_a_kill(lab_of(cluster), "transfers")
    while next(numbers) < 60:
        cluster.sent += 1
    numbers.close()  # type: ignore[attr-defined]
    assert cluster.done == [("cut", 3, "brokers"), ("heal", 0)]


def test_a_topic_that_two_brokers_keep_cannot_be_taken_through_a_kill():
    two = PartitionState("transfers", 0, 1, 0, (1, 2), (1, 2))
    state = ClusterState(0, (), topics=(TopicState("transfers", (two,)),), last_response_at=0)
    lab: Any = SimpleNamespace(cluster=SimpleNamespace(state=lambda topics: state))
    with pytest.raises(LabError, match="Three brokers should keep 'transfers'"):
        next(iter(through_a_kill(lab, "transfers")))


def led(state: ClusterState) -> list[bool]:
    """Return whether the wait for another leader than broker 1 would end in this state."""
    seen: list[bool] = []
    lab: Any = SimpleNamespace(
        cluster=SimpleNamespace(state=lambda topics: state),
        wait_until=lambda look, what, within: seen.append(look()),
    )
    wait_for_new_leaders(lab, 1, "single")
    return seen


@pytest.mark.parametrize(
    ("leader", "replicas", "done"),
    [(2, (1, 2), True), (0, (1, 0), True), (1, (1, 2), False), (None, (1, 2), False), (None, (1,), True)],
)
def test_a_partition_without_another_replica_needs_no_new_leader(leader, replicas, done):
    told = PartitionState("single", 0, leader, 1, replicas, ())
    assert led(ClusterState(0, (), topics=(TopicState("single", (told,)),), last_response_at=0)) == [done]


@pytest.mark.parametrize(("leader", "told"), [(0, 0), (None, "nobody")])
def test_the_heir_may_be_broker_0(leader, told):
    before, after = (
        ClusterState(0, (), topics=(TopicState("t", (PartitionState("t", 0, n, 1, (1, 0), (0, 1)),)),))
        for n in (1, leader)
    )
    [row] = heirs(before, after, 1)
    assert (row["next in the list"], row["leads after"]) == (0, told)


def test_while_no_broker_answers_new_leaders_are_waited_for():
    assert led(ClusterState(0, (), last_response_at=None)) == [False]


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("BROKER_REGISTRATION_CHANGE_RECORD", {"brokerId": 2, "fenced": 1}, "broker 2 is fenced"),
        (
            "BROKER_REGISTRATION_CHANGE_RECORD",
            {"brokerId": 2, "fenced": -1},
            "broker 2 is not fenced any more",
        ),
        ("BROKER_REGISTRATION_CHANGE_RECORD", {"brokerId": 2, "inControlledShutdown": 1}, ""),
        (
            "PARTITION_CHANGE_RECORD",
            {"topicId": "x", "partitionId": 1, "leader": 3, "isr": [3, 1]},
            "orders-1: broker 3 leads; in sync: 3, 1",
        ),
        (
            "PARTITION_CHANGE_RECORD",
            {"topicId": "y", "partitionId": 0, "leader": -1, "isr": []},
            "a topic-0: nobody leads; in sync: none",
        ),
        ("PARTITION_CHANGE_RECORD", {"topicId": "x", "partitionId": 0, "removingReplicas": [1]}, ""),
        ("NO_OP_RECORD", {}, ""),
    ],
)
def test_a_record_of_the_controllers_log_is_said_in_words(kind, data, words):
    assert in_words(kind, data, {"x": "orders"}) == words


@pytest.mark.parametrize("order", ["in order", "mixed"])
def test_writing_is_measured_and_leaves_no_file(order: str, tmp_path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.setattr("threebrokers.lab.scenarios.measuring.WRITTEN_BYTES", 1 << 16)
    assert megabytes_written_per_second(4096, order) > 0
    assert list(tmp_path.iterdir()) == []
