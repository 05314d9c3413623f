"""What the checks of lab 04 say about silences, a producer's losses and a group's coordinator."""

import re
from collections.abc import Mapping
from typing import Any

from threebrokers.checks.expect import committed
from threebrokers.cluster.actions import Action, action_kind
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import read_log
from threebrokers.kafka.state import ClusterState, GroupState
from threebrokers.lab.exercise import NotYet, exercise
from threebrokers.lab.lab import Lab
from threebrokers.ledger import Ledger
from threebrokers.ledger.balance import Balance
from threebrokers.ledger.interceptors import is_numbered
from threebrokers.recorder import Recording

FAULTS = ("stop", "kill", "pause", "cut")
NUMBERS = 150
CLOSE_SECONDS = 0.05
RECORDING_CELL = "recording.longest_gap(…): which kind, and after which action?"


def judge_silences(recording: Recording, actions: Mapping[str, Action], silences: Mapping[Any, Any]) -> None:
    """Raise NotYet unless each fault has the longest time (s) without a delivery after it."""
    missing = [how for how in FAULTS if not isinstance(silences.get(how), int | float)]
    if missing:
        raise NotYet(
            f"`silences` has no number for {', '.join(missing)}",
            f"it should have one for each of {', '.join(FAULTS)}",
            "the loop over recording.actions",
        )
    wanted = {
        how: recording.longest_gap("delivered", after=action).seconds for how, action in actions.items()
    }
    if _close(silences, wanted):
        return
    for kind, words in (
        ("sent", "these are the times between two sent records"),
        ("acknowledged", "these are the times without an acknowledgement, which the producer feels"),
    ):
        if _close(
            silences,
            {how: recording.longest_gap(kind, after=action).seconds for how, action in actions.items()},
        ):
            raise NotYet(words, "the times without a delivery are asked for", RECORDING_CELL)
    longest = recording.longest_gap("delivered").seconds
    if _close(silences, dict.fromkeys(FAULTS, longest)):
        raise NotYet(
            "this is the longest of the whole recording for every action",
            "each action has its own silence",
            RECORDING_CELL,
        )
    undone = {how: _next(recording, action) for how, action in actions.items()}
    if _close(
        silences,
        {how: recording.longest_gap("delivered", after=action).seconds for how, action in undone.items()},
    ):
        raise NotYet(
            "these are the silences after the broker came back",
            "those after it went are asked for",
            RECORDING_CELL,
        )
    off = [how for how in FAULTS if abs(silences[how] - wanted[how]) > CLOSE_SECONDS]
    raise NotYet(
        f"{off[0]}: {silences[off[0]]:.2f} s is not what the recording says",
        f"it says {wanted[off[0]]:.2f} s",
        RECORDING_CELL,
    )


def judge_transfers(lab: Lab, producer: object) -> None:
    """Raise NotYet unless every number is in 'transfers' and none was given up or lost."""
    topic = lab.topic("transfers")
    if not is_numbered(producer):
        raise NotYet(
            f"`producer` is {producer!r}",
            "it should be the producer that has sent the numbers",
            "ledger.producer({…}) in the cell of the exercise",
        )
    found = lab.join_ledger("transfers").balance(topic)
    there = {int(r.value or -1) for r in read_log(lab.bootstrap, topic) if (r.value or b"").isdigit()}
    missing = sorted(set(range(NUMBERS)) - there)
    if missing and len(found.attempted) < NUMBERS:
        raise NotYet(
            f"only {len(found.attempted)} of {NUMBERS} records were sent through the ledger",
            "every number of through_a_kill(lab, transfers) should be",
            "the loop, and produce() in it",
        )
    if missing:
        raise _why_missing(producer, found, f"{len(missing)} of {NUMBERS} numbers are missing")


