"""The command `demo`: it lists what there is, and a fault is one sentence."""

import contextlib
import errno
import os
import signal
import threading
import time
import urllib.request
from types import SimpleNamespace

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
def another(monkeypatch):
    """Enter the book of a home as another process does, and leave it."""

    @contextlib.contextmanager
    def entered(last_out=lambda: None, *, stops=True):
        with monkeypatch.context() as patched:
            patched.setattr(sessions, "identify", lambda pid: identify(os.getppid()))
            sitting = sessions.Sitting(stops=stops)
        yield sitting
        sitting.leave(last_out)

    return entered


@pytest.fixture
def stage(monkeypatch):
    """Stands in for the brokers, which `run` (a set), and notes who stops them."""
    there = SimpleNamespace(run=set(), in_up=lambda: None, stopped=[])

    def up(self, say):
        there.in_up()
        return []

    monkeypatch.setattr(play.Cluster, "up", up)
    monkeypatch.setattr(play.Cluster, "down", lambda self: there.stopped.append("by itself"))
    monkeypatch.setattr(play, "running_brokers", lambda cluster: set(there.run))
    monkeypatch.setattr(play, "Stage", lambda number, script: play.Player(play.load(play.path_of("04"))))
    monkeypatch.setattr(make_lab, "stop_brokers", lambda cluster, say: there.stopped.append("as the last"))
    return there


def served(then):
    """Return a `say` that does something when the page is there, and then ends the demo."""

    def say(text):
        if "http://127.0.0.1:" in text:
            then()
            signal.raise_signal(signal.SIGINT)

    return say


def test_a_recorded_demo_holds_no_brokers(another):
    stopped = []

    def say(text):
        if "http://127.0.0.1:" in text:
            with another(lambda: stopped.append("by make lab")):
                pass
            signal.raise_signal(signal.SIGINT)

    show_demo.show("04", True, say)
    assert stopped == ["by make lab"]


@pytest.mark.parametrize(("stops", "ends"), [(True, ["as the last"]), (False, [])])
def test_brokers_that_another_leaves_to_a_demo_end_with_it(another, stage, stops, ends):
    """They ran before the demo; a `make lab` comes and goes, even before its JupyterLab, or another demo."""

    def visit():
        with another(stops=stops):
            pass

    stage.run = {1, 2, 3}
    show_demo.show("04", False, served(visit))
    assert stage.stopped == ends


def test_a_make_lab_that_ends_while_the_demo_still_begins_leaves_it_the_brokers(another, stage):
    stage.run = {1, 2, 3}
    with contextlib.ExitStack() as before:
        before.enter_context(another())
        stage.in_up = before.close
        show_demo.show("04", False, served(lambda: None))
    assert stage.stopped == ["as the last"]


def test_a_demo_that_starts_the_brokers_leaves_them_to_one_that_found_them(another, stage):
    def found():
        stage.run = {1, 2, 3}
        opened.enter_context(another(lambda: stage.stopped.append("by the other"), stops=False))

    stage.in_up = found
    with contextlib.ExitStack() as opened:
        show_demo.show("04", False, served(lambda: None))
        assert stage.stopped == []
    assert stage.stopped == ["by the other"]


def test_a_demo_alone_stops_what_it_has_started_and_nothing_twice(monkeypatch, stage):
    def down(self):
        stage.stopped.append("by itself")
        stage.run = set()

    monkeypatch.setattr(play.Cluster, "down", down)
    stage.in_up = lambda: stage.run.update({1, 2, 3})
    show_demo.show("04", False, served(lambda: None))
    assert stage.stopped == ["by itself"]


def test_a_page_that_cannot_be_written_ends_nothing(monkeypatch):
    opened = []

    def full(path, content, mode):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(browser, "write_whole", full)
    monkeypatch.setattr(browser.webbrowser, "open", opened.append)
    browser.open_with_token("http://127.0.0.1:1/?token=x", "demo")
    assert opened == [], "an old page would lead elsewhere"


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
