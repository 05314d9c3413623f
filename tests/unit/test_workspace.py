"""The learner's copies: never overwritten, and every old file is kept."""

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from threebrokers import restore, workspace
from threebrokers.errors import LabError

LOG = "02_the_log.ipynb"


def notebook(*, title: str = "What is a topic?") -> str:
    """Return a small lab with two exercises."""
    return nbformat.writes(
        new_notebook(
            cells=[
                new_markdown_cell(f"# {title}", id="title"),
                new_code_cell("lab = open_lab('02')", id="setup"),
                new_markdown_cell("### Exercise 2.1: key the flights\n\nDo it.", id="task1"),
                new_code_cell("# TODO: key\nkeys = ...", id="answer1"),
                new_code_cell("lab.check.keyed(keys)", id="check1"),
                new_markdown_cell("### Exercise 2.2: read some\n\nDo it.", id="task2"),
                new_code_cell("# TODO: read\nread = ...", id="answer2"),
                new_markdown_cell("## What to remember", id="end"),
                new_code_cell("", id="last"),
            ]
        )
    )


@pytest.fixture(autouse=True)
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "labs").mkdir()
    (tmp_path / "labs" / LOG).write_text(notebook())
    (tmp_path / "labs" / "12_spark_batch.ipynb").write_text(nbformat.writes(new_notebook()))
    monkeypatch.setattr(workspace, "root", lambda: tmp_path)
    monkeypatch.setattr(workspace, "course", lambda: tmp_path)
    return tmp_path


def change(path: Path, **sources: str) -> None:
    """Do what a learner does: change the source of some cells and save."""
    own = nbformat.read(path, as_version=4)
    for cell in own.cells:
        cell.source = sources.get(cell.id, cell.source)
    nbformat.write(own, path)


def sources(path: Path) -> dict[str, str]:
    return {cell.id: cell.source for cell in nbformat.read(path, as_version=4).cells}


def names(clone: Path) -> set[str]:
    return {path.name for path in (clone / "work").iterdir() if not path.name.startswith(".")}


def test_every_lab_is_handed_out_once_and_nothing_is_said(clone: Path) -> None:
    assert workspace.hand_out() == []
    assert names(clone) == {LOG, "12_spark_batch.ipynb"}
    assert (clone / "work" / LOG).read_bytes() == (clone / "labs" / LOG).read_bytes()


def test_a_picture_beside_the_labs_comes_along_and_check_points_do_not(clone: Path) -> None:
    for name in ("images/log.png", ".ipynb_checkpoints/02_the_log.ipynb"):
        (clone / "labs" / name).parent.mkdir()
        (clone / "labs" / name).write_bytes(b"x")
    workspace.hand_out()
    assert (clone / "work" / "images" / "log.png").read_bytes() == b"x"
    assert not (clone / "work" / ".ipynb_checkpoints").exists()


def test_an_edited_lab_is_left_alone(clone: Path) -> None:
    workspace.hand_out()
    change(clone / "work" / LOG, answer1="keys = 1")
    before = (clone / "work" / LOG).read_bytes()
    assert workspace.hand_out() == []
    assert (clone / "work" / LOG).read_bytes() == before
    assert names(clone) == {LOG, "12_spark_batch.ipynb"}


def test_an_updated_lab_lands_beside_an_edited_one_and_is_told_once(clone: Path) -> None:
    workspace.hand_out()
    change(clone / "work" / LOG, answer1="keys = 1")
    before = (clone / "work" / LOG).read_bytes()
    (clone / "labs" / LOG).write_text(notebook(title="New"))
    told = workspace.hand_out()
    assert len(told) == 1
    assert "02_the_log.new.ipynb" in told[0]
    assert workspace.hand_out() == []
    assert (clone / "work" / LOG).read_bytes() == before
    assert (clone / "work" / "02_the_log.new.ipynb").read_text() == notebook(title="New")


def test_a_second_update_does_not_overwrite_the_first_that_landed_beside(clone: Path) -> None:
    workspace.hand_out()
    change(clone / "work" / LOG, answer1="keys = 1")
    for title in ("New", "Newer"):
        (clone / "labs" / LOG).write_text(notebook(title=title))
        workspace.hand_out()
    assert sources(clone / "work" / "02_the_log.new.ipynb")["title"] == "# New"
    assert sources(clone / "work" / "02_the_log.new-2.ipynb")["title"] == "# Newer"


def test_a_copy_that_nobody_edited_follows_the_course(clone: Path) -> None:
    workspace.hand_out()
    (clone / "labs" / LOG).write_text(notebook(title="New"))
    told = workspace.hand_out()
    assert told == [f"work/{LOG} is updated; you had not changed it."]
    assert sources(clone / "work" / LOG)["title"] == "# New"
    assert LOG.replace(".ipynb", ".new.ipynb") not in names(clone)


@pytest.mark.parametrize("register", ["", "[1]", '{"02_the_log.ipynb"', "null"])
def test_without_the_register_a_learners_file_is_still_safe(clone: Path, register: str) -> None:
    workspace.hand_out()
    change(clone / "work" / LOG, answer1="keys = 1")
    before = (clone / "work" / LOG).read_bytes()
    (clone / "work" / ".handed_out.json").write_text(register)
    workspace.hand_out()
    assert (clone / "work" / LOG).read_bytes() == before


