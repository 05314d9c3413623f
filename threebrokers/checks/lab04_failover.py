"""What the checks of lab 04 say about silences, a producer's losses and a group's coordinator."""

from collections.abc import Mapping
from typing import Any

from threebrokers.checks.reading import committed
from threebrokers.kafka.log_reader import read_log
from threebrokers.kafka.state import Act, GroupSight, Sight
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.ledger.clients import LedgerProducer
from threebrokers.recorder import Tape

FAULTS = {"stop": "start", "kill": "start", "pause": "resume", "cut": "heal"}
NUMBERS = 150
CLOSE_SECONDS = 0.05
TAPE_CELL = "tape.silence(…): which kind, and after which act?"


def judge_silences(tape: Tape, acts: Mapping[str, Act], silences: Mapping[Any, Any]) -> None:
    """Raise NotYet unless each fault has the longest time (s) without a delivery after it."""
    missing = [how for how in FAULTS if not isinstance(silences.get(how), int | float)]
    if missing:
        raise NotYet(
            f"`silences` has no number for {', '.join(missing)}",
            f"it should have one for each of {', '.join(FAULTS)}",
            "the loop over tape.acts",
        )
    wanted = {how: tape.silence("delivered", after=act).seconds for how, act in acts.items()}
    if _close(silences, wanted):
        return
    for kind, words in (
        ("sent", "these are the times between two sent records"),
        ("acknowledged", "these are the times without an acknowledgement, which the producer feels"),
    ):
        if _close(silences, {how: tape.silence(kind, after=act).seconds for how, act in acts.items()}):
            raise NotYet(words, "the times without a delivery are asked for", TAPE_CELL)
    longest = tape.silence("delivered").seconds
    if _close(silences, dict.fromkeys(FAULTS, longest)):
        raise NotYet(
            "this is the longest of the whole tape for every act", "each act has its own silence", TAPE_CELL
        )
    undone = {how: _next(tape, act) for how, act in acts.items()}
    if _close(silences, {how: tape.silence("delivered", after=act).seconds for how, act in undone.items()}):
        raise NotYet(
            "these are the silences after the broker came back",
            "those after it went are asked for",
            TAPE_CELL,
        )
    off = [how for how in FAULTS if abs(silences[how] - wanted[how]) > CLOSE_SECONDS]
    raise NotYet(
        f"{off[0]}: {silences[off[0]]:.2f} s is not what the tape says",
        f"it says {wanted[off[0]]:.2f} s",
        TAPE_CELL,
    )


def judge_transfers(lab: Lab, producer: object) -> None:
    """Raise NotYet unless every number is in 'transfers' and none was given up or lost."""
    topic = lab.topic("transfers")
    if not isinstance(producer, LedgerProducer):
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
            "every number of through_a_kill(transfers) should be",
            "the loop, and produce() in it",
        )
    if not missing:
        return
    count = f"{len(missing)} of {NUMBERS} numbers are missing"
    acks = str(producer.config.get("acks", "all"))
    if acks == "0":
        raise NotYet(
            f"{count} with acks=0: nobody confirms anything, so the producer never learns that they are gone",
            "a record counts when the in-sync replicas have it",
            "acks",
        )
    if acks == "1":
        raise NotYet(
            f"{count} with acks=1: only the leader had them, and it was killed",
            "a record counts when the in-sync replicas have it",
            "acks",
        )
    if found.unknown:
        raise NotYet(
            f"{count}, and {len(found.unknown)} records have no delivery report",
            "the program should end when every report has come",
            "producer.flush() without a time-out, after the loop",
        )
    patience = producer.config.get("message.timeout.ms", producer.config.get("delivery.timeout.ms"))
    if patience is not None:
        raise NotYet(
            f"{count}: message.timeout.ms is {patience}, so the producer gave up before anybody led",
            "it should go on for longer than an election takes",
            "message.timeout.ms, which is five minutes unless you say otherwise",
        )
    reason = f" ({found.failed[0].reason})" if found.failed else ""
    raise NotYet(
        f"{count}: they failed at the first try{reason} and nobody sent them again",
        "an error that will pass should be tried again",
        "retries, and the error that the delivery report is given",
    )


def judge_coordinator(lab: Lab, tape: Tape, after: int) -> None:
    """Raise NotYet unless the group's coordinator was killed on the tape and another one took over."""
    if "readers-" not in (group := _group_of(tape)):
        raise NotYet(
            "the tape did not record the group",
            "it should see it all the time",
            "lab.record(readings, groups=[group])",
        )
    killed = next((act for act in tape.acts if act.verb in ("kill", "stop")), None)
    if killed is None:
        raise NotYet(
            "nobody was killed while the tape ran",
            "the coordinator should die in it",
            "lab.cluster.kill(…) inside the `with`",
        )
    # Nobody can be elected sooner than a session lasts, so what is seen just after the kill was so before.
    soon = [seen.coordinator for s in tape.sights if s.at < killed.at + 1 and (seen := _seen(s, group))]
    was = soon[0] if soon else None
    if was is not None and was != killed.broker:
        leads = _leader(tape, killed, lab.topic("readings"))
        what = "it leads the partition of 'readings'" if leads == killed.broker else "it is another broker"
        raise NotYet(
            f"broker {killed.broker} is not the group's coordinator: {what}",
            "the coordinator is the broker that keeps the group's offsets",
            "describe_consumer_groups, or coordinator_of(group) in the cell above",
        )
    if after == killed.broker:
        raise NotYet(
            "`after` is the broker that you killed",
            "another one is the coordinator now",
            "coordinator_of(group), asked after the kill",
        )
    now = lab.cluster.sight([], [group]).groups
    if now and now[0].coordinator not in (None, after):
        raise NotYet(
            f"the coordinator is not broker {after}",
            "it should be the one that is now",
            "coordinator_of(group)",
        )
    offset = committed(lab, group, lab.topic("readings")).get(0, 0)
    if offset < 40:
        raise NotYet(
            f"the group has committed offset {offset}",
            "it should go on to 40 or more after the kill",
            "read_and_commit(reader) after the kill",
        )


def _group_of(tape: Tape) -> str:
    return next((group.name for sight in tape.sights for group in sight.groups), "")


def _seen(sight: Sight, group: str) -> GroupSight | None:
    return next((g for g in sight.groups if g.name == group and g.coordinator is not None), None)


def _leader(tape: Tape, act: Act, topic: str) -> int | None:
    seen = [s.topic(topic) for s in tape.sights if s.at < act.at]
    last = next((found for found in reversed(seen) if found is not None), None)
    return last.partitions[0].leader if last else None


def _next(tape: Tape, act: Act) -> Act:
    return next(later for later in tape.acts if later.at > act.at)


def _close(given: Mapping[Any, Any], wanted: Mapping[str, float]) -> bool:
    return all(abs(given[how] - seconds) <= CLOSE_SECONDS for how, seconds in wanted.items())
