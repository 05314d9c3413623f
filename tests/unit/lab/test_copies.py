"""A process is copied for each life of its program: in real processes."""

import os
import signal
import threading
from collections.abc import Callable

import pytest

from threebrokers.lab import copies
from threebrokers.lab.copies import next_life


def ended(program: Callable[[], None]) -> Callable[[], int]:
    """Start a process for a program; return what waits for its end, and returns how it ended."""
    child = os.fork()
    if child:
        return lambda: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 99
    try:
        program()
    except SystemExit as exit_:
        code = int(exit_.code or 0)
    finally:
        os._exit(code)


@pytest.mark.parametrize(("ends", "code"), [(0, 0), (3, 3)])
def test_it_ends_as_the_last_life_did(ends, code):
    def program() -> None:
        if next_life(3) < 2:
            os.kill(os.getpid(), signal.SIGKILL)
        raise SystemExit(ends)

    assert ended(program)() == code


def test_there_are_so_many_lives_and_no_more():
    def program() -> None:
        next_life(2)
        os.kill(os.getpid(), signal.SIGKILL)

    assert ended(program)() == 1


@pytest.mark.parametrize(
    ("gently", "stubborn", "says"), [(True, False, b"closed"), (True, True, b""), (False, False, b"")]
)
def test_who_is_asked_to_end_takes_its_life_along(monkeypatch, gently, stubborn, says):
    # Long enough for a busy machine; only a stubborn one is waited for in vain.
    monkeypatch.setattr(copies, "CLOSE_SECONDS", 0.5 if stubborn else 20)
    reader, writer = os.pipe()
    begun, begins = os.pipe()

    def asked(number: int, frame: object) -> None:
        raise SystemExit(143)

    def program() -> None:
        signal.signal(signal.SIGTERM, asked)
        next_life(1, gently=gently)
        if stubborn:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            os.write(begins, b"%d" % os.getppid())
            threading.Event().wait(20)
        finally:
            os.write(writer, b"closed")

    wait = ended(program)
    os.close(writer)
    os.kill(int(os.read(begun, 20)), signal.SIGTERM)
    assert wait() == 143
    assert os.read(reader, 20) == says
    for end in (reader, begun, begins):
        os.close(end)
