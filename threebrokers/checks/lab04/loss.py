"""What lab 04's check says of the choice between writing on and losing nothing."""

from threebrokers.checks.expect import expect_choice, expect_topic, setting_of
from threebrokers.checks.expect_actions import actions_of_attempt
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.ledger.balance import Balance

REFUSED, WAITED = "refused", "waited"
CALL = "two_outages(lab, bills, bills_ledger)"


def judge_choice(lab: Lab, topic: str, price: str) -> None:
    """Raise NotYet unless two outages in this try lost nothing of `topic`, and `price` is what that cost."""
    expect_topic(lab, topic, "bills")
    if sum(action.kind == "cut" for action in actions_of_attempt(lab)) < 2:
        raise NotYet(
            "nobody was cut off by this try, so nothing shows what your settings are worth",
            "both brokers should have been, one after the other",
            CALL,
        )
    found = lab.join_ledger("bills").balance(topic)
    if not found.attempted:
        raise NotYet(
            f"the ledger of the bills knows of no record for {topic!r}",
            "the accident should happen to this topic, and write into this ledger",
            CALL,
        )
    if found.lost:
        raise _why_lost(lab, topic, found)
    wrong = _paid(found)
    expect_choice("price", price, REFUSED if found.failed else WAITED, wrong)


def _why_lost(lab: Lab, topic: str, found: Balance) -> NotYet:
    least = setting_of(lab, topic, "min.insync.replicas").value
    unclean = setting_of(lab, topic, "unclean.leader.election.enable").value
    if least != "1" or unclean == "false":
        return NotYet(
            f"{len(found.lost)} acknowledged records are lost, and now `bills` has settings that would have "
            f"saved them (min.insync.replicas={least}, unclean.leader.election.enable={unclean})",
            "the topic should have them before the accident",
            "the order of the lines: first the settings, then " + CALL,
        )
    return NotYet(
        f"{len(found.lost)} acknowledged records are lost again: with min.insync.replicas={least} one "
        f"replica is enough, and with unclean.leader.election.enable={unclean} the other one may lead",
        "one of the two should be otherwise",
        "the settings of `bills`",
    )


def _paid(found: Balance) -> dict[str, tuple[str, str, str]]:
    """Return what to say of the price that was not paid."""
    look = "bills_ledger.balance(bills): which records failed, and which are stored?"
    if found.failed:
        return {
            WAITED: (
                f"{len(found.failed)} records failed while the leader was alone",
                "that is the price: the records came to nothing at once",
                look,
            )
        }
    return {
        REFUSED: (
            "no record was refused: all of them were acknowledged",
            "the price was paid later, when the leader was away",
            look,
        )
    }
