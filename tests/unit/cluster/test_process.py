"""Processes known by id and start time, on small programs that stand for brokers."""

import os
import subprocess
import sys
import time
from dataclasses import replace

import psutil
import pytest

from threebrokers.cluster import process
from threebrokers.cluster.process import Identity

SLEEPER = "import signal,time\nprint('up', flush=True)\nwhile True: signal.pause()"
DEAF = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{SLEEPER}"


@pytest.fixture
def launch(tmp_path):
    begun = []

    def make(program=SLEEPER, home=tmp_path, node=1):
        log = tmp_path / f"{len(begun)}.log"
        marks = [f"{process.MARK}{home}", f"{process.NODE}{node}"]
        command = [sys.executable, "-c", program, *marks]
        identity = process.launch(command, log, {"PATH": "/usr/bin:/bin"}, marks[0])
        begun.append(identity)
        while "up" not in (log.read_text() if log.exists() else ""):
            assert identity.process(), "the program ended before it was ready"
        return identity

    yield make
    process.end(begun, 0)


def test_a_launched_process_is_up_in_a_session_of_its_own(launch):
    identity = launch()
    told = process.look(1, identity)
    assert (told.state, told.pid) == ("up", identity.pid)
    assert told.rss > 0
    assert os.getsid(identity.pid) == identity.pid


def test_a_paused_process_is_paused_and_can_be_ended(launch):
    identity = launch()
    process.send(identity, "suspend")
    while process.look(1, identity).state != "paused":
        assert identity.process()
    process.end([identity], 5)
    assert process.look(1, identity).state == "down"


def strangers(identity):
    """Yield identities that share the process's id, and each time all but one of the other signs."""
    ticks, rest = identity.start.split(" ", 1)
    yield replace(identity, start=f"{int(ticks) - 1} {rest}")  # 10 ms earlier
    yield replace(identity, start=f"{ticks} ticks after boot of another time")
    yield replace(identity, mark=f"{identity.mark}-2")


@pytest.mark.skipif(not psutil.LINUX, reason="macOS tells a start in another form")
def test_a_process_that_shares_all_but_one_sign_is_another_process(launch):
    identity = launch()
    for stranger in strangers(identity):
        assert stranger.process() is None
        assert process.look(1, stranger).state == "down"
        process.end([stranger], 0)
        assert not process.send(stranger, "kill")
        assert identity.process() is not None, f"{stranger} was taken for {identity}, and ended"


def test_two_processes_started_at_once_are_not_mistaken_for_each_other(launch):
    one, other = launch(), launch()
    mistaken = replace(one, pid=other.pid)
    assert (mistaken.process() is None) == (one.start != other.start)
    assert process.identify(one.pid, one.mark) == one


def test_what_carries_no_mark_is_seen_and_never_signalled(launch):
    identity = launch()
    unmarked = Identity(identity.pid, identity.start)
    assert unmarked.process() is not None
    for signal in ("suspend", "terminate", "kill"):
        assert not process.send(unmarked, signal)
    process.end([unmarked], 0)
    assert process.look(1, identity).state == "up"


def test_a_process_is_known_from_its_first_moment(tmp_path):
    """Between its start and its first step a program has no command line: one in four was missed here."""
    environment = {"PATH": "/usr/bin:/bin"}
    for _ in range(40):
        begun = process.launch(["/bin/sleep", "30"], tmp_path / "log", environment, "30")
        assert begun.process() is not None
        assert process.send(begun, "kill")
        process.end([begun], 0)


def test_nothing_is_launched_that_could_not_be_ended(tmp_path):
    with pytest.raises(AssertionError, match="no mark"):
        process.launch([sys.executable, "-c", "pass"], tmp_path / "log", {}, "threebrokers=here")


def test_a_process_that_does_not_listen_is_killed_after_the_patience(launch):
    identity = launch(DEAF)
    process.end([identity], 0.3)
    assert identity.process() is None


def test_nobody_waits_when_there_is_nothing_to_wait_for(launch):
    identity, asked = launch(DEAF), []
    began = time.monotonic()
    process.end([identity], 20, enough=lambda: len(asked) == 3 or bool(asked.append(True)))
    assert identity.process() is None
    assert time.monotonic() - began < 10
    assert len(asked) == 3


def test_a_killed_child_leaves_no_zombie(launch):
    identity = launch()
    psutil.Process(identity.pid).kill()
    while process.look(1, identity).state != "down":
        pass
    assert not psutil.pid_exists(identity.pid)


@pytest.mark.parametrize(("threads", "runs"), [(3, True), (1, False)])
def test_a_process_whose_first_thread_ends_while_it_is_looked_at(launch, monkeypatch, threads, runs):
    """Its other threads still hold its ports: whoever started it again now would find them taken."""
    identity, ended = launch(), []

    def words(self: psutil.Process) -> list[str]:
        ended.append(True)
        raise psutil.ZombieProcess(self.pid)

    def status(self: psutil.Process) -> str:
        return psutil.STATUS_ZOMBIE if ended else psutil.STATUS_SLEEPING

    with monkeypatch.context() as patch:
        patch.setattr(psutil.Process, "cmdline", words)
        patch.setattr(psutil.Process, "status", status)
        patch.setattr(psutil.Process, "num_threads", lambda self: threads)
        assert (identity.process() is not None) is runs
    assert ended


def test_a_process_ends_at_once_although_its_parent_does_not_look(tmp_path, ticks):
    program = (
        "import subprocess, sys; child = subprocess.Popen(['sleep', '60']); print(child.pid, flush=True); "
        "sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe, text=True) as parent:
        child = psutil.Process(int(parent.stdout.readline()))
        identity = process.identify(child.pid, "sleep")
        for patience in (5, 0):  # the second time there is nothing left to end
            begun = ticks.now
            process.end([identity], patience)
            assert ticks.now - begun < 3
        assert identity.process() is None
        assert child.status() == psutil.STATUS_ZOMBIE


def test_running_brokers_of_this_home_are_found_and_no_others(launch, tmp_path):
    mine = launch(node=2)
    launch(home=tmp_path / "other", node=3)
    found = process.find(tmp_path)
    assert found.keys() == {2}
    assert found[2].pid == mine.pid
    assert found[2].process() is not None


def test_another_user_s_process_is_none_of_ours_whatever_its_words(launch, tmp_path, monkeypatch):
    mine = launch(node=2)
    others = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: others)
    assert process.find(tmp_path) == {}
    assert process.marked(f"{process.MARK}{tmp_path}") == []
    assert mine.process() is not None


def test_a_process_that_may_not_be_signalled_is_none_of_ours(launch, monkeypatch):
    def refuse(self: psutil.Process) -> None:
        raise psutil.AccessDenied(self.pid)

    identity = launch()
    monkeypatch.setattr(psutil.Process, "suspend", refuse)
    assert not process.send(identity, "suspend")


def test_a_program_that_cannot_run_is_an_error(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        process.launch([str(tmp_path / "nothing"), "mark"], tmp_path / "log", {}, "mark")
