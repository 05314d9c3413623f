"""A cluster that is nobody's own, and speaks TLS: lab 01, Spark, and what refuses a client."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import NewTopic

from tests.shared_cluster import FIRST_LAB, SharedCluster, cells, certified, enter, shared_cluster
from threebrokers.app.cli import app
from threebrokers.cluster import Cluster
from threebrokers.doctor import examine
from threebrokers.grading.kernel import Kernel

ANNA = "anna"
SPARK = """
from threebrokers import open_lab
from threebrokers.spark import session

lab = open_lab("12")
spark = session()
topic = lab.fresh_topic("over-tls", partitions=2, replication_factor=3)
rows = spark.range(20).selectExpr("CAST(id AS STRING) AS value")
to = {"kafka.bootstrap.servers": lab.bootstrap, "topic": topic}
rows.write.format("kafka").options(**to).save()
reader = spark.read.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
batch = reader.option("subscribe", topic).load()
stream = spark.readStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
stream = stream.option("subscribe", topic).option("startingOffsets", "earliest").load()
query = stream.writeStream.format("memory").queryName("seen").trigger(availableNow=True).start()
query.awaitTermination()
print("batch", batch.count(), "stream", spark.table("seen").count())
batch.explain(True)
spark.stop()
"""


@pytest.fixture(scope="module")
def shared(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedCluster]:
    with shared_cluster(tmp_path_factory.mktemp("tls"), [ANNA], tls=True) as cluster:
        cluster.allow([ANNA])
        yield cluster


@pytest.fixture
def as_anna(shared: SharedCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(shared, monkeypatch, shared.client_file(ANNA))


def test_lab_01_runs_over_tls_with_its_checks(shared, as_anna, tmp_path):
    texts, solved = cells("01_hello_kafka"), []
    with Kernel(tmp_path) as kernel:
        for name in FIRST_LAB:
            reply = kernel.run(texts[name], name, 240)
            assert not reply.error, f"{name}: {reply.error}: {reply.message}"
            solved += [reply.result] if name.startswith("check") else []
        recorded = kernel.run(
            "with lab.record() as seen:\n    producer = lab.producer({'acks': 'all'})\n"
            "    producer.produce(lab.fresh_topic('recorded'), 'one')\n    producer.flush(60)\nseen",
            "code-1",
            240,
        )
    assert all("✓" in said for said in solved)
    assert not recorded.error, recorded.message
    state = Cluster().state([])
    assert state.registered == {1, 2, 3}


def test_a_tool_of_java_gets_in_too(shared, as_anna):
    cluster = Cluster()
    admin = cluster.admin()  # a client that is let go takes its open calls with it
    for made in admin.create_topics([NewTopic("anna-tool", 1, 3)], request_timeout=60).values():
        made.result()
    assert "anna-tool" in cluster.tool("kafka-topics", "--list")
    assert {finding.about: finding.ok for finding in examine()}["rights"]


@pytest.mark.weekly  # it takes two thirds of this file's time
def test_spark_reads_and_writes_over_tls_and_its_plan_shows_no_password(shared, as_anna, tmp_path):
    with Kernel(tmp_path) as kernel:
        reply = kernel.run(SPARK, "code-1", 280)
    assert not reply.error, f"{reply.error}: {reply.message}"
    assert "batch 20 stream 20" in reply.shown
    assert "word-of-anna" not in reply.shown


def refused(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one sentence that a command says when it does not get in."""
    assert app(["status"]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "Traceback" not in told
    assert "word-of" not in told
    return told


def test_an_authority_that_did_not_sign_is_one_sentence(shared, tmp_path, monkeypatch, capsys):
    other = certified(tmp_path)
    enter(shared, monkeypatch, shared.client_file(ANNA, ssl_ca_location=str(other)))
    told = refused(capsys)
    assert "is not accepted" in told
    assert "look at ssl.ca.location" in told


def test_a_name_that_is_not_in_the_certificate_is_one_sentence(shared, monkeypatch, capsys):
    enter(shared, monkeypatch, shared.client_file(ANNA))
    monkeypatch.setenv("THREEBROKERS_BOOTSTRAP", shared.bootstrap.replace("127.0.0.1", "localhost"))
    told = refused(capsys)
    assert "localhost" in told
    assert "THREEBROKERS_BOOTSTRAP" in told


def test_a_client_without_tls_is_one_sentence(shared, monkeypatch, capsys):
    plain = shared.client_file(ANNA, security_protocol="SASL_PLAINTEXT")
    kept = plain.read_text("utf-8").splitlines(keepends=True)
    plain.write_text("".join(line for line in kept if not line.startswith("ssl.")), "utf-8")
    enter(shared, monkeypatch, plain)
    assert "look at security.protocol (SASL_PLAINTEXT)" in refused(capsys)
