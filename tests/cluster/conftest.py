"""Three brokers of their own for the tests here, ended whatever happens."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from threebrokers.cluster import Cluster
from tools.proof import environment


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "only this lesson's exercises (may be repeated)"
    parser.addoption("--lesson", action="append", metavar="02", help=words)
    words = "the home of brokers that somebody else has begun, and ends; else a temporary one"
    parser.addoption("--home", type=Path, help=words)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    # Quick tests come first, and see nothing of this bench's environment.
    items.sort(key=lambda item: item.path.is_relative_to(here))
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def home(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A temporary home, with no Java on the PATH, or the one that is given."""
    if given := request.config.getoption("--home", default=None):
        yield given
        return
    with environment.bench() as folder:
        yield folder


@pytest.fixture(scope="session")
def cluster(home: Path) -> Cluster:
    """Three running brokers."""
    cluster = Cluster()
    cluster.up()
    return cluster
