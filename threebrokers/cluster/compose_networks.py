"""Cutting containers off: which of the compose file's networks they are in, and which they should be in."""

from collections.abc import Sequence

from threebrokers.cluster.containers import Container, Containers
from threebrokers.cluster.network import Fault
from threebrokers.errors import BenchError

# Which of the file's networks carries what, and a broker's name there.
NETWORKS = {"brokers": "broker", "quorum": "controller"}


def faults(found: dict[int, Container]) -> list[Fault]:
    """Return what the networks are without: containers that were taken out of them."""
    missing = {n: tuple(name for name in NETWORKS if name not in one.networks) for n, one in found.items()}
    return [Fault("cut", n, peers) for n, peers in sorted(missing.items()) if peers]


def put(containers: Containers, found: dict[int, Container], wanted: Sequence[Fault]) -> None:
    """Take containers out of networks and put them back, so that these faults are what is wrong.

    Raises BenchError, before anything is changed, for a fault that networks cannot cause.
    """
    for fault in wanted:
        _check_possible(fault)
        if fault.broker not in found:
            raise BenchError(f"Broker {fault.broker} has no container: start it first.")
    for n, container in found.items():
        away = {peer for fault in wanted if fault.broker == n for peer in fault.peers}
        for network, name in NETWORKS.items():
            if network in away and network in container.networks:
                containers.disconnect(container, network)
            elif network not in away and network not in container.networks:
                containers.connect(container, network, f"{name}-{n}")


def _check_possible(fault: Fault) -> None:
    if fault.effect == "cut" and set(fault.peers) <= set(NETWORKS):
        return
    raise BenchError(
        f"Containers cannot {fault.effect} broker {fault.broker} {fault.words}, only cut it off from "
        "'brokers', 'quorum' or both; the local engine can: `threebrokers down`, then "
        "THREEBROKERS_CLUSTER=local make lab."
    )
