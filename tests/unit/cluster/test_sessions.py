"""Which JupyterLab has lost its `make lab`, and who goes on with it."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from threebrokers.cluster import process, sessions
from threebrokers.waiting import quiet_wait


def test_one_is_taken_over_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's but an orphan is taken: neither what a living one has started, nor what it has taken over."""
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    word = sessions.mark(tmp_path)
    words = [sys.executable, "-X", word, "-c", "import time; print('on', flush=True); time.sleep(600)"]
    with sessions.entered(last_out=lambda: None) as sitting:
        mine = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert mine.stdout.readline() == "on\n"
        assert sessions.orphans(tmp_path) == []
        launch = f"import subprocess; print(subprocess.Popen({words!r}, stdout=-3, stderr=-3).pid)"
        other = int(subprocess.run([sys.executable, "-c", launch], capture_output=True, check=True).stdout)
        try:
            assert quiet_wait(lambda: sessions.orphans(tmp_path), 10)
            assert [one.pid for one in sessions.orphans(tmp_path)] == [other]
            assert sitting.adopt() == process.identify(other, word)
            assert sitting.adopt() is None
            assert sessions.orphans(tmp_path) == []
            [entry] = json.loads((tmp_path / "labs.json").read_text())
            assert entry["jupyter"]["pid"] == other
        finally:
            for pid in (mine.pid, other):
                os.kill(pid, signal.SIGKILL)
            mine.communicate()


def test_a_register_of_the_older_form_is_read(tmp_path: Path) -> None:
    me = process.identify(os.getpid())
    (tmp_path / "labs.json").write_text(json.dumps([{"command": asdict(me), "jupyter": None}]))
    assert sessions.still_open(tmp_path) == [sessions.OpenLab(me, None, stops=False)]


def test_who_is_killed_leaves_the_brokers_to_those_that_are_open_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    ended: list[str] = []
    killed = sessions.OpenLab(process.Identity(2**22 + 1, "1 ticks", ""), stops=True)
    for when, ends in (("before", []), ("meanwhile", ["brokers"])):
        register = sessions._file(tmp_path)
        if when == "before":
            register.write([killed])
        with sessions.entered(lambda: ended.append("brokers"), stops=False):
            if when == "meanwhile":
                register.write([*sessions.still_open(tmp_path), killed])
        assert ended == ends
    assert sessions.still_open(tmp_path) == []


def test_a_demo_that_started_the_brokers_goes_on_to_stop_them_and_keeps_its_jupyterlab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    ended: list[str] = []
    with sessions.entered(lambda: ended.append("brokers"), stops=False) as sitting:
        sitting.will_stop()
        sitting.opened(process.identify(os.getpid()))
        [lab] = sessions.still_open(tmp_path)
        assert lab.stops
    assert ended == ["brokers"]
