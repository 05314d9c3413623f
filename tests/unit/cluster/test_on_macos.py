"""What is otherwise on macOS, tried here with what it does in its place."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from threebrokers.cluster import links_proxy, process

MARK = "-Dthreebrokers.test=macos"
PROGRAM = "import os, sys; print(os.getsid(0) == os.getpid(), flush=True); sys.stdin.read()"
SLEEPS = f"{PROGRAM}; import time; time.sleep(60)"


@pytest.fixture
def without_proc(monkeypatch):
    """A system that has no /proc, as macOS."""
    monkeypatch.setattr(psutil, "LINUX", False)
    read = Path.read_bytes

    def refuse(path):
        assert not str(path).startswith("/proc/"), path
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)


def test_a_process_is_known_without_proc(without_proc, tmp_path):
    command = [sys.executable, "-c", SLEEPS, MARK]
    one = process.launch(command, tmp_path / "log", dict(os.environ), MARK)
    try:
        assert float(one.start) == pytest.approx(time.time(), abs=60)
        assert one.of_this_boot
        assert one.process().pid == one.pid
        assert process.Identity(one.pid, "1.000000", MARK).process() is None
    finally:
        process.end([one], 0)
    assert one.process() is None


def test_a_python_that_cannot_spawn_into_a_session_of_its_own_does_it_otherwise(monkeypatch, tmp_path):
    def spawn(*_, **__):
        raise NotImplementedError("setsid")

    monkeypatch.setattr(os, "posix_spawn", spawn)
    command = [sys.executable, "-c", SLEEPS, MARK]
    one = process.launch(command, tmp_path / "log", dict(os.environ), MARK)
    try:
        assert os.getsid(one.pid) == one.pid
    finally:
        process.end([one], 0)
    assert one.process() is None


def test_links_ask_for_enough_open_files():
    program = (
        "import resource\n"
        "limit = resource.RLIMIT_NOFILE\n"
        "resource.setrlimit(limit, (256, resource.getrlimit(limit)[1]))\n"
        "from threebrokers.cluster import links_proxy\n"
        "links_proxy.want_files()\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert int(done.stdout) == (links_proxy.FILES if hard < 0 else min(links_proxy.FILES, hard))
