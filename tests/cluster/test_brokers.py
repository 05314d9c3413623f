"""What is promised of brokers that are processes of this machine, besides the contract."""

import os
import time
from dataclasses import replace
from pathlib import Path

import psutil

from tests.commands import SLOW, imported
from threebrokers.cluster import local, log_dirs, process, state_file
from threebrokers.cluster.settings import BROKERS


def test_a_reused_process_id_is_not_taken_for_a_broker(cluster, home):
    """Each sign of a broker is one of pytest's own in turn: nothing but all of them together is a broker."""
    mine = process.identify(os.getpid(), psutil.Process().cmdline()[0])
    for changes in ({"pid": mine.pid}, {"pid": mine.pid, "start": mine.start}):
        here = state_file.load(home)
        broker = here.brokers[1]
        here.brokers[1] = replace(broker, **changes)
        state_file.save(home, here)
        assert cluster.processes()[1].state == "down"
        assert cluster.up() == [], "the broker itself still runs, and is found by its mark"
        assert state_file.load(home).brokers[1] == broker
    assert cluster.processes()[1].state == "up"


def test_ending_all_reaches_no_process_that_only_shares_numbers_with_a_broker(cluster, home):
    here = state_file.load(home)
    mine = process.identify(os.getpid(), here.brokers[1].mark)
    process.end([mine], 0)
    state_file.save(home, replace(here, brokers={**here.brokers, 2: mine}))
    assert cluster.down() == [1, 2, 3], "all three really ran"
    assert process.find(home) == {}
    cluster.up()


def test_a_look_at_running_brokers_does_without_what_takes_long_to_import(cluster):
    assert imported("status") & (SLOW | {"confluent_kafka"}) == {"kafka"}, "only what the look itself needs"


def saved_at(home: Path, node: int) -> float:
    """Return when a broker has closed its logs cleanly (s since 1970)."""
    return (log_dirs.folder(home, node) / ".kafka_cleanshutdown").stat().st_mtime


def test_all_end_cleanly_and_nobody_waits_for_a_quorum_that_is_gone(cluster, home, monkeypatch):
    monkeypatch.setattr(local, "STOP_SECONDS", 60.0)
    assert not any(log_dirs.is_saved(home, n) for n in BROKERS), "a running broker counts as saved"
    assert cluster.down() == [1, 2, 3]
    ended = time.time()
    assert all(log_dirs.is_saved(home, n) for n in BROKERS)
    saved = max(saved_at(home, n) for n in BROKERS)
    cluster.up()
    # Only then the last broker waits for 5 s. Until then a busy machine may need as long as it likes.
    assert ended - saved < 4
