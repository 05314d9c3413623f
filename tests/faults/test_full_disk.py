"""A disk that is full at any write: nothing is half made, one sentence says so, and room again is enough."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.full_disk import FullDisk
from tests.faults.stand_ins import LAB, SERVED, Clone, clone, notebook
from threebrokers import files, progress, workspace
from threebrokers.cluster import cds, log_dirs, programs, state_file
from threebrokers.cluster.action_log import read
from threebrokers.cluster.actions import Action
from threebrokers.errors import LabError

__all__ = ["clone"]

MOST = 400  # writes of one command


@pytest.fixture
def disk(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    return FullDisk(clone.root, monkeypatch)


def nothing(clone: Clone) -> None:
    """A home in which nothing was done yet."""


def started(clone: Clone) -> None:
    clone.run("up")


def edited(clone: Clone) -> None:
    workspace.hand_out()
    clone.work.write_text(notebook().replace("keys = ...", "keys = 1"), "utf-8")


def outdated(clone: Clone) -> None:
    edited(clone)
    (clone.root / "labs" / LAB).write_text(notebook("Newer"), "utf-8")


def damaged(clone: Clone) -> None:
    clone.home.mkdir()
    (clone.home / "progress.json").write_bytes(b"[")


# They write some hundred times: after each of these the disk is full once.
LONG = (("up", nothing), ("lab", nothing), ("lab", outdated), ("reset", started))


@pytest.mark.parametrize(
    ("words", "before"),
    [
        pytest.param(
            words,
            before,
            marks=[
                pytest.mark.fault("Full disk", f"{told}: at any of its writes"),
                *([pytest.mark.slow_fault] if (words, before) in LONG else []),
            ],
        )
        for words, before, told in [
            ("up", nothing, "`threebrokers up` for the first time"),
            ("up", started, "`threebrokers up` again"),
            ("down", started, "`threebrokers down`"),
            ("reset", started, "`threebrokers reset`"),
            ("lab", nothing, "`make lab` for the first time"),
            ("lab", outdated, "`make lab` after an update of the course"),
            ("restore 02", edited, "`threebrokers restore 02`"),
            ("restore 02 --exercise 1", edited, "`threebrokers restore 02 --exercise 1`"),
            ("status", damaged, "`threebrokers status`"),
            ("doctor", started, "`threebrokers doctor`"),
        ]
    ],
)
def test_every_write_of_a_command(clone, disk, tmp_path_factory, words, before, behaviour):
    before(clone)
    kept = tmp_path_factory.mktemp("kept") / "clone"
    shutil.copytree(clone.root, kept, symlinks=True)
    mine = clone.work.read_bytes() if clone.work.exists() else b""
    said = ""
    for writes in range(MOST):
        shutil.rmtree(clone.root)
        shutil.copytree(kept, clone.root, symlinks=True)
        with disk.full_after(writes):
            done = clone.run(*words.split())
        if done.exit_code and str(SERVED) not in done.stderr:
            said = said or done.stderr.removeprefix("✗ ")
            assert "full" in done.stderr, done.stderr
            assert "free some" in done.stderr, done.stderr
        assert_whole(clone, mine)
        if not disk.hit:
            break
        again = clone.run(*words.split())
        assert again.exit_code == 0 or str(SERVED) in again.stderr, (writes, again)
    assert not disk.hit, f"more than {MOST} writes"
    behaviour("nothing is half made; with room again the same command goes on", says=said or None)


def assert_whole(clone: Clone, mine: bytes) -> None:
    """What is there is whole; what the learner had is still there."""
    for path in clone.root.rglob("*.json"):
        if not path.name.startswith("progress."):  # it was damaged before
            json.loads(path.read_bytes())
    if mine:
        assert mine in [path.read_bytes() for path in clone.work.parent.glob("*.ipynb")]
    for path in clone.root.glob("work/*.ipynb"):
        json.loads(path.read_bytes())
    ids = [one for one in log_dirs.clusters(clone.home).values() if log_dirs.is_laid_out(clone.home)]
    assert len(set(ids)) <= 1, "three folders of one cluster, or none"
    assert not list(clone.root.rglob(".*.json.????????")), "no part of a file"
    assert not (clone.home / "data.new").exists()


@pytest.mark.parametrize(
    ("do", "told"),
    [
        pytest.param(do, told, marks=pytest.mark.fault("Full disk", fault))
        for do, told, fault in [
            (
                lambda home: progress.record("2.1", solved=True),
                "the check's answer is shown, and not remembered",
                "a check notes that an exercise is solved",
            ),
            (
                lambda home: state_file.save(home, state_file.SavedState("new")),
                "the state before it stays",
                "the cluster's state is saved",
            ),
        ]
    ],
)
def test_a_notebooks_write(clone, disk, do: Callable[[Path], None], told, behaviour):
    clone.home.mkdir()
    do(clone.home)
    said = None
    for writes in range(MOST):
        with disk.full_after(writes):
            try:
                do(clone.home)
            except LabError as fault:
                said = fault
        assert_whole(clone, b"")
        if not disk.hit:
            break
    behaviour(told, says=said)


@pytest.mark.fault("Full disk", "half a line was written to a log of JSON lines")
def test_half_a_line(tmp_path, behaviour):
    from threebrokers.cluster import action_log

    action_log.write(tmp_path, Action(1.0, "kill", 1))
    with (tmp_path / "actions.jsonl").open("a") as log:
        log.write('{"at": 2, "ki')
    action_log.write(tmp_path, Action(3.0, "kill", 3))
    assert [action.broker for action in read(tmp_path)] == [1, 3]
    behaviour("the half line is left out, and the next one begins on a line of its own")


@pytest.mark.fault("Kills", "a program is killed while it writes a file")
def test_parts_of_files_go(tmp_path, behaviour):
    path = tmp_path / "progress.json"
    old, young, other = (
        tmp_path / f".{name}" for name in ("progress.json.abcd1234", "progress.json.x_y_z_12", "x")
    )
    for part in (old, young, other):
        part.touch()
    os.utime(old, (time.time() - 100, time.time() - 100))
    os.utime(other, (0, 0))
    files.write_whole(path, b"{}")
    assert not old.exists(), "its writer was killed"
    assert young.exists(), "its writer may still be at work"
    assert other.exists()
    behaviour("the file before it stays; what was half written is deleted with the next write")


@pytest.mark.fault("Kills", "a program's own note in the home outlives it, or is damaged")
def test_notes_of_programs_go(tmp_path, behaviour):
    (tmp_path / "programs").mkdir()
    for name, content in (("1.json", b"{"), ("2.json", b"[]")):
        (tmp_path / "programs" / name).write_bytes(content)
    assert programs.running(tmp_path) == {}
    assert list((tmp_path / "programs").iterdir()) == []
    behaviour("it is deleted; nothing is signalled")


@pytest.mark.fault("Full disk", "the classes of Kafka cannot be stored (quick starts)")
def test_no_list_of_classes_stays(tmp_path, monkeypatch, behaviour):
    class Training:
        path = ""

        def __init__(self, java: object, broker: object, tool: object, work: Path) -> None:
            (work / "one.classes").write_text("java/lang/Object id: 1\n")

        def format(self, template: Path) -> None:
            template.mkdir()

        def work_through(self) -> None:
            return None

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cds, "_Training", Training)
    monkeypatch.setattr(cds, "run", full)
    said: list[str] = []
    made = cds.make(Path("java"), [], [], tmp_path / "work", said.append)
    assert [path.name for path in made.iterdir()] == [cds.TEMPLATE]
    behaviour("starts take longer; nothing half made is kept", says=said[-1])


SMALL = """
mount -t tmpfs -o size=2m tmpfs "$1" && exec "$2" -c '
import sys
from pathlib import Path
home = Path(sys.argv[1]) / "home"
from threebrokers.cluster import state_file
from threebrokers.errors import LabError
from threebrokers import progress
state_file.save(home, state_file.SavedState("old"))
(home / "ballast").write_bytes(b"x" * 1_900_000)
try:
    (home / "rest").write_bytes(b"x" * 10_000_000)
except OSError:
    pass
progress.record("2.1", solved=True)
try:
    state_file.save(home, state_file.SavedState("new" * 5000))
except LabError as fault:
    print(fault)
assert state_file.load(home).cluster_id == "old"
(home / "ballast").unlink()
state_file.save(home, state_file.SavedState("new"))
assert state_file.load(home).cluster_id == "new"
assert not [path for path in home.iterdir() if path.name.startswith(".cluster")]
' "$1"
"""


@pytest.mark.fault("Full disk", "a real disk of 2 MB is full")
def test_a_small_disk(tmp_path, monkeypatch, behaviour):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path / "home"))
    words = ("unshare", "--mount", "--map-root-user", "sh", "-c", SMALL, "sh", str(tmp_path), sys.executable)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no disk can be made here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    behaviour("what was saved before stays, and with room again all goes on", says=done.stdout)
