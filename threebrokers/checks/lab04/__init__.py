"""The checks of lab 04."""

from typing import Annotated, Any

from threebrokers.checks.expect import TopicName, Word
from threebrokers.checks.lab04.group import judge_coordinator
from threebrokers.checks.lab04.loss import judge_choice
from threebrokers.checks.lab04.quorum import judge_controller, judge_failures, judge_handover
from threebrokers.checks.lab04.silence import judge_silence
from threebrokers.checks.lab04.transfers import judge_transfers
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Lab
from threebrokers.recorder import Recording

Status = Annotated[str, "the text that kafka-metadata-quorum prints"]


@exercise("4.1", "Shorten a silence")
def silence_shortened(lab: Lab, settings: dict[Any, Any], frozen: Recording) -> str:
    """Solved if the consumer of the recording heard the next leader within 5 s of its leader's freezing."""
    judge_silence(lab, settings, frozen)
    return (
        "there was a new leader after about 2 s in any case; how long a consumer waits for an answer before "
        "it looks for that leader, only its own setting says. A very short patience has a price, too: it "
        "takes a slow broker for a frozen one."
    )


@exercise("4.2", "A producer that loses nothing")
def nothing_lost(lab: Lab, producer: object) -> str:
    """Solved if all 200 numbers are in 'transfers' once, and the program knows it, after a kill."""
    judge_transfers(lab, producer)
    return (
        "each of the 200 numbers is there once: what was acknowledged stood on two brokers or more, what was "
        "not was sent again, and the new leader recognised what it already had."
    )


@exercise("4.3", "Lose nothing the next time")
def loss_prevented(lab: Lab, bills: TopicName, price: Word) -> str:
    """Solved if the same two outages took no acknowledged record, and the price is the one that was paid."""
    judge_choice(lab, bills, price)
    return (
        "no acknowledged record was lost. Either the brokers refuse records while one replica alone would "
        "have them, or a partition waits for the replica that has them: choose the price that suits the data."
    )


@exercise("4.4", "Kill the active controller")
def controller_killed(
    lab: Lab, before: Status, after: Status, may_fail: dict[int, int], handover: Recording
) -> str:
    """Solved if the active controller was killed on the recording, and a topic was made after that.

    The two texts must be of the time before and after, and the numbers leave a majority.
    """
    judge_failures(may_fail)
    killed = judge_controller(lab, before, after)
    judge_handover(handover, killed, lab.topic("during"))
    return (
        "the other voters elected a new active controller with a higher epoch, and it made the topic. Four "
        "voters survive no more failures than three do, so their number is odd."
    )


@exercise("4.5", "Kill the coordinator")
def group_goes_on(lab: Lab, takeover: Recording, next_one: int) -> str:
    """Solved if the coordinator was killed in the recording, and its group committed more with another."""
    judge_coordinator(lab, takeover, next_one)
    return (
        "the next replica of __consumer_offsets became the coordinator and knew every committed offset, "
        "so the group read on from where it was."
    )
