"""A check ends in time: by a signal that breaks off what it waits for."""

import contextlib
import gc
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

import pytest

from threebrokers.errors import LabError
from threebrokers.lab import bound
from threebrokers.lab.bound import bounded, left
from threebrokers.lab.exercise import NotYet, eventually

SLOW = LabError("broker 2 is paused", "run lab.cluster.resume(2)")


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound, "ANSWER_SECONDS", 1.2)
    monkeypatch.setattr(bound, "NOTICE_SECONDS", 0.2)


def forever() -> object:
    return Future[None]().result()


def swallowed() -> None:
    try:
        forever()
    except BaseException as fault:  # as a client does whose callback is interrupted
        raise SystemError("a callback failed") from fault


def never_tidy() -> None:
    try:
        forever()
    finally:
        forever()


def stubborn() -> None:
    with contextlib.suppress(BaseException):
        forever()
    forever()


@pytest.mark.parametrize("wait", [forever, lambda: time.sleep(60), swallowed, stubborn])
def test_what_waits_too_long_is_broken_off_with_the_reason(wait: Callable[[], object]) -> None:
    began = time.monotonic()
    with pytest.raises(LabError, match="broker 2 is paused"), bounded(lambda: SLOW):
        wait()
    assert time.monotonic() - began < 30
    assert signal.getsignal(bound.SIGNAL) is signal.SIG_DFL


class Dropped:
    """Something that refers to itself, and takes long to end: as a client of a broker that is away."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        time.sleep(1.5)


def test_a_collection_of_garbage_is_not_broken_off() -> None:
    """Python would write the error, with all its lines, and go on."""

    def work() -> None:
        Dropped()
        gc.collect()
        forever()

    with pytest.raises(LabError, match="broker 2 is paused"), bounded(lambda: SLOW):
        work()
    assert all(getattr(one, "__name__", "") != "collects" for one in gc.callbacks)


def test_what_is_broken_off_may_tidy_up_although_the_signal_comes_again() -> None:
    tidied: list[bool] = []

    def work() -> None:
        try:
            forever()
        finally:
            time.sleep(0.25)  # two more signals come; connections take long to close on a busy machine
            tidied.append(True)

    with pytest.raises(LabError, match="broker 2 is paused"), bounded(lambda: SLOW):
        work()
    assert tidied == [True]


def test_what_goes_on_instead_of_tidying_up_is_broken_off() -> None:
    with pytest.raises(LabError, match="broker 2 is paused"), bounded(lambda: SLOW):
        never_tidy()


def test_an_except_of_the_check_does_not_hide_it() -> None:
    def hides() -> None:
        with contextlib.suppress(Exception):
            forever()

    with pytest.raises(LabError, match="broker 2 is paused"), bounded(lambda: SLOW):
        hides()


def test_while_all_brokers_are_well_it_may_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    with bounded(lambda: None):
        time.sleep(2.5)
    monkeypatch.setattr(bound, "LONGEST_SECONDS", 1.5)
    with (
        pytest.raises(LabError, match=r"no answer after 1.5 s, and enough brokers are up"),
        bounded(lambda: None),
    ):
        time.sleep(60)


def test_the_reason_is_asked_for_only_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound, "ANSWER_SECONDS", 60.0)
    asked = []
    with bounded(lambda: asked.append(1)):  # type: ignore[func-returns-value, arg-type, return-value]
        time.sleep(0.3)
    assert not asked


def test_a_reason_that_cannot_be_found_is_told_too() -> None:
    def fails() -> LabError:
        raise OSError("Docker does not answer")

    with pytest.raises(LabError, match="Docker does not answer"), bounded(fails):
        forever()


def test_errors_of_the_check_pass_as_they_are() -> None:
    with pytest.raises(ZeroDivisionError), bounded(lambda: SLOW):
        raise ZeroDivisionError


def test_a_wait_inside_ends_before_the_check_and_gives_its_own_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bound, "ANSWER_SECONDS", 4.0)

    def look() -> None:
        raise NotYet("the follower is in sync", "it should not be", "pause")

    assert left(60) == 60
    with pytest.raises(NotYet, match="the follower is in sync"), bounded(lambda: SLOW):
        eventually(look, what="the follower to leave", within=60)
    with bounded(lambda: SLOW):
        assert left(60) < 4
    assert left(60) == 60


def test_an_interrupt_while_its_thread_is_waited_for_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, told = threading.Event(), threading.Event()
    join, here = threading.Thread.join, threading.main_thread()

    def slow() -> None:
        asked.set()
        told.wait(10)

    def interrupted(thread: threading.Thread, timeout: float | None = None) -> None:
        if threading.current_thread() is here:
            raise KeyboardInterrupt
        join(thread, timeout)

    def work() -> None:
        assert asked.wait(10)
        monkeypatch.setattr(threading.Thread, "join", interrupted)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), bounded(slow):  # type: ignore[arg-type]
        work()
    monkeypatch.setattr(threading.Thread, "join", join)
    told.set()
    assert signal.getsignal(bound.SIGNAL) is signal.SIG_DFL
    assert left(60) == 60
    assert all(getattr(one, "__name__", "") != "collects" for one in gc.callbacks)


def test_no_signal_comes_after_the_end() -> None:
    watch = bound._Watch(lambda: SLOW, lambda: None)
    watch.done.set()
    watch.send()  # without a handler it would end this program


def test_in_another_thread_nothing_is_bounded() -> None:
    done = []

    def run() -> None:
        with bounded(lambda: SLOW):
            time.sleep(1.5)
        done.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert done
