"""Fixtures: three brokers for the tests of a folder, ended whatever happens. Its conftest.py imports them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from threebrokers.cluster import Cluster, local
from tools.proof import environment

__all__ = ["cluster", "healthy", "home"]


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
    """Three running brokers; their first start beside other tests may take long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local.LocalEngine, "start_seconds", 240.0)
        cluster = Cluster()
        cluster.up()
    return cluster


@pytest.fixture
def healthy(cluster: Cluster) -> Iterator[Cluster]:
    """Running brokers with healthy links, before and after, whatever the test did."""
    cluster.up()
    yield cluster
    cluster.up()