def _why_missing(producer: LabProducer, found: Balance, count: str) -> NotYet:
    """Say why records of the transfers are missing; `count` says how many."""
    acks = str(producer.config.get("acks", "all"))
    if acks == "0":
        return NotYet(
            f"{count} with acks=0: nobody acknowledges anything, so the producer never learns of it",
            "a record counts when the in-sync replicas have it",
            "acks",
        )
    if acks == "1":
        return NotYet(
            f"{count} with acks=1: only the leader had them, and it was killed",
            "a record counts when the in-sync replicas have it",
            "acks",
        )
    if found.unknown:
        return NotYet(
            f"{count}, and {len(found.unknown)} records have no delivery report",
            "the program should end when every report has come",
            "producer.flush() without a time-out, after the loop",
        )
    patience = producer.config.get("message.timeout.ms", producer.config.get("delivery.timeout.ms"))
    if patience is not None:
        return NotYet(
            f"{count}: message.timeout.ms is {patience}, so the producer gave up before anybody led",
            "it should go on for longer than an election takes",
            "message.timeout.ms, which is five minutes unless you say otherwise",
        )
    reason = f" ({found.failed[0].reason})" if found.failed else ""
    return NotYet(
        f"{count}: they failed at the first try{reason} and nobody sent them again",
        "an error that will pass should be tried again",
        "retries, and the error that the delivery report is given",
    )


def judge_coordinator(lab: Lab, recording: Recording, after: int) -> None:
    """Raise NotYet unless the group's coordinator was killed on the recording and another one took over."""
    if "readers-" not in (group := _group_of(recording)):
        raise NotYet(
            "the recording did not record the group",
            "it should see it all the time",
            "lab.record(readings, groups=[group])",
        )
    killed = next((action for action in recording.actions if action_kind(action.kind).leaves == "down"), None)
    if killed is None:
        raise NotYet(
            "nobody was killed while the recording ran",
            "the coordinator should die in it",
            "lab.cluster.kill(…) inside the `with`",
        )
    # Nobody can be elected sooner than a session lasts, so what is seen just after the kill was so before.
    soon = [seen.coordinator for s in recording.states if s.at < killed.at + 1 and (seen := _seen(s, group))]
    was = soon[0] if soon else None
    if was is not None and was != killed.broker:
        leads = _leader(recording, killed, lab.topic("readings"))
        what = "it leads the partition of 'readings'" if leads == killed.broker else "it is another broker"
        raise NotYet(
            f"broker {killed.broker} is not the group's coordinator: {what}",
            "the coordinator is the broker that keeps the group's offsets",
            "describe_consumer_groups, or coordinator_of(lab, group), above",
        )
    if after == killed.broker:
        raise NotYet(
            "`after` is the broker that you killed",
            "another one is the coordinator now",
            "coordinator_of(lab, group), asked after the kill",
        )
    now = lab.cluster.state([], [group]).groups
    if now and now[0].coordinator not in (None, after):
        raise NotYet(
            f"the coordinator is not broker {after}",
            "it should be the one that is now",
            "coordinator_of(lab, group)",
        )
    offset = committed(lab, group, lab.topic("readings")).get(0, 0)
    if offset < 40:
        raise NotYet(
            f"the group has committed offset {offset}",
            "it should go on to 40 or more after the kill",
            "read_and_commit(lab, reader) after the kill",
        )


def _group_of(recording: Recording) -> str:
    return next((group.name for state in recording.states for group in state.groups), "")


def _seen(state: ClusterState, group: str) -> GroupState | None:
    return next((g for g in state.groups if g.name == group and g.coordinator is not None), None)


def _leader(recording: Recording, action: Action, topic: str) -> int | None:
    seen = [s.topic(topic) for s in recording.states if s.at < action.at]
    last = next((found for found in reversed(seen) if found is not None), None)
    return last.partitions[0].leader if last else None


def _next(recording: Recording, action: Action) -> Action:
    return next(later for later in recording.actions if later.at > action.at)


def _close(given: Mapping[Any, Any], wanted: Mapping[str, float]) -> bool:
    return all(abs(given[how] - seconds) <= CLOSE_SECONDS for how, seconds in wanted.items())


TOOL = 'lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")'
FAILURES = {
    4: ("with four of five gone one is left, and a quorum is not one controller", "a majority must be left"),
    3: ("3 is the majority itself", "a majority must be left over"),
}


def judge_controller(lab: Lab, before: str, after: str, may_fail: int) -> None:
    """Raise NotYet unless the texts tell of two active controllers, one after the other, and 2 may fail."""
    if may_fail != 2:
        found, expected = FAILURES.get(
            may_fail, (f"`may_fail` is {may_fail}", "it should be how many of five may fail")
        )
        raise NotYet(found, expected, "what a majority of five is")
    first, second = (_told(name, text) for name, text in (("before", before), ("after", after)))
    if first == second:
        raise NotYet(
            "both texts name the same active controller in the same epoch",
            "the second should be of the time after the kill",
            "LeaderId and LeaderEpoch in `before` and `after`",
        )
    now = lab.cluster.state([])
    if second[1] <= first[1] or second != (now.quorum_leader, now.quorum_leader_epoch):
        raise NotYet(
            f"`before` tells of epoch {first[1]} and `after` of epoch {second[1]}",
            f"the quorum is in epoch {now.quorum_leader_epoch} now",
            f"{TOOL}, when another one is active",
        )
    process = lab.cluster.processes().get(first[0])
    if process is None or process.state != "down":
        raise NotYet(
            f"broker {first[0]}, which led the quorum before, is not down",
            "it should have been killed",
            "lab.cluster.kill(…) with the LeaderId of `before`",
        )


