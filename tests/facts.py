"""Tests that assert a fact about clients: each tells its row of docs/facts.md.

A test carries the mark `fact("Group", "what it is about")`, asserts, and calls `found(…)`; one that passes
without doing so fails, and so does one that tells something else than the page. `python -m tools facts` has
the rows written down. Which versions a fact was checked against is told by the fixtures that its test takes.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.rows import Teller
from tools.publish.facts import PAGE

FILES = "test_facts"
TELLER = Teller(PAGE, lambda item: item.path.name.startswith(FILES), "found(…)", agrees=True)

Found = Callable[..., None]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(TELLER, "tells facts")


@pytest.fixture
def found(request: pytest.FixtureRequest) -> Found:
    """Tell what this client does, what Java's or the brokers do, and how that was found out."""

    def tell(here: str, there: str, how: str) -> None:
        sources: list[Any] = [
            request.getfixturevalue(name) for name in request.fixturenames if name in SOURCES
        ]
        versions = ", ".join(sorted(source.version for source in sources))
        assert versions, f"the test takes none of {', '.join(SOURCES)}"
        TELLER.tell(request.node, [here, there, versions, how])

    return tell


SOURCES = ("librdkafka", "java_client", "older_java", "brokers")
