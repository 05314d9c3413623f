"""Why a consumer gets nothing: each reason is made to happen, and named."""

from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.commands import run
from threebrokers.cluster import Cluster, topics
from threebrokers.errors import LabError
from threebrokers.kafka.clients import Clients, LabConsumer
from threebrokers.kafka.poller import ClusterPoller
from threebrokers.kafka.state import GroupState
from threebrokers.waiting import poll, quiet_wait, wait_until
from threebrokers.why_empty import Answer, explain

TOPIC = "why-empty"
# A client that commits by itself does so at any moment, and may leave a test nothing to commit.
EARLIEST = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
NAMES = iter(range(1000))

Make = Callable[..., LabConsumer]


@pytest.fixture(scope="module")
def bench(cluster: Cluster) -> Iterator[Cluster]:
    """Healthy brokers, and a topic of one partition with five records in it."""
    cluster.up()
    topics.delete(cluster, [TOPIC])
    topics.create(cluster, TOPIC, 1, 3, {})
    write(cluster, TOPIC, 5)
    yield cluster
    cluster.up()
    topics.delete(cluster, [TOPIC])


@pytest.fixture
def group() -> str:
    """A group that nobody has used."""
    return f"why-{next(NAMES)}"


@pytest.fixture
def consumer(bench: Cluster, home: Any, group: str) -> Iterator[Make]:
    """Make consumers of the group that have subscribed to the topic; they are closed at the end."""
    clients = Clients(bench.bootstrap, home)

    def make(config: Mapping[str, Any] = EARLIEST, topic: str = TOPIC) -> LabConsumer:
        made = clients.consumer({"group.id": group, **config})
        if topic:
            made.subscribe([topic])
        return made

    yield make
    clients.close()


@pytest.fixture
def other(bench: Cluster) -> Iterator[Callable[..., str]]:
    """Make a topic for one test."""
    made: list[str] = []

    def make(partitions: int = 1, records: int = 0, replicas: int = 1) -> str:
        name = f"why-empty-{next(NAMES)}"
        topics.create(bench, name, partitions, replicas, {})
        made.append(name)
        write(bench, name, records)
        return name

    yield make
    bench.up()
    topics.delete(bench, made)


def write(cluster: Cluster, topic: str, count: int, partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap})
    for number in range(count):
        producer.produce(topic, str(number).encode(), partition=partition)
    assert producer.flush(20) == 0


def joined(cluster: Cluster, *members: LabConsumer) -> None:
    """Let consumers poll until their group has shared out its partitions; what they read is dropped."""
    group = str(members[0].config["group.id"])

    def settled() -> bool:
        for member in members:
            member.poll(0.05)
        told = group_of(cluster, group)
        held = sum(len(member.assignment()) for member in members)
        return (
            told.state == "Stable"
            and {member.id for member in told.members} == {member.memberid() for member in members}
            and held == sum(len(member.partitions) for member in told.members) > 0
        )

    assert quiet_wait(settled, 20)


def read(consumer: Consumer, count: int) -> None:
    """Let a consumer read and commit so many records."""
    got: list[Any] = []

    def enough() -> bool:
        got.extend(m for m in consumer.consume(count - len(got), 0.2) if not m.error())
        return len(got) >= count

    assert quiet_wait(enough, 20)
    consumer.commit(asynchronous=False)


def commit(cluster: Cluster, group: str, *places: tuple[str, int, int]) -> None:
    """Commit offsets for a group in which nobody is."""
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group})
    consumer.commit(offsets=[TopicPartition(*place) for place in places], asynchronous=False)
    consumer.close()


def group_of(cluster: Cluster, group: str) -> GroupState:
    return cluster.state([], [group]).groups[0]


def awaited(ask: Callable[[], Answer], true: Callable[[Answer], bool]) -> Answer:
    """Ask until this is true of the answer, or for 10 s; return the last answer."""
    for answer in poll(ask, 10):
        if true(answer):
            break
    return answer


def said(answer: Answer, cause: str, *words: str) -> None:
    assert answer.cause == cause, repr(answer)
    for word in words:
        assert word in str(answer), repr(answer)
    assert "\n" not in str(answer)


class TestTheTopic:
    def test_does_not_exist(self, bench, group):
        answer = explain(bench, group, "why-emtpy")
        said(answer, "no topic", "the nearest name is 'why-empty'")

    def test_has_no_record(self, bench, group, consumer, other):
        topic = other(2)
        said(explain(bench, group, topic), "no records", "nothing was ever written")
        mine = consumer(topic=topic)
        joined(bench, mine)
        said(explain(bench, mine, topic), "no records")

    def test_has_none_any_more(self, bench, group, other):
        topic = other(1, 3)
        place = TopicPartition(topic, 0, 3)
        admin = bench.admin()  # a client that is let go takes its calls with it
        [call] = admin.delete_records([place]).values()
        call.result(10)
        answer = explain(bench, group, topic)
        said(answer, "deleted", "3 offsets were given out", "delete_records")
        assert (answer.facts.places[0].start, answer.facts.places[0].end) == (3, 3)