def judge_loss(
    lab: Lab, ledger: Ledger, recording: Recording, lost: list[Any], was_in_sync: bool, first: int
) -> None:
    """Raise NotYet unless the lost offsets are the ledger's, and the recording has it."""
    balance = ledger.balance(lab.topic("unclean"))
    gone = sorted(entry.offset for entry in balance.lost if entry.offset is not None)
    cut = [action.broker for action in recording.actions if action.kind == "cut"]
    if not gone or len(cut) != 2:
        raise NotYet(
            "the recording and the ledger do not show the loss",
            "they should be those of the cell that loses ten records",
            "that cell: run it again",
        )
    if not lost:
        raise NotYet(
            "`lost` is empty, and records are missing",
            "acknowledged means that the whole ISR had them, and the ISR was one broker",
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
            "the row of the ISR in recording.show()",
        )
    if first != cut[1]:
        came = first == cut[0]
        raise NotYet(
            f"broker {first} came back first, and that is what happened" if came else f"`first` is {first}",
            "somebody else had all the records",
            "who was in the ISR when the records were acknowledged",
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


LINKS = True
TOPICS = (
    "cut-off",
    "guarded",
    "heartbeats",
    "readings",
    "replicas-1",
    "replicas-2",
    "replicas-3",
    "transfers",
    "unclean",
)
GROUPS = ("monitor", "readers")


@exercise("4.1", "Measure the four silences")
def silences_measured(lab: Lab, recording: Recording, silences: dict[Any, Any]) -> str:
    """Solved if each number is the longest time without a delivery between that action and the next."""
    actions = {action.kind: action for action in recording.actions if action.kind in FAULTS}
    if list(actions) != list(FAULTS):
        raise NotYet(
            "the recording does not hold the four actions",
            f"it should be the recording of {', '.join(FAULTS)}",
            "the cell that records all four: run it again",
        )
    judge_silences(recording, actions, silences)
    return (
        "a clean stop is nearly silent, a kill lasts until the session is over, a pause until the client "
        "loses patience, and the cut-off broker's consumer waits for as long as it believes in its broker."
    )


@exercise("4.2", "A producer that loses nothing")
def nothing_lost(lab: Lab, producer: object) -> str:
    """Solved if all 150 numbers are in 'transfers', sent through the ledger while the leader was killed."""
    judge_transfers(lab, producer)
    return (
        "all 150 numbers are there: what the dead leader had acknowledged stood on two brokers or more, and "
        "what it had not acknowledged was sent again until the new leader did."
    )


@exercise("4.3", "Kill the coordinator")
def group_goes_on(lab: Lab, recording: Recording, after: int) -> str:
    """Solved if the coordinator was killed in the recording, and its group committed more with another."""
    judge_coordinator(lab, recording, after)
    return (
        "the next replica of __consumer_offsets became the coordinator and knew every committed offset, "
        "so the group read on from where it was."
    )


@exercise("4.4", "Kill the active controller")
def controller_killed(lab: Lab, before: str, after: str, may_fail: int) -> str:
    """Solved if both texts are the quorum tool's, with another leader and a higher epoch, and 2 may fail."""
    judge_controller(lab, before, after, may_fail)
    return (
        "the other voters elected a new active controller with a higher epoch; it knew everything already; "
        "of five voters three must agree, so two may fail."
    )


@exercise("4.5", "What went, and who took it")
def loss_told(
    lab: Lab, ledger: Ledger, recording: Recording, lost: list[Any], was_in_sync: bool, first: int
) -> str:
    """Solved if the offsets are those of the ledger, and the story is that of the recording."""
    judge_loss(lab, ledger, recording, lost, was_in_sync, first)
    return (
        "an unclean election takes away what the ISR had acknowledged without the new leader; it is the "
        "choice to go on now rather than to wait for the broker that has everything."
    )
