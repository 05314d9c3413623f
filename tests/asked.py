"""What can be asked for its own settings: librdkafka, Java's client, the brokers. Fixtures for test_facts.py.

A fixture with a `version` is named in the rows of docs/facts.md that a test with it tells.
"""

import ctypes
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import cimpl
from confluent_kafka.admin import ConfigEntry, ConfigResource, ResourceType
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.java_gateway import find_jar_path as py4j_jar

from threebrokers.cluster import Cluster, jars
from threebrokers.cluster.java import java
from threebrokers.cluster.java import run as run_java
from threebrokers.lab.cluster_defaults import own_default

SMALL = ("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
PRODUCER = "org.apache.kafka.clients.producer.ProducerConfig"
TABLE = re.compile(
    r'<h4><a id="([\w.]+)"></a>.*?<th>Default:</th><td>(.*?)</td>.*?<th>Importance:</th><td>(\w+)', re.S
)
WORDS = re.compile(r" \([\d.]+ [a-z]+\)$")  # "300000 (5 minutes)"
AT_START = re.compile(r"Kafka version: (\S+)")
OF_JAR = re.compile(r"kafka-clients-([\d.]+)\.jar")
SOME_BYTES = 512


class Librdkafka:
    """The library under confluent-kafka, asked through C: Python's clients do not tell their settings."""

    version = f"confluent-kafka {version('confluent-kafka')}"

    def __init__(self) -> None:
        self._c = ctypes.CDLL(
            cimpl.__file__
        )  # its functions are found through the module that is linked to it
        for name in ("rd_kafka_conf_new", "rd_kafka_topic_conf_new", "rd_kafka_new", "rd_kafka_conf"):
            getattr(self._c, name).restype = ctypes.c_void_p
        self._c.rd_kafka_mock_cluster_new.restype = ctypes.c_void_p
        self._c.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p

    def default(self, name: str) -> str:
        """Return the default of a setting; raises KeyError if there is none of this name."""
        for of in ("rd_kafka", "rd_kafka_topic"):
            if (told := self._get(f"{of}_conf_get", getattr(self._c, f"{of}_conf_new")(), name)) is not None:
                return told
        raise KeyError(name)

    def of_producer(self, settings: Mapping[str, str], name: str) -> str | None:
        """Return what a producer, made with these settings, uses for another one."""
        error = ctypes.create_string_buffer(SOME_BYTES)
        conf = ctypes.c_void_p(self._c.rd_kafka_conf_new())
        for key, value in settings.items():
            assert self._c.rd_kafka_conf_set(conf, key.encode(), value.encode(), error, SOME_BYTES) == 0, (
                error
            )
        made = ctypes.c_void_p(self._c.rd_kafka_new(0, conf, error, SOME_BYTES))
        assert made.value, error.value
        try:
            return self._get("rd_kafka_conf_get", self._c.rd_kafka_conf(made), name)
        finally:
            self._c.rd_kafka_destroy(made)

    @contextmanager
    def mock(self) -> Iterator[str]:
        """Yield the address of a stand-in broker of librdkafka's own, which creates topics if asked to."""
        error = ctypes.create_string_buffer(SOME_BYTES)
        host = ctypes.c_void_p(
            self._c.rd_kafka_new(0, ctypes.c_void_p(self._c.rd_kafka_conf_new()), error, 0)
        )
        mock = ctypes.c_void_p(self._c.rd_kafka_mock_cluster_new(host, 1))
        try:
            yield self._c.rd_kafka_mock_cluster_bootstraps(mock).decode()
        finally:
            self._c.rd_kafka_mock_cluster_destroy(mock)
            self._c.rd_kafka_destroy(host)

    def _get(self, function: str, conf: int, name: str) -> str | None:
        found, size = ctypes.create_string_buffer(SOME_BYTES), ctypes.c_size_t(SOME_BYTES)
        code = getattr(self._c, function)(ctypes.c_void_p(conf), name.encode(), found, ctypes.byref(size))
        return found.value.decode() if code == 0 else None


class Java:
    """Java's client in a JVM of its own."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._gateway, self.jvm = gateway, gateway.jvm
        self.clients, self.common = gateway.jvm.org.apache.kafka.clients, gateway.jvm.org.apache.kafka.common
        self.version = f"Java's client {self.common.utils.AppInfoParser.getVersion()}"
        self._tables = {
            kind: _settings(config.configDef().toHtml())
            for kind, config in (
                ("producer", self.clients.producer.ProducerConfig),
                ("consumer", self.clients.consumer.ConsumerConfig),
            )
        }

    def settings(self, kind: str) -> Mapping[str, tuple[str, str]]:
        """Return default and importance of each setting of a "producer" or a "consumer"."""
        return self._tables[kind]

    def default(self, kind: str, name: str) -> str:
        """Return a default as Kafka's documentation has it."""
        return self._tables[kind][name][0]

    def producer(self, bootstrap: str, **settings: str) -> Any:
        """Make a producer of texts; `_` in a name stands for a point."""
        serializer = "org.apache.kafka.common.serialization.StringSerializer"
        own = {"bootstrap.servers": bootstrap, "key.serializer": serializer, "value.serializer": serializer}
        return self.clients.producer.KafkaProducer(own | _dotted(settings))

    def consumer(self, bootstrap: str, **settings: str) -> Any:
        """Make a consumer of texts; `_` in a name stands for a point."""
        reader = "org.apache.kafka.common.serialization.StringDeserializer"
        own = {"bootstrap.servers": bootstrap, "key.deserializer": reader, "value.deserializer": reader}
        return self.clients.consumer.KafkaConsumer(own | _dotted(settings))

    def record(self, topic: str, key: str | None, value: str) -> Any:
        """Make a record."""
        return self.clients.producer.ProducerRecord(topic, key, value)

    def places(self, topic: str, *partitions: int) -> list[Any]:
        """Make a list of partitions."""
        return [self.common.TopicPartition(topic, partition) for partition in partitions]

    def ms(self, milliseconds: int) -> Any:
        """Make a duration."""
        return self.jvm.java.time.Duration.ofMillis(milliseconds)


class OlderJava:
    """Java's client of Kafka 3, which comes with Spark's connector."""

    def __init__(self) -> None:
        older = [jar for jar in jars.spark_jars() if OF_JAR.search(jar.name)]
        self.jar = older[0]
        self.version = f"Java's client {OF_JAR.search(self.jar.name)[1]}"
        path = _class_path([*older, *(jar for jar in jars.kafka_jars() if not OF_JAR.search(jar.name))])
        told = run_java([str(java()), *SMALL, "-cp", path, PRODUCER], 60)
        assert told.returncode == 0, told.stderr
        self._producer = _settings(told.stdout)

    def default(self, name: str) -> str:
        """Return a default of the producer."""
        return self._producer[name][0]


class Brokers:
    """What three running brokers say of their own settings."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        started = {AT_START.search(cluster.log(n).read_text("utf-8", "replace"))[1] for n in (1, 2, 3)}
        [running] = started
        self.version = f"brokers {running}"
        self.entries = self._told(ResourceType.BROKER, "1")

    def default(self, name: str) -> str | None:
        """Return Kafka's own default of a broker's setting."""
        return own_default(self.entries[name])

    def of_topic(self, topic: str) -> dict[str, ConfigEntry]:
        """Return the settings of a topic."""
        return self._told(ResourceType.TOPIC, topic)

    def of_group(self, group: str) -> dict[str, ConfigEntry]:
        """Return the settings of a group, which need not exist."""
        return self._told(ResourceType.GROUP, group)

    def _told(self, kind: ResourceType, name: str) -> dict[str, ConfigEntry]:
        asked = ConfigResource(kind, name)
        admin = self._cluster.admin()  # a client that is let go takes its open calls with it
        return admin.describe_configs([asked], request_timeout=20)[asked].result()


@pytest.fixture(scope="session")
def librdkafka() -> Librdkafka:
    return Librdkafka()


@pytest.fixture(scope="session")
def brokers(cluster: Cluster) -> Brokers:
    return Brokers(cluster)


@pytest.fixture(scope="session")
def older_java() -> OlderJava:
    return OlderJava()


@pytest.fixture(scope="session")
def java_client() -> Iterator[Java]:
    port, token, process = launch_gateway(
        jarpath=py4j_jar(),
        classpath=_class_path(jars.kafka_jars()),
        javaopts=list(SMALL),
        java_path=str(java()),
        die_on_exit=True,
        enable_auth=True,
        return_proc=True,
    )
    gateway = JavaGateway(
        gateway_parameters=GatewayParameters(port=port, auth_token=token, auto_convert=True)
    )
    try:
        yield Java(gateway)
    finally:
        gateway.shutdown()
        process.stdin.close()  # the JVM's sign to leave
        process.wait(20)


def _settings(page: str) -> dict[str, tuple[str, str]]:
    """Read what Kafka writes for its documentation: default and importance of each setting."""
    found = TABLE.findall(page.replace("<h4>", "\0<h4>"))
    return {name: (WORDS.sub("", default).strip('"'), importance) for name, default, importance in found}


def _class_path(paths: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, paths))


def _dotted(settings: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "."): value for name, value in settings.items()}
