"""Facts about this client, Java's and the brokers: each is asserted, and told to docs/facts.md.

What lessons say about clients stands here first. These are settings and names; what clients do is in
test_facts_producer.py and test_facts_consumer.py.
"""

import zipfile
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.asked import Brokers, Java, Librdkafka, OlderJava
from tests.fact_bench import BROKERS, MADE, PATIENCE, READ, SEEN, plain, quoted, shown
from tests.facts import Found
from threebrokers.cluster import Cluster
from threebrokers.cluster.settings import TABLE

__all__ = ["plain"]

BUFFER = "queue.buffering.max"
DEFAULTS = (
    # group, fact, the client, this client's setting and default, Java's
    ("Producer", "whose answer counts", "producer", "acks -1", "acks all"),
    ("Producer", "no record twice", "producer", "enable.idempotence false", "enable.idempotence true"),
    ("Producer", "waits for more records", "producer", "linger.ms 5", "linger.ms 5"),
    ("Producer", "bytes of a batch", "producer", "batch.size 1000000", "batch.size 16384"),
    ("Producer", "records of a batch", "producer", "batch.num.messages 10000", ""),
    ("Producer", "compression", "producer", "compression.type none", "compression.type none"),
    ("Producer", "tries of a record", "producer", "retries 2147483647", "retries 2147483647"),
    ("Producer", "time for all tries", "producer", "message.timeout.ms 300000", "delivery.timeout.ms 120000"),
    ("Producer", "time for one request", "producer", "request.timeout.ms 30000", "request.timeout.ms 30000"),
    ("Producer", "pause between tries", "producer", "retry.backoff.ms 100", "retry.backoff.ms 100"),
    ("Producer", "longest such pause", "producer", "retry.backoff.max.ms 1000", "retry.backoff.max.ms 1000"),
    ("Producer", "records that may wait", "producer", f"{BUFFER}.messages 100000", ""),
    ("Producer", "memory for them", "producer", f"{BUFFER}.kbytes 1048576", "buffer.memory 33554432"),
    ("Producer", "largest request", "producer", "message.max.bytes 1000000", "max.request.size 1048576"),
    (
        "Producer",
        "requests under way",
        "producer",
        "max.in.flight.requests.per.connection 1000000",
        "max.in.flight.requests.per.connection 5",
    ),
    (
        "Producer",
        "a topic that is not there",
        "producer",
        "topic.metadata.propagation.max.ms 30000",
        "max.block.ms 60000",
    ),
    (
        "Producer",
        "longest open transaction",
        "producer",
        "transaction.timeout.ms 60000",
        "transaction.timeout.ms 60000",
    ),
    ("Partitioner", "setting", "producer", "partitioner consistent_random", "partitioner.class null"),
    ("Partitioner", "stays with a partition", "producer", "sticky.partitioning.linger.ms 10", ""),
    (
        "Consumer",
        "transactions",
        "consumer",
        "isolation.level read_committed",
        "isolation.level read_uncommitted",
    ),
    ("Consumer", "a new group begins", "consumer", "auto.offset.reset largest", "auto.offset.reset latest"),
    ("Consumer", "commits by itself", "consumer", "enable.auto.commit true", "enable.auto.commit true"),
    ("Consumer", "commits each", "consumer", "auto.commit.interval.ms 5000", "auto.commit.interval.ms 5000"),
    (
        "Consumer",
        "creates topics",
        "consumer",
        "allow.auto.create.topics false",
        "allow.auto.create.topics true",
    ),
    ("Consumer", "time for one answer", "consumer", "socket.timeout.ms 60000", "request.timeout.ms 30000"),
    ("Consumer", "checks checksums", "consumer", "check.crcs false", "check.crcs true"),
    ("Consumer", "least of an answer", "consumer", "fetch.min.bytes 1", "fetch.min.bytes 1"),
    ("Consumer", "waits for that", "consumer", "fetch.wait.max.ms 500", "fetch.max.wait.ms 500"),
    ("Consumer", "most of an answer", "consumer", "fetch.max.bytes 52428800", "fetch.max.bytes 52428800"),
    (
        "Consumer",
        "most for a partition",
        "consumer",
        "max.partition.fetch.bytes 1048576",
        "max.partition.fetch.bytes 1048576",
    ),
    ("Consumer", "waits in the client", "consumer", "queued.max.messages.kbytes 65536", ""),
    ("Consumer", "records that wait there", "consumer", "queued.min.messages 100000", ""),
    ("Groups", "protocol", "consumer", "group.protocol classic", "group.protocol classic"),
    (
        "Groups",
        "assignors",
        "consumer",
        "partition.assignment.strategy range,roundrobin",
        "partition.assignment.strategy range,cooperative-sticky",
    ),
    ("Groups", "session", "consumer", "session.timeout.ms 45000", "session.timeout.ms 45000"),
    ("Groups", "heartbeats", "consumer", "heartbeat.interval.ms 3000", "heartbeat.interval.ms 3000"),
    (
        "Groups",
        "time between two polls",
        "consumer",
        "max.poll.interval.ms 300000",
        "max.poll.interval.ms 300000",
    ),
    (
        "Connections",
        "pause before the next try",
        "producer",
        "reconnect.backoff.ms 100",
        "reconnect.backoff.ms 50",
    ),
    (
        "Connections",
        "longest such pause",
        "producer",
        "reconnect.backoff.max.ms 10000",
        "reconnect.backoff.max.ms 1000",
    ),
    (
        "Connections",
        "asks for metadata again",
        "producer",
        "topic.metadata.refresh.interval.ms 300000",
        "metadata.max.age.ms 300000",
    ),
    (
        "Connections",
        "all known brokers are lost",
        "consumer",
        "metadata.recovery.strategy rebootstrap",
        "metadata.recovery.strategy rebootstrap",
    ),
)
OF_BROKERS = (
    ("Brokers", "who creates topics", "auto.create.topics.enable", "true"),
    ("Brokers", "replicas of a topic", "default.replication.factor", "1"),
    ("Brokers", "partitions of a topic", "num.partitions", "1"),
    ("Brokers", "replicas that must be in sync", "min.insync.replicas", "1"),
    ("Brokers", "a leader out of sync", "unclean.leader.election.enable", "false"),
    ("Brokers", "a dead broker is missed", "broker.session.timeout.ms", "9000"),
    ("Brokers", "a slow copy leaves the ISR", "replica.lag.time.max.ms", "30000"),
    ("Brokers", "longest transaction that may be asked for", "transaction.max.timeout.ms", "900000"),
    (
        "Brokers",
        "they look for transactions out of time each",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        "10000",
    ),
    ("Brokers", "an unused transactional.id is forgotten", "transactional.id.expiration.ms", "604800000"),
    ("Brokers", "partitions of __transaction_state", "transaction.state.log.num.partitions", "50"),
    ("Brokers", "offsets of an empty group vanish", "offsets.retention.minutes", "10080"),
    ("Brokers", "partitions of __consumer_offsets", "offsets.topic.num.partitions", "50"),
    ("Brokers", "a new group waits", "group.initial.rebalance.delay.ms", "3000"),
    ("Brokers", "shortest session of a classic member", "group.min.session.timeout.ms", "6000"),
    ("Brokers", "session in the new protocol", "group.consumer.session.timeout.ms", "45000"),
    ("Brokers", "heartbeats in the new protocol", "group.consumer.heartbeat.interval.ms", "5000"),
    ("Brokers", "look for old segments each", "log.retention.check.interval.ms", "300000"),
    ("Brokers", "files of a deleted segment go after", "log.segment.delete.delay.ms", "60000"),
    ("Brokers", "records are deleted after", "log.retention.hours", "168"),
)
OF_TOPICS = (
    ("Topics", "records are deleted after", "retention.ms", "604800000"),
    ("Topics", "size of a segment", "segment.bytes", "1073741824"),
    ("Topics", "age of a segment", "segment.ms", "604800000"),
    ("Topics", "bytes of a partition", "retention.bytes", "-1"),
    ("Topics", "segments begin earlier, at random", "segment.jitter.ms", "0"),
    ("Topics", "reserves the file of a segment", "preallocate", "false"),
    ("Topics", "whose time", "message.timestamp.type", "CreateTime"),
    ("Topics", "largest batch", "max.message.bytes", "1048588"),
    ("Topics", "who compresses", "compression.type", "producer"),
    ("Topics", "how far ahead a time may be", "message.timestamp.after.max.ms", "3600000"),
    ("Topics", "bytes between two entries of an index", "index.interval.bytes", "4096"),
    ("Topics", "space for an index", "segment.index.bytes", "10485760"),
    ("Topics", "old records", "cleanup.policy", "delete"),
)


