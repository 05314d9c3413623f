"""Polling: how views become one state, and how silent brokers are dealt with, without brokers."""

import itertools
import socket
import struct
import threading
import time
from contextlib import suppress
from types import SimpleNamespace as Told
from typing import Any

import pytest
from kafka.protocol.admin.cluster import DescribeQuorumRequest

from threebrokers import clock
from threebrokers.cluster import Cluster
from threebrokers.cluster.process import BrokerProcess
from threebrokers.errors import LabError
from threebrokers.kafka import connection, groups, requests
from threebrokers.kafka import poller as poller_module
from threebrokers.kafka.background import BackgroundPoller
from threebrokers.kafka.connection import Connections
from threebrokers.kafka.merge import View, authoritative_view, merge_topics, read_view
from threebrokers.kafka.poller import ANSWER_SECONDS, PATIENT_SECONDS, ClusterPoller
from threebrokers.kafka.state import BrokerState, ClusterState, PartitionState, TopicState


def partition(leader, epoch, isr=(1, 2, 3)):
    return PartitionState("orders", 0, leader, epoch, (1, 2, 3), isr)


def view(leader, epoch, *, registered=(1, 2, 3), end=None, readable=None, isr=(1, 2, 3)):
    place = ("orders", 0)
    return View(
        registered={n: f"127.0.0.1:{n}" for n in registered},
        topics={"orders": (partition(leader, epoch, isr),)},
        log_end_offsets={place: end} if end is not None else {},
        high_watermarks={place: readable} if readable is not None else {},
        last_stable_offsets={place: readable - 1} if readable is not None else {},
        log_start_offsets={place: 0} if readable is not None else {},
    )


def test_a_view_is_a_plain_sorted_value_without_topics_that_there_are_not():
    led = Told(partition_index=0, leader_id=2, leader_epoch=4, replica_nodes=[2, 3, 1], isr_nodes=[3, 2])
    orphan = Told(partition_index=1, leader_id=-1, leader_epoch=5, replica_nodes=[1], isr_nodes=[])
    metadata = Told(
        brokers=[Told(node_id=3, host="h", port=30), Told(node_id=1, host="h", port=10)],
        topics=[Told(name="b", error_code=0, partitions=[orphan, led]), Told(name="zz", error_code=3)],
    )
    seen = read_view(metadata, {("b", 1): (1,)}, {("b", 0): 9}, {}, {}, {})
    assert seen.registered == {1: "h:10", 3: "h:30"}
    assert merge_topics({2: seen}, 2) == (
        TopicState(
            "b",
            (
                PartitionState("b", 0, 2, 4, (2, 3, 1), (2, 3), log_end_offsets=((2, 9),)),
                PartitionState("b", 1, None, 5, (1,), (), elr=(1,)),
            ),
        ),
    )


def test_all_agree():
    views = {1: view(1, 4, end=9, readable=7), 2: view(1, 4, end=7), 3: view(1, 4, end=8)}
    [topic] = merge_topics(views, authoritative_view(views, 2))
    [seen] = topic.partitions
    assert (
        seen.leader,
        seen.leader_epoch,
        seen.log_start_offset,
        seen.last_stable_offset,
        seen.high_watermark,
        seen.log_end_offset,
    ) == (1, 4, 0, 6, 7, 9)
    assert seen.log_end_offsets == ((1, 9), (2, 7), (3, 8))
    assert seen.stale_leaders == ()


def test_a_leader_that_was_cut_off_still_claims_to_lead():
    views = {1: view(1, 4, end=9, readable=9), 2: view(2, 5, end=7, readable=7), 3: view(2, 5, end=7)}
    [seen] = merge_topics(views, authoritative_view(views, None))[0].partitions
    assert (seen.leader, seen.stale_leaders, seen.high_watermark) == (2, (1,), 7)


def test_the_controllers_view_wins_among_equal_epochs():
    views = {1: view(1, 4), 2: view(1, 4, isr=(1, 2)), 3: view(1, 4)}
    assert authoritative_view(views, 2) == 2
    assert merge_topics(views, 2)[0].partitions[0].isr == (1, 2)


def test_the_view_with_most_elections_wins_without_a_controller():
    assert authoritative_view({1: view(1, 4), 2: view(2, 5), 3: view(1, 4)}, None) == 2
    assert authoritative_view({}, None) is None


