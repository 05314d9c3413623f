"""What lab 06's check says of commits, counted where the brokers write them down."""

import struct

from confluent_kafka import Consumer

from threebrokers.checks.expect import committed, count_of, expect_topic
from threebrokers.checks.expect_clients import client_setting, expect_closed, why_nothing
from threebrokers.checks.lab06.last_commit import expect_last_commit
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import Record, read_log
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.lab.lab import Lab

MOST, APART = 60, 500
OFFSETS = "__consumer_offsets"
COMMIT_SECONDS = 1.0
ALL_READ = "all should be read before the last offset is committed"
FROM_THE_START = ("earliest", "smallest", "beginning")  # librdkafka's names


def judge_commits(lab: Lab, group: str, topic: str, visitor: Consumer) -> None:
    """Raise NotYet unless the group has committed all of the topic, in few commits that are not far apart."""
    expect_topic(lab, topic, "visits")
    count = count_of(lab, topic)
    _expect_all_read(lab, group, topic, visitor, count)
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


def _expect_all_read(lab: Lab, group: str, topic: str, visitor: Consumer, count: int) -> None:
    if not isinstance(visitor, LabConsumer):
        return  # a plain one does not count
    others = {one for one in lab.consumers() if str(one.config.get("group.id")) == group}
    read = sum(one.received for one in {visitor, *others})
    if not read:
        raise _nothing_read(lab, group, topic, visitor, count)
    if read < count:
        raise NotYet(f"`visitor` has read {read} of {count} records", ALL_READ, "the loop, and when it ends")


def _nothing_read(lab: Lab, group: str, topic: str, visitor: LabConsumer, count: int) -> NotYet:
    none = f"`visitor` has read 0 of {count} records"
    if not visitor.asked:
        return NotYet(
            f"{none}: it has neither subscribed nor been given partitions",
            f"it should read {topic!r}",
            "`subscribe([visits])`",
        )
    reset = client_setting(visitor, "auto.offset.reset", "latest")
    if reset not in FROM_THE_START:
        return NotYet(
            f"{none}: `auto.offset.reset` is {reset}, and so a new group does not begin at the first record",
            ALL_READ,
            "the settings of `visitor`: `viewers` has this one",
        )
    look_at = "the loop, and when it ends"
    return why_nothing(lab, visitor, group, topic, look_at) or NotYet(none, ALL_READ, look_at)


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
