"""What lab 10's check says of records that were acknowledged and are gone."""

from threebrokers.checks.expect import expect_choice, log_of
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.guarantees import Gone

LEDGER = "gone.ledger.balance(gone.topic)"
WHO = {
    "all": (
        "`had_them` is “all”: then one of the two others would still have them",
        "it should be who had the records when they were acknowledged",
        "what acks=1 asks for, and what the leader could not reach any more",
    ),
    "followers": (
        "`had_them` is “followers”: they lead now, and what they had is still there",
        "it should be who had the records when they were acknowledged",
        "who was killed",
    ),
    "nobody": (
        "`had_them` is “nobody”: so it may be with acks=0, and this producer got offsets from a broker",
        "it should be who had the records when they were acknowledged",
        "the offsets in balance.lost: who has told them?",
    ),
}


def judge_gone(lab: Lab, gone: Gone, lost_offsets: list[int], now_there: int, had_them: str) -> None:
    """Raise NotYet unless the three answers are what ledger and log tell."""
    run = attempt()
    if run is not None and run.ended is not None and gone.at > run.ended:
        raise NotYet(
            "these records were lost after your answers were set",
            "the answers should be about this loss",
            "the cell of the exercise: run it again",
        )
    balance = gone.ledger.balance(gone.topic)
    there = {record.offset for record in log_of(lab, gone.topic)}
    lost = {entry.offset for entry in balance.lost if entry.offset is not None}
    _judge_offsets(set(lost_offsets), lost, {e.number.sequence for e in balance.lost}, max(there) + 1)
    if now_there != len(lost & there):
        raise _other_count(now_there, len(lost), len(lost & there))
    expect_choice("had_them", had_them, "leader", WHO)


def _judge_offsets(told: set[int], lost: set[int], numbers: set[int], end: int) -> None:
    look = f"{LEDGER}.lost: each entry has a number and an offset"
    if told == lost:
        return
    if told and min(told) >= end:
        raise NotYet(
            f"`lost_offsets` begins at {min(told)}, where the log ends now",
            "it should be the offsets that the old leader gave to the lost records: others may be there now",
            look,
        )
    if told == numbers:
        raise NotYet(
            "`lost_offsets` holds the numbers that the ledger gave to the records",
            "it should hold their offsets: the topic has records of other producers, too",
            look,
        )
    if told > lost:
        raise NotYet(
            f"{len(told - lost)} of `lost_offsets` are not those of lost records",
            f"it should be the {len(lost)} that were acknowledged and are gone, not all acknowledged ones",
            look,
        )
    raise NotYet(
        f"`lost_offsets` has {len(told)} offsets, {len(told & lost)} of them right",
        f"it should be the {len(lost)} of the records that were acknowledged and are gone",
        look,
    )


def _other_count(told: int, lost: int, there: int) -> NotYet:
    look = "read_log(lab.bootstrap, gone.topic): every record has an offset"
    if told == 0:
        return NotYet(
            "`now_there` is 0, as if an offset stayed empty when its record is gone",
            "it should be the number of lost offsets at which a record stands now",
            look,
        )
    if told == lost:
        return NotYet(
            f"`now_there` is {told}, and the log ends before the last of these offsets",
            "it should be the number of lost offsets at which a record stands now",
            look,
        )
    if told > lost:
        return NotYet(
            f"`now_there` is {told}, and only {lost} records are lost",
            "it should be the number of lost offsets at which a record stands now",
            look,
        )
    fewer = "at fewer" if told > there else "at more"
    return NotYet(f"`now_there` is {told}", f"{fewer} of the lost offsets stands another record now", look)
