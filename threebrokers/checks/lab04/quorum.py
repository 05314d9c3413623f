"""What lab 04's check says of two active controllers, one after the other, and of majorities."""

import re
from collections.abc import Mapping

from threebrokers.checks.expect_actions import expect_action
from threebrokers.cluster.actions import Action
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.recorder import Recording

TOOL = 'lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")'
KILL = "lab.cluster.kill(…) with the LeaderId of `before`"
WITH = "with far_sensor, handover:"
MAY_FAIL = {3: 1, 4: 1, 5: 2}


def judge_failures(may_fail: Mapping[int, int]) -> None:
    """Raise NotYet unless each number of voters has the number that may fail, so that a majority is left."""
    for voters, right in MAY_FAIL.items():
        count = may_fail.get(voters)
        if count == right:
            continue
        majority = voters // 2 + 1
        look = f"a majority of {voters} is {majority}"
        if count is None:
            raise NotYet(
                f"`may_fail` says nothing of {voters} voters", "it should be a number", "the text above"
            )
        if count >= voters - 1:
            one_left = f"with {count} of {voters} gone one is left, and one is not a majority"
            raise NotYet(
                one_left if count < voters else f"of {voters} voters all would be gone",
                "a majority of all voters must be left",
                "how many must agree",
            )
        if count == majority:
            raise NotYet(
                f"{count} is the majority of {voters} itself",
                "asked is how many may be missing beside it",
                "how many must agree",
            )
        if count > right:
            raise NotYet(
                f"with {count} of {voters} gone {voters - count} are left, and half is no majority",
                "more than half must be left",
                look,
            )
        raise NotYet(f"of {voters} voters more than {count} may fail", "a majority is enough", look)


def judge_controller(lab: Lab, before: str, after: str) -> Action:
    """Return the first kill, in this try, of the active controller that `before` names.

    Raises NotYet if it was not killed, or if `after` is not of a later epoch.
    """
    first, second = (_told(name, text) for name, text in (("before", before), ("after", after)))
    if second[1] < first[1]:
        raise NotYet(
            f"`after` tells of epoch {second[1]}, and `before` of epoch {first[1]}, which came later",
            "the two have changed places: `before` should be of the time before the kill",
            "the order of the lines in the block",
        )
    killed = expect_action(lab, "kill", KILL, broker=first[0])
    if second[1] == first[1]:
        raise NotYet(
            f"`before` tells of epoch {first[1]} and `after` of epoch {second[1]}",
            "the second should be of the time when another active controller was elected",
            f"{TOOL}, when another one is active",
        )
    return killed


def judge_handover(handover: Recording, killed: Action, topic: str) -> None:
    """Raise NotYet unless this kill, or a later one, is on the recording, and the topic was made after it."""
    actions = handover.actions if handover.begun else ()
    kills = [a.at for a in actions if a.kind == "kill" and a.broker == killed.broker]
    at_kill = next((at for at in kills if at >= killed.at - 0.01), None)
    if at_kill is None:
        raise NotYet(
            f"`handover` has not recorded how broker {killed.broker} was killed",
            "what you do should be inside its block: the next cell asks it how long clients were silent",
            WITH,
        )
    seen = [(state.at, found.id) for state in handover.states if (found := state.topic(topic))]
    old, new = ([i for at, i in seen if (at < at_kill) == earlier] for earlier in (True, False))
    if any(not old or (identity and identity not in old) for identity in new):
        return
    if old:  # the cell has deleted that of an earlier try
        raise NotYet(
            f"{topic!r} was made before the active controller died",
            "it should be made at once after the kill, when nobody can do that: so you see the call wait",
            "the order of the lines in the block",
        )
    raise NotYet(
        f"no topic {topic!r} was made after the kill",
        "the call waits until there is another active controller: so you see what nobody can do meanwhile",
        'lab.fresh_topic("during"), after lab.cluster.kill(…) and in the same block',
    )


def _told(name: str, text: str) -> tuple[int, int]:
    """Return leader and epoch as the tool's text tells them."""
    found = [re.search(rf"{word}:\s+(\d+)", text) for word in ("LeaderId", "LeaderEpoch")]
    if all(found):
        return int(found[0][1]), int(found[1][1])  # type: ignore[index]
    if "LogEndOffset" in text:
        raise NotYet(
            f"`{name}` is what the tool prints with --replication: how far each node has read, and no epoch",
            "it should name LeaderId and LeaderEpoch",
            TOOL,
        )
    if "Partition:" in text:
        raise NotYet(
            f"`{name}` tells of the leaders of partitions", "the leader of the quorum is asked for", TOOL
        )
    if re.search(r"127\.0\.0\.1|localhost|:\d{4,5}", text):
        raise NotYet(
            f"`{name}` is an answer of describe_cluster, which names any live broker",
            "the leader of the quorum is asked for",
            TOOL,
        )
    raise NotYet(f"`{name}` is not the output of the quorum's tool", "it should name LeaderId", TOOL)
