"""The checks of lab 04, broker failover."""

from typing import Any

from threebrokers.checks import lab04_failover as failover
from threebrokers.checks import lab04_quorum as quorum
from threebrokers.lab.exercise import NotYet, exercise
from threebrokers.lab.lab import Lab
from threebrokers.ledger import Ledger
from threebrokers.recorder import Tape

LINKS = True
TOPICS = (
    "copies-1",
    "copies-2",
    "copies-3",
    "cut-off",
    "guarded",
    "heartbeats",
    "readings",
    "transfers",
    "unclean",
)
GROUPS = ("monitor", "readers")


@exercise("4.1", "Measure the four silences")
def silences_measured(lab: Lab, tape: Tape, silences: dict[Any, Any]) -> str:
    """Solved if each number is the longest time without a delivery between that act and the next."""
    acts = {act.verb: act for act in tape.acts if act.verb in failover.FAULTS}
    if list(acts) != list(failover.FAULTS):
        raise NotYet(
            "the tape does not hold the four acts",
            f"it should be the recording of {', '.join(failover.FAULTS)}",
            "the cell that records all four: run it again",
        )
    failover.judge_silences(tape, acts, silences)
    return (
        "a clean stop is nearly silent, a kill lasts until the session is over, a pause until the client "
        "loses patience, and the cut-off broker's consumer waits for as long as it believes in its broker."
    )


@exercise("4.2", "A producer that loses nothing")
def nothing_lost(lab: Lab, producer: object) -> str:
    """Solved if all 150 numbers are in 'transfers', sent through the ledger while the leader was killed."""
    failover.judge_transfers(lab, producer)
    return (
        "all 150 numbers are there: what the dead leader had confirmed stood on two brokers or more, and "
        "what it had not confirmed was sent again until the new leader did."
    )


@exercise("4.3", "Kill the coordinator")
def group_goes_on(lab: Lab, tape: Tape, after: int) -> str:
    """Solved if the coordinator was killed on the tape, and its group committed more with another one."""
    failover.judge_coordinator(lab, tape, after)
    return (
        "the next replica of __consumer_offsets became the coordinator and knew every committed offset, "
        "so the group read on from where it was."
    )


@exercise("4.4", "Kill the active controller")
def controller_killed(lab: Lab, before: str, after: str, may_fail: int) -> str:
    """Solved if both texts are the quorum tool's, with another leader and a higher epoch, and 2 may fail."""
    quorum.judge_controller(lab, before, after, may_fail)
    return (
        "the other voters elected a new controller with a higher epoch, and it knew everything already; of "
        "five voters three must agree, so two may fail."
    )


@exercise("4.5", "What went, and who took it")
def loss_told(lab: Lab, ledger: Ledger, tape: Tape, lost: list[Any], was_in_sync: bool, first: int) -> str:
    """Solved if the offsets are those of the ledger, and the story is that of the tape."""
    quorum.judge_loss(lab, ledger, tape, lost, was_in_sync, first)
    return (
        "an unclean election takes away what the ISR had confirmed without the new leader; it is the choice "
        "to go on now rather than to wait for the broker that has everything."
    )
