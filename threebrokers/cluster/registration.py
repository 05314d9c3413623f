"""What brokers tell of each other after a start: who is registered, and where clients are sent to."""

from collections.abc import Mapping
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from threebrokers.kafka.state import ClusterState
from threebrokers.waiting import poll, wait_until

if TYPE_CHECKING:
    from threebrokers.kafka.poller import ClusterPoller

ADDRESS_SECONDS = 3.0
OTHERWISE = "run `threebrokers doctor`, it names the cause."


class Polled(Protocol):
    """What is needed of a cluster."""

    def poller(self) -> "ClusterPoller": ...


def wait_registered(cluster: Polled, wanted: set[int], within: float) -> None:
    """Wait until these brokers are registered. Raises LabError after so many seconds."""
    with closing(cluster.poller()) as poller:
        _registered(poller, wanted, within)


def wait_told(cluster: Polled, broker: int, address: str, within: float) -> None:
    """Wait until each broker that answers, and this one, tells clients that it has this address."""
    with closing(cluster.poller()) as poller:

        def told() -> bool:
            views = poller.views([], patient=True)
            return broker in views and all(
                found.address == address
                for view in views.values()
                for found in view.brokers
                if found.id == broker
            )

        wait_until(
            told,
            what=f"all brokers to tell clients that broker {broker} has the address {address}",
            within=within,
            otherwise=OTHERWISE,
        )


def misleading(cluster: Polled, own: Mapping[int, str], within: float) -> list[int]:
    """Wait until all are registered; return those that send clients to another address than their own."""
    with closing(cluster.poller()) as poller:
        first = [_registered(poller, set(own), within)]
        # What stands in the metadata may be from before a start of all brokers: it is soon corrected.
        for state in chain(first, poll(lambda: poller.poll([]), ADDRESS_SECONDS)):
            wrong = [b.id for b in state.brokers if b.registered and b.address != own[b.id]]
            if not wrong:
                return []
        return wrong


def _registered(poller: "ClusterPoller", wanted: set[int], within: float) -> ClusterState:
    """Wait until these brokers are registered; return the state in which they are."""

    def registered() -> ClusterState | None:
        state = poller.poll([], patient=True)
        return state if wanted <= state.registered else None

    return wait_until(
        registered,
        what=f"broker {', '.join(map(str, sorted(wanted)))} to register with the cluster",
        within=within,
        otherwise=OTHERWISE,
    )
