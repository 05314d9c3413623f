"""What a cluster tells of itself: registered brokers, memory, files, and what Kafka's own tools say."""

import re

import pytest

from tests.contract.basis import (
    EVERYBODY,
    TOPIC,
    Basis,
    leaders,
    partitions,
    producer,
    quietly,
    send,
    soon,
    whole,
)
from threebrokers.cluster import topics
from threebrokers.cluster.settings import BROKERS, TABLE
from threebrokers.errors import LabError
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import read_log
from threebrokers.kafka.state import ClusterState

MEGABYTE = 1 << 20


class Showing(Basis):
    def test_three_brokers_are_registered_on_loopback_only(self, healthy, topic):
        assert self.listens_at(healthy) <= {"127.0.0.1", "::1"}

        def complete(state: ClusterState) -> None:
            whole(state)
            assert {frozenset(dict(p.log_end_offsets)) for p in partitions(state)} == {frozenset(BROKERS)}
            assert leaders(state) == EVERYBODY, "six partitions are shared among three"
            views = healthy.views([topic])
            assert views.keys() == EVERYBODY
            assert {leader for view in views.values() for leader in leaders(view)} == EVERYBODY

        # One whose session has lapsed on a busy machine leads nothing until its partitions are given back.
        healthy.recover()
        state = soon(healthy, complete)
        assert [b.address for b in state.brokers] == [healthy.address(n) for n in BROKERS]
        assert ",".join(b.address for b in state.brokers) == healthy.bootstrap

    def test_memory_and_work_of_each_broker_are_told(self, healthy):
        for n, told in healthy.processes().items():
            assert (told.id, told.state) == (n, "up")
            assert 50 * MEGABYTE < told.rss < 640 * MEGABYTE
            assert re.fullmatch(r"(process|container) \S+", told.name)
        work = healthy.usage()
        assert work.keys() == EVERYBODY
        assert all(0 < done.processor < 3600 for done in work.values())
        later = healthy.usage()
        assert all(later[n].processor >= work[n].processor for n in BROKERS)
        assert all((later[n].read or 0) >= (work[n].read or 0) for n in BROKERS)

    def test_files_of_a_broker_can_be_read(self, healthy, topic):
        assert send(producer(healthy.bootstrap), "only", partition=0) == ["ok"]
        log = healthy.log(2).read_text()
        assert re.search(r"(?m)^\d\d:\d\d:\d\d\.\d\d\d INFO .*Kafka Server started", log)
        settings = healthy.configuration(2).read_text().splitlines()
        assert "node.id=2" in settings
        assert {f"{setting.name}={setting.here}" for setting in TABLE} <= set(settings)
        leader = partitions(soon(healthy, whole))[0].leader
        for broker in (None, leader):
            [file] = healthy.segments(topic, 0, broker)
            assert file.name == "00000000000000000000.log"
            assert b"only" in file.read_bytes()
        with pytest.raises(LabError, match="no partition 9 of a topic"):
            healthy.segments(topic, 9)

    def test_tools_run_and_their_faults_are_one_sentence(self, healthy, topic):
        assert topic in healthy.tool("kafka-topics", "--list").splitlines()
        with pytest.raises(LabError, match="no tool 'kafka-magic' here"):
            healthy.tool("kafka-magic")
        with pytest.raises(LabError, match=r"kafka-topics failed: .*nowhere"):
            healthy.tool("kafka-topics", "--describe", "--topic", "nowhere")
        healthy.tool("kafka-console-producer", "--topic", topic, typed="one\ntwo\n")
        assert [r.value for r in read_log(healthy.bootstrap, topic)] == [b"one", b"two"]
        files = healthy.segments(topic, read_log(healthy.bootstrap, topic)[0].partition)
        assert "baseOffset: 0" in healthy.tool("kafka-dump-log", "--files", str(files[0]))

    def test_a_groups_memory_has_three_copies(self, healthy, topic):
        assert send(producer(healthy.bootstrap), "read") == ["ok"]
        settings = {"bootstrap.servers": healthy.bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
        member = LabConsumer(settings, {})  # its end has a bound: a plain one's close() may never return
        member.subscribe([TOPIC])
        assert quietly(lambda: member.poll(1))
        member.discard()
        internal = healthy.state(["__consumer_offsets"]).topic("__consumer_offsets")
        assert internal is not None
        assert {len(p.replicas) for p in internal.partitions} == {3}

    def test_a_refused_topic_is_told_in_the_brokers_words(self, healthy):
        with pytest.raises(LabError, match=r"refused to create 'no spaces'.*name"):
            topics.create(healthy, "no spaces", 1, 1, {})
        with pytest.raises(LabError, match=r"refused to create 'four'.*4"):
            topics.create(healthy, "four", 1, 4, {})
