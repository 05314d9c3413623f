"""Facts about what makes bytes of objects: this client's, and Java's where it does something else."""

import struct

import pytest
from confluent_kafka import SerializingProducer
from confluent_kafka.error import KeySerializationError, ValueSerializationError
from py4j.protocol import Py4JJavaError

from tests.asked import Java, Librdkafka
from tests.fact_bench import MADE, NOBODY, quoted
from tests.facts import Found
from threebrokers.kafka import client_settings

TEXT = "org.apache.kafka.common.serialization.StringSerializer"


def refuses(value: object, context: object) -> bytes:
    raise ValueError("dollars")


@pytest.mark.fact("Serializers", "one raises an error")
def test_a_serializer_that_refuses(librdkafka: Librdkafka, found: Found):
    told: list[object] = []
    for part, error in (("key", KeySerializationError), ("value", ValueSerializationError)):
        own = {"bootstrap.servers": NOBODY, "logger": client_settings.SILENCE, f"{part}.serializer": refuses}
        producer = SerializingProducer(own)
        with pytest.raises(error, match="dollars"):
            producer.produce("t", key="k", value="v", on_delivery=lambda *report: told.append(report))
        producer.purge()
        producer.poll(0.1)
    assert told == []
    here = (
        "`SerializingProducer` raises `KeySerializationError` or `ValueSerializationError`, and sends nothing"
    )
    found(here, "", MADE)


@pytest.mark.fact("Serializers", "a number of eight bytes")
def test_a_long(java_client: Java, librdkafka: Librdkafka, found: Found):
    number = 2**40 + 7  # py4j makes an Integer of a small one
    told = java_client.common.serialization.LongSerializer().serialize("t", number)
    assert bytes(told) == struct.pack(">q", number)
    found('`struct.pack(">q", number)` makes the same bytes', "`LongSerializer`", MADE)


@pytest.mark.fact("Serializers", "settings without which there is no producer")
def test_what_a_producer_must_be_told(java_client: Java, librdkafka: Librdkafka, found: Found):
    SerializingProducer({"logger": client_settings.SILENCE})
    own = {"bootstrap.servers": NOBODY, "key.serializer": TEXT, "value.serializer": TEXT}
    java_client.clients.producer.KafkaProducer(own).close(java_client.ms(0))
    for name in own:
        with pytest.raises(Py4JJavaError, match=r"ConfigException|KafkaException"):
            java_client.clients.producer.KafkaProducer({n: value for n, value in own.items() if n != name})
    found("none", quoted(tuple(own)), MADE)


@pytest.mark.fact("Producer", "names of old books")
def test_names_that_are_gone(java_client: Java, found: Found):
    gone = ("block.on.buffer.full", "timeout.ms", "metadata.fetch.timeout.ms")
    assert not set(gone) & set(java_client.settings("producer"))
    found("", f"{quoted(gone)} are gone", "Java's ConfigDef was asked")
