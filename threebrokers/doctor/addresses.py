"""Pain 1 of learners: a broker sends its clients to an address where they do not find it."""

import socket
from collections.abc import Callable, Mapping

from threebrokers.cluster import Cluster
from threebrokers.cluster.process import BrokerProcess
from threebrokers.doctor.finding import Finding
from threebrokers.kafka.state import BrokerState


def look_at_addresses(cluster: Cluster, processes: Mapping[int, BrokerProcess]) -> Finding:
    """Compare the address that each broker advertises to clients with the one where it answers."""
    running = [n for n, process in processes.items() if process.state == "up"]
    if not running:
        return Finding("addresses", True, "no broker runs, so none advertises an address")
    views = cluster.views([])
    if not views:
        return Finding("addresses", False, "no broker answers", f"read the end of {cluster.log(running[0])}")
    registered = (broker for view in views.values() for broker in view.brokers if broker.registered)
    advertised = tuple({broker.id: broker for broker in registered}.values())
    return compare_addresses(advertised, {n: cluster.address(n) for n in running}, _reachable)


def compare_addresses(
    advertised: tuple[BrokerState, ...],
    listening: Mapping[int, str],
    reachable: Callable[[str], bool],
) -> Finding:
    """Say which broker sends clients to an address where it does not listen or that cannot be reached."""
    wrong = []
    for broker in advertised:
        address = broker.address
        if broker.id in listening and listening[broker.id] != address:
            wrong.append(f"broker {broker.id} advertises {address} and listens at {listening[broker.id]}")
        elif broker.id in listening and not reachable(address):
            wrong.append(f"broker {broker.id} advertises {address}, where nobody answers")
    if not wrong:
        return Finding("addresses", True, "every broker answers at the address that it advertises")
    cure = (
        "the setting is advertised.listeners (in docker-compose.yml KAFKA_ADVERTISED_LISTENERS, made of "
        "KAFKA_PORT_1 to KAFKA_PORT_3): `threebrokers down` and `threebrokers up` write it anew"
    )
    return Finding("addresses", False, "; ".join(wrong), cure)


def _reachable(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=1):
            return True
    except OSError:
        return False
