"""Two topics of a shop that lab 12 audits: orders after both faults of lab 10, payments in transactions."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.guarantees import COPIED_SECONDS, Round, SetUps
from threebrokers.lab.scenarios.partitions import partition_of
from threebrokers.ledger import Balance, Ledger

if TYPE_CHECKING:
    import pandas as pd

TILLS: SetUps = {
    "acks=1": {"acks": 1},
    "acks=all": {"acks": "all"},
    "idempotent": {"acks": "all", "enable.idempotence": True},
    "no retries": {"acks": "all", "retries": 0},
}
CUSTOMERS = 7
PARTITIONS, BASKETS, MOST_ITEMS, COFFEES = 3, 14, 3, 9


@dataclass(frozen=True)
class Audited:
    """A topic of orders, and a ledger for each of the tills that have written them.

    `notes` is what the tills have noted themselves: a row for each order that they have tried to send, with
    the `till`, the order's `number`, and the `report`: acknowledged or failed.
    """

    topic: str
    ledgers: Mapping[str, Ledger]
    notes: "pd.DataFrame"

    def __repr__(self) -> str:
        return f"the orders in the topic {self.topic!r}"

    def balances(self) -> dict[str, Balance]:
        """Read the log, and return the balance of each till."""
        return {till: ledger.balance(self.topic) for till, ledger in self.ledgers.items()}


def ordered(number: int) -> tuple[int, int]:
    """Return the customer and the euros of a till's order: both come again, so they do not name it."""
    return number % CUSTOMERS, 5 + number % 40


class _Orders(Round):
    """Orders as JSON; each till counts its own, and a customer orders often."""

    def record(self, of: str, number: int) -> dict[str, str]:
        customer, euros = ordered(number)
        order = {"till": of, "number": number, "euros": euros}
        return {"key": f"customer-{customer}", "value": json.dumps(order)}

    def level(self) -> None:
        """Wait until every till has its answers, and three replicas are equal."""
        self.flush()
        self.lab.wait_until(self._equal, what="three equal replicas", within=COPIED_SECONDS)
        self.end = partition_of(self.lab, self.topic).log_end_offsets[0][1]

    def _equal(self) -> bool:
        ends = [end for _, end in partition_of(self.lab, self.topic).log_end_offsets]
        return len(ends) == len(self.lab.cluster.brokers) and len(set(ends)) == 1


def orders_after_faults(lab: Lab) -> Audited:
    """Let four tills send 300 orders each to a new topic, through both faults of lab 10.

    All replicas have the first 100 of each till. The answers to the next 100 are cut off when these are
    stored. The last 100 reach a leader that is cut off from the other brokers, and it is killed.
    """
    tried = _Orders(lab, "spark-orders", TILLS, {})
    tried.lose_answers()
    tried.level()
    tried.kill_leader()
    balances = tried.trials().balances
    return Audited(tried.topic, tried.ledgers, _notes(balances))


def _notes(balances: Mapping[str, Balance]) -> "pd.DataFrame":
    import pandas as pd  # only where a table is made

    rows = []
    for till, balance in balances.items():
        reports = {entry.number: "acknowledged" for entry in balance.acknowledged}
        reports |= {failure.number: "failed" for failure in balance.failed}
        rows += [(till, number.sequence, reports.get(number, "none")) for number in balance.attempted]
    return pd.DataFrame(rows, columns=["till", "number", "report"])


def payments_taken_back(lab: Lab) -> str:
    """Return a new topic of three partitions: payments in transactions, and coffees without.

    A transaction has the payments of a basket. If the bank refuses the card it is aborted, and some customers
    pay the same with another card. Which ones, and in which partitions, is another each time.
    """
    topic = lab.fresh_topic("spark-payments", partitions=PARTITIONS, replication_factor=3)
    till = lab.producer({"transactional.id": lab.topic("spark-payments"), "linger.ms": 0})
    machine = lab.producer({"enable.idempotence": True, "linger.ms": 0})
    till.init_transactions(10)
    for basket, ends in enumerate(_ends()):
        payments = _payments(basket)
        for committed in ends:
            till.begin_transaction()
            for partition, payment in payments:
                till.produce(topic, payment, partition=partition)
            till.flush(10)
            (till.commit_transaction if committed else till.abort_transaction)(10)
        if basket < COFFEES:
            machine.produce(topic, json.dumps({"till": "coffee", "euros": 2}), partition=basket % PARTITIONS)
            machine.flush(10)
    lab.cluster.wait_for_markers()
    return topic


def _ends() -> list[tuple[bool, ...]]:
    """Return for each basket how its transactions end; the last one is aborted."""
    paid, again, gone = (True,), (False, True), (False,)
    known = [paid, again, gone, again, gone]
    others = [secrets.choice((paid, paid, again, gone)) for _ in range(BASKETS - len(known) - 1)]
    return [*known, *others, gone]


def _payments(basket: int) -> list[tuple[int, str]]:
    """Return the payments of a basket, each with its partition; the prices are another each time."""
    return [
        (
            secrets.randbelow(PARTITIONS),
            json.dumps({"till": "desk", "basket": basket, "item": item, "euros": 3 + secrets.randbelow(20)}),
        )
        for item in range(1 + secrets.randbelow(MOST_ITEMS))
    ]
