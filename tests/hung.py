"""A test that hangs in C ends its whole run, which says where: it hears neither its time-out nor Ctrl-C.

confluent-kafka's `close()` hangs now and then (librdkafka's issue 4884).
"""

import faulthandler
import os
from collections.abc import Generator

import pytest

STDERR = pytest.StashKey[int]()  # pytest catches the one that tests know
GRACE_SECONDS = 60.0  # a test that has run out of time tidies up


def pytest_configure(config: pytest.Config) -> None:
    config.stash[STDERR] = os.dup(2)


def pytest_unconfigure(config: pytest.Config) -> None:
    os.close(config.stash[STDERR])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Watch a test from outside Python, a little longer than its time-out does."""
    marked = item.get_closest_marker("timeout")
    seconds = float(marked.args[0] if marked else item.config.getini("timeout"))
    faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, file=item.config.stash[STDERR], exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
