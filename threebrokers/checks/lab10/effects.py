"""What lab 10's check says of a worker that was killed in five places: by what its database holds."""

import re

from threebrokers.checks.lab06.runs import DEAF, PROGRAM, expect_run
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios.effects import PLACES, STORED, TWICE, Effects
from threebrokers.ledger.table import ranges

GO_ON = ("it should go on until it is killed, also when nothing has come for a while", "its loop: while True")
TABLE = "the statement that makes the table `invoices`"
UNIQUE = "PRIMARY KEY|UNIQUE"
# The key is a column with this word in its name, or such a column is a part of it.
OF_OFFSETS = re.compile(rf"offset\w*[^\w,()][^,()]*({UNIQUE})|({UNIQUE})[^,()]*\([^)]*offset", re.IGNORECASE)


def judge_effects(books: Effects) -> None:
    """Raise an Outcome unless each order has one invoice, and the program went through the five kills."""
    expect_run("10.4", books, "killed_in_five_places")
    if not books.counts and DEAF in books.why:
        raise NotYet(
            "the worker has not got one order: its consumer has asked for no topic",
            "it should be told which topic it reads",
            "subscribe([orders.topic])",
        )
    if not books.counts and books.over:
        raise NotYet("the program ended by itself before it had written a row", *GO_ON)
    if not books.counts:
        raise NotYet(
            "no order stands in the column `order_number` of a table `invoices`",
            "each order should have a row there, and its transaction be committed",
            f"{TABLE}, and `with database:`",
        )
    if books.automatic:
        raise NotYet(
            "the client commits by itself, in the background, also an order whose row is not written yet",
            "an offset should be committed when the row is there",
            "enable.auto.commit",
        )
    if books.missing:
        raise _missing(books)
    if books.twice:
        raise _twice(books)
    if books.killed < len(PLACES):
        raise NotYet(
            f"the program was killed {books.killed} times: that happens at what it tells "
            "orders.database() and its consumer, after it has asked for orders.invoice(message)",
            f"it should go through all {len(PLACES)} places",
            PROGRAM,
        )
    if books.committed != STORED:
        raise NotYet(
            f"the group has committed {'nothing' if books.committed is None else books.committed} in the end",
            f"it should be {STORED}: what is done need not come again at each start",
            "consumer.commit(message=message, asynchronous=False) after the row is written",
        )


def _missing(books: Effects) -> NotYet:
    lost = f"{ranges('order', books.missing)} {_have(books.missing)} no invoice"
    if books.over:
        return NotYet(f"{lost}, for the program ended by itself", *GO_ON)
    if set(books.missing) <= books.marked:
        return NotYet(
            f"{lost}, and another table says that they are done: the mark was committed before the effect",
            "mark and invoice should be written together",
            "one `with database:` around both",
        )
    return NotYet(
        f"{lost}: the offset was committed before the row was written",
        "the row should come first",
        "the place of consumer.commit(…)",
    )


def _twice(books: Effects) -> NotYet:
    found = f"{ranges('order', books.twice)} {_have(books.twice)} more than one invoice"
    if not set(TWICE) <= set(books.twice):
        return NotYet(
            f"{found}: what the program remembered died with it",
            "the database should know which orders are done",
            f"{TABLE}: a column may be a PRIMARY KEY",
        )
    if any(map(OF_OFFSETS.search, books.schemas)):
        return NotYet(
            f"{found}: the key is a place in the log, and the shop has sent these orders again, so each "
            "stands at two places",
            "the key should be what makes two records the same order",
            TABLE,
        )
    if any(re.search(UNIQUE, schema, re.IGNORECASE) for schema in books.schemas):
        return NotYet(
            f"{found}: no key of your tables keeps out the second record of an order",
            "the key should be what makes two records the same order",
            TABLE,
        )
    return NotYet(
        f"{found}: nothing in the table keeps out a second row for the same order",
        "the database should refuse it, or overlook it",
        f"{TABLE}: a column may be a PRIMARY KEY",
    )


def _have(numbers: list[int]) -> str:
    return "has" if len(numbers) == 1 else "have"