def test_only_the_coordinator_tells_of_a_group():
    not_here = Told(group_id="g", error_code=16)
    here = Told(group_id="g", error_code=0, group_state="Stable", members=[])
    offsets = Told(
        group_id="g",
        error_code=0,
        topics=[
            Told(
                name="orders",
                partitions=[
                    Told(partition_index=1, committed_offset=5, error_code=0),
                    Told(partition_index=0, committed_offset=-1, error_code=0),
                ],
            )
        ],
    )

    def told(classic, new, offsets):
        other = Told(group_id="other", error_code=16)
        # Brokers do not answer in the order of the question.
        nothing = Told(group_id="other", error_code=16, topics=[])
        return [Told(groups=[other, classic]), Told(groups=[new, other]), Told(groups=[nothing, offsets])]

    names = ["g", "other"]
    group = groups.read(names, {1: told(not_here, not_here, not_here), 2: told(here, not_here, offsets)})["g"]
    assert (group.coordinator, group.state, group.committed) == (2, "Stable", (("orders", 1, 5),))
    assert groups.read(names, {1: told(not_here, not_here, not_here)}) == {}
    loading = Told(
        group_id="g", error_code=14, topics=[]
    )  # it coordinates, and has not read the group's offsets yet
    assert groups.read(names, {2: told(here, not_here, loading)}) == {}


def test_many_groups_take_no_more_requests_than_one():
    assert len(groups.ask(["a", "b", "c"])) == len(groups.ask(["a"])) == 3
    assert groups.ask([]) == []


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
        with connection, suppress(OSError):  # who asked did not wait
            while head := connection.recv(4):
                asked = connection.recv(struct.unpack(">i", head)[0])
                kind = requests.DescribeQuorumResponse
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


WITHIN = 1.0


def test_one_that_answers_is_heard_beside_one_that_is_silent_and_one_that_is_gone(
    talker, silent, closed, ticks
):
    connections = Connections()
    begun = ticks.now
    answers = connections.ask({a: [requests.quorum()] for a in (silent, talker, closed)}, WITHIN)
    assert ticks.now - begun < 3 * WITHIN
    assert list(answers) == [talker]
    assert requests.read_leader(answers[talker][0]) == (7, 2)
    begun = ticks.now
    assert list(connections.ask({a: [requests.quorum()] for a in (silent, talker)}, WITHIN)) == [talker]
    assert ticks.now - begun < WITHIN  # the silent one is left alone for a while
    connections.close()


def test_who_is_let_in_is_heard_beside_one_whose_door_does_not_open(talker):
    opens = threading.Event()

    def enter(address: str) -> socket.socket:
        if address != talker:
            opens.wait(20)
            raise OSError
        host, _, port = address.rpartition(":")
        made = socket.create_connection((host, int(port)))
        made.setblocking(False)
        return made

    connections = Connections(enter)
    for _ in range(3):  # it waits at the same door each time
        answers = connections.ask({a: [requests.quorum()] for a in ("behind:1", talker)}, WITHIN)
        assert list(answers) == [talker]
    opens.set()
    connections.close()


