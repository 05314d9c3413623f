"""Requests to end are heard here as in a terminal, also if `nohup` or a script's `&` has started pytest."""

import signal
from collections.abc import Iterator

import pytest

from threebrokers.app import endings


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Let no request to end be ignored while a test runs."""
    ignored = [one for one in endings.ENDINGS if signal.getsignal(one) == signal.SIG_IGN]
    for one in ignored:
        signal.signal(one, signal.default_int_handler if one == signal.SIGINT else signal.SIG_DFL)
    yield
    for one in ignored:
        signal.signal(one, signal.SIG_IGN)
