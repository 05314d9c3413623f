"""What is told of real elections: no clean one is called unclean, and each unclean one is told."""

import functools
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from threebrokers.lab.scenarios import controller_last, partition_of
from threebrokers.recorder import Recording
from threebrokers.waiting import quiet_wait

NEW_LEADER = "new leader"
UNDO = {"kill": "start", "pause": "resume", "stop": "start", "cut": "heal"}


@pytest.fixture
def lab(cluster) -> Iterator[Lab]:
    lab = open_lab("04")
    yield lab
    cluster.up()
    lab.close()


@contextmanager
def watched(lab: Lab, *topics: str, keep: list):
    """Watch these topics with a panel and a recording, and yield both.

    In the end the panel's lines and the recording are added to `keep`.
    """
    panel = lab.watch(*topics)
    with lab.record(*topics) as recording:
        yield panel, recording
    lab.wait_until(lambda: seen_since(panel, recording), what="the panel to see the end", within=30)
    keep += [[event["words"] for event in panel.frame["events"]], recording]
    panel.close()


def seen_since(panel, recording: Recording) -> bool:
    """Tell whether the panel has looked since the recording ended."""
    ended = recording.data.ended - panel.since
    return float(panel.frame["time"].split()[0]) > ended + 0.1


def fail_over(lab: Lab, kind: str, topic: str) -> tuple[list[str], Recording]:
    """Take a leader away and give it back, as lab 04 does; return what panel and recording told."""
    lab.cluster.recover()
    broken = controller_last(lab)[0]
    # A frozen broker that is asked for metadata answers nobody: by itself a client waits 60 s for it.
    producer = lab.producer({"acks": "all", "socket.timeout.ms": 5000})

    def produce(count: int) -> None:
        for number in range(count):
            producer.produce(topic, str(number), partition=number % 3)
        assert producer.flush(60) == 0

    kept: list = []
    produce(100)
    with watched(lab, topic, keep=kept) as (panel, _):
        getattr(lab.cluster, kind)(broken)
        lab.wait_until(lambda: leads_nothing(lab, broken, topic), what="new leaders", within=60)
        # Else the old leaders may lead again before the panel, which looks twice a second, has seen others.
        lab.wait_until(lambda: NEW_LEADER in words(panel), what="the panel to see them", within=30)
        if kind != "cut":  # clients still reach a leader that is cut off from the others, and stay with it
            produce(100)
        getattr(lab.cluster, UNDO[kind])(broken)
        lab.cluster.recover()
        produce(10)
    return kept[0], kept[1]


def words(panel) -> str:
    """Return what the panel has told so far."""
    return "\n".join(event["words"] for event in panel.frame["events"])


def readable_in(recording: Recording, topic: str) -> int | None:
    """Return up to which offset the topic's first partition can be read, as the recording saw it last."""
    found = recording.states[-1].topic(topic) if recording.states else None
    return found.partitions[0].high_watermark if found else None


def shows_readable(panel, topic: str, offset: int) -> bool:
    """Tell whether the panel shows that the topic's first partition can be read up to this offset."""
    shown = next(one for one in panel.frame["topics"] if one["name"] == topic)
    return bool(shown["rows"]) and shown["rows"][0]["numbers"]["readable"] == str(offset)


def leads_nothing(lab: Lab, broker: int, topic: str) -> bool:
    found = lab.cluster.state([topic]).topic(topic)
    return found is not None and all(p.leader not in (None, broker) for p in found.partitions)


def led_by(lab: Lab, broker: int, topic: str) -> bool:
    found = lab.cluster.state([topic]).topic(topic)
    return found is not None and found.partitions[0].leader == broker


def lose_ten(lab: Lab) -> tuple[list[str], Recording, int]:
    """Do what the last resort of lab 04 does; return what was told, and who was elected."""
    lab.cluster.recover()
    leader, follower, _ = controller_last(lab)
    settings = {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"}
    unclean = lab.fresh_topic("unclean", brokers=[leader, follower], config=settings)
    guarded = lab.fresh_topic("guarded", brokers=[leader, follower], config={"min.insync.replicas": "2"})
    producer = lab.producer({"acks": "all", "linger.ms": 0})

    def produce(count: int) -> None:
        for number in range(count):
            producer.produce(unclean, str(number))
        assert producer.flush(60) == 0

    kept: list = []
    produce(5)
    with watched(lab, unclean, guarded, keep=kept) as (panel, recording):
        lab.cluster.cut(follower)
        lab.wait_until(lambda: partition_of(lab, unclean).isr == (leader,), what="an ISR of one", within=60)
        produce(10)
        # That records were lost can be told only by who has seen that they were readable.
        lab.wait_until(
            lambda: shows_readable(panel, unclean, 15) and readable_in(recording, unclean) == 15,
            what="panel and recording to see that all 15 are readable",
            within=30,
        )
        lab.cluster.cut(leader, force=True)
        lab.cluster.heal(follower)
        for topic in (unclean, guarded):
            lab.wait_until(functools.partial(led_by, lab, follower, topic), what="a leader", within=60)
        # Half a second after it is healed the old leader leads again: who has not looked by then missed it.
        quiet_wait(lambda: "lost" in words(panel) and recording.unclean_elections(), 30)
        lab.cluster.heal(leader)
        lab.cluster.recover()
    return kept[0], kept[1], follower


def false_lines(lines: list[str], kind: str, recording: Recording) -> list[str]:
    """Return what is said of a clean failover and cannot be so."""
    wrong = [line for line in lines if "unclean" in line or "goes on at" in line or "although" in line]
    wrong += [str(election) for election in recording.unclean_elections()]
    longest = recording.action(UNDO[kind]).at - recording.action(kind).at + 1
    for line in lines:
        if cause := re.search(r"at most ([\d.]+) s after the (\w+)", line):
            taken = NEW_LEADER in line or "out of sync" in line or "no longer count" in line
            wrong += [line] * (taken and (cause[2] != kind or float(cause[1]) > longest))
            wrong += [line] * ("preferred" in line)
    return wrong


def as_it_was(lines: list[str], recording: Recording, elected: int) -> bool:
    """Tell whether one unclean election was told, of the right broker, with the ten records that are lost."""
    election = f"unclean election in partition 0 of unclean: broker {elected} leads and was not in sync"
    loss = "lost: readable up to offset 15 before, 5 now"
    # A leader that has not answered yet tells of the loss a look later.
    elections, losses = ([line for line in lines if words in line] for words in ("unclean election", "lost"))
    found = recording.unclean_elections()
    concluded = [(e.topic, e.leader, e.readable_before, e.readable_after) for e in found]
    return (
        [line.partition(";")[0] for line in elections] == [election]
        and len(losses) == 1
        and losses[0].endswith(loss)
        and concluded == [("unclean", elected, 15, 5)]
    )


@pytest.mark.parametrize("kind", UNDO)
def test_a_clean_failover_is_not_called_unclean(lab: Lab, kind: str) -> None:
    topic = lab.fresh_topic(
        "heartbeats", partitions=3, replication_factor=3, config={"min.insync.replicas": "2"}
    )
    lines, recording = fail_over(lab, kind, topic)
    assert any(NEW_LEADER in line for line in lines), lines
    assert false_lines(lines, kind, recording) == []


def test_an_unclean_election_is_told(lab: Lab) -> None:
    lines, recording, elected = lose_ten(lab)
    assert as_it_was(lines, recording, elected), (lines, recording.unclean_elections())
