"""Facts about groups and their members, as seen: this client's, and Java's where it does something else."""

from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from py4j.protocol import Py4JJavaError

from tests.asked import Brokers, Java, Librdkafka
from tests.closing import close
from tests.fact_bench import MADE, NOBODY, PATIENCE, SEEN, consumer, coordinator, group, one, plain, quoted
from tests.facts import Found
from threebrokers.cluster import Cluster
from threebrokers.kafka import client_settings
from threebrokers.waiting import quiet_wait

__all__ = ["consumer", "group", "one", "plain"]

Make = Callable[..., Consumer]
PROTOCOLS = ("classic", "consumer")
# A busy machine may stand still for a second, and it shall not be the session that is over.
SOON_OUT = {"session_timeout_ms": 3000, "heartbeat_interval_ms": 200, "max_poll_interval_ms": 3000}


@pytest.mark.fact("Groups", "strategies in one list")
def test_mixed_strategies(librdkafka: Librdkafka, java_client: Java, found: Found):
    with pytest.raises(KafkaException, match=r"must not be mixed|cooperative"):
        Consumer({"group.id": "g", "partition.assignment.strategy": "range,cooperative-sticky"})
    with pytest.raises(KafkaException, match=r"Unsupported partition\.assignment\.strategy"):
        Consumer(
            {
                "group.id": "g",
                "partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor",
            }
        )
    found("eager and cooperative together are refused, Java's names too", "its default has both", MADE)


@pytest.mark.fact("Groups", "settings that the new protocol refuses")
def test_settings_of_the_classic_protocol(librdkafka: Librdkafka, java_client: Java, found: Found):
    refused = {
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 1000,
        "partition.assignment.strategy": "range",
    }
    for name, value in refused.items():
        with pytest.raises(KafkaException, match="not supported"):
            Consumer({"group.id": "g", "group.protocol": "consumer", name: value})
        own = {"group_id": "g", "group_protocol": "consumer", name.replace(".", "_"): str(value)}
        with pytest.raises(Py4JJavaError, match=r"ConfigException|KafkaException"):
            java_client.consumer(NOBODY, **own)
    found(quoted(tuple(refused)), "the same", MADE)


@pytest.mark.fact("Groups", "too long between two polls")
def test_too_long_between_polls(
    cluster: Cluster,
    one: str,
    group: str,
    consumer: Make,
    librdkafka: Librdkafka,
    brokers: Brokers,
    found: Found,
):
    reader = consumer(**SOON_OUT)
    thrown_out(cluster, reader, one, group)
    [heard] = [message.error() for message in reader.consume(100, 0.5) if message.error()][:1]
    assert heard.code() == KafkaError._MAX_POLL_EXCEEDED
    found("the client itself leaves the group; `_MAX_POLL_EXCEEDED` comes among the records", "", SEEN)


def thrown_out(cluster: Cluster, reader: Consumer, topic: str, group: str, **listeners: object) -> None:
    """Let a consumer read a record, and then poll nothing until its group has lost it."""
    reader.subscribe([topic], **listeners)
    assert reader.consume(1, PATIENCE)
    coordinator(cluster, group, lambda told: told.state == "Empty")


@pytest.mark.fact("Groups", "a commit of who was thrown out")
def test_a_commit_of_who_was_thrown_out(
    cluster: Cluster,
    one: str,
    group: str,
    consumer: Make,
    librdkafka: Librdkafka,
    java_client: Java,
    brokers: Brokers,
    found: Found,
):
    reader = consumer(enable_auto_commit=False, **SOON_OUT)
    thrown_out(cluster, reader, one, group)
    codes = []
    for what in ({}, {"offsets": [TopicPartition(one, 0, 1)]}, {}):
        with pytest.raises(KafkaException) as raised:
            reader.commit(asynchronous=False, **what)
        codes.append(raised.value.args[0].code())
    lost = KafkaError._ASSIGNMENT_LOST
    assert codes == [lost, KafkaError.UNKNOWN_MEMBER_ID, lost]
    own = {name: str(value) for name, value in SOON_OUT.items()}
    there = java_client.consumer(
        cluster.bootstrap,
        group_id=f"{group}-java",
        auto_offset_reset="earliest",
        enable_auto_commit="false",
        **own,
    )
    there.subscribe([one])
    assert quiet_wait(lambda: there.poll(java_client.ms(500)).count(), PATIENCE)
    coordinator(cluster, f"{group}-java", lambda told: told.state == "Empty")
    with pytest.raises(Py4JJavaError, match="CommitFailedException"):
        there.commitSync()
    there.close()
    here = "`commit(asynchronous=False)` raises `_ASSIGNMENT_LOST`, with `offsets=…` UNKNOWN_MEMBER_ID"
    found(here, "`CommitFailedException`", SEEN)


