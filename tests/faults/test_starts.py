"""Brokers that cannot start, or end without being asked: the cause is told, and what cures does cure."""

import os
import shutil
from pathlib import Path

import psutil
import pytest

from threebrokers.cluster import Cluster, cds, prepare, process, state_file
from threebrokers.cluster.actions import Action
from threebrokers.cluster.local import LocalEngine
from threebrokers.doctor import state
from threebrokers.errors import LabError
from threebrokers.lab.opening import open_lab
from threebrokers.waiting import quiet_wait

BOOT = " ticks after boot another-one"


def crash(cluster: Cluster, broker: int) -> None:
    """End a broker past the course, as a crash does."""
    psutil.Process(cluster.processes()[broker].pid).kill()
    assert quiet_wait(lambda: cluster.processes()[broker].state == "down", 5)


@pytest.mark.fault("Starts", "the folder conf/ is deleted, and a broker dies")
def test_lost_configuration(healthy, home, behaviour):
    shutil.rmtree(home / "conf")
    crash(healthy, 2)
    assert healthy.up() == [2]
    behaviour("`up` writes the configuration anew and starts the broker")


@pytest.mark.fault("Starts", "a broker cannot start, and the JVM says why in words of its own")
def test_the_jvm_says_why(healthy, home, behaviour, monkeypatch):
    crash(healthy, 2)
    flags = [*prepare.prepare(print).broker_flags, "-XX:+UseParallelGC"]
    prepared = prepare.Prepared(flags, [], Path())
    monkeypatch.setattr(prepare, "prepare", lambda say, thoroughly=False: prepared)
    with pytest.raises(LabError, match="Broker 2 ended while it started") as told:
        healthy.start(2)
    assert "Multiple garbage collectors selected" in str(told.value)
    behaviour("the start ends with what the JVM wrote", says=told.value)


@pytest.fixture
def own_quick_start(tmp_path, monkeypatch, home) -> Path:
    """What is prepared, in a cache that this test may damage; the jars are those that everybody has."""
    whole = prepare.prepare(print).template.parent
    place = tmp_path / whole.name
    shutil.copytree(whole, place)
    asked = prepare._asked
    monkeypatch.setattr(prepare, "_asked", lambda: (asked()[0], place, *asked()[2:]))
    return place