def facts(rows: tuple[tuple[str, ...], ...]) -> list[Any]:
    return [pytest.param(*row[2:], marks=pytest.mark.fact(*row[:2]), id=row[1]) for row in rows]


@pytest.mark.parametrize(("kind", "here", "there"), facts(DEFAULTS))
def test_a_default(librdkafka: Librdkafka, java_client: Java, found: Found, kind, here, there):
    name, value = here.split()
    assert librdkafka.default(name) == value
    if there:
        name, value = there.split()
        told = java_client.default(kind, name)
        prefix = "class org.apache.kafka.clients.consumer."
        assert (
            told.replace(prefix + "RangeAssignor", "range").replace(
                prefix + "CooperativeStickyAssignor", "cooperative-sticky"
            )
            == value
        )
    else:
        assert here.split()[0] not in java_client.settings(kind)
    found(shown(here), shown(there) or "has no such setting", READ)


@pytest.mark.parametrize(("name", "value"), facts(OF_BROKERS))
def test_a_default_of_brokers(brokers: Brokers, found: Found, name, value):
    assert brokers.default(name) == value
    here = brokers.entries[name].value
    found("", f"`{name}` {value}" + (f"; in this course {here}" if here != value else ""), BROKERS)


@pytest.mark.parametrize(("name", "value"), facts(OF_TOPICS))
def test_a_default_of_topics(brokers: Brokers, plain: str, found: Found, name, value):
    entry = brokers.of_topic(plain)[name]
    assert entry.value == value
    found("", f"`{name}` {value}", BROKERS)


