"""Waiting for a state: with a bound, and with the reason shown."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import ipywidgets
from IPython import get_ipython
from IPython.display import display

from threebrokers.errors import BenchError

T = TypeVar("T")
POLL_SECONDS = 0.05


class _Notice(ipywidgets.HTML):  # type: ignore[misc]
    """A line that is there only while something is waited for."""

    def __repr__(self) -> str:
        # nbval compares a cell's plain text: it must be the same in every run.
        return ""


@contextmanager
def shown(what: str, within: float) -> Iterator[None]:
    """Show in a notebook what is waited for and for how long at most (seconds), until done."""
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        yield
        return
    notice = _Notice(value=f"<i>Waiting for {what} (at most {within:g} s) …</i>")
    display(notice)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        notice.close()


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
    Raises BenchError, which ends with `otherwise` (what to do), if it does not come.
    """
    with shown(what, within):
        for found in poll(look, within):
            if found:
                return found
    raise BenchError(f"Waited {within:g} s for {what}, and it did not come: {otherwise}")


def quiet_wait(look: Callable[[], Any], within: float) -> bool:
    """Tell whether `look()` becomes true within so many seconds."""
    return any(poll(look, within))
