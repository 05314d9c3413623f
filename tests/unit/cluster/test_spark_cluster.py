"""What is known of a Spark cluster without starting one."""

import os

import pytest

from threebrokers.cluster import ports, spark_cluster
from threebrokers.cluster.process import Identity
from threebrokers.errors import LabError


@pytest.mark.parametrize("damaged", ["", "[]", '{"ports": {"master": [0, 1]}}', '{"running": {"master": 1}}'])
def test_a_damaged_file_is_no_cluster(tmp_path, damaged):
    (tmp_path / "spark-cluster.json").write_text(damaged)
    assert [(node.name, node.state, node.pid) for node in spark_cluster.nodes(tmp_path)] == [
        ("master", "down", None),
        ("worker-1", "down", None),
        ("worker-2", "down", None),
        ("connect", "down", None),
    ]
    assert spark_cluster.address(tmp_path) is None
    assert spark_cluster.connect_address(tmp_path) is None
    assert spark_cluster.down(tmp_path) == []


def test_a_process_that_only_has_the_number_of_the_master_is_not_the_master(tmp_path):
    earlier = Identity(os.getpid(), "an earlier start", f"{spark_cluster.MARK}{tmp_path}")
    known = dict.fromkeys(spark_cluster.NAMES, (14_092, 14_093))
    spark_cluster._file(tmp_path).write(spark_cluster._Saved(known, {"master": earlier, "connect": earlier}))
    assert spark_cluster.address(tmp_path) is None
    assert spark_cluster.connect_address(tmp_path) is None
    assert spark_cluster.down(tmp_path) == []


def test_who_starts_or_ends_spark_for_ever_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(spark_cluster, "LOCK_SECONDS", 0.1)
    with (
        spark_cluster._file(tmp_path).locked(1),
        pytest.raises(LabError, match=r"starting or ending Spark for more than 0\.1 s: end it"),
    ):
        spark_cluster.up(tmp_path, print)


def test_no_other_home_and_no_broker_has_its_ports():
    spark, brokers = [], set()
    for block in range(ports.BENCHES):
        first = ports.spark(ports._block(block))
        spark += range(first, first + 2 * len(spark_cluster.NAMES))
        assert spark[-8:] == [*ports._sparks(block)]
        brokers |= {*ports._needed(block)}
    assert len(spark) == len({*spark}) == 8 * ports.BENCHES
    assert not brokers & {*spark}
    assert max(spark) < 32_768, "where systems begin with outgoing connections"


def test_it_reads_nothing_that_was_set_for_another_spark(tmp_path, monkeypatch):
    for name in ("SPARK_CONF_DIR", "SPARK_WORKER_CORES", "PYSPARK_PYTHON", "JAVA_TOOL_OPTIONS"):
        monkeypatch.setenv(name, "/somewhere/else")
    told = spark_cluster._environment(tmp_path)
    assert "/somewhere/else" not in told.values()
    assert told["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert told["SPARK_SCALA_VERSION"] == "2.13"