@pytest.mark.fact("Brokers", "what this course sets otherwise")
def test_the_table_of_the_courses_settings_has_kafkas_defaults(brokers: Brokers, found: Found):
    wrong = [
        (setting.name, setting.default, own)
        for setting in TABLE
        if setting.name in brokers.entries
        and setting.default != (own := brokers.default(setting.name) or "null")
    ]
    assert wrong == []
    hidden = [setting.name for setting in TABLE if setting.name not in brokers.entries]
    found(
        "", f"{len(TABLE)} settings, with Kafka's defaults; not told: {', '.join(hidden) or 'none'}", BROKERS
    )


@pytest.mark.fact("Producer", "what Kafka 3's Java client did otherwise")
def test_what_kafka_4_changed(older_java: OlderJava, java_client: Java, found: Found):
    assert [older_java.default(name) for name in ("linger.ms", "metadata.recovery.strategy")] == ["0", "none"]
    now = [java_client.default("producer", name) for name in ("linger.ms", "metadata.recovery.strategy")]
    assert now == ["5", "rebootstrap"]
    found("", "`linger.ms` 0, `metadata.recovery.strategy` none", "Kafka 3's jar was asked, too")


@pytest.mark.fact("Partitioner", "Java's classes")
def test_which_partitioners_java_has(older_java: OlderJava, java_client: Java, found: Found):
    sticky = "org/apache/kafka/clients/producer/UniformStickyPartitioner.class"
    assert sticky in zipfile.ZipFile(older_java.jar).namelist()
    assert (
        java_client.jvm.java.lang.Thread.currentThread().getContextClassLoader().getResource(sticky) is None
    )
    assert java_client.clients.producer.RoundRobinPartitioner().toString()
    assert java_client.default("producer", "partitioner.ignore.keys") == "false"
    left = "`RoundRobinPartitioner`, `partitioner.ignore.keys` false"
    found(
        "",
        f"{left}; `UniformStickyPartitioner` is gone since Kafka 4",
        "looked for in the jars of Kafka 3 and 4",
    )


