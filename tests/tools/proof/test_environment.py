"""A bench for tests takes away what it brought, and says what `down` left behind."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.commands import kill
from threebrokers.waiting import quiet_wait
from tools.proof import environment as temporary

pytestmark = pytest.mark.programs

SLEEPER = "import time; print('up', flush=True); time.sleep(600)"


@pytest.fixture
def sleeper() -> Iterator[Callable[..., subprocess.Popen]]:
    """Start processes that sleep; they inherit the environment of that moment."""
    started: list[subprocess.Popen] = []

    def start(*arguments: str, **environment: str) -> subprocess.Popen:
        command = [sys.executable, "-c", SLEEPER, *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **environment})
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        return process

    yield start
    for process in started:
        kill(process)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A PATH of two places: one with Java and another program, one without Java."""
    for place, programs in {"both": ["java", "javac", "tool"], "other": ["more"]}.items():
        (tmp_path / place).mkdir()
        for program in programs:
            (tmp_path / place / program).write_text("#!/bin/sh\n", "utf-8")
            (tmp_path / place / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'both'}{os.pathsep}{tmp_path / 'other'}")
    return tmp_path


def test_java_is_away_and_other_programs_are_there(places):
    path = temporary.without_java(places / "links")
    assert shutil.which("java", path=path) is None
    assert shutil.which("javac", path=path) is None
    assert shutil.which("tool", path=path)
    assert shutil.which("more", path=path)


def test_the_environment_is_as_before(monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "/opt/java")
    monkeypatch.setenv("THREEBROKERS_HOME", "/somewhere")
    before = dict(os.environ)
    with temporary.bench() as home:
        assert os.environ["THREEBROKERS_HOME"] == str(home)
        assert "JAVA_HOME" not in os.environ
        assert shutil.which("java") is None
    assert dict(os.environ) == before
    assert not home.parent.exists()


def test_a_process_that_is_just_ending_is_not_left():
    with temporary.bench():
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(2)"])
    assert process.wait() == 0


def test_a_process_that_is_left_is_ended_and_named(sleeper, monkeypatch):
    monkeypatch.setattr(temporary, "ENDING_SECONDS", 0.1)
    with pytest.raises(AssertionError, match=r"Still running after `down`: .*time.sleep"), temporary.bench():
        process = sleeper()
    assert process.poll() is not None


def test_a_process_is_also_known_by_its_arguments(sleeper, monkeypatch):
    monkeypatch.setattr(temporary, "ENDING_SECONDS", 0.1)
    with pytest.raises(AssertionError, match="Still running"), temporary.bench() as home:
        process = sleeper(str(home), THREEBROKERS_HOME="")
    assert process.poll() is not None


def test_other_processes_are_left_alone(sleeper):
    process = sleeper()
    with temporary.bench():
        pass
    assert process.poll() is None


def test_sigterm_ends_a_tool_through_its_bench(tmp_path):
    """Who ends `python -m tools nbval`, or a step of CI, leaves no broker behind."""
    told = tmp_path / "home"
    program = f"""
import signal, subprocess, sys
from pathlib import Path
from tools.__main__ import main
from tools.proof import environment, lint
def work():
    with environment.bench() as home:
        Path({str(told)!r} + ".new").write_text(str(home))
        Path({str(told)!r} + ".new").rename({str(told)!r})
        subprocess.run([sys.executable, "-c", "import time; time.sleep(600)", str(home)])
lint.main = work
sys.argv[1:] = ["lint"]
main()
"""
    with subprocess.Popen([sys.executable, "-c", program]) as started:
        assert quiet_wait(told.exists, 60)
        folder = Path(told.read_text("utf-8")).parent
        assert quiet_wait(lambda: any("time.sleep" in text for text in commands_of(folder)), 60)
        started.terminate()
        assert started.wait(60) == 128 + signal.SIGTERM
    assert not folder.exists()
    assert commands_of(folder) == []


def commands_of(folder: Path) -> list[str]:
    return [" ".join(process.cmdline()) for process in temporary.processes_of(folder)]


def test_a_fault_inside_is_not_hidden(sleeper):
    def work():
        with temporary.bench():
            sleeper()
            raise KeyError("the real fault")

    with pytest.raises(AssertionError) as told:
        work()
    assert isinstance(told.value.__context__, KeyError)
