"""What lab 06's check says of commits, counted where the brokers write them down."""

import ast
import struct

from confluent_kafka import Consumer

from threebrokers.checks.expect import committed, count_of, expect_topic
from threebrokers.checks.expect_clients import expect_closed
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import Record, read_log
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.lab.lab import Lab

MOST, APART = 60, 500
OFFSETS = "__consumer_offsets"
COMMIT_SECONDS = 1.0


def judge_commits(lab: Lab, group: str, topic: str, visitor: Consumer) -> None:
    """Raise NotYet unless the group has committed all of the topic, in few commits that are not far apart."""
    expect_topic(lab, topic, "visits")
    count = count_of(lab, topic)
    _expect_all_read(lab, group, visitor, count)
    eventually(lambda: _ends_at(lab, group, topic, count), what="the last commit", within=COMMIT_SECONDS)
    offsets = commits_in(read_log(lab.bootstrap, OFFSETS), group, topic)
    if len(offsets) > MOST:
        raise NotYet(
            f"the brokers have written down {len(offsets)} commits of the group `group`",
            f"{MOST} are allowed for {count} records",
            "the line that commits: how often does it run?",
        )
    gap, before = max((b - a, a) for a, b in zip([0, *offsets], offsets, strict=False))
    if gap > APART:
        raise NotYet(
            f"the brokers have no commit between {before} and {before + gap}: a crash before it costs "
            "everything since the last one",
            f"at most {APART} records should lie between two commits",
            "the commit in the loop: after how many records, of which message, and whether it waits",
        )
    expect_closed(lab, group, "`visitor`")
    if (run := attempt()) is not None:
        expect_last_commit(run.code)


def expect_last_commit(code: ast.AST) -> None:
    """Raise NotYet if the program's last commit stands behind its loop, where an interruption passes over it.

    A program that commits in its loop only may do that often enough to need no other commit.
    """
    nodes = list(ast.walk(code))
    if any(isinstance(node, ast.Try | ast.With) for node in nodes):
        return
    loops = [node for node in nodes if isinstance(node, ast.For | ast.While)]
    within = {id(node) for loop in loops for node in ast.walk(loop)}
    commits = {id(node) for node in nodes if isinstance(node, ast.Attribute) and node.attr == "commit"}
    if commits & within and commits - within:
        raise NotYet(
            "the last commit stands behind the loop, and an interruption of the loop passes over it",
            "what was read should be committed then, too",
            "`finally:`, which runs in any case",
        )


def _expect_all_read(lab: Lab, group: str, visitor: Consumer, count: int) -> None:
    if not isinstance(visitor, LabConsumer):
        return  # a plain one does not count
    others = {one for one in lab.consumers() if str(one.config.get("group.id")) == group}
    read = sum(one.received for one in {visitor, *others})
    if read < count:
        raise NotYet(
            f"`visitor` has read {read} of {count} records",
            "all should be read before the last offset is committed",
            "the loop, and when it ends",
        )


def _ends_at(lab: Lab, group: str, topic: str, count: int) -> None:
    at = committed(lab, group, topic).get(0)
    if at == count:
        return
    if at is None:
        raise NotYet(
            f"the group `group` has committed nothing in {topic!r}",
            f"in the end it should be {count}",
            "`commit()`, in the loop and at the end, and the topic and group of `visitor`",
        )
    offsets = commits_in(read_log(lab.bootstrap, OFFSETS), group, topic)
    if offsets and max(offsets) > at:
        raise NotYet(
            f"the group went back from {max(offsets)} to {at}: an older commit came after a newer one",
            f"in the end it should be {count}",
            "the order of your commits",
        )
    if at == count - 1 and offsets:
        raise NotYet(
            f"the last record has offset {at}, and the group has committed {at}: one too small",
            "the committed offset should be the next one",
            "the offset that you commit; `commit(message=…)` adds the 1 itself",
        )
    raise NotYet(
        f"the group has committed {at} of {count}, so the last records would come again",
        "the end of the program should commit what is done since the last commit, and wait for the answer",
        "`finally:` `commit(asynchronous=False)`",
    )


def commits_in(records: list[Record], group: str, topic: str) -> list[int]:
    """Return the offsets that a group has committed in partition 0 of a topic, oldest first."""
    return [offset for offset, _ in timed_commits(records, group, topic)]


def timed_commits(records: list[Record], group: str, topic: str) -> list[tuple[int, int]]:
    """Return the offsets that a group has committed in partition 0 of a topic, each with its time (ms)."""
    wanted = _text(group) + _text(topic) + struct.pack(">i", 0)
    # The key begins with its version, the value with its version and the offset.
    own = [r for r in records if r.key is not None and r.key[2:] == wanted and r.value]
    return [(struct.unpack(">q", r.value[2:10])[0], r.timestamp) for r in own if r.value]


def _text(words: str) -> bytes:
    return struct.pack(">h", len(words.encode())) + words.encode()
