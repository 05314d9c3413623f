"""Three brokers of their own for the tests here: every one is marked `cluster`."""

from pathlib import Path

import pytest

from tests.asked import brokers, java_client, librdkafka, older_java
from tests.brokers import cluster, healthy, home

__all__ = ["brokers", "cluster", "healthy", "home", "java_client", "librdkafka", "older_java"]


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "only this lesson's exercises (may be repeated)"
    parser.addoption("--lesson", action="append", metavar="02", help=words)
    words = "try at most so many wrong answers of each exercise, and half as many right ones"
    parser.addoption("--answers", type=int, metavar="4", help=words)
    words = "only this share of each lesson's exercises"
    parser.addoption("--share", type=_share, default=(1, 1), metavar="2/3", help=words)
    words = "the home of brokers that somebody else has begun, and ends; else a temporary one"
    parser.addoption("--home", type=Path, help=words)


def _share(words: str) -> tuple[int, int]:
    which, _, of = words.partition("/")
    return int(which), int(of)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    # Quick tests come first, and see nothing of this bench's environment.
    items.sort(key=lambda item: item.path.is_relative_to(here))
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.cluster)
