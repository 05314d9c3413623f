"""Progress: kept across notebooks, never in the way of a check."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from threebrokers import progress, store
from threebrokers.errors import LabError


@pytest.fixture(autouse=True)
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    return tmp_path


def test_a_fresh_bench_has_solved_nothing() -> None:
    assert progress.solved() == {}
    assert progress.tried() == set()


def test_a_failed_try_is_not_a_solution() -> None:
    progress.record("3.1", solved=False)
    assert progress.tried() == {"3.1"}
    assert progress.solved() == {}


def test_solved_stays_solved_with_its_first_time() -> None:
    progress.record("3.1", solved=True)
    first = progress.solved()
    progress.record("3.1", solved=False)
    progress.record("3.1", solved=True)
    assert progress.solved() == first
    assert first["3.1"].tzinfo is not None


def test_what_is_solved_in_one_lab_is_told_in_order(bench: Path) -> None:
    for number, solved in (("3.2", True), ("3.1", True), ("3.3", False), ("13.1", True)):
        progress.record(number, solved=solved)
    assert progress.solved_in("03") == ["3.1", "3.2"]
    assert progress.solved_in("04") == []
    (bench / "progress.json").write_text("damaged")
    assert progress.solved_in("03") == []


@pytest.mark.parametrize(
    "damage", [b"", b'{"3.1": ', b"[1, 2]", b'"text"', b'{"3.1": true}', b'{"3.1": "soon"}', b"\xff\x00"]
)
def test_a_damaged_file_is_kept_and_progress_starts_afresh(bench: Path, damage: bytes) -> None:
    (bench / "progress.json").write_bytes(damage)
    progress.record("1.1", solved=True)
    assert set(progress.solved()) == {"1.1"}
    assert (bench / "progress.damaged.json").read_bytes() == damage


def test_a_second_damaged_file_does_not_replace_the_first(bench: Path) -> None:
    for damage in (b"one", b"two"):
        (bench / "progress.json").write_bytes(damage)
        assert progress.solved() == {}
    assert (bench / "progress.damaged.json").read_bytes() == b"one"
    assert (bench / "progress.damaged-2.json").read_bytes() == b"two"


def test_notebooks_that_record_at_once_lose_nothing() -> None:
    code = (
        "import sys; from threebrokers import progress; progress.LOCK_SECONDS = 60\n"
        "for n in range(15): progress.record(f'{sys.argv[1]}.{n}', solved=True)"
    )
    notebooks = [subprocess.Popen([sys.executable, "-c", code, str(lab)]) for lab in range(4)]
    assert [notebook.wait() for notebook in notebooks] == [0] * 4
    assert set(progress.solved()) == {f"{lab}.{n}" for lab in range(4) for n in range(15)}


def test_a_disk_that_cannot_be_written_does_not_hide_the_answer_of_a_check(
    bench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress.record("1.1", solved=True)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "write_whole", full)
    progress.record("1.2", solved=True)
    assert set(progress.solved()) == {"1.1"}


def test_a_home_that_cannot_be_made_does_not_hide_the_answer_of_a_check(
    bench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench / "file").touch()
    monkeypatch.setenv("THREEBROKERS_HOME", str(bench / "file" / "home"))
    progress.record("1.2", solved=True)
    progress.record_guess("1.a", progress.Guess("one", "two"))
    progress.record_answer("1.q1", "one", right=True)


def lose(bench: Path) -> list[str]:
    """Damage the file of exercises and return what is told of it."""
    (bench / "progress.json").write_text("damaged")
    return progress.lost()


def test_a_loss_after_all_was_forgotten_is_told_too(bench: Path) -> None:
    assert len(lose(bench)) == 1
    progress.forget()
    (bench / "progress.json").write_text("damaged")
    assert progress.solved() == {}  # whoever comes first keeps it aside
    assert len(progress.lost()) == 1
    assert progress.lost() == []


def test_a_loss_after_the_kept_file_was_deleted_by_hand_is_told_too(bench: Path) -> None:
    assert len(lose(bench)) == 1
    (bench / "progress.damaged.json").unlink()
    assert progress.lost() == []
    assert len(lose(bench)) == 1
    assert progress.lost() == []


def test_all_is_forgotten_also_where_a_folder_was_kept_aside(bench: Path) -> None:
    progress.record_answer("1.q1", "one", right=True)
    (bench / "progress.json").mkdir()
    (bench / "progress.json" / "inside").touch()
    assert len(progress.lost()) == 1
    assert progress.forget() == 1
    assert progress.answers() == {}
    assert not list(bench.glob("*damaged*"))


def test_the_file_is_whole_json_after_each_record(bench: Path) -> None:
    progress.record("1.1", solved=True)
    assert list(json.loads((bench / "progress.json").read_text())) == ["1.1"]
    assert [p.name for p in bench.iterdir() if p.name.startswith(".progress")] == []


@pytest.fixture
def read_only(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home with something of each kind, in which from now on nothing may be written."""
    progress.record("3.1", solved=True)
    progress.record("3.2", solved=False)
    progress.record_guess("3.a", progress.Guess("one", "two"))
    progress.record_answer("3.q1", "one", right=True)
    real = os.open

    def refused(path: str, flags: int, *more: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise PermissionError(13, "Permission denied", path)
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", refused)  # who runs the tests as root may write everywhere


@pytest.mark.usefixtures("read_only")
def test_a_home_that_may_only_be_read_tells_what_it_holds() -> None:
    assert set(progress.solved()) == {"3.1"}
    assert progress.tried() == {"3.1", "3.2"}
    assert progress.guesses() == {"3.a": progress.Guess("one", "two")}
    assert progress.answers()["3.q1"].right


@pytest.mark.usefixtures("read_only")
def test_a_damaged_file_of_a_home_that_may_only_be_read_is_an_empty_one(bench: Path) -> None:
    (bench / "progress.json").write_text("damaged")
    assert progress.solved() == {}
    assert (bench / "progress.json").read_text() == "damaged"


def test_a_file_that_may_not_be_read_is_not_empty(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress.record("3.1", True)
    read = Path.read_bytes

    def refused(path: Path) -> bytes:
        if path.name == "progress.json":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(LabError, match=rf"{bench}/progress.json may not be read by you: make it yours"):
        progress.solved()
    assert progress.lost() == []  # a lab opens all the same