def zero(path: Path, times: bool) -> None:
    """Damage the inside of a file; it looks as before unless `times`."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(before.st_size // 4)
        file.write(b"\0" * (before.st_size // 2))
    if not times:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


DAMAGE = {
    "the archive of classes is damaged inside": lambda place: zero(place / cds.CLASSES, times=True),
    "the archive of classes is empty": lambda place: (place / cds.CLASSES).write_bytes(b""),
    "the archive of classes is missing": lambda place: (place / cds.CLASSES).unlink(),
    "the formatted folder is missing": lambda place: shutil.rmtree(place / cds.TEMPLATE),
    "the note of its files is missing": lambda place: (place / "files.json").unlink(),
}


@pytest.mark.fault("Starts", "a file of the quick start is damaged, missing or half there")
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_quick_start_is_found_before_a_start(own_quick_start, behaviour, monkeypatch, damage):
    made: list[Path] = []

    def make(java: Path, broker: object, tool: object, work: Path, say: object) -> Path:
        (work / "made" / cds.TEMPLATE).mkdir(parents=True)
        (work / "made" / cds.CLASSES).write_bytes(b"new")
        made.append(work)
        return work / "made"

    monkeypatch.setattr(cds, "make", make)
    said: list[str] = []
    prepare.prepare(said.append)  # it was copied: its times are others, its content is not
    assert (made, said) == ([], [])
    damage(own_quick_start)
    prepare.prepare(said.append)
    prepare.prepare(said.append)
    assert len(made) == 1
    assert (own_quick_start / cds.CLASSES).read_bytes() == b"new"
    behaviour("it is made anew, once, before a broker starts", says=said[0])


@pytest.mark.slow_fault
@pytest.mark.fault("Starts", "the archive of classes is damaged, and looks as before")
def test_a_quick_start_that_only_looks_whole(healthy, own_quick_start, behaviour, capsys):
    healthy.down()
    prepare.prepare(print)
    zero(own_quick_start / cds.CLASSES, times=False)
    assert prepare._is_ready(own_quick_start, thoroughly=False), "nothing is to be seen from outside"
    assert sorted(healthy.up()) == [1, 2, 3]
    said = capsys.readouterr().out
    assert "The quick start of Kafka was damaged: it is made anew" in said
    behaviour("a broker that dies at its start has it looked at; it is made anew, and all start")


@pytest.mark.fault("Starts", "the classes could not be stored once, say on a full disk")
def test_an_archive_that_could_not_be_stored(own_quick_start, behaviour, monkeypatch):
    works, calls = [False, False, True], []

    def make(java: Path, broker: object, tool: object, work: Path, say: object) -> Path:
        (work / "made" / cds.TEMPLATE).mkdir(parents=True)
        (work / "made" / cds.TEMPLATE / "bootstrap").write_text("x")
        if works[len(calls)]:
            (work / "made" / cds.CLASSES).write_bytes(b"new")
        calls.append(work)
        return work / "made"

    monkeypatch.setattr(cds, "make", make)
    shutil.rmtree(own_quick_start)
    for _ in range(4):
        prepare.prepare(lambda text: None)
    assert len(calls) == 2, "it is tried once more, and not at every start"
    shutil.rmtree(own_quick_start)
    works[:] = [False, False, False, True]
    for _ in range(4):
        assert prepare.prepare(lambda text: None)
    assert (own_quick_start / cds.CLASSES).exists()
    behaviour("brokers start without them, slower; it is tried once more at the next start")


@pytest.mark.fault("Starts", "a broker ended by itself before a lab is opened")
def test_news_when_a_lab_is_opened(healthy, behaviour, capsys):
    crash(healthy, 2)
    open_lab("04")
    said = capsys.readouterr().out
    assert "Broker 2 had ended by itself and was started again" in said
    behaviour("it is started again, and opening the lab says so", says=said.split(". ", 1)[1].strip())


@pytest.mark.fault("Starts", "brokers were stopped or killed on purpose, by `make lab` or in a notebook")
def test_no_news_when_a_lab_is_opened(healthy, behaviour, capsys):
    healthy.kill(2)
    open_lab("04")
    healthy.stop(1)
    healthy.down()
    open_lab("04")
    said = capsys.readouterr().out
    assert "started again" not in said
    assert "had" not in said
    behaviour("they are started, and nothing is said of it")


@pytest.mark.fault("Starts", "the machine was switched off while brokers ran")
def test_no_news_after_a_start_of_the_machine(tmp_path, behaviour):
    (tmp_path / "logs").mkdir()
    gone = process.Identity(2**22 + 1, f"17{BOOT}", "mark")
    state_file.save(tmp_path, state_file.SavedState("x", {}, {2: gone}))
    assert LocalEngine(tmp_path).ended() == []
    assert state.look_at_state(tmp_path).ok
    behaviour("brokers are started, and nothing is said of it")


@pytest.mark.fault("Files", "the log of actions holds half a line, or rubbish")
@pytest.mark.parametrize("damage", [b'{"at": 1, "ki', b"\xff\xfe\n\n", b"[1]\n17\n", b"\0" * 5000])
def test_rubbish_in_the_log_of_actions(tmp_path, behaviour, damage):
    cluster = Cluster(tmp_path)
    (tmp_path / "actions.jsonl").write_bytes(damage)
    cluster._report(done := _action(2))
    assert cluster.actions() == [done]
    behaviour("what is no action is left out, and nothing after it is lost")


@pytest.mark.fault("Files", "the disk is full in the middle of a line of the log of actions")
def test_half_a_write(tmp_path, behaviour, monkeypatch):
    cluster, write = Cluster(tmp_path), os.write
    cluster._report(_action(1))
    size = (tmp_path / "actions.jsonl").stat().st_size
    room = [10]

    def full(file: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(28, "No space left on device")
        count, room[0] = write(file, data[: room[0]]), 0
        return count

    monkeypatch.setattr(os, "write", full)
    cluster._report(_action(2))
    assert (tmp_path / "actions.jsonl").stat().st_size == size
    monkeypatch.undo()
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    cluster._report(_action(3))
    assert [action.broker for action in cluster.actions()] == [1, 3]
    behaviour("what was written of the line is taken back; a part that the system took is completed")


def _action(broker: int) -> Action:
    return Action(1.0, "kill", broker, "")
