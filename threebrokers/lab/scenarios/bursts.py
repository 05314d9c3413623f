"""Ten times as many records as usual, for a moment, and two groups that work them off, for lab 07."""

import threading
import time
from typing import TYPE_CHECKING, Any

from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.members import Team

if TYPE_CHECKING:
    import pandas as pd

PARTITIONS = 6
STEP_SECONDS = 0.5
USUAL, TIMES = 20, 10  # records in a step, and how many times as many come in the burst
BEGINS, ENDS = 2, 4  # steps
WORK_SECONDS = 0.01  # so one member does at most 100 records a second
MOST_SECONDS = 15.0
FEW, MORE = "one member", "three members"


def burst(lab: Lab) -> "pd.DataFrame":
    """Send 40 records a second, and 400 a second for one second; return the lag of two groups meanwhile.

    Both have one member, which needs 10 ms for a record. When the burst is over, two members more join the
    second group. It ends when that group has caught up.
    """
    import pandas as pd  # half a second, and only who draws needs it

    topic = lab.fresh_topic("sales", partitions=PARTITIONS)
    run = time.time_ns()
    own = {"auto.commit.interval.ms": 100, "partition.assignment.strategy": "cooperative-sticky"}
    names = {way: f"{lab.group('sales')}-{run}-{number}" for number, way in enumerate((FEW, MORE))}
    with (
        Team(lab, topic, names[FEW], own, seconds=WORK_SECONDS) as few,
        Team(lab, topic, names[MORE], own, seconds=WORK_SECONDS) as more,
    ):
        for team in (few, more):
            team.grow(1)
        rows = _sent(lab, topic, list(names.values()), more)
    return pd.DataFrame(rows, columns=["s", *names]).set_index("s")


def _sent(lab: Lab, topic: str, groups: list[str], more: Team) -> list[tuple[Any, ...]]:
    """Send step by step; return a row for each: when it began, and the lag of each group by then."""
    producer, pace = lab.producer({"linger.ms": 0}), threading.Event()
    rows: list[tuple[Any, ...]] = []
    sent, began = 0, time.monotonic()
    while (now := time.monotonic() - began) < MOST_SECONDS:
        step, lags = len(rows), [sent - done for done in _committed(lab, topic, groups)]
        rows.append((round(now, 1), *lags))
        if step > ENDS and lags[1] <= USUAL:
            break
        for _ in range(USUAL * (TIMES if BEGINS <= step < ENDS else 1)):
            producer.produce(topic, b"sale", partition=sent % PARTITIONS)
            sent += 1
        producer.flush()
        if step == ENDS:
            for name in "BC":
                more.join(name)
        pace.wait(max(0.0, began + len(rows) * STEP_SECONDS - time.monotonic()))  # it sends at this pace
    return rows


def _committed(lab: Lab, topic: str, groups: list[str]) -> list[int]:
    told = {group.name: group for group in lab.cluster.state([topic], groups).groups}
    return [sum(offset for _, _, offset in told[name].committed) for name in groups]
