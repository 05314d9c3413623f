"""Watching: how views become one sight, and how silent brokers are dealt with, without brokers."""

import itertools
import socket
import struct
import threading
import time
from types import SimpleNamespace

import pytest
from kafka.protocol.admin.cluster import DescribeQuorumRequest, DescribeQuorumResponse
from kafka.protocol.consumer.offsets import ListOffsetsRequest, ListOffsetsResponse
from kafka.protocol.metadata.metadata import MetadataRequest, MetadataResponse

from threebrokers import clock
from threebrokers.cluster.process import BrokerProcess
from threebrokers.errors import BenchError
from threebrokers.sight import PartitionSight
from threebrokers.watching import Looker, Observer, groups, questions
from threebrokers.watching.merge import View, chief, merge_topics
from threebrokers.watching.wire import Wire


def partition(leader, epoch, isr=(1, 2, 3)):
    return PartitionSight("orders", 0, leader, epoch, (1, 2, 3), isr)


def view(leader, epoch, *, registered=(1, 2, 3), end=None, readable=None, isr=(1, 2, 3)):
    place = ("orders", 0)
    return View(
        registered=frozenset(registered),
        topics={"orders": (partition(leader, epoch, isr),)},
        ends={place: end} if end is not None else {},
        readable={place: readable} if readable is not None else {},
        start={place: 0} if readable is not None else {},
    )


def test_all_agree():
    views = {1: view(1, 4, end=9, readable=7), 2: view(1, 4, end=7), 3: view(1, 4, end=8)}
    [topic] = merge_topics(views, chief(views, 2))
    [seen] = topic.partitions
    assert (seen.leader, seen.epoch, seen.start, seen.readable, seen.end) == (1, 4, 0, 7, 9)
    assert seen.ends == ((1, 9), (2, 7), (3, 8))
    assert seen.claims == ()


def test_a_leader_that_was_cut_off_still_claims_to_lead():
    views = {1: view(1, 4, end=9, readable=9), 2: view(2, 5, end=7, readable=7), 3: view(2, 5, end=7)}
    [seen] = merge_topics(views, chief(views, None))[0].partitions
    assert (seen.leader, seen.claims, seen.readable) == (2, (1,), 7)


def test_the_controllers_view_wins_among_equal_epochs():
    views = {1: view(1, 4), 2: view(1, 4, isr=(1, 2)), 3: view(1, 4)}
    assert chief(views, 2) == 2
    assert merge_topics(views, 2)[0].partitions[0].isr == (1, 2)


def test_the_view_with_most_elections_wins_without_a_controller():
    assert chief({1: view(1, 4), 2: view(2, 5), 3: view(1, 4)}, None) == 2
    assert chief({}, None) is None


def test_only_the_coordinator_tells_of_a_group():
    not_here = SimpleNamespace(group_id="g", error_code=16)
    here = SimpleNamespace(group_id="g", error_code=0, group_state="Stable", members=[])
    offsets = SimpleNamespace(
        error_code=0,
        topics=[
            SimpleNamespace(
                name="orders",
                partitions=[
                    SimpleNamespace(partition_index=1, committed_offset=5, error_code=0),
                    SimpleNamespace(partition_index=0, committed_offset=-1, error_code=0),
                ],
            )
        ],
    )

    def told(classic, new, offsets):
        other = SimpleNamespace(group_id="other", error_code=16)
        # Brokers do not answer in the order of the question.
        ordered = [SimpleNamespace(groups=[other, classic]), SimpleNamespace(groups=[new, other])]
        return [*ordered, offsets, SimpleNamespace(error_code=16, topics=[])]

    names = ["g", "other"]
    group = groups.read(names, {1: told(not_here, not_here, not_here), 2: told(here, not_here, offsets)})["g"]
    assert (group.coordinator, group.state, group.committed) == (2, "Stable", (("orders", 1, 5),))
    assert groups.read(names, {1: told(not_here, not_here, not_here)}) == {}


