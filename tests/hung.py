"""A test that hangs in C ends its whole run, which says where: it hears neither its time-out nor Ctrl-C.

confluent-kafka's `close()` hangs now and then (librdkafka's issue 4884).
"""

import faulthandler
import os
from collections.abc import Generator

import pytest

STDERR = pytest.StashKey[int]()  # pytest catches the one that tests know
GRACE_SECONDS = 60.0  # a test that has run out of time tidies up
END_SECONDS = 600.0  # Python goes through all that a run has left


def pytest_configure(config: pytest.Config) -> None:
    config.stash[STDERR] = os.dup(2)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Watch the end of Python, too: a client that nobody has closed may hang there."""
    _watch(config, END_SECONDS)  # to a file that stays open until then


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Watch a test from outside Python, a little longer than its time-out does."""
    marked = item.get_closest_marker("timeout")
    _watch(item.config, float(marked.args[0] if marked else item.config.getini("timeout")) + GRACE_SECONDS)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> None:
    """Go on with the watch: pytest ends it when a test has failed, and what then tidies up may hang, too."""
    if isinstance(node, pytest.Item) and not node.config.getoption("usepdb"):
        _watch(node.config, GRACE_SECONDS)


def _watch(config: pytest.Config, seconds: float) -> None:
    faulthandler.dump_traceback_later(seconds, file=config.stash[STDERR], exit=True)
