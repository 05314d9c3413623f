"""What lab 10's checks say of a producer that a fault has hit: by its ledger, and by its settings."""

from collections.abc import Mapping
from typing import Any

from threebrokers.lab.attempt import is_earlier
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios.guarantees import KILLED, PART, UNHEARD, Trials, acks_of
from threebrokers.ledger import Balance
from threebrokers.text import counted

SENT = 2 * PART
SETTINGS = "`settings` in the cell of the exercise"
GIVEN_RETRIES = 5
LEAST = "min.insync.replicas"


def judge_kept(kept: Trials) -> None:
    """Raise NotYet unless one set-up has gone through the kill of its leader and lost nothing."""
    settings, balance = _only("kept", kept, KILLED, "killed_leader(lab, …)")
    least = int(str(kept.config.get(LEAST, "1")))
    _expect_answers(settings, balance)
    if acks_of(settings) == "1":
        raise _one_is_enough(settings, balance, least)
    if balance.lost:
        raise NotYet(
            f"{counted(len(balance.lost), 'acknowledged record')} of {SENT} are lost",
            "all of them should be in the topic",
            SETTINGS,
        )
    if least > 2:
        raise NotYet(
            f"{_missing(balance)} of {SENT} records were not acknowledged: {LEAST} is {least}, so while one "
            "of three brokers is down nobody may write",
            "the topic should take records without the broker that was killed",
            f"`config`, {LEAST}",
        )
    _expect_all(settings, balance, "there was a new leader")
    if least < 2:
        raise NotYet(
            f"nothing was lost this time, and {LEAST} is {least}: when both followers have left the ISR, "
            "acks=all is content with the leader alone",
            "an acknowledged record should be on two brokers at least",
            f"`config`, {LEAST}",
        )


def judge_once(once: Trials) -> None:
    """Raise NotYet unless one set-up has stored each record once, although answers were lost."""
    settings, balance = _only("once", once, UNHEARD, "lost_answers(lab, …)")
    _expect_answers(settings, balance)
    if balance.duplicated:
        raise _sent_again(settings, balance)
    stored = len({entry.number for entry in balance.unacknowledged})
    if balance.failed and stored:
        raise NotYet(
            f"{counted(len(balance.failed), 'record')} were reported as failed, and {stored} of these are "
            "stored: a program that believes its reports sends them again, and then they are there twice",
            "every record should be acknowledged, and stored once",
            f"retries and message.timeout.ms in {SETTINGS}",
        )
    _expect_all(settings, balance, "an answer came")
    if not _is_true(settings, "enable.idempotence"):
        raise NotYet(
            "nothing came twice this time, and the brokers could not know a record again if it did",
            "each producer should have a number, and each batch, too",
            f"{SETTINGS}: the row “no record twice” in lab 05's table of settings",
        )


def _only(name: str, trials: Trials, fault: str, call: str) -> tuple[Mapping[str, Any], Balance]:
    """Return the settings and the balance of the only set-up; NotYet if it is not of this try."""
    if trials.fault != fault:
        raise NotYet("this is what another fault has done", f"it should be what {call} returns", call)
    if is_earlier(trials.at, name):
        raise NotYet("this is the result of an earlier try", "the fault should hit your settings", call)
    if len(trials.balances) != 1:
        raise NotYet(
            f"there are {len(trials.balances)} set-ups in it",
            "it should be one, that with your settings",
            f"the dictionary in {call}",
        )
    only = next(iter(trials.balances))
    return trials.settings[only], trials.balances[only]


def _expect_answers(settings: Mapping[str, Any], balance: Balance) -> None:
    if acks_of(settings) == "0":
        lost = f"{counted(len(balance.lost), 'record')} of {SENT} are lost and reported as delivered"
        raise NotYet(
            f"with acks=0 no broker answers, {lost if balance.lost else 'so nobody would hear of a loss'}",
            "a report should say what the brokers have",
            f"acks in {SETTINGS}",
        )


def _one_is_enough(settings: Mapping[str, Any], balance: Balance, least: int) -> NotYet:
    lost = f"{counted(len(balance.lost), 'acknowledged record')} of {SENT} are lost"
    expected = "an acknowledgement should say that the replicas in sync have the record"
    look = f"acks in {SETTINGS}"
    if least > 2:
        return NotYet(
            f"{lost} in spite of {LEAST}={least}: only requests with acks=all are refused because of it, and "
            "acks is 1",
            expected,
            look,
        )
    if _number(settings, "retries", "message.send.max.retries") > GIVEN_RETRIES:
        return NotYet(
            f"{lost}: more retries change nothing, for what is acknowledged is never sent again",
            expected,
            look,
        )
    if "max.in.flight" in settings or "max.in.flight.requests.per.connection" in settings:
        return NotYet(
            f"{lost}: one request after the other is slower, and each is acknowledged by the leader alone",
            expected,
            look,
        )
    return NotYet(
        f"{lost}: acks=1 asks the leader and nobody else, whatever the topic's settings say", expected, look
    )


def _sent_again(settings: Mapping[str, Any], balance: Balance) -> NotYet:
    twice = f"{counted(len(balance.duplicated), 'record')} of {SENT} are stored twice"
    expected = "the brokers should know a record again that they have"
    look = f"{SETTINGS}: what does lab 05's table of settings say of “no record twice”?"
    if any(name in settings for name in ("max.in.flight", "max.in.flight.requests.per.connection")):
        return NotYet(
            f"{twice}: one request at a time keeps the order, and the same request came again",
            expected,
            look,
        )
    if any(name in settings for name in ("request.timeout.ms", "socket.timeout.ms")):
        return NotYet(
            f"{twice}: no time was over, the connection was; to wait longer does not help", expected, look
        )
    if acks_of(settings) == "1":
        return NotYet(
            f"{twice}: with acks=1 the answer comes sooner, and is lost all the same", expected, look
        )
    return NotYet(f"{twice}: the leader had them, and took them for new ones", expected, look)


def _expect_all(settings: Mapping[str, Any], balance: Balance, what: str) -> None:
    """Raise NotYet unless every record is acknowledged; `what` had to be waited for."""
    if not (count := _missing(balance)):
        return
    if _number(settings, "retries", "message.send.max.retries") == 0:
        raise NotYet(
            f"{count} of {SENT} records failed at the first try, and nobody sent them again",
            "an error that will pass should be tried again",
            f"retries in {SETTINGS}",
        )
    reason = balance.failed[0].reason if balance.failed else "no report"
    raise NotYet(
        f"{count} of {SENT} records were given up ({reason}) before {what}",
        "the producer should be more patient than a fault of some seconds",
        f"message.timeout.ms in {SETTINGS}",
    )


def _missing(balance: Balance) -> int:
    return len(balance.failed) + len(balance.unknown)


def _number(settings: Mapping[str, Any], *names: str) -> int:
    """Return a number that was set under one of these names, -1 if none was."""
    told = str(next((settings[name] for name in names if name in settings), ""))
    return int(told) if told.isdigit() else -1


def _is_true(settings: Mapping[str, Any], name: str) -> bool:
    return str(settings.get(name, False)).lower() in ("true", "1")
