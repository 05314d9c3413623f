"""Exercise 12.6: the learner's audit of a topic against its log and the ledgers of its producers."""

from collections import Counter
from collections.abc import Callable, Mapping

import pandas as pd

from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios.tills import CUSTOMERS, ordered
from threebrokers.ledger import Balance
from threebrokers.ledger.entries import numbers
from threebrokers.ledger.journal import Number

COUNTS = ("attempted", "stored", "lost", "doubled")
SQL = "the query in the cell of the exercise"

Balances = Mapping[str, Balance]
# What a wrong query gives for a till, and what is said of it: found, expected, where to look.
Mistake = tuple[Callable[[Balances, str], int], str, str, str]

RIGHT: dict[str, Callable[[Balance], int]] = {
    "attempted": lambda balance: len(balance.attempted),
    "stored": lambda balance: len(balance.stored),
    "lost": lambda balance: len(balance.lost),
    "doubled": lambda balance: len(balance.duplicated),
}


def compare_audit(found: pd.DataFrame, balances: Balances) -> None:
    """Raise NotYet unless there is a row for each till, with the four counts that its ledger has."""
    _expect_tills(found, balances)
    held = found.set_index("till")
    for count in COUNTS:
        right = pd.Series({till: RIGHT[count](balance) for till, balance in balances.items()})
        told = held[count].reindex(right.index)
        if told.isna().any():
            raise NotYet(
                f"`{count}` is null for the till '{told.index[told.isna()][0]}'",
                "a till of which nothing was found has the count 0",
                "coalesce(…) around what a join may not find, in " + SQL,
            )
        if (told != right).any():
            raise _said(count, told, right, balances)


def _expect_tills(found: pd.DataFrame, balances: Balances) -> None:
    tills = Counter(found["till"])
    if several := [till for till, rows in tills.items() if rows > 1]:
        raise NotYet(
            f"`audit` has {tills[several[0]]} rows for the till '{several[0]}'",
            "it should have one row for each till",
            "GROUP BY in " + SQL,
        )
    if missing := [till for till in balances if till not in tills]:
        raise NotYet(
            f"`audit` has no row for the till '{missing[0]}'",
            f"it should have one for each of the {len(balances)} tills",
            "WHERE and JOIN in " + SQL,
        )
    if odd := [till for till in tills if till not in balances]:
        raise NotYet(f"`audit` has a row for {odd[0]!r}", "there is no such till", "GROUP BY in " + SQL)


def _said(count: str, told: pd.Series, right: pd.Series, balances: Balances) -> NotYet:
    till = str(right.index[(told != right).argmax()])
    about = f"`{count}` for the till '{till}' is {told[till]:,}"
    for mistake, found, expected, look_at in MISTAKES[count]:
        if all(told[name] == mistake(balances, name) for name in balances):
            return NotYet(f"{about}: {found}", expected, look_at)
    return NotYet(
        about,
        f"the ledger, which knows each record by its header, has {right[till]:,}",
        f"how {SQL} makes `{count}`",
    )


def _known_to_the_log(balances: Balances, till: str) -> int:
    return len(numbers(balances[till].stored))


def _acknowledged(balances: Balances, till: str) -> int:
    return len(numbers(balances[till].acknowledged))


def _copies_of_all_tills(balances: Balances, till: str) -> int:
    copies = Counter(entry.number.sequence for balance in balances.values() for entry in balance.stored)
    return sum(copies[number.sequence] for number in balances[till].attempted)


def _difference(balances: Balances, till: str) -> int:
    return len(balances[till].attempted) - len(balances[till].stored)


def _acknowledged_difference(balances: Balances, till: str) -> int:
    return len(balances[till].acknowledged) - len(balances[till].stored)


def _not_in_the_log(balances: Balances, till: str) -> int:
    return len({*balances[till].attempted} - numbers(balances[till].stored))


def _all_copies(balances: Balances, till: str) -> int:
    copies = Counter(entry.number for entry in balances[till].stored)
    return sum(count for count in copies.values() if count > 1)


def _by_customer(balances: Balances, till: str) -> int:
    return len(balances[till].stored) - CUSTOMERS


def _none(balances: Balances, till: str) -> int:
    return 0


def _missing_taken_away(balances: Balances, till: str) -> int:
    return len(balances[till].stored) - len(balances[till].attempted)


def _missing_hides(balances: Balances, till: str) -> int:
    return max(0, _missing_taken_away(balances, till))


