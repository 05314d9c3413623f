"""What lab 11's check says of a worker that was killed in ten places: by what a reader sees in the end."""

from threebrokers.lab.attempt import has_changed_since
from threebrokers.lab.exercise import NotAttempted, NotYet
from threebrokers.lab.scenarios.transferring import Booked
from threebrokers.lab.transfers import COUNT, PLACES
from threebrokers.ledger.table import ranges
from threebrokers.text import counted

PROGRAM = "the cell with %%program"
OFFSET = "send_offsets_to_transaction(…), before commit_transaction()"


def judge_booked(runs: Booked) -> None:
    """Raise an Outcome unless each transfer has one debit and one credit, after ten kills."""
    _expect_whole(runs)
    _expect_one_name(runs)
    if runs.odd:
        raise NotYet(
            f"{runs.odd} of the entries cannot be read as an entry",
            "each should be the key and the value that bank.split(message) gives",
            "producer.produce(bank.entries, …)",
        )
    if runs.missing:
        raise _missing(runs)
    if runs.twice or runs.uneven:
        raise _twice(runs)
    if runs.outside:
        raise NotYet(
            "commit() of the consumer commits the offset as well, outside of the transaction",
            "the transaction alone should commit it: whoever dies in between has committed one of the two",
            "consumer.commit(…)",
        )
    if runs.held:
        raise NotYet(
            "the last transaction is still open, and readers wait for it",
            "each should be committed before the next transfers are read",
            "commit_transaction()",
        )
    if runs.committed != COUNT:
        raise NotYet(
            f"the group has committed offset {runs.committed} in the end", f"it should be {COUNT}", OFFSET
        )
    if len(runs.kills) < len(PLACES):
        raise NotYet(
            f"the program was killed {len(runs.kills)} times, and then there was nothing left for it to do",
            f"it should go through all {len(PLACES)} places",
            "how many transfers are in one transaction; bank.consumer(…) and bank.producer(…), which know "
            "the places",
        )


def _expect_whole(runs: Booked) -> None:
    """Raise an Outcome if the runs are of an earlier try, if there was no worker, or if it failed."""
    if has_changed_since(runs.at):
        raise NotYet(
            "the program has changed since it was killed",
            "the new one should be killed as well",
            "the cell with killed_in_ten_places: run it again",
        )
    if runs.fault:
        raise NotYet(
            f"the program ended in an error: {runs.fault.rstrip('.')}",
            "it should work until it is killed",
            f"its output, under {PROGRAM}",
        )
    if runs.deaf:
        raise NotYet(
            "the worker has not got one transfer", "it should be told which topic it reads", "subscribe([…])"
        )
    if runs.idle and (runs.kills or runs.names):
        raise NotYet(
            f"the program ended by itself, after {counted(len(runs.kills), 'kill')}",
            "it should go on until it is killed, also when nothing has come for a while",
            "its loop: while True",
        )
    if runs.idle:
        raise NotAttempted(
            "Exercise 11.3 is not attempted yet: write the rest of the program, and run both cells."
        )


def _expect_one_name(runs: Booked) -> None:
    names = {name for name in runs.names if name is not None}
    if len(names) > 1:
        raise NotYet(
            f"its lives had {len(names)} transactional.ids, so nobody ended the transactions that the dead "
            "ones left open, and everybody waits until their time is over",
            "each start should come with the same one",
            "transactional.id in the settings of the producer",
        )


def _missing(runs: Booked) -> NotYet:
    lost = f"{ranges('transfer', runs.missing)} {_is(runs.missing)} missing"
    if runs.automatic:
        return NotYet(
            f"{lost}: the client commits by itself, in the background, also what your transaction has not "
            "committed",
            "offsets should be committed by the transaction alone",
            "enable.auto.commit",
        )
    if runs.outside:
        return NotYet(
            f"{lost}: commit() of the consumer had told the brokers that they were done, and then the "
            "program died before its transaction was committed",
            "both should be one thing",
            OFFSET,
        )
    if runs.committed is None and not runs.counts and runs.stored:
        return NotYet(
            f"{lost}: entries are in the log, and all of them were taken back",
            "a transfer that is done should be committed",
            "what ends each transaction: commit_transaction()",
        )
    if not runs.stored:
        return NotYet(
            f"{lost}: the program has written no entry",
            "each transfer should be booked",
            "producer.produce(bank.entries, …)",
        )
    if min(runs.missing) >= (runs.committed or 0):
        return NotYet(
            f"{lost}: the program had read on, and not committed yet, when it was ended",
            "who has read the last transfer should book it at once",
            "how long your program waits before it books what it has",
        )
    return NotYet(
        f"{lost}: the offset in the transaction was ahead of the entries in it",
        "what is committed should not be more than what is in the same transaction",
        "the offsets that you send: position() is after all that consume() has returned",
    )


def _twice(runs: Booked) -> NotYet:
    numbers = sorted({*runs.twice, *runs.uneven})
    found = f"{ranges('transfer', numbers)} {_is(numbers)} booked twice, or in part"
    if not any(runs.names):
        return NotYet(
            f"{found}: entries and offset are written one after the other, and the program dies in between",
            "all of them should be in one transaction",
            "transactional.id, and begin_transaction()",
        )
    if runs.outside:
        return NotYet(
            f"{found}: its transaction was committed, and its offset was not yet",
            "the offset should be in the same transaction",
            OFFSET,
        )
    if runs.uneven and all(sum(both) <= 1 for both in runs.counts.values()):
        return NotYet(
            f"{ranges('transfer', runs.uneven)} {'has' if len(runs.uneven) == 1 else 'have'} one entry",
            "each should have two: what one account loses, the other one gets",
            "the loop over bank.split(message)",
        )
    if runs.uneven:
        return NotYet(
            f"{found}: its two entries were committed by different transactions",
            "both entries and the offset should be in one",
            "how often commit_transaction() is called for each transfer",
        )
    if runs.committed is not None and any(runs.counts.get(runs.committed, (0, 0))):
        return NotYet(
            f"{found}: the group has committed {runs.committed}, the offset of a transfer that is booked, so "
            "each start does one again",
            "a committed offset is the next one",
            "message.offset() + 1, or consumer.position(…)",
        )
    return NotYet(
        f"{found}: the group has committed {runs.committed}",
        "the next offset should be in the same transaction as the entries",
        OFFSET,
    )


def _is(numbers: list[int]) -> str:
    return "is" if len(numbers) == 1 else "are"
