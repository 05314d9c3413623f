"""Records for several topics at a steady pace, each by a producer of its own, while brokers are restarted."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, Message

from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import fresh, partition_of
from threebrokers.ledger import Balance
from threebrokers.recorder import Recording

if TYPE_CHECKING:
    import pandas as pd

EVERY_SECONDS = 0.05
# A refused record is sent again soon, and until the broker is back, also on a busy machine.
PATIENT = {"acks": "all", "linger.ms": 0, "retry.backoff.max.ms": 200, "message.timeout.ms": 120_000}
# Tried once, so that the program hears of each refusal. No error then tells of a new leader in time; and a
# leader that waits 30 s for a replica which has just gone lets everything behind that record wait, too.
ONCE = {**PATIENT, "retries": 0, "topic.metadata.refresh.interval.ms": 1000, "request.timeout.ms": 5000}
TOO_FEW = "NOT_ENOUGH_REPLICAS"  # how the names of both such errors begin
COUNTED = ("sent", "acknowledged", TOO_FEW, "other errors", "lost")


@contextmanager
def steady_writes(
    lab: Lab, topics: Iterable[str], producer_for: Callable[[str], LabProducer] | None = None
) -> Iterator[None]:
    """Send 20 records a second with acks=all to partition 0 of each topic, until the `with` ends.

    It begins when each topic has stored a record, and ends when everything sent was answered. Unless
    `producer_for` makes another one for a topic, a producer sends again until it is acknowledged.
    """

    def patient(topic: str) -> LabProducer:
        return lab.producer({"client.id": topic, **PATIENT})

    done = threading.Event()
    with ExitStack() as ends:
        for topic in topics:
            producer = (producer_for or patient)(topic)
            thread = threading.Thread(target=_write, args=(producer, topic, done))
            ends.callback(thread.join)
            ends.callback(done.set)
            thread.start()
            wait_for_more(lab, [topic])
        yield


def wait_for_more(lab: Lab, topics: Iterable[str]) -> None:
    """Wait until each topic has a record more that its replicas in sync have stored."""
    for topic in topics:
        seen: list[int] = []

        def more(topic: str = topic, seen: list[int] = seen) -> bool:
            high = partition_of(lab, topic).high_watermark
            seen.extend([] if high is None else [high])  # nobody tells it while the leader changes
            return bool(seen) and seen[-1] > seen[0]

        lab.wait_until(more, what=f"the next record of '{topic}'", within=30)


def _write(producer: LabProducer, topic: str, done: threading.Event) -> None:
    while not done.is_set():
        producer.produce(topic, b"one more", partition=0)
        until = time.monotonic() + EVERY_SECONDS
        while (left := until - time.monotonic()) > 0:  # poll() returns as soon as it has told a report
            producer.poll(left)
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


def rolling_restart(lab: Lab, leasts: Iterable[int]) -> "pd.DataFrame":
    """Restart all brokers, one after the other; return what became of the records that were sent meanwhile.

    A row for each min.insync.replicas. Their producers have acks=all and retries=0, so each refusal is seen.
    """
    import pandas as pd  # only where a table is shown

    lab.cluster.recover()
    topics = {least: fresh(lab, f"restarted-{least}", 1, 3, least) for least in leasts}
    ledgers = {topic: lab.ledger(f"restarted-{least}") for least, topic in topics.items()}
    told: dict[str, list[tuple[float, str]]] = {topic: [] for topic in ledgers}

    def producer_for(topic: str) -> LabProducer:
        def note(error: KafkaError | None, _: Message) -> None:
            told[topic].append((time.monotonic(), error.name() if error else ""))

        return ledgers[topic].producer({**ONCE, "on_delivery": note})

    with steady_writes(lab, told, producer_for):
        for broker in lab.cluster.brokers:
            lab.cluster.stop(broker)
            lab.cluster.start(broker)
            lab.cluster.wait_in_sync(told)
            wait_for_more(lab, told)
    rows = {least: _became(ledgers[topic].balance(topic), told[topic]) for least, topic in topics.items()}
    return pd.DataFrame(rows).T.rename_axis("min.insync.replicas").astype(dict.fromkeys(COUNTED, int))


def _became(balance: Balance, told: Iterable[tuple[float, str]]) -> dict[str, float]:
    """Return a row of the table: what the ledger says, and how long nothing was acknowledged at most."""
    refused = sum(failure.reason.startswith(TOO_FEW) for failure in balance.failed)
    counts = (
        len(balance.attempted),
        len(balance.acknowledged),
        refused,
        len(balance.failed) - refused,
        len(balance.lost),
    )
    return dict(zip(COUNTED, counts, strict=True)) | {"longest pause (s)": round(longest_pause(told), 1)}


def longest_pause(told: Iterable[tuple[float, str]]) -> float:
    """Return the longest time (s) between two acknowledgements, 0 if there are fewer than two.

    `told` are the moments of the delivery reports (s), in their order, each with its error's name or "".
    """
    moments = [at for at, error in told if not error]
    return max((after - before for before, after in pairwise(moments)), default=0.0)


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
