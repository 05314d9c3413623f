"""What Spark is told of a cluster that is not the learner's."""

import re

import pytest
from pyspark.sql import DataFrameReader, DataFrameWriter
from pyspark.sql.streaming import DataStreamReader, DataStreamWriter

from threebrokers.kafka import access
from threebrokers.spark import entrance

LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "anna",
    "sasl.password": 'ge"heim',
}


class Reader:
    """Stands in for a reader of Spark: it notes its options."""

    def __init__(self):
        self.told = {}

    def option(self, key, value):
        self.told[key] = value
        return self

    def options(self, **given):
        self.told |= given
        return self


@pytest.fixture
def reader(monkeypatch):
    monkeypatch.setattr(access, "chosen", lambda: access.Access("a:1,b:1", "anna-", LOGIN))
    monkeypatch.setattr(Reader, "option", entrance._option(Reader.option))
    monkeypatch.setattr(Reader, "options", entrance._options(Reader.options))
    return Reader()


def test_the_addresses_of_the_cluster_bring_the_rest_along(reader):
    told = reader.option("kafka.bootstrap.servers", "a:1").option("subscribe", "anna-x").told
    assert told["kafka.security.protocol"] == "SASL_PLAINTEXT"
    assert "PlainLoginModule" in told["kafka.sasl.jaas.config"]
    assert told["subscribe"] == "anna-x"


def test_also_when_they_are_given_together(reader):
    told = reader.options(**{"kafka.bootstrap.servers": "a:1,b:1", "subscribe": "anna-x"}).told
    assert told["kafka.sasl.mechanism"] == "PLAIN"


def test_other_brokers_are_told_nothing(reader):
    told = reader.option("kafka.bootstrap.servers", "localhost:1").options(path="x").told
    assert set(told) == {"kafka.bootstrap.servers", "path"}


def test_what_is_secret_is_hidden_in_a_plan(reader):
    text = reader.option("kafka.bootstrap.servers", "a:1").told["kafka.sasl.jaas.config"]
    assert "heim" not in re.sub(entrance.HIDDEN["spark.redaction.string.regex"], "…", text)


def test_spark_s_own_readers_are_changed_once(monkeypatch):
    for kind in (DataFrameReader, DataFrameWriter, DataStreamReader, DataStreamWriter):
        monkeypatch.setattr(kind, "option", kind.option)
        monkeypatch.setattr(kind, "options", kind.options)
    entrance.fill_in()
    first = DataFrameReader.option
    entrance.fill_in()
    assert DataFrameReader.option is first