class TestTheGroup:
    def test_nobody_is_in_it(self, bench, group):
        said(
            explain(bench, group, TOPIC),
            "nobody",
            f"Nobody is in group '{group}'",
            "subscribe(['why-empty'])",
        )

    def test_nobody_is_in_it_any_more(self, bench, group):
        commit(bench, group, (TOPIC, 0, 2))
        said(explain(bench, group, TOPIC), "nobody", "it has read before")

    def test_another_has_nearly_its_name(self, bench, group):
        commit(bench, f"{group}-a1b2", (TOPIC, 0, 2))
        # A broker that does not answer in time tells of no groups, and then no name is offered.
        answer = awaited(lambda: explain(bench, group, TOPIC), lambda answer: "is it meant?" in str(answer))
        said(answer, "nobody", f"'{group}-a1b2': is it meant?")

    def test_the_consumer_did_not_subscribe(self, bench, consumer):
        said(explain(bench, consumer(topic=""), TOPIC), "not joined", "neither subscribed nor")

    def test_it_is_subscribed_to_something_else(self, bench, group, consumer, other):
        topic = other(1, 1)
        mine = consumer(topic=topic)
        joined(bench, mine)
        said(explain(bench, mine, TOPIC), "not subscribed", f"has subscribed to '{topic}', and not to")
        said(explain(bench, group, TOPIC), "not subscribed", f"they read '{topic}'")

    def test_a_member_that_does_not_poll_holds_up_a_rebalance(self, bench, group, consumer):
        first = consumer()
        joined(bench, first)
        second = consumer()
        assert quiet_wait(lambda: len(bench.state([TOPIC], [group]).groups[0].members) == 2, 10)
        said(explain(bench, second, TOPIC), "rebalancing", "PreparingRebalance, 2 members", "close()")

    def test_the_consumer_has_not_polled(self, bench, group, consumer):
        mine = consumer()
        assert quiet_wait(lambda: bench.state([TOPIC], [group]).groups[0].state == "Stable", 10)
        said(explain(bench, mine, TOPIC), "not polled", "takes its partitions inside poll()")

    def test_there_are_more_members_than_partitions(self, bench, group, consumer):
        members = consumer(), consumer()
        joined(bench, *members)
        reader, idle = sorted(members, key=lambda member: not member.assignment())
        reader.commit(offsets=[TopicPartition(TOPIC, 0, 5)], asynchronous=False)
        said(
            explain(bench, idle, TOPIC), "idle", "2 members and 'why-empty' only 1 partition", "this consumer"
        )
        said(explain(bench, group, TOPIC), "idle", f"these have none: {idle.memberid()}")

    def test_a_forgotten_member_holds_what_there_is(self, bench, group, consumer):
        members = consumer(), consumer()
        joined(bench, *members)
        forgotten, mine = sorted(members, key=lambda member: not member.assignment())
        answer = explain(bench, mine, TOPIC, watch=0.5)
        said(answer, "forgotten", "5 records wait in partition 0", str(forgotten.memberid()), "ran twice")

    def test_it_did_not_poll_for_too_long(self, bench, group, consumer):
        session = {"session.timeout.ms": 3000, "heartbeat.interval.ms": 200}
        mine = consumer({**EARLIEST, **session, "max.poll.interval.ms": 3000})
        joined(bench, mine)
        # A group of which nobody tells has no members either.
        assert quiet_wait(lambda: not mine.memberid() and group_of(bench, group).state == "Empty", 20)
        said(explain(bench, mine, TOPIC), "not joined", "max.poll.interval.ms (3000 here)", "thrown out")

    def test_it_is_closed(self, bench, consumer):
        mine = consumer()
        mine.close()
        said(explain(bench, mine, TOPIC), "closed")

    def test_the_records_are_in_partitions_of_another(self, bench, consumer, other):
        topic = other(2)
        first, second = consumer(topic=topic), consumer(topic=topic)
        joined(bench, first, second)
        write(bench, topic, 3, partition=first.assignment()[0].partition)
        read(first, 3)
        said(explain(bench, second, topic), "elsewhere", "another member of the group has")


