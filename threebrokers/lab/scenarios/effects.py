"""A worker whose effect is a row of a database, killed in five places, for lab 10: what the notebook does."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.lab import Lab
from threebrokers.lab.orders import COUNT, Job, group_of
from threebrokers.lab.scenarios.killing import Invoiced, without_database
from threebrokers.lab.scenarios.lives import committed_offset, live_and_die

TOPIC = "paid-orders"
# Each life is killed just before something that the program does for this order: what its database is told,
# or a commit of its consumer, whatever comes as the first, second, …, after it asked for the row.
# The first is at an order that comes twice: who dies there has lost nothing that the second one would mend.
PLACES = ((3, "2"), (8, "3"), (13, "4"), (18, "5"), (23, "1"))
# The shop's program died and began again: these orders stand in the topic twice.
FIRST_LIFE, SECOND_LIFE = range(30), range(20, COUNT)
TWICE = range(20, 30)
STORED = len(FIRST_LIFE) + len(SECOND_LIFE)


@dataclass(frozen=True)
class Effects(Invoiced):
    """What stands in the worker's database after five kills: how many invoices each order has.

    `schemas` are the statements that made its tables. `marked` are the numbers that another table holds.
    """

    schemas: tuple[str, ...] = ()
    marked: frozenset[int] = frozenset()
    committed: int | None = None

    def __repr__(self) -> str:
        return f"{COUNT} orders in {STORED} records: {self.told}"


def killed_in_five_places(lab: Lab, program: str) -> Effects:
    """Let a program write an invoice for each of 40 orders into its database, and kill it in five places.

    Ten of the orders stand in the topic twice. Returns what the database holds in the end.
    """
    path = without_database(lab, program)
    topic = lab.fresh_topic(TOPIC)
    job = Job(program, topic, stops=PLACES)
    book = lab.ledger(job.ledger)
    for life in (FIRST_LIFE, SECOND_LIFE):
        _send(book.producer({"enable.idempotence": True}), topic, life)
    group = group_of(lab, job.ledger, book.run)
    ending = live_and_die(
        lab, job, group, lambda: (committed_offset(lab, group, topic) or 0) >= STORED, STORED
    )
    told = {part.name: getattr(ending, part.name) for part in fields(ending)}
    committed = committed_offset(lab, group, topic)
    return Effects(**told, **_found(path), committed=committed)


def _send(producer: LabProducer, topic: str, orders: range) -> None:
    for number in orders:
        producer.produce(topic, str(number))
    producer.flush()


def _number(value: object) -> int | None:
    """Return the number that a value of a row is, whatever the type of its column; None for another text."""
    if isinstance(value, float):  # a column REAL has 12 as 12.0
        return int(value) if value.is_integer() else None
    try:
        return int(value) if isinstance(value, int | str | bytes) else None
    except ValueError:
        return None


def _numbers(values: Iterable[object]) -> Iterator[int]:
    return (number for number in map(_number, values) if number is not None)


def _found(path: Path) -> dict[str, Any]:
    """Return what a database holds: invoices by order, how its tables were made, and numbers in others."""
    counts: Counter[int] = Counter()
    marked: set[int] = set()
    with closing(sqlite3.connect(path)) as database:
        made = database.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        for table in [name for kind, name, _ in made if kind == "table"]:
            rows = database.execute(f'SELECT * FROM "{table}"')  # noqa: S608 (the name comes from SQLite)
            columns = [column[0].lower() for column in rows.description]
            if table.lower() == "invoices" and "order_number" in columns:
                place = columns.index("order_number")
                counts.update(_numbers(row[place] for row in rows))
            else:
                marked.update(_numbers(value for row in rows for value in row))
    return {"counts": counts, "schemas": tuple(sql for _, _, sql in made), "marked": frozenset(marked)}