@pytest.mark.fact("Producer", "number and weight of Java's settings")
def test_javas_settings(java_client: Java, found: Found):
    settings = java_client.settings("producer")
    assert (len(settings), settings["acks"][1]) == (113, "low")
    found("", "113 settings; `acks` has the importance low", "Java's ConfigDef was asked")


@pytest.mark.fact("Producer", "a batch without records")
def test_the_head_of_a_batch(java_client: Java, found: Found):
    head = java_client.common.record.internal.DefaultRecordBatch.RECORD_BATCH_OVERHEAD
    assert head == 61
    found("", f"the head of a batch has {head} bytes", "read from Java's class DefaultRecordBatch")


@pytest.mark.fact("Brokers", "batches that a leader remembers of a producer id")
def test_how_many_batches_are_known_again(java_client: Java, found: Found):
    kept = java_client.jvm.org.apache.kafka.storage.internals.log.ProducerStateEntry.NUM_BATCHES_TO_RETAIN
    assert kept == 5
    found("", f"the last {kept} of each partition", "read from the brokers' class ProducerStateEntry")


@pytest.mark.fact("Producer", "names that both know")
def test_javas_names_here(librdkafka: Librdkafka, found: Found):
    both = (
        "acks",
        "delivery.timeout.ms",
        "linger.ms",
        "compression.type",
        "retries",
        "max.partition.fetch.bytes",
    )
    assert librdkafka.default("delivery.timeout.ms") == librdkafka.default("message.timeout.ms")
    assert all(librdkafka.default(name) for name in both)
    unknown = (
        "buffer.memory",
        "max.request.size",
        "max.block.ms",
        "fetch.max.wait.ms",
        "interceptor.classes",
    )
    for name in (*unknown, "key.serializer", "partitioner.class", "no.such.setting"):
        with pytest.raises(KafkaException, match="No such configuration property"):
            Producer({name: "1"})
    here = f"also takes {quoted(both)}; refuses {quoted(unknown)} and any name that does not exist"
    found(here, "", MADE)


@pytest.mark.fact("Topics", "the smallest segment")
def test_small_segments_are_refused(cluster: Cluster, brokers: Brokers, found: Found):
    admin = cluster.admin()

    def create(segment: int) -> None:
        new = NewTopic("facts-small", 1, 1, config={"segment.bytes": str(segment)})
        admin.create_topics([new], validate_only=True)["facts-small"].result(PATIENCE)

    create(2**20)
    with pytest.raises(KafkaException, match="INVALID_CONFIG"):
        create(2**20 - 1)
    found("", "`segment.bytes` below 1 MiB is refused", SEEN)


@pytest.mark.fact("Brokers", "the oldest clients")
def test_the_oldest_fetch(cluster: Cluster, brokers: Brokers, found: Found):
    told = cluster.tool("kafka-broker-api-versions")
    assert "Fetch(1): 4 to " in told
    found("", "no version of Fetch below 4", "kafka-broker-api-versions")


@pytest.mark.fact("Admin client", "what it cannot ask")
def test_what_the_admin_client_lacks(librdkafka: Librdkafka, found: Found):
    lacks = {
        "reassignments": "alter_partition_reassignments",
        "log dirs": "describe_log_dirs",
        "quotas": "alter_client_quotas",
        "the quorum": "describe_metadata_quorum",
        "features": "describe_features",
        "transactions": "list_transactions",
    }
    assert not [name for name in lacks.values() if hasattr(AdminClient, name)]
    found(f"lacks {', '.join(lacks)}", "", "its methods were looked at")
