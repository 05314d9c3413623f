"""Tests that prove what a fault leads to: each tells its row of docs/reliability.md.

A test carries the mark `fault("Group", "what goes wrong")` and calls `behaviour("what happens", says=…)`;
one that passes without doing so fails. `python -m tools reliability` has the rows written down.
"""

from collections.abc import Callable

import pytest

from tests.rows import Teller
from tools.publish.reliability import PAGE, general

FOLDER = "faults"
TELLER = Teller(PAGE, lambda item: item.path.parent.name == FOLDER, "behaviour(…)")

Behaviour = Callable[..., None]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(TELLER, "tells of faults")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "cluster" in getattr(item, "fixturenames", ()) and item.path.parent.name == FOLDER:
            item.add_marker(pytest.mark.cluster)
    # Those without brokers come first, and see nothing of the brokers' environment.
    items.sort(key=lambda item: item.get_closest_marker("cluster") is not None)


@pytest.fixture
def behaviour(request: pytest.FixtureRequest) -> Behaviour:
    """Tell what happens after the fault, and the text that the code said, if it said one."""

    def tell(happens: str, *, says: object = None) -> None:
        TELLER.tell(request.node, [happens, general(str(says)) if says else ""])

    return tell
