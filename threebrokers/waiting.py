"""Waiting for a state: with a bound, and with the reason shown."""

import contextvars
import functools
import html
import threading
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from threebrokers.errors import LabError
from threebrokers.notebook import kernel_shell, running_cell, show

T = TypeVar("T")
POLL_SECONDS, TICK_SECONDS = 0.05, 1.0


class _Notice:
    """A line that is there only while something is waited for.

    It is no widget: one that closes before JupyterLab has drawn it is an error in the browser's console,
    and one that stays is an error in the page when the notebook is opened again.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return ""

    def _repr_html_(self) -> str:
        return f"<i>Waiting for {html.escape(self._text)} …</i>" if self._text else ""


@contextmanager
def shown(what: str, within: float | None = None) -> Iterator[None]:
    """Show in a notebook what is waited for, how long already, and for how long at most (seconds) if known.

    Where one wait is part of another, the inner one is shown.
    """
    line = _line_here()
    line.say(what if within is None else f"{what} (at most {within:g} s)")
    try:
        with line.counted(what, within):
            yield
    finally:
        line.say("")


@contextmanager
def late(what: str, within: float) -> Iterator[Callable[[], None]]:
    """Yield what shows such a line, from any thread, if none is shown: for a wait that is mostly short."""
    line = _line_here()

    def say() -> None:
        line.say(f"{what} (at most {within:g} s)", [""])

    try:
        yield say
    finally:
        line.say("")


class _Line:
    """A line that all waits of one run of a cell share; without a notebook it shows nothing.

    nbval compares what a cell displays first, and a saved notebook holds what it displays last: both are
    empty in every run, however many waits there were.
    """

    def __init__(self, handle: Any = None) -> None:
        self._handle, self.text = handle, ""
        self._lock = threading.RLock()

    def say(self, text: str, instead_of: Container[str] | None = None) -> bool:
        """Show this text, or nothing. With `instead_of`, only in place of these; tell whether it is shown."""
        with self._lock:  # waits that count tell of themselves from threads of their own
            if instead_of is not None and self.text not in instead_of:
                return False
            self.text = text
            if self._handle is not None:
                self._handle.update(_Notice(text))
            return True

    @contextmanager
    def counted(self, what: str, within: float | None) -> Iterator[None]:
        """Say each second how long this lasts already, until the block ends."""
        if self._handle is None:
            yield
            return
        began, over, mine = time.monotonic(), threading.Event(), self.text
        most = "" if within is None else f" of at most {within:g} s"

        def tick() -> None:
            nonlocal mine
            while not over.wait(TICK_SECONDS):
                told = f"{what}: {time.monotonic() - began:.0f} s{most}"
                if self.say(told, ["", mine]):  # else a wait inside this one is shown
                    mine = told

        # What a thread shows belongs to the cell in whose context it runs.
        ticking = threading.Thread(target=contextvars.copy_context().run, args=(tick,), daemon=True)
        ticking.start()
        try:
            yield
        finally:
            over.set()
            ticking.join()


def _can_show() -> bool:
    """Tell whether what is waited for here is shown: in a cell of a notebook.

    A panel's button waits in a thread: it belongs to no cell, and the panel says itself what it does.
    """
    return kernel_shell() is not None and threading.current_thread() is threading.main_thread()


def _line_here() -> _Line:
    return _line(running_cell()) if _can_show() else _Line()


@functools.lru_cache(maxsize=1)
def _line(run: tuple[str, int]) -> _Line:
    return _Line(show(_Notice("")))


def poll(look: Callable[[], T], within: float) -> Iterator[T]:
    """Yield what `look()` returns, again and again, at least once and for at most `within` seconds."""
    end = time.monotonic() + within
    while True:
        yield look()
        if time.monotonic() >= end:
            return
        time.sleep(POLL_SECONDS)


def wait_until(look: Callable[[], T | None], *, what: str, within: float, otherwise: str) -> T:
    """Return the first true value of `look()`.

    Looks again until then, for at most `within` seconds, and shows in a notebook what it waits for.
    Raises LabError, with `otherwise` as its next step, if it does not come.
    """
    with shown(what, within):
        for found in poll(look, within):
            if found:
                return found
    raise LabError(f"Waited {within:g} s for {what}, and it did not come", otherwise)


def quiet_wait(look: Callable[[], Any], within: float) -> bool:
    """Tell whether `look()` becomes true within so many seconds."""
    return any(poll(look, within))
