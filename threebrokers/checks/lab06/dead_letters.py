"""What lab 06's check says of payments that cannot be booked."""

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Producer

from threebrokers.checks.expect import committed, expect_topic, log_of
from threebrokers.checks.expect_clients import client_setting, expect_flushed, why_nothing
from threebrokers.checks.lab06.commits import OFFSETS, timed_commits
from threebrokers.checks.lab06.delivery_reports import (
    expect_flush_first,
    expect_heard,
    expect_stored,
    learns_by_flush,
)
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import Record, read_log
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.lab.lab import Lab
from threebrokers.ledger.interceptors import HEADER
from threebrokers.text import counted

BAD = (9, 17)
COUNT = 24
COMMIT_SECONDS = 1.0
# The notebook's clock and the broker's are not always one; who commits just before is told by the program.
CLOCKS_MS = 100
SEND = "the `produce(…)` of the dead letter"
FLUSH = "`postman.flush()`, before the offset is committed"


def judge_dead_letters(lab: Lab, dead: str, settings: Mapping[Any, Any], postman: object) -> None:
    """Raise NotYet unless 22 payments are booked once, two are dead letters, and everything is committed.

    A program that would not have noticed that a dead letter was refused is not right either.

    `settings` are those of the consumer, which name its group.
    """
    expect_topic(lab, dead, "payments-dead")
    if not isinstance(postman, Producer):
        raise NotYet(
            f"`postman` is {postman!r:.60}", "it should be a producer", "`lab.producer()` in the cell"
        )
    if client_setting(postman, "acks", "all") == "0":
        raise NotYet(
            "`postman` has acks=0, and so flush() waits for no broker",
            "a dead letter should be acknowledged",
            "the settings of `postman`",
        )
    payments, group = lab.topic("payments-in"), str(settings.get("group.id", ""))
    records = log_of(lab, payments)
    done = [entry.number.sequence for entry in lab.join_ledger("payments-in").balance(payments).processed]
    letters = log_of(lab, dead)
    if not done and not letters:
        expect_flushed(lab, dead, postman, look_at=FLUSH)
        raise _nothing(lab, group, payments)
    _judge_letters(letters, records)
    expect_flushed(lab, dead, postman, look_at=FLUSH)
    for number in BAD:
        if records[number].value not in {letter.value for letter in letters}:
            expect_stored(lab, postman, group, dead, len(letters), number)
    _judge_booked(done, letters)
    for number in BAD:
        _judge_letter(records[number], letters)
    _judge_committed(lab, group, payments)
    _judge_reasons(letters)
    _expect_own_commits(lab, group)
    commits = timed_commits(read_log(lab.bootstrap, OFFSETS), group, payments)
    sent = {
        number: next(letter.timestamp for letter in letters if letter.value == records[number].value)
        for number in BAD
    }
    for number in BAD:
        _judge_order(number, *_known(number, sent, postman), commits)
    expect_flush_first()
    expect_heard(postman)


def _known(number: int, sent: Mapping[int, int], postman: Producer) -> tuple[int, int]:
    """Return when (ms) the program can have known that a dead letter is stored, and up to which record.

    `sent` tells when each dead letter was sent. Reports of several come one after the other, and only when
    the last is there, the client tells it: so nothing is known of what was committed between two of them.
    """
    if isinstance(postman, LabProducer) and learns_by_flush(postman):
        moments = [int(1000 * moment) for moment in postman.settled_at]
        known = next((moment for moment in moments if moment >= sent[number]), sent[number])
        return known, max(other for other, at in sent.items() if at <= known)
    return sent[number], number


def _judge_order(number: int, known: int, last: int, commits: list[tuple[int, int]]) -> None:
    """Raise NotYet if an offset behind the last of some bad records was committed before they were safe."""
    if early := [offset for offset, at in commits if offset > last and at < known - CLOCKS_MS]:
        raise NotYet(
            f"the group had committed {early[0]} before the dead letter of payment {number} was "
            "acknowledged: whoever dies in between has lost that payment",
            "first the dead letter should be safe",
            "the order of `produce(…)`, `flush()` and `commit(…)`",
        )


def _expect_own_commits(lab: Lab, group: str) -> None:
    """Raise NotYet if the client of the consumer commits by itself, in the background."""
    own = [one for one in lab.consumers() if str(one.config.get("group.id")) == group]
    if not own:
        return  # a plain one does not tell
    commits = client_setting(own[-1], "enable.auto.commit", "true")
    stores = client_setting(own[-1], "enable.auto.offset.store", "true")
    if commits == stores == "true":
        raise NotYet(
            "the client of `cashier` commits by itself, in the background, all that it has handed over: also "
            "a bad record whose dead letter is not stored yet",
            "your program should commit, when the dead letter is safe",
            "`enable.auto.commit`, which is False in the lab's cell",
        )


