"""The diary of what was done to brokers: damage costs the damaged line, and nothing else."""

import threading

import pytest

from threebrokers.cluster import action_log
from threebrokers.cluster.actions import Action

KILL, START = Action(10.5, "kill", 2), Action(12.5, "start", 2, "again")


@pytest.mark.parametrize(
    "damage",
    [
        b'{"at": 11.0, "kind": "ki',
        b'{"at": "soon", "kind": "kill", "broker": 1, "more": ""}\n',
        b'{"at": 11.0, "kind": "kill", "broker": null, "more": ""}\n',
        b'{"kind": "kill"}\n',
        b"17\n",
        b"null\n",
        b"\xff\xfe\n",
        b"\n",
    ],
)
def test_a_line_that_is_no_act_is_left_out_and_the_next_one_is_not_lost(tmp_path, damage):
    action_log.write(tmp_path, KILL)
    with (tmp_path / "actions.jsonl").open("ab") as file:
        file.write(damage)
    assert action_log.read(tmp_path) == [KILL]
    action_log.write(tmp_path, START)
    assert action_log.read(tmp_path) == [KILL, START]


def test_a_large_diary_is_set_aside_and_still_read_until_the_next_time(tmp_path, monkeypatch):
    monkeypatch.setattr(action_log, "MOST_BYTES", 20)
    for action in (KILL, START):
        action_log.write(tmp_path, action)
        action_log.trim(tmp_path)
        assert action_log.read(tmp_path)[-1] == action
    assert action_log.read(tmp_path) == [START]
    action_log.trim(tmp_path)
    assert action_log.read(tmp_path) == [START]


@pytest.fixture
def reader(tmp_path):
    made = action_log.ActionReader(tmp_path)
    yield made
    made.close()


def test_a_reader_tells_each_action_once_and_none_from_before(tmp_path):
    action_log.write(tmp_path, KILL)
    reader = action_log.ActionReader(tmp_path)
    assert reader.read() == []
    action_log.write(tmp_path, START)
    action_log.write(tmp_path, KILL)
    assert reader.read() == [START, KILL]
    assert reader.read() == []
    reader.close()
    action_log.write(tmp_path, START)
    assert reader.read() == []


def test_a_reader_waits_for_the_rest_of_a_line(tmp_path, reader):
    action_log.write(tmp_path, KILL)
    line = (tmp_path / "actions.jsonl").read_bytes()
    with (tmp_path / "actions.jsonl").open("ab", buffering=0) as file:
        file.write(line[:20])
        assert reader.read() == [KILL]
        assert reader.read() == []
        file.write(line[20:])
        assert reader.read() == [KILL]
        file.write(line[:20])
    action_log.write(tmp_path, START)  # whoever wrote the half has died
    assert reader.read() == [START]


def test_a_reader_goes_on_in_the_next_file(tmp_path, reader, monkeypatch):
    monkeypatch.setattr(action_log, "MOST_BYTES", 0)
    action_log.write(tmp_path, KILL)
    assert reader.read() == [KILL]
    action_log.write(tmp_path, START)
    action_log.trim(tmp_path)
    assert reader.read() == [START], "there is no file at all now"
    action_log.write(tmp_path, KILL)
    assert reader.read() == [KILL]
    action_log.write(tmp_path, START)
    action_log.trim(tmp_path)
    action_log.write(tmp_path, KILL)
    assert reader.read() == [START, KILL], "the end of one file and the beginning of the next"


def test_a_file_that_is_deleted_or_emptied_is_begun_anew(tmp_path, reader):
    action_log.write(tmp_path, KILL)
    action_log.write(tmp_path, KILL)
    assert reader.read() == [KILL, KILL]
    (tmp_path / "actions.jsonl").unlink()
    for _ in range(3):  # so many that the new file is longer than the old one, and may have its number
        action_log.write(tmp_path, START)
    assert reader.read() == [START] * 3
    (tmp_path / "actions.jsonl").write_bytes(b"")
    assert reader.read() == []
    action_log.write(tmp_path, KILL)
    assert reader.read() == [KILL]


def test_many_writers_and_readers_lose_nothing(tmp_path, reader):
    done, found = threading.Event(), []

    def write(broker):
        for n in range(100):
            action_log.write(tmp_path, Action(float(n), "kill", broker))

    def read():
        while not done.is_set():
            found.extend(reader.read())

    writers = [threading.Thread(target=write, args=(n,)) for n in (1, 2, 3)]
    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in (*writers, *readers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    found.extend(reader.read())
    assert sorted((a.broker, a.at) for a in found) == [(b, float(n)) for b in (1, 2, 3) for n in range(100)]
