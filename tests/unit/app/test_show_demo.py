"""The command `demo`: it lists what there is, and a fault is one sentence."""

import contextlib
import signal
import threading
import time
import urllib.request

import pytest

from tests.commands import run
from threebrokers.app import show_demo
from threebrokers.demo import play
from threebrokers.errors import LabError


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.setenv("BROWSER", "none")


def test_without_a_number_the_demos_are_listed():
    done = run("demo")
    assert done.exit_code == 0
    assert "  04  What happens in the two seconds after a broker dies? (8 steps)" in done.output
    assert "`threebrokers demo 04 --recorded`" in done.output


@pytest.mark.parametrize("number", ["99", "4", "../04"])
def test_a_lab_without_a_demo_is_a_sentence(number):
    done = run("demo", number)
    assert done.exit_code == 1
    assert done.stderr.startswith(f"✗ Lab {number!r} has no demo: choose one of 03, 04, 07 and 10")


def test_it_is_played_until_ctrl_c(monkeypatch):
    said = []

    def say(text):
        said.append(text)
        if "http://127.0.0.1:" in text:
            address = text.split("\n\n")[1].strip()
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address) as answer:
                assert b"Three Brokers, demo" in answer.read()
            signal.raise_signal(signal.SIGINT)

    show_demo.show("04", True, say)
    assert "Space is the next step" in said[-2]
    assert said[-1] == "The demo has ended."
    wait = time.monotonic() + 60
    while any(thread.name == "demo page" for thread in threading.enumerate()):
        assert time.monotonic() < wait


def test_where_no_broker_can_start_it_plays_its_recording_and_says_so(monkeypatch):
    def no_broker(self, say):
        raise LabError("Waited 60 s for the brokers' ports to open, and it did not come")

    monkeypatch.setattr(play.Cluster, "up", no_broker)
    said = []
    with play.playing("04", said.append) as running:
        assert running.performance.scene()["recorded"]
    [sentence] = said
    assert sentence.startswith(
        "No brokers can start here, so the demo plays from its recording. (Waited 60 s"
    )


def test_brokers_that_it_started_are_stopped_also_after_a_fault(monkeypatch):
    stopped = []
    monkeypatch.setattr(play.Cluster, "up", lambda self, say: [1, 2, 3])
    monkeypatch.setattr(play.Cluster, "down", lambda self: stopped.append(True))

    def broken(number, script):
        raise LabError("The lab cannot be opened")

    monkeypatch.setattr(play, "Stage", broken)
    with contextlib.suppress(LabError), play.playing("04", print):
        pass
    assert stopped == [True]


def test_brokers_that_others_use_by_then_go_on(monkeypatch):
    stopped = []
    monkeypatch.setattr(play.Cluster, "up", lambda self, say: [1, 2, 3])
    monkeypatch.setattr(play.Cluster, "down", lambda self: stopped.append(True))
    monkeypatch.setattr(play, "Stage", lambda number, script: play.Player(play.load(play.path_of("04"))))
    with play.playing("04", print, alone=lambda: False):
        pass
    assert stopped == []
