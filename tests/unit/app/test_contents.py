"""What JupyterLab may change in the repo: all but what the course has built."""

import asyncio
import platform
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from tornado.web import HTTPError

from threebrokers import workspace
from threebrokers.app import contents, jupyterlab
from threebrokers.app.contents import CourseFiles

NAME = "02_the_log.ipynb"
THREAD = ThreadPoolExecutor(1)
BUILT = [f"solutions/{NAME}", f"labs/{NAME}"]


@contextmanager
def of_folder(folder: Path) -> Iterator[CourseFiles]:
    """Lend the files of a folder; Python 3.13 complains if what signs notebooks is not closed after."""
    files = CourseFiles(root_dir=str(folder))
    yield files
    THREAD.submit(lambda: files.notary.store.close()).result()


@pytest.fixture
def files(tmp_path: Path) -> Iterator[CourseFiles]:
    for folder in ("labs", "solutions", "work"):
        (tmp_path / folder).mkdir()
        nbformat.write(new_notebook(cells=[new_code_cell("1", id="one")]), tmp_path / folder / NAME)
    with of_folder(tmp_path) as found:
        yield found


def done(awaited: Any) -> Any:
    """Run it in another thread, as in this one a browser's tests may have an event loop; always in the same.

    What signs notebooks keeps a connection of SQLite, which belongs to one thread.
    """
    return THREAD.submit(asyncio.run, awaited).result()


def test_jupyterlab_is_told_to_use_it() -> None:
    assert f"{CourseFiles.__module__}.{CourseFiles.__name__}" == jupyterlab.FILES


@pytest.mark.parametrize("path", BUILT)
def test_what_is_built_is_read_only(files: CourseFiles, tmp_path: Path, path: str) -> None:
    before = (tmp_path / path).read_bytes()
    (tmp_path / "work" / "mine").mkdir()
    model = done(files.get(path))
    assert model["writable"] is False
    assert model["content"].cells[0].metadata.editable is False
    for change in (
        lambda: files.save(model, path),
        lambda: files.save({"type": "directory"}, f"{path}-2"),
        lambda: files.rename_file(path, "work/mine.ipynb"),
        lambda: files.rename_file(f"work/{NAME}", f"{path}-2"),
        lambda: files.delete_file(path),
        lambda: files.copy("work/mine", path.partition("/")[0]),
        lambda: files.copy("work/mine", f"{path.partition('/')[0]}/mine"),
        lambda: files.copy(path),
    ):
        with pytest.raises(HTTPError, match="read-only: your own labs are in work/") as refused:
            done(change())
        assert refused.value.status_code == 403
    assert (tmp_path / path).read_bytes() == before
    assert [one.name for one in (tmp_path / path).parent.iterdir()] == [NAME]


def test_it_is_read_only_under_another_name_too(files: CourseFiles, tmp_path: Path) -> None:
    """A disk of macOS takes `Labs` for `labs`; here a link does."""
    (tmp_path / "Labs").symlink_to(tmp_path / "labs")
    model = done(files.get(f"Labs/{NAME}"))
    assert model["writable"] is False
    with pytest.raises(HTTPError, match="read-only"):
        done(files.save(model, f"Labs/{NAME}"))
    assert done(files.get("work"))["writable"] is True
    assert done(files.get(""))["writable"] is True


def copied(files: CourseFiles) -> None:
    done(files.copy(BUILT[0], "work/copy.ipynb"))


def saved_as(files: CourseFiles) -> None:
    done(files.save(done(files.get(BUILT[0])), "work/copy.ipynb"))


@pytest.mark.parametrize("make", [copied, saved_as])
def test_a_copy_of_it_is_the_learners_own(
    files: CourseFiles, tmp_path: Path, make: Callable[[CourseFiles], None]
) -> None:
    make(files)
    model = done(files.get("work/copy.ipynb"))
    assert model["writable"] is True
    assert {"editable", "deletable"} & model["content"].cells[0].metadata.keys() == set()
    model["content"].cells[0].source = "2"
    done(files.save(model, "work/copy.ipynb"))
    assert nbformat.read(tmp_path / "work" / "copy.ipynb", as_version=4).cells[0].source == "2"


