"""What is otherwise on macOS, tried here with what it does in its place."""

import os
import platform
import resource
import socket
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest

from tests import bundles
from threebrokers.app import jupyterlab
from threebrokers.cluster import java, links_proxy, ports, process
from threebrokers.lab import names
from threebrokers.lab.scenarios import measuring
from tools.setup import bundle
from tools.setup.errors import SetupError

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


@pytest.fixture
def clock(without_proc, monkeypatch):
    """A clock that can be set, and macOS' times: `create_time()` moves with it, the noted one not."""
    moved = [0.0]
    real = psutil._psplatform.Process.create_time

    def create_time(self, monotonic=False):
        return real(self) + (0 if monotonic else moved[0])

    monkeypatch.setattr(psutil._psplatform.Process, "create_time", create_time)
    return moved


@pytest.fixture
def started(tmp_path):
    """A process of ours that runs until the test ends."""
    one = process.launch([sys.executable, "-c", SLEEPS, MARK], tmp_path / "log", dict(os.environ), MARK)
    yield one
    process.end([one], 0)
    assert one.process() is None


def test_a_process_is_known_without_proc(clock, started):
    assert float(started.start) == pytest.approx(time.time(), abs=60)
    assert started.of_this_boot
    assert started.process().pid == started.pid
    assert process.Identity(started.pid, "1.000000", MARK).process() is None


def test_a_process_is_known_after_the_clock_was_set(clock, started):
    clock[0] = -3600.0
    assert started.process().pid == started.pid
    assert started in process.marked(MARK)


def test_psutil_tells_the_noted_time_on_macos_too():
    told = Path(psutil.__file__).with_name("_psosx.py").read_text("utf-8")
    assert "def create_time(self, monotonic=False):" in told


def test_a_process_that_begins_or_ends_may_refuse_its_command_line(without_proc, started, monkeypatch):
    asked = []
    real = psutil.Process.cmdline

    def refused(self):
        if self.pid == started.pid and len(asked) < 3:
            asked.append(self.pid)
            raise psutil.AccessDenied(self.pid)
        return real(self)

    monkeypatch.setattr(psutil.Process, "cmdline", refused)
    assert started.process().pid == started.pid  # it is there, and holds its ports
    assert not process.send(started, "kill")  # nobody knows whose it is
    assert process.identify(started.pid, MARK).pid == started.pid
    assert len(asked) == 3


def test_a_port_is_not_free_where_another_program_listens_at_every_address(monkeypatch):
    """Linux does not let us have such a port; macOS does, and our part of the calls would be taken away."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setattr(socket.socket, "bind", lambda *_: None)
        assert ports.is_free(port)
        monkeypatch.setattr(psutil, "LINUX", False)
        assert not ports.is_free(port)
    assert ports.is_free(port)


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


def test_copies_of_sparks_and_of_programs_may_go_on(monkeypatch, tmp_path):
    """macOS reads the variable when a program starts, so it cannot be set by the one that copies itself."""
    name = "OBJC_DISABLE_INITIALIZE_FORK_SAFETY"
    monkeypatch.delenv(name, raising=False)
    for macos, wanted in ((False, None), (True, "YES")):
        monkeypatch.setattr(psutil, "MACOS", macos)
        assert java.environment().get(name) == wanted
        assert jupyterlab._environment(tmp_path, "token").get(name) == wanted


def test_what_is_written_is_asked_of_the_disk_itself(monkeypatch, tmp_path):
    """`fsync` of macOS leaves it in the disk's own memory."""
    asked = []
    monkeypatch.setattr(measuring.fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(measuring.fcntl, "fcntl", lambda _, order: asked.append(order))
    monkeypatch.setattr(measuring, "home", lambda: tmp_path)
    monkeypatch.setattr(measuring, "WRITTEN_BYTES", 9 * 4096)
    assert measuring.megabytes_written_per_second(4096, "mixed") > 0
    assert asked == [51] * 9


def test_a_file_system_without_that_order_is_asked_as_before(monkeypatch, tmp_path):
    forced = []

    def refuse(*_):
        raise OSError("not supported")

    monkeypatch.setattr(measuring.fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(measuring.fcntl, "fcntl", refuse)
    monkeypatch.setattr(os, "fdatasync", forced.append)
    monkeypatch.setattr(measuring, "home", lambda: tmp_path)
    monkeypatch.setattr(measuring, "WRITTEN_BYTES", 9 * 4096)
    measuring.megabytes_written_per_second(4096, "in order")
    assert len(forced) == 9


@pytest.mark.parametrize(
    ("written", "here", "fits"), [("14.5", "13.6", False), ("13.6", "14.5", True), ("14.5", "14.0", True)]
)
def test_a_bundle_of_a_newer_macos_is_refused(monkeypatch, tmp_path, written, here, fits):
    """Its packages were chosen for that one: numpy, for example, has wheels that need macOS 14."""
    monkeypatch.setattr(platform, "mac_ver", lambda: (written, ("", "", ""), "arm64"))
    file = bundles.made(tmp_path, monkeypatch)
    monkeypatch.setattr(platform, "mac_ver", lambda: (here, ("", "", ""), "arm64"))
    outcome = (
        nullcontext() if fits else pytest.raises(SetupError, match=f"on macOS {written}, and this is {here}")
    )
    with outcome, bundle.opened(tmp_path, file, lambda _: None):
        pass


def test_no_two_topics_of_the_labs_differ_only_in_capitals():
    """A broker keeps a topic in folders of its name, and a disk of macOS takes `Orders-0` for `orders-0`."""
    topics = {topic for of_lab in names.all_names().values() for topic in of_lab.topics}
    assert len({topic.casefold() for topic in topics}) == len(topics) > 100
