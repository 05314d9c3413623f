"""A `make lab` that was killed leaves its JupyterLab: the next one goes on with it, the doctor names it."""

import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.commands import run
from tests.faults.make_labs import Start, starting, told
from threebrokers.app import jupyterlab
from threebrokers.cluster import process, sessions
from threebrokers.doctor import processes


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path / "home"))
    with starting(tmp_path) as start:
        yield start


def killed(start: Start) -> str:
    """Kill a `make lab` when its JupyterLab runs, and return the address of that."""
    command = start()
    address = told(command)[-1].strip()
    command.kill()
    command.wait()
    return address


@pytest.mark.programs
@pytest.mark.fault("JupyterLab", "`make lab` was killed (kill -9), and is run again")
def test_the_next_one_goes_on_with_it(start: Start, tmp_path: Path, behaviour) -> None:
    address = killed(start)
    [orphan] = sessions.orphans(tmp_path / "home")
    found = processes.look_for_orphans(tmp_path / "home")
    assert not found.ok
    assert f"process {orphan.pid} runs without its `make lab`" in found.what

    second = start()
    lines = told(second)
    assert lines[-1].strip() == address
    says = next(line for line in lines if "was killed" in line)
    assert sessions.orphans(tmp_path / "home") == []
    assert processes.look_for_orphans(tmp_path / "home").ok
    second.send_signal(signal.SIGINT)
    assert "All ended." in second.communicate(timeout=60)[0]
    assert second.returncode == 0
    assert orphan.process() is None
    behaviour("it goes on with the JupyterLab that still runs, and Ctrl-C ends that", says=says)


@pytest.mark.programs
@pytest.mark.fault("JupyterLab", "`make lab` was killed, and its JupyterLab hangs")
def test_one_that_hangs_is_ended(start: Start, tmp_path: Path, monkeypatch, behaviour) -> None:
    address = killed(start)
    [orphan] = sessions.orphans(tmp_path / "home")
    psutil.Process(orphan.pid).suspend()
    second = start()
    lines = told(second)
    assert lines[-1].strip() != address
    assert orphan.process() is None
    says = next(line for line in lines if "was killed" in line)
    behaviour("it is ended, and another one started", says=says)


@pytest.mark.programs
@pytest.mark.fault("JupyterLab", "`make lab` was killed, and `threebrokers down` is run")
def test_down_ends_it(start: Start, tmp_path: Path, behaviour) -> None:
    killed(start)
    [orphan] = sessions.orphans(tmp_path / "home")
    ended = run("down")
    assert ended.exit_code == 0
    assert orphan.process() is None
    behaviour("it ends the JupyterLab, too", says=ended.output.splitlines()[0])


@pytest.mark.programs
@pytest.mark.fault("Shared machine", "another user looks for JupyterLab's token")
def test_no_token_stands_in_a_file_that_others_may_read(start: Start, tmp_path: Path, behaviour) -> None:
    token = killed(start).partition("token=")[2]
    home = tmp_path / "home"
    files = [path for path in home.rglob("*") if token.encode() in _content(path)]
    assert files
    for path in files:
        way = [path, *(folder for folder in path.parents if folder.is_relative_to(home))]
        assert any(not place.stat().st_mode & 0o077 for place in way), path
    [orphan] = sessions.orphans(home)
    another = process.Identity(orphan.pid, "another start", orphan.mark)
    assert jupyterlab.running(another, jupyterlab.root() / "work" / "any.ipynb") is None
    behaviour("it stands only in a folder that nobody else may open")


def _content(path: Path) -> bytes:
    """Return what a file holds; nothing of what is none, or goes in this moment: JupyterLab still runs."""
    with suppress(OSError):
        return path.read_bytes()
    return b""
