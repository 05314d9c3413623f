"""Docker for the tests here, and three containers of their own. Where Docker is missing, they all fail."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.brokers import healthy
from threebrokers.cluster import Cluster, docker
from threebrokers.errors import LabError
from tools.proof import environment

__all__ = ["healthy"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.compose)


@pytest.fixture(scope="session", autouse=True)
def engine() -> None:
    """End the run with one sentence if Docker cannot be used: a test that is skipped proves nothing."""
    try:
        docker.client().close()
    except LabError as fault:
        pytest.exit(f"The tests of tests/compose need Docker. {fault}", returncode=1)


@pytest.fixture(scope="session")
def home(engine: None) -> Iterator[Path]:
    """A temporary home whose brokers are containers."""
    with environment.bench("compose") as folder:
        yield folder


@pytest.fixture(scope="session")
def cluster(home: Path) -> Cluster:
    """Three running brokers."""
    cluster = Cluster()
    cluster.up()
    return cluster
