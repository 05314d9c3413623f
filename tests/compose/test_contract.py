"""The contract, kept by three containers; and what containers cannot do."""

import json
from pathlib import Path

import pytest

from tests.compose.docker_command import docker
from tests.contract import Contract
from threebrokers.cluster import Cluster
from threebrokers.cluster.compose import ComposeEngine
from threebrokers.errors import LabError


def of_project(home: Path, *kind: str) -> list[str]:
    """Return the names of what Docker keeps for the project of this home."""
    label = f"label=com.docker.compose.project={ComposeEngine(home).containers.project}"
    listing = ["--filter", label, "--format", "{{.Names}}" if kind == ("ps", "--all") else "{{.Name}}"]
    return docker(*kind, *listing).split()


@pytest.fixture(scope="module")
def started(cluster: Cluster) -> Cluster:
    return cluster


class TestCompose(Contract):
    other = "local"

    def state_file(self, home: Path) -> Path:
        return home / "compose" / "cluster.json"

    def take_away(self, cluster: Cluster, broker: int) -> None:
        docker("rm", "--force", cluster.processes()[broker].container)

    def births(self, cluster: Cluster) -> dict[int, object]:
        running = {n: told.container for n, told in cluster.processes().items() if told.container}
        started = docker("inspect", "--format", "{{.Id}} {{.State.StartedAt}}", *running.values())
        return dict(zip(running, started.splitlines(), strict=True))

    def listens_at(self, cluster: Cluster) -> set[str]:
        names = [told.container for told in cluster.processes().values()]
        published = [one["NetworkSettings"]["Ports"] for one in json.loads(docker("inspect", *names))]
        return {place["HostIp"] for ports in published for places in ports.values() for place in places or []}

    def remains(self, home: Path) -> list[str]:
        return of_project(home, "ps", "--all") + of_project(home, "network", "ls")

    def disks(self, home: Path) -> list[str]:
        return of_project(home, "volume", "ls")

    @pytest.mark.parametrize(
        ("fault", "words"),
        [
            (lambda c: c.stall(2), "stall broker 2 from the other brokers and the quorum"),
            (lambda c: c.slow(2, ms=50), "slow broker 2 50 ms each way"),
            (lambda c: c.cut(2, from_="clients"), "cut broker 2 from the clients"),
            (lambda c: c.cut(2, from_=3), "cut broker 2 from broker 3"),
        ],
        ids=["stall", "slow", "cut from clients", "cut from one broker"],
    )
    def test_what_networks_cannot_do_is_said_with_the_way_to_do_it(self, healthy, fault, words):
        told = rf"Containers cannot {words}.*only cut it off from .*THREEBROKERS_CLUSTER=local make lab"
        with pytest.raises(LabError, match=told):
            fault(healthy)
        assert healthy.faults() == []