@pytest.fixture
def silent():
    """The address of a server that accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def closed():
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"127.0.0.1:{port}"


@pytest.fixture
def talker():
    """The address of a server that answers every quorum question: broker 2 leads, epoch 7."""

    def serve():
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection):
        with connection:
            while head := connection.recv(4):
                asked = connection.recv(struct.unpack(">i", head)[0])
                kind = DescribeQuorumResponse
                told = kind.TopicData.PartitionData(
                    partition_index=0, error_code=0, leader_id=2, leader_epoch=7, high_watermark=1
                )
                topic = kind.TopicData(topic_name="__cluster_metadata", partitions=[told])
                response = kind(error_code=0, topics=[topic])
                response.API_VERSION = 1
                response.with_header(correlation_id=struct.unpack_from(">i", asked, 4)[0])
                whole = response.encode(header=True, framed=True)
                connection.sendall(whole[:7])  # in two pieces, as a network may
                connection.sendall(whole[7:])

    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, daemon=True).start()
    yield f"127.0.0.1:{server.getsockname()[1]}"
    server.close()


def sent(request, question):
    """Return a question as kafka-python reads it, after its number."""
    return request.decode(question.encode(7), version=VERSIONS[request], header=True)


def heard(question, response):
    """Return what a question makes of an answer that kafka-python has written."""
    response.API_VERSION = VERSIONS[type(response)]
    response.with_header(correlation_id=7)
    return question.decode(bytes(response.encode(header=True)))


VERSIONS = {
    MetadataRequest: 8,
    MetadataResponse: 8,
    ListOffsetsRequest: 5,
    ListOffsetsResponse: 5,
    DescribeQuorumRequest: 1,
    DescribeQuorumResponse: 1,
}


@pytest.mark.parametrize(("names", "asked"), [(None, None), ([], []), (["a", "bücher"], ["a", "bücher"])])
def test_metadata_is_asked_for_as_kafka_reads_it(names, asked):
    request = sent(MetadataRequest, questions.metadata(names))
    assert (request.header.request_api_key, request.header.correlation_id) == (3, 7)
    assert request.header.client_id == questions.CLIENT_ID
    assert (request.topics and [topic.name for topic in request.topics]) == asked
    assert not request.allow_auto_topic_creation


def test_metadata_is_read_as_kafka_writes_it():
    topic, broker = MetadataResponse.MetadataResponseTopic, MetadataResponse.MetadataResponseBroker
    place = topic.MetadataResponsePartition
    more = {"error_code": 0, "leader_epoch": 4, "offline_replicas": [3]}
    orders = [
        place(partition_index=1, leader_id=-1, replica_nodes=[3, 2], isr_nodes=[], **more),
        place(partition_index=0, leader_id=2, replica_nodes=[2, 1], isr_nodes=[2, 1], **more),
    ]
    response = MetadataResponse(
        throttle_time_ms=0,
        brokers=[
            broker(node_id=1, host="127.0.0.1", port=9092, rack=None),
            broker(node_id=3, host="localhost", port=9093, rack="north"),
        ],
        cluster_id="abc",
        controller_id=3,
        topics=[
            topic(error_code=3, name="gone", is_internal=False, partitions=[]),
            topic(error_code=0, name="bücher", is_internal=False, partitions=orders),
        ],
    )
    told = heard(questions.metadata(None), response)
    assert told.registered == {1, 3}
    assert told.topics == {
        "bücher": (
            PartitionSight("bücher", 0, 2, 4, (2, 1), (1, 2)),
            PartitionSight("bücher", 1, None, 4, (3, 2), ()),
        )
    }


def test_offsets_are_asked_for_as_kafka_reads_it():
    question = questions.offsets({"a": [0, 2], "b": []}, questions.LATEST, questions.OWN_COPY)
    request = sent(ListOffsetsRequest, question)
    assert (request.header.request_api_key, request.replica_id, request.isolation_level) == (2, -2, 0)
    asked = {t.name: [(p.partition_index, p.timestamp) for p in t.partitions] for t in request.topics}
    assert asked == {"a": [(0, -1), (2, -1)], "b": []}
    assert {p.current_leader_epoch for t in request.topics for p in t.partitions} == {-1}


def test_offsets_are_read_as_kafka_writes_it():
    topic = ListOffsetsResponse.ListOffsetsTopicResponse
    place = topic.ListOffsetsPartitionResponse
    told = [
        place(partition_index=0, error_code=0, timestamp=-1, offset=1 << 40, leader_epoch=4),
        place(partition_index=1, error_code=6, timestamp=-1, offset=-1, leader_epoch=-1),
    ]
    response = ListOffsetsResponse(throttle_time_ms=0, topics=[topic(name="a", partitions=told)])
    question = questions.offsets({}, questions.LATEST, questions.CONSUMER)
    assert heard(question, response) == {("a", 0): 1 << 40}


def test_the_quorum_is_asked_for_as_kafka_reads_it():
    request = sent(DescribeQuorumRequest, questions.quorum())
    assert request.header.request_api_key == 55
    assert [t.topic_name for t in request.topics] == ["__cluster_metadata"]
    assert [p.partition_index for t in request.topics for p in t.partitions] == [0]


@pytest.mark.parametrize(("error", "leader", "led"), [(0, 2, (7, 2)), (6, 2, None), (0, -1, None)])
def test_only_the_quorums_leader_tells_who_it_is(error, leader, led):
    topic = DescribeQuorumResponse.TopicData
    place = topic.PartitionData(
        partition_index=0, error_code=error, leader_id=leader, leader_epoch=7, high_watermark=1
    )
    topics = [topic(topic_name="__cluster_metadata", partitions=[place])]
    assert heard(questions.quorum(), DescribeQuorumResponse(error_code=0, topics=topics)) == led
    assert heard(questions.quorum(), DescribeQuorumResponse(error_code=41, topics=[])) is None


def test_an_answer_that_is_cut_short_is_a_fault():
    with pytest.raises(struct.error):
        questions.metadata(None).decode(b"\0\0\0\7\0\0")


def test_one_that_answers_is_heard_beside_one_that_is_silent_and_one_that_is_gone(talker, silent, closed):
    wire = Wire()
    begun = time.monotonic()
    answers = wire.ask({a: [questions.quorum()] for a in (silent, talker, closed)}, 0.3)
    assert time.monotonic() - begun < 0.6
    assert list(answers) == [talker]
    assert answers[talker] == [(7, 2)]
    begun = time.monotonic()
    assert list(wire.ask({a: [questions.quorum()] for a in (silent, talker)}, 0.3)) == [talker]
    assert time.monotonic() - begun < 0.2  # the silent one is left alone for a while
    wire.close()


def test_several_questions_are_answered_in_order(talker):
    wire = Wire()
    answers = wire.ask({talker: [questions.quorum()] * 3}, 2)
    assert answers[talker] == [(7, 2)] * 3
    wire.close()


def test_with_no_broker_the_last_known_topics_stay_and_their_age_is_told():
    state = {"now": "up"}
    looker = Looker(
        lambda: {n: BrokerProcess(n, state["now"]) for n in (1, 2, 3)},
        lambda: {},
    )
    sight = looker.look(["orders"])
    assert [b.state for b in sight.brokers] == ["unknown"] * 3  # a process, and no answer ever
    assert (sight.topics, sight.heard, sight.quorum_leader) == ((), None, None)
    state["now"] = "down"
    gone = looker.look(["orders"])
    assert [b.state for b in gone.brokers] == ["down"] * 3
    assert looker.look(["orders"]).brokers[0].since == gone.brokers[0].since
    looker.close()


def test_a_running_broker_that_does_not_answer_is_named():
    nowhere = {n: {"CLIENT": "127.0.0.1:1", "CONTROLLER": "127.0.0.1:1"} for n in (1, 2, 3)}
    states = {1: "up", 2: "down", 3: "paused"}
    looker = Looker(lambda: {n: BrokerProcess(n, state) for n, state in states.items()}, lambda: nowhere)
    looker.look([])
    assert looker.silent == {1}
    states[1] = "down"
    looker.look([])
    assert not looker.silent
    looker.close()


def test_an_observer_tells_every_sight_until_it_is_closed():
    looker = Looker(lambda: {1: BrokerProcess(1, "down")}, lambda: {})
    heard, twice = [], threading.Event()

    def hear(sight):
        heard.append(sight)
        if len(heard) == 2:
            twice.set()

    observer = Observer(looker, lambda: None, every=0.01, missed=pytest.fail)
    observer.hear(hear)
    observer.start()
    assert twice.wait(5)
    observer.close()
    count = len(heard)
    assert observer.latest is heard[-1]
    assert not twice.wait(0) or len(heard) == count
    assert heard[0].at < heard[1].at


def test_a_look_or_a_hearer_that_fails_is_told_and_the_next_look_comes():
    states = iter([BenchError("Docker does not answer."), OSError("gone"), {1: BrokerProcess(1, "down")}])
    missed, seen = [], threading.Event()

    def processes():
        state = next(states, {1: BrokerProcess(1, "down")})
        if isinstance(state, Exception):
            raise state
        return state

    def hear(sight):
        if len(missed) == 2:
            raise KeyError("hearer")
        seen.set()

    observer = Observer(Looker(processes, lambda: {}), lambda: None, every=0.01, missed=missed.append)
    observer.hear(hear)
    observer.start()
    assert seen.wait(5)
    observer.close()
    assert missed == ["Docker does not answer.", "OSError: gone", "KeyError: 'hearer'"]


def test_the_pace_of_looks_does_not_depend_on_the_systems_time(monkeypatch):
    heard, often = [], threading.Event()

    def hear(sight):
        heard.append(sight.at)
        if len(heard) == 5:
            often.set()

    times = itertools.count(2e9, -3600)  # it is set back again and again
    monkeypatch.setattr(clock, "now", lambda: next(times))
    looker = Looker(lambda: {1: BrokerProcess(1, "down")}, lambda: {})
    observer = Observer(looker, lambda: None, every=0.01, missed=pytest.fail)
    observer.hear(hear)
    observer.start()
    assert often.wait(5)
    observer.close()
    assert heard[:3] == [2e9, 2e9 - 3600, 2e9 - 7200]


def test_a_step_of_the_systems_time_makes_no_broker_silent(monkeypatch, talker):
    looker = Looker(lambda: {1: BrokerProcess(1, "up")}, lambda: {1: {"CLIENT": talker}})
    looker._answered[1] = time.monotonic()
    monkeypatch.setattr(clock, "now", lambda: time.time() + 3600)
    assert looker._broker(clock.now(), BrokerProcess(1, "up"), True, "").state == "up"
    looker.close()
