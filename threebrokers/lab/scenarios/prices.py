"""Share prices as objects, good and bad ones, and a program that sends what a serializer makes of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from threebrokers import theme
from threebrokers.lab.lab import Lab


@dataclass(frozen=True)
class StockPrice:
    """The price of a share, in dollars and cents."""

    symbol: Any
    dollars: Any
    cents: Any


GOOD_PRICES = (
    StockPrice("IBM", 141, 5),
    StockPrice("UBER", 60, 99),
    StockPrice("NESTLÉ", 0, 0),
    StockPrice("BRK.A", 613_000, 50),
)
# Each with the field that is wrong.
BAD_PRICES = (
    (StockPrice("IBM", 141, 120), "cents"),
    (StockPrice("IBM", -3, 0), "dollars"),
    (StockPrice("", 12, 50), "symbol"),
    (StockPrice("IBM", "141", 5), "dollars"),
    (StockPrice("IBM", 141, None), "cents"),
    (StockPrice(None, 141, 5), "symbol"),
    (StockPrice("IBM", 141, 5.5), "cents"),
)
# Not sent by the lab's cell: the check alone asks about what lies beside a bound, and about other types.
MORE_BAD_PRICES = (
    (StockPrice("IBM", 141, 100), "cents"),
    (StockPrice("IBM", 141, -1), "cents"),
    (StockPrice("IBM", -1, 5), "dollars"),
    (StockPrice("IBM", 141.5, 5), "dollars"),
    (StockPrice("IBM", None, 5), "dollars"),
    (StockPrice("IBM", 141, "5"), "cents"),
    (StockPrice(7, 141, 5), "symbol"),
    (StockPrice("IBM", True, 5), "dollars"),  # Python's bool is an int, and JSON's is none
    (StockPrice("IBM", 141, True), "cents"),
)


def send_quotes(lab: Lab, serialize: Callable[..., Any] | Any) -> None:
    """Send all prices to the topic `quotes` as bytes of this serializer; print what it refuses."""
    topic = lab.fresh_topic("quotes")
    if not callable(serialize):
        return
    producer = lab.producer({"enable.idempotence": True})
    prices = (*GOOD_PRICES, *(bad for bad, _ in BAD_PRICES))
    sent = 0
    for price in prices:
        try:
            producer.produce(topic, serialize(price))
            sent += 1
        except Exception as fault:
            sign = "not sent:" if isinstance(fault, ValueError) else theme.BAD.sign
            print(f"{sign} {price}: {type(fault).__name__}: {fault}")
    left = producer.flush()
    print(f"{sent - left} of {len(prices)} prices were sent.")