@pytest.mark.parametrize("moment", ["connect_ex", "close"])
def test_an_interruption_while_a_connection_begins_or_ends_leaves_no_open_socket(
    moment, closed, monkeypatch: pytest.MonkeyPatch
):
    made: list[socket.socket] = []

    class Interrupted(socket.socket):
        """The first call of this moment is interrupted, as by the end of a check's time."""

        def __init__(self, *words: Any) -> None:
            super().__init__(*words)
            made.append(self)

        def _once(self, name: str, *words: Any) -> Any:
            if name == moment and not hasattr(self, "was"):
                self.was = True
                raise KeyboardInterrupt
            return getattr(super(), name)(*words)

        def connect_ex(self, place: Any) -> int:
            return self._once("connect_ex", place)

        def close(self) -> None:
            self._once("close")

    connections = Connections()
    with monkeypatch.context() as patch:
        patch.setattr(connection.socket, "socket", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            connections.ask({closed: [requests.quorum()]}, WITHIN)
    connections.close()
    assert [one.fileno() for one in made] == [-1]


def test_several_questions_are_answered_in_order(talker):
    connections = Connections()
    answers = connections.ask({talker: [requests.quorum()] * 3}, 2)
    assert [requests.read_leader(answer) for answer in answers[talker]] == [(7, 2)] * 3
    connections.close()


def test_a_request_is_encoded_once_and_equal_bytes_are_decoded_once(talker):
    connections, request = Connections(), requests.quorum()
    first, second = request.framed(0), request.framed(258)
    assert (first[8:12], second[8:12]) == (b"\0\0\0\0", b"\0\0\1\2")
    assert (first[:8], first[12:]) == (second[:8], second[12:])
    again = DescribeQuorumRequest.decode(second[4:], version=1, header=True)
    assert (again.header.correlation_id, again.header.client_id) == (258, "threebrokers-watch")
    told = [connections.ask({talker: [request]}, 2)[talker][0] for _ in range(2)]
    assert told[0] is told[1]
    request.message.topics[0].topic_name = "changed later"
    assert request.framed(0) == first
    connections.close()


def test_with_no_broker_the_last_known_topics_stay_and_their_age_is_told():
    state = {"now": "up"}
    poller = ClusterPoller(
        lambda: {n: BrokerProcess(n, state["now"]) for n in (1, 2, 3)},
        lambda: {},
    )
    unheard = poller.poll(["orders"])
    assert [b.state for b in unheard.brokers] == ["unknown"] * 3  # a process, and no answer ever
    assert (unheard.topics, unheard.last_response_at, unheard.quorum_leader) == ((), None, None)
    state["now"] = "down"
    gone = poller.poll(["orders"])
    assert [b.state for b in gone.brokers] == ["down"] * 3
    assert poller.poll(["orders"]).brokers[0].since == gone.brokers[0].since
    poller.close()


def test_with_no_broker_those_that_were_counted_last_stay_counted():
    poller = ClusterPoller(lambda: {n: BrokerProcess(n, "up") for n in (1, 2, 3)}, lambda: {})
    counted = tuple(BrokerState(n, "up", 1.0, n != 2, f"h:{n}") for n in (1, 2, 3))
    poller._last = ClusterState(1.0, counted, last_response_at=1.0)
    assert poller.poll([]).registered == {1, 3}
    assert poller.poll([]).registered == {1, 3}
    poller.close()


@pytest.mark.parametrize("controller", [0, None])
def test_a_broker_with_the_number_0_is_a_broker(controller, monkeypatch):
    """Clusters elsewhere often begin with it."""
    processes = {n: BrokerProcess(n, "up") for n in (0, 1)}
    poller = ClusterPoller(lambda: processes, lambda: {})
    views = {n: view(0, 4, registered=(0, 1), end=9, readable=7) for n in (0, 1)}
    quorum = {} if controller is None else {0: (3, controller)}
    answers = poller_module._Answers(1.0, 2.0, processes, {}, views, quorum, {})
    monkeypatch.setattr(poller, "_ask", lambda *_: answers)
    state = poller.poll(["orders"])
    assert ([t.name for t in state.topics], state.last_response_at) == (["orders"], 2.0)
    assert (state.registered, state.quorum_leader, state.informed) == ({0, 1}, controller, controller == 0)
    poller.close()


def test_a_running_broker_that_does_not_answer_is_named():
    nowhere = {n: {"CLIENT": "127.0.0.1:1", "CONTROLLER": "127.0.0.1:1"} for n in (1, 2, 3)}
    states = {1: "up", 2: "down", 3: "paused"}
    poller = ClusterPoller(
        lambda: {n: BrokerProcess(n, state) for n, state in states.items()}, lambda: nowhere
    )
    poller.poll([])
    assert poller.silent == {1}
    states[1] = "down"
    poller.poll([])
    assert not poller.silent
    poller.close()


def test_brokers_that_take_connections_and_never_answer_hold_up_nobody_for_long(
    silent, tmp_path, monkeypatch, ticks
):
    cluster = Cluster(tmp_path)
    monkeypatch.setattr(cluster._engine, "processes", lambda: {n: BrokerProcess(n, "up") for n in (1, 2, 3)})
    monkeypatch.setattr(cluster._engine, "listening", lambda: {n: {"CLIENT": silent} for n in (1, 2, 3)})
    begun = ticks.now
    assert cluster.views() == {}
    assert ticks.now - begun < 8  # 5 s on a machine that has nothing else to do
    begun = ticks.now
    state = cluster.state()
    assert ticks.now - begun < 8  # as long
    assert (state.topics, state.last_response_at) == ((), None)
    assert [broker.state for broker in state.brokers] == ["unknown"] * 3


@pytest.mark.parametrize("counted", [True, False])
def test_the_view_of_a_silent_broker_that_the_others_count_is_waited_for(tmp_path, monkeypatch, counted):
    brokers = tuple(BrokerState(n, "up", 1.0, n != 2 or counted, f"h:{n}") for n in (1, 2, 3))
    state = ClusterState(1.0, brokers, last_response_at=1.0)
    looks = [{1: state, 3: state}, {1: state}, {2: state}, {}]
    poller = Told(silent=frozenset({2}), close=int)

    def look(*_, **__):
        views = looks.pop(0)
        poller.silent = frozenset({1, 2, 3} - views.keys())
        return views

    poller.views = look
    cluster = Cluster(tmp_path)
    monkeypatch.setattr(cluster, "poller", lambda: poller)
    monkeypatch.setattr("threebrokers.kafka.patience.QUICK_SECONDS", 0.0)
    assert [*cluster.views([])] == ([1, 2, 3] if counted else [1, 3])


@pytest.mark.parametrize("counted", [True, False])
def test_a_silent_broker_that_the_others_count_is_waited_for_longer(tmp_path, monkeypatch, counted):
    brokers = tuple(BrokerState(n, "up", 1.0, n != 2 or counted, f"h:{n}") for n in (1, 2, 3))
    looks = [ClusterState(float(at), brokers, last_response_at=1.0) for at in range(3)]
    poller = Told(silent=frozenset({2}), close=int)

    def look(*_, **__):
        state = looks.pop(0)
        poller.silent = frozenset({2} if looks else ())
        return state

    poller.poll = look
    cluster = Cluster(tmp_path)
    monkeypatch.setattr(cluster, "poller", lambda: poller)
    monkeypatch.setattr("threebrokers.kafka.patience.QUICK_SECONDS", 0.0)
    assert cluster.state([]).at == (2.0 if counted else 0.0)


@pytest.mark.parametrize(("state_seconds", "patient"), [(60.0, False), (0.0, True)])
def test_whoever_was_silent_for_a_while_has_longer_to_answer(tmp_path, monkeypatch, state_seconds, patient):
    within = []

    def ask(_self, _requests, seconds):
        within.append(seconds)
        return {}

    cluster = Cluster(tmp_path)
    up = {1: BrokerProcess(1, "up")}
    monkeypatch.setattr("threebrokers.kafka.poller.Connections.ask", ask)
    monkeypatch.setattr(cluster._engine, "processes", lambda: up)
    monkeypatch.setattr(cluster._engine, "listening", lambda: {1: {"CLIENT": "127.0.0.1:1"}})
    monkeypatch.setattr("threebrokers.kafka.patience.QUICK_SECONDS", state_seconds)
    monkeypatch.setattr("threebrokers.kafka.patience.BUSY_SECONDS", 0.1)
    assert cluster.state([]).last_response_at is None
    assert set(within) == {PATIENT_SECONDS[0] if patient else ANSWER_SECONDS}


@pytest.mark.parametrize(
    ("told", "ending"), [({}, False), ({"error_code": 14}, True), ({"names": ["orders"]}, True)]
)
def test_markers_are_on_their_way_while_a_coordinator_names_a_transaction_or_loads(told, ending):
    kind = requests.ListTransactionsResponse
    states = [
        kind.TransactionState(transactional_id=name, producer_id=1, transaction_state="PrepareCommit")
        for name in told.get("names", ())
    ]
    response = kind(
        throttle_time_ms=0,
        error_code=told.get("error_code", 0),
        unknown_state_filters=[],
        transaction_states=states,
    )
    assert requests.read_ending(response) is ending


@pytest.mark.parametrize(("counted", "ending"), [(True, True), (False, False)])
def test_markers_may_be_on_their_way_while_a_broker_that_is_counted_has_not_answered(
    monkeypatch, counted, ending
):
    poller = ClusterPoller(lambda: {}, lambda: {1: {"CLIENT": "one"}})
    seen = ClusterState(1.0, (BrokerState(1, "unknown", 1.0, counted),), last_response_at=1.0)
    monkeypatch.setattr(poller, "poll", lambda topics, *, patient: seen)
    monkeypatch.setattr("threebrokers.kafka.poller.Connections.ask", lambda self, asked, seconds: {})
    assert poller._ending() is ending


def test_a_connection_that_its_broker_has_closed_is_made_anew(talker):
    connections = Connections()
    assert connections.ask({talker: [requests.quorum()]}, 2).keys() == {talker}
    connections._sockets[talker].shutdown(socket.SHUT_RDWR)
    assert connections.ask({talker: [requests.quorum()]}, 2).keys() == {talker}
    connections.close()


def test_a_background_poller_tells_every_state_until_it_is_closed(monkeypatch):
    poller = ClusterPoller(lambda: {1: BrokerProcess(1, "down")}, lambda: {})
    heard, twice, closed = [], threading.Event(), []
    monkeypatch.setattr(poller, "close", lambda: closed.append(len(heard)))

    def hear(state):
        heard.append(state)
        if len(heard) == 2:
            twice.set()

    background = BackgroundPoller(poller, lambda: None, every=0.01, missed=pytest.fail)
    background.subscribe(hear)
    background.start()
    assert twice.wait(5)
    background.close()
    assert not background._thread.is_alive()
    assert closed == [len(heard)], "its connections are closed once, after the last state"
    assert background.latest is heard[-1]
    assert heard[0].at < heard[1].at


def test_a_poll_or_a_subscriber_that_fails_is_told_and_the_next_poll_comes():
    states = iter([LabError("Docker does not answer."), OSError("gone"), {1: BrokerProcess(1, "down")}])
    missed, seen = [], threading.Event()

    def processes():
        state = next(states, {1: BrokerProcess(1, "down")})
        if isinstance(state, Exception):
            raise state
        return state

    def hear(state):
        if len(missed) == 2:
            raise KeyError("hearer")
        seen.set()

    background = BackgroundPoller(
        ClusterPoller(processes, lambda: {}), lambda: None, every=0.01, missed=missed.append
    )
    background.subscribe(hear)
    background.start()
    assert seen.wait(5)
    background.close()
    assert missed == ["Docker does not answer.", "OSError: gone", "KeyError: 'hearer'"]


def test_the_pace_of_polls_does_not_depend_on_the_systems_time(monkeypatch):
    heard, often = [], threading.Event()

    def hear(state):
        heard.append(state.at)
        if len(heard) == 5:
            often.set()

    times = itertools.count(2e9, -3600)  # it is set back again and again
    monkeypatch.setattr(clock, "now", lambda: next(times))
    poller = ClusterPoller(lambda: {1: BrokerProcess(1, "down")}, lambda: {})
    background = BackgroundPoller(poller, lambda: None, every=0.01, missed=pytest.fail)
    background.subscribe(hear)
    background.start()
    assert often.wait(5)
    background.close()
    assert heard[:3] == sorted(heard[:3], reverse=True)


def test_a_step_of_the_systems_time_makes_no_broker_silent(monkeypatch, talker):
    poller = ClusterPoller(lambda: {1: BrokerProcess(1, "up")}, lambda: {1: {"CLIENT": talker}})
    poller._answered[1] = time.monotonic()
    monkeypatch.setattr(clock, "now", lambda: time.time() + 3600)
    assert poller._broker(clock.now(), BrokerProcess(1, "up"), {1: ""}, "").state == "up"
    poller.close()


def test_without_brokers_a_cluster_has_no_topics_and_says_so(tmp_path):
    cluster = Cluster(tmp_path)
    state = cluster.state()
    assert [broker.state for broker in state.brokers] == ["down"] * 3
    assert (state.topics, state.last_response_at, cluster.views()) == ((), None, {})
    with pytest.raises(LabError, match=r"No broker answers.*threebrokers up"):
        cluster.segments("orders", 0)


def test_segments_wait_for_a_leader_and_say_for_how_long(tmp_path, monkeypatch):
    cluster, leaders = Cluster(tmp_path), [None, 2]

    def state(topics):
        leader = leaders.pop(0) if len(leaders) > 1 else leaders[0]
        return ClusterState(
            0, (), topics=(TopicState("orders", (partition(leader, 1),)),), last_response_at=0
        )

    monkeypatch.setattr(cluster, "state", state)
    monkeypatch.setattr(cluster._engine, "segments", lambda topic, partition, broker: [broker])
    assert cluster.segments("orders", 0) == [2]
    leaders[:] = [None]
    monkeypatch.setattr("threebrokers.cluster.cluster.LEADER_SECONDS", 0)
    with pytest.raises(LabError, match=r"has had no leader for 0 s.*lab\.cluster\.up"):
        cluster.segments("orders", 0)


def test_partitions_stay_known_while_nobody_answers():
    poller = ClusterPoller(lambda: {}, lambda: {})
    poller._known = {"orders": [0, 1]}
    poller.poll(["orders"])
    assert poller._known == {"orders": [0, 1]}
