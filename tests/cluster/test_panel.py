"""The panel beside real brokers: it sees what is done to them, and never stands still meanwhile."""

from collections.abc import Iterator
from itertools import pairwise

import pytest

from threebrokers.cluster import Cluster, topics
from threebrokers.panel import Panel, Panels
from threebrokers.waiting import quiet_wait

STILL_SECONDS = 1.0
LONGEST_SECONDS = 5.0


@pytest.fixture
def panel(cluster: Cluster) -> Iterator[Panel]:
    topics.create(cluster, "panel", 13, 3, {})
    panels = Panels()
    yield panels.watch(cluster, ["panel"], ["nobody-reads"])
    cluster.up()
    panels.end()
    topics.delete(cluster, ["panel"])


def seen(panel: Panel, words: str) -> None:
    """Wait until an event of the panel contains these words."""

    def told() -> bool:
        return any(words in event["words"] for event in panel.frame["events"])

    if not quiet_wait(told, 30):
        pytest.fail(f"no event '{words}' among {panel.frame['events']} after {panel.frame['time']}")


def whole(panel: Panel) -> None:
    """Wait until every copy is in sync."""
    assert quiet_wait(lambda: "all replicas in sync" in panel.frame["topics"][0]["summary"], 30), panel


def test_it_tells_of_every_fault_and_never_stands_still(cluster, panel, ticks, notes):
    drawn = [ticks.now]
    panel.observe(lambda change: drawn.append(ticks.now), "frame")
    first = cluster.state([]).quorum_leader
    second = next(n for n in cluster.brokers if n != first)

    cluster.kill(first)
    seen(panel, f"you killed broker {first}")
    seen(panel, "new leader, at most")
    seen(panel, "is the active controller now")
    assert panel.frame["brokers"][first - 1]["state"] == "down"
    assert panel.frame["brokers"][second - 1]["cost"].startswith("This takes the quorum away")
    cluster.start(first)
    seen(panel, f"broker {first} is in sync again")
    whole(panel)

    cluster.pause(second)
    seen(panel, f"broker {second} stands still")
    seen(panel, f"the others no longer count broker {second}, at most")
    cluster.resume(second)
    seen(panel, f"broker {second} goes on")
    whole(panel)

    cluster.stop(second)
    seen(panel, f"broker {second} is gone")
    cluster.kill(first, force=True)
    seen(panel, "the quorum is lost")
    cluster.start(first)
    seen(panel, "enough voters are up again for a quorum")

    *_, third, _, longest = sorted(after - before for before, after in pairwise(drawn))
    notes.append(
        f"panel: {len(drawn)} frames, at most {longest:.2f} s apart (killed, paused and stopped brokers)"
    )
    assert longest < LONGEST_SECONDS, "a starting broker may keep the machine busy"
    assert third < STILL_SECONDS