def test_a_deleted_copy_is_handed_out_again(clone: Path) -> None:
    workspace.hand_out()
    (clone / "work" / LOG).unlink()
    assert workspace.hand_out() == []
    assert LOG in names(clone)


def test_restoring_a_lab_keeps_what_was_there(clone: Path) -> None:
    workspace.hand_out()
    change(clone / "work" / LOG, answer1="keys = 1")
    before = (clone / "work" / LOG).read_bytes()
    said = workspace.restore("2")
    assert "02_the_log.old.ipynb" in said
    assert (clone / "work" / "02_the_log.old.ipynb").read_bytes() == before
    assert (clone / "work" / LOG).read_bytes() == (clone / "labs" / LOG).read_bytes()
    assert workspace.hand_out() == []


def test_restoring_an_untouched_lab_leaves_nothing_beside(clone: Path) -> None:
    workspace.hand_out()
    workspace.restore("02")
    assert names(clone) == {LOG, "12_spark_batch.ipynb"}


def test_restoring_an_update_over_an_edited_lab_is_then_known(clone: Path) -> None:
    workspace.hand_out()
    change(clone / "work" / LOG, answer1="keys = 1")
    (clone / "labs" / LOG).write_text(notebook(title="New"))
    workspace.restore("02")
    assert sources(clone / "work" / LOG)["title"] == "# New"
    change(clone / "work" / LOG, answer1="keys = 2")
    assert workspace.hand_out() == []


def test_an_unknown_lab_is_one_sentence() -> None:
    with pytest.raises(LabError, match=r"^There is no lab 7: the labs are 02, 12\.$"):
        workspace.restore("7")


def test_no_labs_at_all_names_the_command(clone: Path) -> None:
    for path in (clone / "labs").iterdir():
        path.unlink()
    with pytest.raises(LabError, match="make build"):
        workspace.hand_out()


def test_the_exercises_of_a_lab_are_read_from_its_headings(clone: Path) -> None:
    title, exercises, _ = restore.outline(clone / "labs" / LOG)
    assert title == sources(clone / "labs" / LOG)["title"].removeprefix("# ")
    assert exercises == {"2.1": "key the flights", "2.2": "read some"}


@pytest.mark.parametrize("exercise", ["1", "2.1"])
def test_one_exercise_comes_back_and_the_rest_stays(clone: Path, exercise: str) -> None:
    workspace.hand_out()
    mine = clone / "work" / LOG
    change(mine, setup="my_own = 1", answer1="keys = 1", check1="broken(", answer2="read = 2", end="## Mine")
    before = mine.read_bytes()
    said = restore.restore_exercise("2", exercise)
    assert "02_the_log.old.ipynb" in said
    assert (clone / "work" / "02_the_log.old.ipynb").read_bytes() == before
    now = sources(mine)
    assert now["answer1"] == "# TODO: key\nkeys = ..."
    assert now["check1"] == "lab.check.keyed(keys)"
    assert (now["setup"], now["answer2"], now["end"]) == ("my_own = 1", "read = 2", "## Mine")


def test_restoring_an_untouched_exercise_leaves_nothing_beside(clone: Path) -> None:
    workspace.hand_out()
    assert "untouched already" in restore.restore_exercise("2", "1")
    assert names(clone) == {LOG, "12_spark_batch.ipynb"}


def test_deleted_cells_of_an_exercise_come_back_in_their_place(clone: Path) -> None:
    workspace.hand_out()
    mine = clone / "work" / LOG
    own = nbformat.read(mine, as_version=4)
    own.cells = [cell for cell in own.cells if cell.id not in ("answer1", "check1")]
    nbformat.write(own, mine)
    restore.restore_exercise("2", "1")
    assert list(sources(mine))[2:6] == ["task1", "answer1", "check1", "task2"]


def test_a_learners_file_that_is_no_notebook_names_the_way_back(clone: Path) -> None:
    workspace.hand_out()
    (clone / "work" / LOG).write_text("{")
    with pytest.raises(LabError, match=r"not a notebook .*`threebrokers restore 02`"):
        restore.restore_exercise("2", "1")
    workspace.restore("2")
    assert (clone / "work" / "02_the_log.old.ipynb").read_text() == "{"


def test_an_unknown_exercise_lists_the_known_ones() -> None:
    workspace.hand_out()
    with pytest.raises(LabError, match=r"^Lab 02 has no exercise 2\.9: it has 2\.1, 2\.2\.$"):
        restore.restore_exercise("02", "9")


def test_the_register_names_what_was_handed_out(clone: Path) -> None:
    workspace.hand_out()
    assert set(json.loads((clone / "work" / ".handed_out.json").read_text())) == names(clone)


def test_what_is_kept_beside_is_read_by_nobody_else(clone: Path) -> None:
    workspace.hand_out()
    mine = clone / "work" / LOG
    mine.chmod(0o600)
    change(mine, answer1="keys = 1")
    workspace.restore("02")
    assert (clone / "work" / "02_the_log.old.ipynb").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("cloned", "cure"), [(True, f"git checkout labs/{LOG}"), (False, "install threebrokers again")]
)
def test_a_damaged_lab_of_the_course_names_what_brings_it_back(
    clone: Path, monkeypatch: pytest.MonkeyPatch, cloned: bool, cure: str
) -> None:
    (clone / "labs" / LOG).write_text("{")
    monkeypatch.setattr(restore, "is_clone", lambda: cloned)
    with pytest.raises(LabError, match=cure):
        restore.outline(clone / "labs" / LOG)