class TestTheOffsets:
    @pytest.mark.parametrize("protocol", ["classic", "consumer"])
    def test_everything_was_read(self, bench, group, consumer, protocol):
        mine = consumer({**EARLIEST, "group.protocol": protocol})
        read(mine, 5)
        said(explain(bench, mine, TOPIC), "all read", "lag 0")
        answer = explain(bench, group, TOPIC)
        said(answer, "all read", "committed the end everywhere")
        assert "0     " in repr(answer)
        assert repr(answer).count(str(mine.memberid())) == 1

    def test_nothing_is_committed_and_it_begins_at_the_end(self, bench, group, consumer):
        mine = consumer({})
        joined(bench, mine)
        said(explain(bench, mine, TOPIC), "latest", "this consumer has auto.offset.reset=latest", "5 records")
        said(explain(bench, group, TOPIC), "latest", "With latest, Kafka's default")

    def test_the_committed_offset_is_out_of_range(self, bench, group, consumer, other):
        topic = other(1, 2)
        commit(bench, group, (topic, 0, 77))
        mine = consumer({"auto.offset.reset": "latest"}, topic)
        joined(bench, mine)
        said(explain(bench, mine, topic), "out of range", "committed offset 77", "0 to 2", "(latest)")

    def test_something_is_there_and_nobody_polls(self, bench, group, consumer):
        mine = consumer()
        joined(bench, mine)
        begin = TopicPartition(TOPIC, 0, 0)

        def reads() -> bool:
            """Poll; tell whether a record has come: before that the client may not know where it reads."""
            mine.poll(0.1)
            return mine.position([begin])[0].offset > 0

        assert quiet_wait(reads, 20)
        mine.seek(begin)
        said(explain(bench, mine, TOPIC), "unread", "wait in partition 0", "Call poll()")

    def test_assigned_by_hand(self, bench, consumer, other):
        topic = other(2, 3)
        mine = consumer({}, "")
        mine.assign([TopicPartition(topic, 1)])
        said(explain(bench, mine, topic), "elsewhere", "holds partition 1")
        mine.assign([TopicPartition(topic, 0)])
        said(explain(bench, mine, topic), "latest")

    def test_the_group_moves(self, bench, group, consumer):
        mine = consumer()
        joined(bench, mine)
        # Somebody reads on while the question is answered, at every look: on a busy machine the coordinator
        # does not tell of each.
        commits = cycle((1, 2))
        make = bench.poller

        def poller():
            made = make()
            once = made.poll

            def moving(*words, **more):
                mine.commit(offsets=[TopicPartition(TOPIC, 0, next(commits))], asynchronous=False)
                return once(*words, **more)

            made.poll = moving
            return made

        bench.poller = poller
        try:
            said(explain(bench, group, TOPIC), "moving", "does read", "partition 0 while it was watched")
        finally:
            del bench.poller


class TestTransactions:
    @pytest.fixture
    def producer(self, bench: Cluster) -> Producer:
        made = Producer({"bootstrap.servers": bench.bootstrap, "transactional.id": f"why-{next(NAMES)}"})
        made.init_transactions(20)
        made.begin_transaction()
        return made

    def test_an_open_one_holds_back_what_is_behind_it(self, bench, group, consumer, other, producer):
        topic = other()
        producer.produce(topic, b"1", partition=0)
        producer.flush(10)
        mine = consumer(topic=topic)
        joined(bench, mine)
        said(explain(bench, mine, topic), "transaction", "from offset 0 on", "1 record", "read_uncommitted")
        free = consumer({**EARLIEST, "isolation.level": "read_uncommitted", "group.id": f"{group}-b"}, topic)
        read(free, 1)
        said(explain(bench, free, topic), "all read")
        producer.abort_transaction(20)  # its mark is written a moment later
        answer = awaited(lambda: explain(bench, mine, topic), lambda answer: answer.cause == "aborted")
        said(answer, "aborted", "aborted transactions")


class TestBrokers:
    def test_a_partition_without_a_leader(self, bench, group, other):
        topic = other(1, 1)
        leader = bench.state([topic]).topic(topic).partitions[0].leader
        bench.kill(leader)
        answer = explain(bench, group, topic, settle=0.3)
        said(answer, "no leader", f"roker {leader} is down", f"start({leader})")
        bench.start(leader)

    def test_no_coordinator(self, bench, group):
        for _ in range(3):
            coordinator, answer = without_coordinator(bench, group)
            led = answer.facts.index and answer.facts.index.leader
            if led == coordinator:  # else another one had taken over, and the answer is about that
                break
        said(answer, "no coordinator", f"roker {coordinator} is paused", f"resume({coordinator})")
        assert led == coordinator

    def test_none_answers(self, bench, group):
        class Silent:
            def poller(self):
                return ClusterPoller(dict, dict)

        said(explain(Silent(), group, TOPIC, settle=0), "no broker", "threebrokers up")


def without_coordinator(bench: Cluster, group: str) -> tuple[int, Answer]:
    """Ask why nothing comes while the group's coordinator is paused; return that broker and the answer."""

    def told() -> int | None:
        return group_of(bench, group).coordinator

    coordinator = wait_until(told, what="a coordinator", within=10, otherwise="look at the brokers.")
    topic = f"{TOPIC}-elsewhere"
    topics.create(bench, topic, 1, 2, {}, brokers=[n for n in bench.brokers if n != coordinator])
    write(bench, topic, 1)
    bench.pause(coordinator)
    # Another one takes over in 2 s, on a busy machine also while this is asked.
    answer = explain(bench, group, topic, settle=0)
    bench.resume(coordinator)
    topics.delete(bench, [topic])
    return coordinator, answer


def test_what_is_no_group_is_refused(bench):
    with pytest.raises(LabError, match="not by 3"):
        explain(bench, 3, TOPIC)
    with pytest.raises(LabError, match="A topic is told by its name"):
        explain(bench, "alerts", [TOPIC])


def test_the_command_line_says_it_too(bench, group):
    result = run("why-empty", group, "why-emtpy")
    assert result.exit_code == 0
    assert "the nearest name is 'why-empty'" in result.output