@pytest.mark.parametrize(("kernel", "named"), [("python3", True), ("ir", False)])
def test_a_notebook_of_the_courses_kernel_names_its_language_and_its_file_stays(
    files: CourseFiles, tmp_path: Path, kernel: str, named: bool
) -> None:
    spec = {"name": kernel, "display_name": kernel, "language": "x"}
    path = tmp_path / "work" / "own.ipynb"
    nbformat.write(new_notebook(metadata={"kernelspec": spec}), path)
    before = path.read_bytes()
    told = done(files.get("work/own.ipynb"))["content"].metadata
    assert told["kernelspec"] == spec
    assert (told.get("language_info", {}).get("version") == platform.python_version()) is named
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"cells": 1}', "\x00\xff"])
@pytest.mark.fault("JupyterLab", "a notebook in work/ is damaged")
def test_a_damaged_notebook_names_its_cure(
    files: CourseFiles, tmp_path: Path, damage: str, behaviour: Any
) -> None:
    (tmp_path / "work" / NAME).write_bytes(damage.encode("latin-1"))
    with pytest.raises(HTTPError) as told:
        done(files.get(f"work/{NAME}"))
    assert told.value.status_code == 400
    assert "`.venv/bin/threebrokers restore 02`" in told.value.log_message
    behaviour("JupyterLab names the command that brings it back", says=told.value.log_message)


@pytest.mark.parametrize("name", ["Untitled.ipynb", "02_the_log.old.ipynb"])
def test_a_damaged_notebook_that_no_lab_has_gets_jupyters_own_words(
    files: CourseFiles, tmp_path: Path, name: str
) -> None:
    (tmp_path / "work" / name).write_text("{")
    with pytest.raises(HTTPError) as told:
        done(files.get(f"work/{name}"))
    assert told.value.status_code == 400
    assert "threebrokers restore" not in str(told.value.log_message)


# Without a clone the root is the learner's own folder, and the course's folders are links in it.


@pytest.fixture
def lent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CourseFiles]:
    package, mine = tmp_path / "threebrokers" / "course", tmp_path / "mine"
    for folder in workspace.LENT:
        (package / folder).mkdir(parents=True)
        nbformat.write(new_notebook(cells=[new_code_cell("1", id="one")]), package / folder / NAME)
    (mine / "work").mkdir(parents=True)
    for module in (contents, workspace):
        monkeypatch.setattr(module, "is_clone", lambda: False)
    monkeypatch.setattr(workspace, "course", lambda: package)
    monkeypatch.setattr(workspace, "root", lambda: mine)
    with of_folder(mine) as found:
        yield found


def listed(files: CourseFiles) -> list[str]:
    return sorted(model["path"].strip("/") for model in done(files.get(""))["content"])


def test_an_installed_course_shows_its_folders_read_only(lent: CourseFiles) -> None:
    workspace.hand_out()
    assert listed(lent) == ["docs", "labs", "slides", "solutions", "work"]
    model = done(lent.get(f"solutions/{NAME}"))
    assert model["writable"] is False
    with pytest.raises(HTTPError, match="read-only"):
        done(lent.save(model, f"docs/{NAME}"))
    with pytest.raises(HTTPError, match="read-only"):
        done(lent.delete_file("solutions"))
    assert done(lent.save(model, f"work/{NAME}"))["writable"] is True


def test_a_folder_of_the_learners_own_stays(lent: CourseFiles) -> None:
    own = Path(lent.root_dir) / "docs"
    own.mkdir()
    workspace.hand_out()
    assert done(lent.get("docs"))["content"] == []
    done(lent.save({"type": "file", "format": "text", "content": "mine"}, "docs/note.txt"))
    assert (own / "note.txt").read_text() == "mine"


def test_links_of_an_older_installation_are_renewed(lent: CourseFiles) -> None:
    old, foreign = Path(lent.root_dir) / "labs", Path(lent.root_dir) / "slides"
    old.symlink_to("/gone/threebrokers/course/labs")
    foreign.symlink_to("/gone/elsewhere")
    workspace.hand_out()
    assert (old / NAME).is_file()
    assert str(foreign.readlink()) == "/gone/elsewhere"
