"""Heartbeats to several topics, each by a producer of its own, while brokers are restarted."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import partition_of
from threebrokers.recorder import Recording

if TYPE_CHECKING:
    import pandas as pd

EVERY_SECONDS = 0.05
# A refused heartbeat is sent again soon, and until the broker is back, also on a busy machine.
PATIENT = {"acks": "all", "linger.ms": 0, "retry.backoff.max.ms": 200, "message.timeout.ms": 120_000}


@contextmanager
def heartbeats(lab: Lab, topics: Iterable[str]) -> Iterator[None]:
    """Send 20 records a second with acks=all to partition 0 of each topic, until the `with` ends.

    It begins when each topic has stored a record, and ends when everything sent was answered.
    """
    done = threading.Event()
    with ExitStack() as ends:
        for topic in topics:
            producer = lab.producer({"client.id": topic, **PATIENT})
            thread = threading.Thread(target=_beat, args=(producer, topic, done))
            ends.callback(thread.join)
            ends.callback(done.set)
            thread.start()
            wait_for_more(lab, [topic])
        yield


def wait_for_more(lab: Lab, topics: Iterable[str]) -> None:
    """Wait until each topic has a heartbeat more that its replicas in sync have stored."""
    for topic in topics:
        before = partition_of(lab, topic).high_watermark or 0

        def more(topic: str = topic, before: int = before) -> bool:
            return (partition_of(lab, topic).high_watermark or 0) > before

        lab.wait_until(more, what=f"the next heartbeat of '{topic}'", within=30)


def _beat(producer: LabProducer, topic: str, done: threading.Event) -> None:
    while not done.is_set():
        producer.produce(topic, b"I am here", partition=0)
        producer.poll(EVERY_SECONDS)
    producer.flush()


def all_acknowledged(recording: Recording) -> bool:
    """Tell whether every record that was sent while it recorded was acknowledged meanwhile."""
    sent, acknowledged = (
        sum(flow.records for flow in recording.flows if flow.kind == kind)
        for kind in ("sent", "acknowledged")
    )
    return bool(sent == acknowledged > 0)


def restart_silences(recording: Recording, topics: Mapping[str, str]) -> "pd.DataFrame":
    """Return how long each topic was without an acknowledgement after each stop, beside the whole restart.

    `topics` are full names by the column's title; everything is in seconds. A restart is over when all
    replicas of these topics are in sync again.
    """
    import pandas as pd  # only where a table is shown

    stops = [action for action in recording.actions if action.kind == "stop"]
    rows = {}
    for stop in stops:
        gaps = {title: recording.longest_gap("acknowledged", stop, topic=t) for title, t in topics.items()}
        took = {"the restart took": _in_sync_again(recording, stop.at) - stop.at}
        rows[f"broker {stop.broker}"] = took | {title: gap.seconds for title, gap in gaps.items()}
    return pd.DataFrame(rows).T


def _in_sync_again(recording: Recording, since: float) -> float:
    """Return when all replicas were in sync again, after one had left the ISR; else the recording's end."""
    left = False
    for state in recording.states:
        partitions = [p for topic in state.topics for p in topic.partitions]
        whole = all(len(p.isr) == len(p.replicas) for p in partitions)
        if state.at >= since and left and whole:
            return state.at
        left = left or (state.at >= since and not whole)
    return recording.data.ended