def _rows_of_the_join(balances: Balances, till: str) -> int:
    return _not_in_the_log(balances, till) + len(balances[till].stored)


def _one_of_each_customer(balances: Balances, till: str) -> int:
    return len(numbers(balances[till].acknowledged)) - CUSTOMERS


def _difference_from_zero(balances: Balances, till: str) -> int:
    return max(0, _difference(balances, till))


def _first_of_each_sale(balances: Balances, till: str) -> set[Number]:
    """Return the stored orders that remain if customer and euros name an order: the first of each pair."""
    stored = sorted(numbers(balances[till].stored), key=lambda number: number.sequence, reverse=True)
    return set({ordered(number.sequence): number for number in stored}.values())


def _lost_by_sale(balances: Balances, till: str) -> int:
    return len(numbers(balances[till].acknowledged) - _first_of_each_sale(balances, till))


def _doubled_by_sale(balances: Balances, till: str) -> int:
    return len(balances[till].stored) - len(_first_of_each_sale(balances, till))


HIDES = (
    "that is a difference of two counts, in which a copy too many hides an order that is missing",
    "it should be how many acknowledged orders are not in the log",
    "a join of `notes` with the orders of `log`, each order by itself",
)
SALES = (
    "so it is if an order is known by its customer and its euros",
    "a customer may buy for the same sum again, and that is another order",
    "what makes two records the same order",
)
MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "attempted": (
        (
            _rows_of_the_join,
            "an order that is in the log twice has two rows after the join, and counts twice",
            "it should be what the till has tried to send, each order once",
            "GROUP BY on `log` before the join, or count(DISTINCT …)",
        ),
        (
            _known_to_the_log,
            "so many orders stand in the log, and an order that is lost is not there",
            "it should be what the till has tried to send",
            "the table that knows more than the log: `notes`",
        ),
        (
            _acknowledged,
            "so many orders were acknowledged",
            "it should be what the till has tried to send, also what failed",
            "filters on `report`",
        ),
        (
            lambda balances, till: len(balances[till].stored),
            "so many records of it stand in the log",
            "it should be what the till has tried to send",
            "the table that is counted: each row of `notes` is one order",
        ),
    ),
    "stored": (
        (
            _known_to_the_log,
            "each order is counted once there",
            "it should be how many records the log has, each copy counted",
            f"what is counted in {SQL}: DISTINCT and GROUP BY leave one row of each order",
        ),
        (
            _copies_of_all_tills,
            "so many records of all tills have its numbers, for each till begins at 0",
            "an order is known by its till and its number together",
            "GROUP BY and JOIN in " + SQL,
        ),
    ),
    "lost": (
        (_difference, *HIDES),
        (_difference_from_zero, *HIDES),
        (_acknowledged_difference, *HIDES),
        (
            _one_of_each_customer,
            "so it is if only one order of each customer is found in the log",
            "two orders of a customer are two orders: each should be looked for by itself",
            "what makes two records the same order",
        ),
        (_lost_by_sale, *SALES),
        (
            _not_in_the_log,
            "that counts orders that failed, too, and the till was told so",
            "lost is what was acknowledged and is not in the log",
            "the column `report`",
        ),
        (
            _none,
            "no till has lost an order by this count",
            "a LEFT JOIN gives null, and not 0, for the count of an order that the log does not have",
            f"IS NULL or coalesce(…) in {SQL}",
        ),
    ),
    "doubled": (
        (
            _all_copies,
            "the first copy of each order is counted, too",
            "one copy of an order is right: count those that are too many",
            "what you add up for each order",
        ),
        (
            _by_customer,
            "so it is if each customer may order once",
            "it should be how many copies of an order are too many; two orders of a customer are two orders",
            "what makes two records the same order",
        ),
        (_doubled_by_sale, *SALES),
        (
            _missing_taken_away,
            "so it is if each order that is missing takes one away",
            "an order of which the log has nothing has no copy that is too many: it counts 0",
            "what you add up for each order",
        ),
        (
            _none,
            "no offset is there twice, so what is a double must be known by something else",
            "it should be how many copies of an order are too many",
            "what makes two records the same order",
        ),
        (
            _missing_hides,
            "that is a difference of two counts, in which an order that is missing hides a copy too many",
            "it should be how many copies of an order are too many",
            "what you count for each order by itself, before you add up",
        ),
    ),
}
