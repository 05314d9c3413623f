"""Logs: a large one is set aside when its writer starts, and only its end is read."""

import logging
from pathlib import Path

import pytest

from threebrokers import files
from threebrokers.cluster import local, ports, process, state_file
from threebrokers.cluster.local import LocalEngine
from threebrokers.cluster.state_file import SavedState
from threebrokers.kafka import clients


def test_a_large_file_is_set_aside_and_one_older_is_kept(tmp_path):
    log = tmp_path / "some.log"
    for text in ("first", "second"):
        log.write_text(text)
        files.set_aside(log, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["some.log.1"]
    assert (tmp_path / "some.log.1").read_text() == "second"
    log.write_text("new")
    files.set_aside(log, 3)
    assert log.read_text() == "new"
    files.set_aside(tmp_path / "nothing", 3)


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setattr(ports, "wait_free", lambda node, wanted: None)
    monkeypatch.setattr(state_file, "save", lambda home, bench: None)
    monkeypatch.setattr(local, "java", lambda: "java")
    monkeypatch.setattr(local.jars, "kafka_jars", list)
    monkeypatch.setattr(process, "launch", lambda *_: None)
    made = LocalEngine(tmp_path)
    made.log(1).parent.mkdir()
    return made


@pytest.mark.parametrize("size", [files.LOG_BYTES, files.LOG_BYTES + 1])
def test_a_broker_begins_a_new_log_when_the_old_one_is_large(engine, size):
    with engine.log(1).open("wb") as log:
        log.truncate(size)
    engine._launch(SavedState(ports=ports._block(0)), 1, [])
    assert engine.log(1).exists() == (size == files.LOG_BYTES)
    assert engine.log(1).with_name("broker-1.log.1").exists() == (size > files.LOG_BYTES)


def test_a_brokers_last_words_are_looked_for_at_the_end_of_its_log_alone(engine, monkeypatch):
    log = engine.log(1)
    log.write_bytes(b"10:00 ERROR long ago\n" + b"x" * local.LAST_BYTES + b"\n10:01 INFO well\n")
    assert engine.last_words(1) == ""
    with log.open("ab") as file:
        file.write(b"10:02 ERROR \xff broken\n10:03 INFO ending\n")
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: pytest.fail("all of it was read"))
    assert engine.last_words(1) == "10:02 ERROR \ufffd broken"
    log.write_bytes(b"10:02 ERROR short\n")
    assert engine.last_words(1) == "10:02 ERROR short"
    assert engine.last_words(2) == ""


def test_clients_begin_a_new_log_when_the_old_one_is_large(tmp_path):
    log = tmp_path / "clients.log"
    with log.open("wb") as file:
        file.truncate(files.LOG_BYTES + 1)
    clients.Clients("127.0.0.1:1", tmp_path)
    assert not log.exists()
    logging.getLogger("threebrokers.kafka.clients").warning("new")
    assert "new" in log.read_text()
    assert (tmp_path / "clients.log.1").exists()
