"""Facts about this client, Java's and the brokers: each is asserted, and told to docs/facts.md.

What lessons say about clients stands here first. These are settings and names (their defaults are in
tests/fact_defaults.py); what clients do is in the other files whose names begin with test_facts.
"""

import re
import zipfile
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, ConfigEntry, NewTopic

from tests.asked import Brokers, Java, Librdkafka, OlderJava
from tests.fact_bench import BROKERS, MADE, PATIENCE, READ, SEEN, plain, quoted, shown
from tests.fact_defaults import DEFAULTS, OF_BROKERS, OF_GROUPS, OF_TOPICS
from tests.facts import Found
from threebrokers.cluster import Cluster
from threebrokers.cluster.settings import TABLE
from threebrokers.lab.cluster_defaults import own_default

__all__ = ["plain"]

STRATEGIES = {"Range": "range", "CooperativeSticky": "cooperative-sticky"}


def facts(rows: tuple[tuple[str, ...], ...]) -> list[Any]:
    return [pytest.param(*row[2:], marks=pytest.mark.fact(*row[:2]), id=row[1]) for row in rows]


@pytest.mark.parametrize(("kind", "here", "there"), facts(DEFAULTS))
def test_a_default(librdkafka: Librdkafka, java_client: Java, found: Found, kind, here, there):
    lacks = "has no such setting"
    name, _, value = here.partition(" ")
    if here:
        assert librdkafka.default(name) == value
    if there:
        javas, _, value = there.partition(" ")
        told = java_client.default(kind, javas)
        prefix = "class org.apache.kafka.clients.consumer."
        for strategy in ("Range", "CooperativeSticky"):
            told = told.replace(f"{prefix}{strategy}Assignor", STRATEGIES[strategy])
        assert told == value
        if not here:
            with pytest.raises(KeyError):
                librdkafka.default(javas)
    else:
        assert name not in java_client.settings(kind)
    found(shown(here) or lacks, shown(there) or lacks, READ)


@pytest.mark.parametrize(("name", "value"), facts(OF_BROKERS))
def test_a_default_of_brokers(brokers: Brokers, found: Found, name, value):
    assert (brokers.default(name) or "null") == value
    found("", with_ours(name, value, brokers.entries[name]), BROKERS)


@pytest.mark.parametrize(("name", "value"), facts(OF_TOPICS))
def test_a_default_of_topics(brokers: Brokers, plain: str, found: Found, name, value):
    entry = brokers.of_topic(plain)[name]
    assert (own_default(entry) or entry.value) == value
    found("", with_ours(name, value, entry), BROKERS)


def with_ours(name: str, value: str, entry: ConfigEntry) -> str:
    here = entry.value or "null"
    return f"`{name}` {value}" + (f"; in this course {here}" if here != value else "")


@pytest.mark.parametrize("name", facts(OF_GROUPS))
def test_a_default_of_groups(brokers: Brokers, found: Found, name):
    of_brokers = f"group.{name}"
    assert brokers.of_group("facts-nobody")[name].value == brokers.entries[of_brokers].value
    found("", f"`{name}`: that of the brokers, `{of_brokers}`", BROKERS)


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
    kept = sum(setting.here == setting.default for setting in TABLE)
    others = f"{len(TABLE) - kept} settings, and {kept} that are written out with Kafka's own value"
    found("", f"{others}; not told: {', '.join(hidden) or 'none'}", BROKERS)


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
    both = ("acks", "linger.ms", "compression.type", "retries", "max.partition.fetch.bytes")
    limit = {name: librdkafka.default(name) for name in ("delivery.timeout.ms", "message.timeout.ms")}
    assert set(limit.values()) == {"300000"}
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
    here = f"also takes {quoted(both)}, and `delivery.timeout.ms` 300000; "
    here += f"refuses {quoted(unknown)} and any name that does not exist"
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


@pytest.mark.fact("Brokers", "share groups")
def test_share_groups(cluster: Cluster, brokers: Brokers, librdkafka: Librdkafka, found: Found):
    told = cluster.tool("kafka-features", "describe")
    assert re.search(r"share\.version.*FinalizedVersionLevel: [1-9]", told), told
    assert hasattr(confluent_kafka, "ShareConsumer")
    found("`ShareConsumer`", "the feature `share.version` is on in a new cluster", "kafka-features")


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
