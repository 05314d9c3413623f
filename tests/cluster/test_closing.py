"""The end of a group's member: it hears before of what waits for its next poll, and takes no record."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fact_bench import PATIENCE, coordinator, group, one
from threebrokers.cluster import Cluster
from threebrokers.kafka.clients import Clients, hear_of_rebalances
from threebrokers.waiting import quiet_wait

__all__ = ["group", "one"]

# A busy machine may stand still for a second, and it shall not be the session that is over.
SOON_OUT = {"session.timeout.ms": 3000, "max.poll.interval.ms": 3000, "heartbeat.interval.ms": 200}


@pytest.fixture
def clients(cluster: Cluster, tmp_path: Path) -> Iterator[Clients]:
    made = Clients(cluster.bootstrap, tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_closing_takes_no_record_and_commits_none(
    cluster: Cluster, clients: Clients, one: str, group: str, protocol: str
):
    reader = clients.consumer(
        {"group.id": group, "group.protocol": protocol, "auto.offset.reset": "earliest"}
    )
    reader.subscribe([one])
    assert len(reader.consume(2, PATIENCE)) == 2
    reader.close()  # the others are in the client's queue
    assert coordinator(cluster, group, lambda told: told.committed).committed[0][2] == 2


def test_a_member_that_was_thrown_out_hears_of_it_before_it_closes(
    cluster: Cluster, clients: Clients, one: str, group: str
):
    heard: list[str] = []
    reader = clients.consumer({"group.id": group, "auto.offset.reset": "earliest", **SOON_OUT})
    reader.subscribe([one], on_lost=lambda reader, places: heard.append("lost"))
    assert reader.consume(1, PATIENCE)
    coordinator(cluster, group, lambda told: told.state == "Empty")

    def hears() -> list[str]:
        hear_of_rebalances(reader, reader.assignment)
        return heard

    assert heard == []
    assert quiet_wait(hears, PATIENCE)
    assert reader.held == set()
    reader.close()
    assert heard == ["lost"]
    hear_of_rebalances(reader, reader.assignment)  # of one that is closed nothing is asked
