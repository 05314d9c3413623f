"""The contract, kept by three processes of this machine."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.contract import Contract
from threebrokers.cluster import Cluster


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
        pids = {psutil.Process(told.pid) for told in cluster.processes().values()}
        carriers = {process for process in psutil.process_iter() if process.ppid() in pids}
        sockets = [s for process in pids | carriers for s in process.net_connections("inet")]
        found = {s.laddr.ip.removeprefix("::ffff:") for s in sockets if s.status == psutil.CONN_LISTEN}
        assert found
        return found

    def remains(self, home: Path) -> list[str]:
        return [
            " ".join(p.info["cmdline"])
            for p in psutil.process_iter(["cmdline", "status"])
            if str(home) in " ".join(p.info["cmdline"] or []) and p.info["status"] != psutil.STATUS_ZOMBIE
        ]

    def disks(self, home: Path) -> list[str]:
        return sorted(folder.name for folder in (home / "data").glob("broker-*"))
