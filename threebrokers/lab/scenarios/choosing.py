"""Alerts and prices for partitioners of one's own, and where they came to be."""

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from threebrokers import theme
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.lab import Lab

if TYPE_CHECKING:
    import pandas as pd

SYMBOLS = ("AAPL", "AMZN", "GOOG", "IBM", "INTC", "MSFT", "NVDA", "ORCL", "SAP", "SONY", "TSLA", "UBER")
IMPORTANT = frozenset({"IBM", "UBER"})
PARTITIONS, PRICES = 4, 260
LEVELS = ("CRITICAL", "MAJOR", "MINOR", "WARNING")


def stock_prices() -> list[tuple[str | None, str]]:
    """Return prices of twelve symbols in turn, and in each round one without a symbol: key and value."""
    names = [*SYMBOLS, None]
    return [(names[n % len(names)], f"{20 + n % 37}.{n % 100:02}") for n in range(PRICES)]


def where_they_are(lab: Lab, topic: str, partitions: int) -> "pd.DataFrame":
    """Return how many records of each key each partition of a topic holds."""
    import pandas as pd  # only where a table is shown

    counts = Counter((record.key, record.partition) for record in read_log(lab.bootstrap, topic))
    keys = sorted({key for key, _ in counts}, key=lambda key: key or b"")
    rows = {
        key.decode() if key else "no key": [counts[key, partition] for partition in range(partitions)]
        for key in keys
    }
    return pd.DataFrame(rows, index=[f"partition {n}" for n in range(partitions)]).T


def send_prices(lab: Lab, partition_of: Callable[..., int] | Any) -> "pd.DataFrame | None":
    """Send all prices to the topic `prices`, each to the partition that the function says; return the table.

    Returns None while the function is not written. What it raises is printed, and ends the sending.
    """
    if not callable(partition_of):
        return None
    topic = lab.fresh_topic("prices", partitions=PARTITIONS)
    producer = lab.producer({"enable.idempotence": True})
    try:
        for symbol, price in stock_prices():
            producer.produce(topic, price, symbol, partition=partition_of(symbol, PARTITIONS))
    except Exception as fault:
        print(f"{theme.BAD.sign} The sending ended with {type(fault).__name__}: {fault}")
    producer.flush()
    return where_they_are(lab, topic, PARTITIONS)
