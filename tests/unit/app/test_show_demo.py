"""The command `demo`: it lists what there is, and a fault is one sentence."""

import contextlib
import os
import signal
import threading
import time
import urllib.request

import pytest

from tests.commands import run
from threebrokers.app import browser, make_lab, show_demo
from threebrokers.cluster import sessions
from threebrokers.cluster.process import identify
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


@pytest.fixture
def another():
    """Enter the book of a home as another process does, and leave it."""

    @contextlib.contextmanager
    def entered(last_out, *, jupyter=True):
        parent = identify(os.getppid())
        sitting = sessions.Sitting.__new__(sessions.Sitting)
        sitting._me, sitting.jupyter = parent, None
        with sessions._register() as labs:
            labs.append(sessions.OpenLab(parent, parent if jupyter else None))
        yield
        sitting.leave(last_out)

    return entered


def test_a_recorded_demo_holds_no_brokers(another):
    stopped = []

    def say(text):
        if "http://127.0.0.1:" in text:
            with another(lambda: stopped.append("by make lab")):
                pass
            signal.raise_signal(signal.SIGINT)

    show_demo.show("04", True, say)
    assert stopped == ["by make lab"]


@pytest.mark.parametrize(("jupyter", "ends"), [(True, ["by the demo"]), (False, [])])
def test_brokers_that_a_make_lab_leaves_to_a_demo_end_with_it(monkeypatch, another, jupyter, ends):
    """They ran before the demo, and the `make lab` came after it; another demo leaves nothing."""
    stopped, seen, look = [], threading.Event(), sessions.still_open

    def looked(home):
        found = look(home)
        if len(found) > 1:
            seen.set()
        return found

    def make_lab_comes_and_goes():
        with another(lambda: stopped.append("by make lab"), jupyter=jupyter):
            seen.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    visit = threading.Thread(target=make_lab_comes_and_goes)

    def say(text):
        if "http://127.0.0.1:" in text:
            visit.start()

    monkeypatch.setattr(show_demo, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(sessions, "still_open", looked)
    monkeypatch.setattr(play.Cluster, "up", lambda self, say: [])
    monkeypatch.setattr(play, "Stage", lambda number, script: play.Player(play.load(play.path_of("04"))))
    monkeypatch.setattr(make_lab, "stop_brokers", lambda cluster, say: stopped.append("by the demo"))
    show_demo.show("04", False, say)
    visit.join()
    assert stopped == ends


def test_its_token_stands_in_no_list_of_processes(tmp_path, monkeypatch):
    opened, said = [], []
    monkeypatch.setattr(show_demo, "can_open_browser", lambda: True)

    def opens(address):
        opened.append(address)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(browser.webbrowser, "open", opens)
    show_demo.show("04", True, said.append)
    page = tmp_path / "demo.html"
    assert opened == [page.as_uri()]
    address = next(text for text in said if "http://" in text).split("\n\n")[1].strip()
    assert f'url={address}"' in page.read_text("utf-8")
    assert page.stat().st_mode & 0o777 == 0o600
