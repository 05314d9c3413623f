"""Looking at brokers of which some may be busy: one that the others count has time to answer."""

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING

from threebrokers.kafka.state import ClusterState
from threebrokers.waiting import poll

if TYPE_CHECKING:
    from threebrokers.kafka.poller import ClusterPoller  # kafka-python, which takes 0.2 s to import

# For so long a silent broker is asked again in quick polls (0.5 s at most). One that has just started is.
QUICK_SECONDS = 0.95
BUSY_SECONDS = 4.0  # a machine may be so busy that a broker does not answer for some seconds


def patient_state(
    poller: "ClusterPoller", topics: Sequence[str] | None, groups: Sequence[str]
) -> ClusterState:
    """Return the state when every broker that runs has answered, or had its time, as `Cluster.state` says."""
    late = monotonic() + QUICK_SECONDS
    for state in poll(lambda: poller.poll(topics, groups, patient=monotonic() > late), BUSY_SECONDS):
        heard = state.last_response_at is not None
        if not poller.silent or (heard and not poller.silent & state.registered and monotonic() > late):
            break
    return state


def patient_views(poller: "ClusterPoller", topics: Sequence[str] | None) -> dict[int, ClusterState]:
    """Return what each broker says by itself, by broker; each has as long as for `patient_state`."""
    late = monotonic() + QUICK_SECONDS
    found: dict[int, ClusterState] = {}
    for views in poll(lambda: poller.views(topics, patient=monotonic() > late), BUSY_SECONDS):
        found |= views
        missing = poller.silent - found.keys()
        busy = missing & {n for view in found.values() for n in view.registered}
        if not missing or (found and not busy and monotonic() > late):
            break
    return dict(sorted(found.items()))
