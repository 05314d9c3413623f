"""The contract, kept by three processes of this machine."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.contract import Contract
from threebrokers import paths
from threebrokers.cluster import Cluster, links


@pytest.fixture(scope="module")
def started(cluster: Cluster) -> Iterator[Cluster]:
    """The brokers as they are at first; so again for the tests of other modules."""
    cluster.up()
    yield cluster
    cluster.up()


class TestLocal(Contract):
    other = "compose"

    def state_file(self, home: Path) -> Path:
        return home / "cluster.json"

    def take_away(self, cluster: Cluster, broker: int) -> None:
        psutil.Process(cluster.processes()[broker].pid).kill()

    def births(self, cluster: Cluster) -> dict[int, object]:
        running = {n: told.pid for n, told in cluster.processes().items() if told.pid}
        return {n: psutil.Process(pid) for n, pid in running.items()}

    def listens_at(self, cluster: Cluster) -> set[str]:
        # Clients reach the process that carries the links; it passes on what they say to the brokers.
        carriers = [carrier.pid for carrier in links.find(paths.home())]
        assert carriers
        pids = [*carriers, *(told.pid for told in cluster.processes().values())]
        sockets = [s for pid in pids for s in psutil.Process(pid).net_connections("inet")]
        listening = [s.laddr for s in sockets if s.status == psutil.CONN_LISTEN]
        told = {int(address.rpartition(":")[2]) for address in cluster.bootstrap.split(",")}
        assert told <= {place.port for place in listening}, "all places are found at which clients are served"
        return {place.ip.removeprefix("::ffff:") for place in listening}

    def remains(self, home: Path) -> list[str]:
        return [
            " ".join(p.info["cmdline"])
            for p in psutil.process_iter(["cmdline", "status"])
            if str(home) in " ".join(p.info["cmdline"] or []) and p.info["status"] != psutil.STATUS_ZOMBIE
        ]

    def disks(self, home: Path) -> list[str]:
        return sorted(folder.name for folder in (home / "data").glob("broker-*"))
