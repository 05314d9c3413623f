"""What the checks of lab 04 say about the controllers and an unclean election."""

import re
from typing import Any

from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.ledger import Ledger
from threebrokers.recorder import Tape

TOOL = 'lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")'
FAILURES = {
    4: ("with four of five gone one is left, and a quorum is not one controller", "a majority must be left"),
    3: ("3 is the majority itself", "a majority must be left over"),
}


def judge_controller(lab: Lab, before: str, after: str, may_fail: int) -> None:
    """Raise NotYet unless the texts tell of two controllers, one after the other, and 2 may fail."""
    if may_fail != 2:
        found, expected = FAILURES.get(
            may_fail, (f"`may_fail` is {may_fail}", "it should be how many of five may fail")
        )
        raise NotYet(found, expected, "what a majority of five is")
    first, second = (_told(name, text) for name, text in (("before", before), ("after", after)))
    if first == second:
        raise NotYet(
            "both texts name the same controller in the same epoch",
            "the second should be of the time after the kill",
            "LeaderId and LeaderEpoch in `before` and `after`",
        )
    now = lab.cluster.sight([])
    if second[1] <= first[1] or second != (now.quorum_leader, now.quorum_epoch):
        raise NotYet(
            f"`before` tells of epoch {first[1]} and `after` of epoch {second[1]}",
            f"the quorum is in epoch {now.quorum_epoch} now",
            f"{TOOL}, when another controller leads",
        )
    process = lab.cluster.processes().get(first[0])
    if process is None or process.state != "down":
        raise NotYet(
            f"broker {first[0]}, which led the quorum before, is not down",
            "it should have been killed",
            "lab.cluster.kill(…) with the LeaderId of `before`",
        )


def judge_loss(lab: Lab, ledger: Ledger, tape: Tape, lost: list[Any], was_in_sync: bool, first: int) -> None:
    """Raise NotYet unless the lost offsets are the ledger's, and the election was unclean on the tape."""
    balance = ledger.balance(lab.topic("unclean"))
    gone = sorted(entry.offset for entry in balance.lost if entry.offset is not None)
    cut = [act.broker for act in tape.acts if act.verb == "cut"]
    if not gone or len(cut) != 2:
        raise NotYet(
            "the recording and the ledger do not show the loss",
            "they should be those of the cell that loses ten records",
            "that cell: run it again",
        )
    if not lost:
        raise NotYet(
            "`lost` is empty, and records are missing",
            "confirmed means that the whole ISR had them, and the ISR was one broker",
            "balance.lost",
        )
    if sorted(lost) != gone:
        kept = sorted(set(lost) & {entry.offset for entry in balance.stored})
        found = f"offsets {kept[0]} to {kept[-1]} are still there" if kept else f"`lost` is {lost}"
        raise NotYet(found, "only the missing records are asked for", "the offsets in balance.lost")
    if was_in_sync:
        raise NotYet(
            f"broker {cut[0]} was not in the ISR when it was elected",
            "a replica of the ISR has everything, and nothing would be gone",
            "the row of the ISR in tape.show()",
        )
    if first != cut[1]:
        came = first == cut[0]
        raise NotYet(
            f"broker {first} came back first, and that is what happened" if came else f"`first` is {first}",
            "somebody else had all the records",
            "who was in the ISR when the records were confirmed",
        )


def _told(name: str, text: str) -> tuple[int, int]:
    """Return leader and epoch as the tool's text tells them."""
    found = [re.search(rf"{word}:\s+(\d+)", text) for word in ("LeaderId", "LeaderEpoch")]
    if all(found):
        return int(found[0][1]), int(found[1][1])  # type: ignore[index]
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