def _judge_reasons(letters: list[Record]) -> None:
    """Raise NotYet if the dead letters all tell the same reason."""
    reasons = [dict(letter.headers).get("reason") for letter in letters]
    if len(set(reasons)) == 1:
        told = (reasons[0] or b"").decode(errors="replace")
        raise NotYet(
            f"the reason of each dead letter is {told!r:.40}, and the two payments have different faults",
            "each should tell what its error says",
            "the error that your program has caught: `except … as fault`",
        )


def _nothing(lab: Lab, group: str, topic: str) -> NotYet:
    own = [one for one in lab.consumers() if str(one.config.get("group.id")) == group]
    if own and not own[-1].asked:  # a closed consumer does not tell it any more
        return NotYet(
            "nothing came: the consumer has neither subscribed nor been given partitions",
            f"it should read {topic!r}",
            "`subscribe([payments])`",
        )
    reason = why_nothing(lab, own[-1], group, topic, "subscribe([payments]), and the loop") if own else None
    return reason or NotYet(
        "nothing is booked, and nothing is set aside",
        f"{COUNT} payments wait for the group {group!r}",
        "the loop of the cell",
    )


def _judge_letters(letters: list[Record], records: list[Record]) -> None:
    """Raise NotYet if something among the dead letters can be booked, and so does not belong there."""
    good = {record.value for number, record in enumerate(records) if number not in BAD}
    if odd := [letter for letter in letters if letter.value in good]:
        raise NotYet(
            f"{counted(len(odd), 'payment')} among the dead letters can be booked",
            "only what raises an error should be there",
            "when your program sends a dead letter",
        )


def _judge_booked(done: list[int], letters: list[Record]) -> None:
    missing = [number for number in range(COUNT) if number not in done and number not in BAD]
    if missing:
        raise NotYet(
            f"{counted(len(missing), 'payment')} that can be booked {_is(missing)} not (the first: number "
            f"{missing[0]})",
            "the rest should flow on behind a bad record",
            "`book(message)`, and what happens after an error",
        )
    if len(done) > len(set(done)):
        raise NotYet(
            f"{counted(len(done) - len(set(done)), 'payment')} came into the books twice",
            "each should be booked once",
            "the loop of the cell",
        )
    if not letters:
        raise NotYet(
            "'payments-dead' is empty, and 2 payments are neither booked nor set aside",
            "whoever looks for them should find them",
            SEND,
        )


def _is(numbers: list[int]) -> str:
    return "is" if len(numbers) == 1 else "are"


def _judge_letter(record: Record, letters: list[Record]) -> None:
    """Raise NotYet unless there is one dead letter of this record, with all that it should have."""
    number = record.offset
    own = [letter for letter in letters if _has(letter, "offset", str(number))]
    same = [letter for letter in letters if letter.value == record.value]
    if not same and own:
        raise NotYet(
            f"the dead letter of payment {number} has other bytes than the record ({own[0].value!r:.50})",
            f"its value should be as it came ({record.value!r:.50})",
            "`message.value()`, without `str(…)` or decode",
        )
    if not same:
        raise NotYet(
            f"payment {number} is neither booked nor among the dead letters",
            "both that cannot be booked should be there",
            "which errors your program catches: book raises two kinds",
        )
    if len(same) > 1:
        raise NotYet(f"payment {number} is there {len(same)} times", "once is enough", SEND)
    letter = same[0]
    if letter.key != record.key:
        raise NotYet(
            f"the key of payment {number} was {record.key!r}, and its dead letter has {letter.key!r}",
            "the key should be the same",
            f"`message.key()` in {SEND}",
        )
    names = dict(letter.headers)
    if any(names.get(name) != value for name, value in record.headers if name != HEADER):
        raise NotYet(
            f"the header 'trace' of payment {number} is lost",
            "the headers that a record had should go with it",
            "`message.headers()`, and your own behind them",
        )
    if not names.get("reason"):
        raise NotYet(
            f"the dead letter of payment {number} has no header 'reason'",
            "it should say what the error says",
            SEND,
        )
    for name, right in (("partition", record.partition), ("offset", record.offset)):
        if not _has(letter, name, str(right)):
            raise NotYet(
                f"the header '{name}' of payment {number} is {names.get(name)!r}",
                f"the record was at {name} {right}",
                f"`message.{name}()`, as text",
            )


def _has(letter: Record, name: str, text: str) -> bool:
    return any(
        key == name and (value or b"").decode(errors="replace") == text for key, value in letter.headers
    )


def _judge_committed(lab: Lab, group: str, topic: str) -> None:
    def look() -> None:
        at = committed(lab, group, topic).get(0)
        if at == COUNT:
            return
        said = "has committed nothing" if at is None else f"has committed offset {at}"
        raise NotYet(
            f"all is booked or set aside, but the group {said}",
            f"it should be {COUNT}, or everything comes again at the next start",
            "`cashier.commit(…)`, or `cashier.close()` with automatic commits",
        )

    eventually(look, what="the group's commit", within=COMMIT_SECONDS)
