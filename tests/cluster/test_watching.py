"""Polling real brokers while they come and go."""

import time

import pytest
from confluent_kafka import Producer

from threebrokers.cluster import topics
from threebrokers.kafka.clients import Clients
from threebrokers.waiting import quiet_wait, wait_until

POLLS = 100  # who does not answer is asked again after 0.6 s: so that happens several times among them


@pytest.fixture(scope="module")
def orders(cluster):
    topics.create(cluster, "watched", 3, 3, {"min.insync.replicas": "1"})
    yield "watched"
    topics.delete(cluster, ["watched"])


@pytest.fixture
def poller(cluster):
    poller = cluster.poller()
    yield poller
    poller.close()
    cluster.up()


def seen(poller, *asked):
    """Poll until every running broker has answered: on a busy machine one may miss a poll."""

    def answered():
        state = poller.poll(*asked)
        return None if poller.silent else state

    return wait_until(answered, what="every broker to answer", within=20, otherwise="look at the machine.")


def quorum_leader(poller):
    """Poll until a broker says that it leads the quorum: during an election none does."""
    return wait_until(lambda: poller.poll([]).quorum_leader, what="it", within=20, otherwise="see who is up.")


def group_of(poller, topic, name):
    """Poll until a broker tells of the group: who has just become its coordinator reads its offsets first."""

    def told():
        [group] = seen(poller, [topic], [name]).groups
        return None if group.coordinator is None else group

    return wait_until(told, what="the group", within=10, otherwise="see who is up.")


def partitions(poller, name):
    return seen(poller, [name]).topic(name).partitions


def whole(poller, name):
    return all(len(p.isr) == 3 and p.leader for p in partitions(poller, name))


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_its_members_and_what_it_committed(cluster, poller, orders, tmp_path, protocol):
    name = f"watchers-{protocol}"
    clients = Clients(cluster.bootstrap, tmp_path)
    producer = clients.producer({"enable.idempotence": True})
    for n in range(30):
        producer.produce(orders, str(n), partition=n % 3)
    producer.flush()
    ends = tuple((orders, p.id, p.log_end_offset) for p in partitions(poller, orders))
    own = {"group.id": name, "group.protocol": protocol, "enable.auto.commit": False}
    consumer = clients.consumer({**own, "auto.offset.reset": "earliest"})
    consumer.subscribe([orders])
    stored = sum(end for _, _, end in ends)
    assert len(consumer.consume(stored, timeout=20)) == stored
    consumer.commit(asynchronous=False)
    group = group_of(poller, orders, name)
    assert group.state == "Stable"
    assert [m.partitions for m in group.members] == [((orders, 0), (orders, 1), (orders, 2))]
    assert group.committed == ends
    clients.close()
    assert quiet_wait(lambda: poller.poll([orders], [name]).groups[0].members == (), 10)


def test_records_that_no_follower_has_are_not_readable(cluster, poller, orders, tmp_path):
    assert quiet_wait(lambda: whole(poller, orders), 10)
    leader = partitions(poller, orders)[0].leader
    followers = [n for n in cluster.brokers if n != leader]
    for n in followers:
        cluster.pause(n, force=True)
    # A fetch that was open when its follower was paused may still be answered, without being taken.
    clients = Clients(cluster.bootstrap, tmp_path)
    producer = clients.producer({"acks": 1})
    before = partitions(poller, orders)[0].log_end_offset
    for _ in range(3):
        producer.produce(orders, "new", partition=0)
        producer.flush()
    [seen] = [p for p in partitions(poller, orders) if p.id == 0]
    assert seen.log_end_offset == before + 3
    assert seen.high_watermark < seen.log_end_offset
    assert dict(seen.log_end_offsets).keys() == {leader}
    for n in followers:
        cluster.resume(n)

    def read_to_the_end() -> bool:  # another one may lead by now, without the three
        here = partitions(poller, orders)[0]
        return here.high_watermark == here.log_end_offset and here.log_end_offset in (before, before + 3)

    assert quiet_wait(read_to_the_end, 15)
    clients.close()


def test_an_open_transaction_holds_the_last_stable_offset_back(cluster, poller, orders):
    assert quiet_wait(lambda: whole(poller, orders), 10)
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": "watched"})
    producer.init_transactions(20)
    producer.begin_transaction()
    before = partitions(poller, orders)[0].log_end_offset
    producer.produce(orders, "perhaps", partition=0)
    producer.flush(20)
    held = partitions(poller, orders)[0]
    assert (held.last_stable_offset, held.high_watermark) == (before, before + 1)
    producer.commit_transaction(20)
    # The mark that ends a transaction has an offset of its own.
    assert quiet_wait(lambda: partitions(poller, orders)[0].last_stable_offset == before + 2, 10)


def test_who_left_an_isr_that_was_at_its_minimum_is_eligible(cluster, poller):
    topics.create(cluster, "eligible", 1, 2, {"min.insync.replicas": "2"}, brokers=[1, 2])
    assert partitions(poller, "eligible")[0].elr == ()
    cluster.kill(2)
    assert quiet_wait(lambda: partitions(poller, "eligible")[0].elr == (2,), 20)
    cluster.wait_in_sync(["eligible"])
    assert quiet_wait(lambda: partitions(poller, "eligible")[0].elr == (), 10)
    topics.delete(cluster, ["eligible"])


@pytest.mark.parametrize("fault", ["kill", "pause"])
def test_no_poll_takes_long_and_the_state_is_told(cluster, poller, orders, ticks, fault):
    assert quiet_wait(lambda: whole(poller, orders), 15)
    leader = quorum_leader(poller)
    getattr(cluster, fault)(leader)
    took, end = [], time.monotonic() + 20
    while time.monotonic() < end:
        begun = ticks.now
        state = poller.poll([orders])
        took.append(ticks.now - begun)
        broker = state.broker(leader)
        led = [p.leader for p in state.topic(orders).partitions]
        gone = not broker.registered and state.quorum_leader not in (None, leader) and leader not in led
        if gone and len(took) >= POLLS:
            break
        time.sleep(0.02)
    assert (broker.state, broker.registered) == ("paused" if fault == "pause" else "down", False)
    assert state.quorum_leader != leader
    assert leader not in led
    # A poll that waits for who is gone would do so again and again; a busy machine holds up one or two.
    assert sorted(took)[-3] < 1.0
    cluster.wait_in_sync([orders])
    assert quiet_wait(lambda: whole(poller, orders), 15)
    assert seen(poller, [orders]).broker(leader).state == "up"