@pytest.mark.fact("Groups", "partitions are lost, and there is no `on_lost`")
def test_lost_without_a_listener(
    cluster: Cluster,
    one: str,
    group: str,
    consumer: Make,
    librdkafka: Librdkafka,
    brokers: Brokers,
    found: Found,
):
    heard: list[int] = []

    def on_revoke(reader: Consumer, places: list[TopicPartition]) -> None:
        try:
            reader.commit(asynchronous=False)
        except KafkaException as error:
            heard.append(error.args[0].code())

    reader = consumer(enable_auto_commit=False, **SOON_OUT)
    thrown_out(cluster, reader, one, group, on_revoke=on_revoke)

    def called() -> list[int]:
        reader.consume(100, 0.1)
        return heard

    assert quiet_wait(called, PATIENCE)
    assert heard[0] == KafkaError._ASSIGNMENT_LOST
    found("`on_revoke` is called; `commit()` in it raises `_ASSIGNMENT_LOST`", "", SEEN)


@pytest.mark.fact("Groups", "members of both protocols in one group")
def test_both_protocols_in_one_group(
    cluster: Cluster, plain: str, group: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    own = client_settings.shared(cluster.bootstrap) | {"group.id": group}
    members = [Consumer(own | {"heartbeat.interval.ms": 200})]

    def shared() -> bool:
        for member in members:
            member.poll(0.1)
        return {len(member.assignment()) for member in members} == {6 // len(members)}

    members[0].subscribe([plain])
    assert quiet_wait(shared, PATIENCE)
    members.append(Consumer(own | {"group.protocol": "consumer"}))
    members[1].subscribe([plain])
    assert quiet_wait(shared, 2 * PATIENCE)
    close(*members)
    found("they share its partitions, so a group can change over one member after the other", "", SEEN)


@pytest.mark.fact("Groups", "a member closes")
def test_leaving(
    cluster: Cluster, one: str, group: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    left = {}
    for name in ("", "named"):
        own = {"group.id": f"{group}-{name}", "auto.offset.reset": "earliest", "enable.auto.commit": False}
        member = Consumer(
            client_settings.shared(cluster.bootstrap) | own | ({"group.instance.id": name} if name else {})
        )
        member.subscribe([one])
        assert member.poll(PATIENCE) is not None
        member.commit(asynchronous=False)
        member.close()
        left[name] = len(coordinator(cluster, f"{group}-{name}", lambda told: told.committed).members)
    assert left == {"": 0, "named": 1}
    found("leaves at once; with `group.instance.id` it stays until its session is over", "", SEEN)


@pytest.mark.fact("Groups", "two members with one group.instance.id")
def test_the_same_name_twice(
    cluster: Cluster, one: str, group: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    ended = {protocol: twins_end(cluster, one, f"{group}-{protocol}", protocol) for protocol in PROTOCOLS}
    assert list(ended["classic"]) == [0]
    assert list(ended["consumer"]) == [1]
    [fenced, refused] = [error for heard in ended.values() for error in heard.values()]
    assert fenced.code() == refused.code() == KafkaError._FATAL
    assert "Static consumer fenced by other consumer" in fenced.str()
    assert "instance ID is still used by another member" in refused.str()
    here = (
        "one hears `_FATAL`: classic, the first, which is fenced; new protocol, the second, which is refused"
    )
    found(here, "", SEEN)


def twins_end(cluster: Cluster, topic: str, group: str, protocol: str) -> dict[int, KafkaError]:
    """Let two members have one name; return which of them heard of what error."""
    own = client_settings.shared(cluster.bootstrap) | {"group.id": group, "auto.offset.reset": "earliest"}
    named = own | {"group.instance.id": "twin", "group.protocol": protocol}
    twins = [Consumer(named), Consumer(named)]
    heard: dict[int, KafkaError] = {}

    def listen(numbers: list[int]) -> None:
        for number in numbers:
            try:
                message = twins[number].poll(0.1)
            except KafkaException as error:
                heard[number] = error.args[0]
            else:
                if message is not None and message.error():
                    heard[number] = message.error()

    twins[0].subscribe([topic])
    quiet_wait(lambda: listen([0]) or twins[0].assignment(), PATIENCE)
    twins[1].subscribe([topic])
    quiet_wait(lambda: listen([0, 1]) or heard, PATIENCE)
    close(*twins)
    return heard
