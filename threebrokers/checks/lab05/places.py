"""Exercise 5.3: whether a partitioner keeps a partition for important symbols, and why not if it does not."""

from collections.abc import Callable, Sequence
from itertools import product
from string import ascii_uppercase
from typing import Any

from threebrokers.checks.expect_calls import called
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios.choosing import IMPORTANT, PARTITIONS, SYMBOLS
from threebrokers.lab.values import fitted
from threebrokers.text import counted

OWN, MORE_PARTITIONS = PARTITIONS - 1, 7
# Shares that are new at the exchange: a part of an important name is not important.
NEWCOMERS = ("IB", "IBMX", "UBE", "UBERX", "XIBM")
OTHER_CASE = ("ibm", "Uber")  # to Kafka, and so in the task, these are other symbols
KNOWS_ALL = "how `partition_of` knows what is important: it puts every symbol there"
KNOWS = "how `partition_of` knows what is important: by the whole symbol, or by a part of it?"
COMPARES = "what `partition_of` compares: the symbol as it is written, or in other letters?"
LOOK_AT = dict.fromkeys(NEWCOMERS, KNOWS) | dict.fromkeys(OTHER_CASE, COMPARES)
# So often a function is asked where a price without a symbol goes: it may throw dice.
UNKEYED = (None,) * 50
# So many that a hash uses all partitions: the lab's ten leave one of three empty in one of twenty.
MANY = tuple(map("".join, product(ascii_uppercase, repeat=2)))[::5]
CODE = "`partition_of` in the cell of the exercise"


def judge_function(partition_of: Callable[..., Any]) -> None:
    """Raise NotYet unless the function is right for each symbol, for none, and for few partitions."""
    for symbol in (*sorted(IMPORTANT), *SYMBOLS, *UNKEYED, *LOOK_AT, "NESTLÉ"):
        place = _place(partition_of, symbol, PARTITIONS)
        if symbol in IMPORTANT and place != OWN:
            raise NotYet(
                f"{symbol} goes to partition {place}",
                f"it is important, and should go to the last one, {OWN}",
                CODE,
            )
        if symbol not in IMPORTANT and place == OWN:
            raise NotYet(
                f"{symbol or 'a price without a symbol'} goes to partition {place}, which is kept for "
                f"{' and '.join(sorted(IMPORTANT))}",
                f"all others should share the {OWN} partitions before it",
                _why_there(partition_of, symbol),
            )
    _judge_hash(partition_of)
    _judge_few(partition_of)
    _judge_spread(partition_of)


def _why_there(partition_of: Callable[..., Any], symbol: str | None) -> str:
    """Return where to look if this symbol, which is not important, is in the partition of those that are."""
    if all(_place(partition_of, one, PARTITIONS) == OWN for one in SYMBOLS):
        return KNOWS_ALL
    return LOOK_AT.get(symbol or "", "the number by which the hash is divided")


def judge_restart(partition_of: Callable[..., Any], anew: Callable[..., Any] | None) -> None:
    """Raise NotYet if the function as it is after a restart puts a symbol elsewhere; `anew` is that one."""
    if anew is None:
        return
    before = {symbol: _place(partition_of, symbol, PARTITIONS) for symbol in SYMBOLS}
    for symbol in reversed(SYMBOLS):  # whoever comes first is another one now
        try:
            place = _place(anew, symbol, PARTITIONS)
        except NotYet:
            return  # it needs what only the notebook has
        if place != before[symbol]:
            raise NotYet(
                f"if the program starts again, {symbol} can go to partition {place}, and it was in "
                f"{before[symbol]}",
                "a symbol should stay where it is: the symbol alone should decide, not what came before it",
                "what begins anew with each process: dictionaries, counters, random numbers, Python's hash()",
            )


def judge_log(records: Sequence[Record], count: int) -> None:
    """Raise NotYet unless the topic has all prices, each where it may be: a symbol in one partition."""
    if len(records) != count:
        raise NotYet(
            f"the topic holds {len(records)} of {count} prices",
            "all of them should be there",
            "the line that the cell of the exercise prints",
        )
    if odd := sum(record.key is None and record.partition == OWN for record in records):
        raise NotYet(
            f"{counted(odd, 'price')} without a symbol {'is' if odd == 1 else 'are'} in partition {OWN}, "
            f"which is kept for {' and '.join(sorted(IMPORTANT))}",
            f"they should go to the {OWN} partitions before it, each time",
            CODE,
        )
    places: dict[bytes | None, set[int]] = {}
    for record in records:
        places.setdefault(record.key, set()).add(record.partition)
    for symbol, used in places.items():
        if symbol is not None and len(used) > 1:
            raise NotYet(
                f"the prices of {symbol.decode()} are in {len(used)} partitions",
                "all prices of a symbol should be in one, or their order is lost",
                CODE,
            )


def _place(partition_of: Callable[..., Any], symbol: str | None, partitions: int) -> int:
    what = f"`partition_of({symbol!r}, {partitions})`"
    place: Any = called(what, partition_of, symbol, partitions)
    if place is None:
        raise NotYet(f"{what} returned None", "it should return the number of a partition", "its `return`")
    place = fitted(f"partition_of({symbol!r}, {partitions})", place, int)
    if not 0 <= place < partitions:
        raise NotYet(f"{what} returned {place}", f"the partitions are 0 to {partitions - 1}", "its `return`")
    return int(place)


def _judge_hash(partition_of: Callable[..., Any]) -> None:
    others = [symbol for symbol in SYMBOLS if symbol not in IMPORTANT]
    for made in (str, str.encode):
        for divided in (OWN, PARTITIONS):
            if all(_place(partition_of, s, PARTITIONS) == hash(made(s)) % divided for s in others):
                raise NotYet(
                    "the partitions are those of Python's hash(), which has other numbers in each process",
                    "a symbol should stay where it is when the program starts again",
                    "a hash that is always the same: murmur2 or consistent, of confluent_kafka",
                )


def _judge_spread(partition_of: Callable[..., Any]) -> None:
    for partitions in (PARTITIONS, MORE_PARTITIONS):
        last = partitions - 1
        used = {_place(partition_of, symbol, partitions) for symbol in MANY}
        if last in used:
            raise NotYet(
                f"of {partitions} partitions other symbols use the last one, too",
                f"it is kept for {' and '.join(sorted(IMPORTANT))}",
                "the number by which the hash is divided",
            )
        if len(used) < last:
            raise NotYet(
                f"{len(MANY)} other symbols use {len(used)} of {last} partitions",
                "they should share the work",
                "what the hash is made of, and the number by which it is divided",
            )


def _judge_few(partition_of: Callable[..., Any]) -> None:
    for symbol in (*SYMBOLS, *UNKEYED):
        _place(partition_of, symbol, 1)
        place, wanted = _place(partition_of, symbol, 2), int(symbol in IMPORTANT)
        if place != wanted:
            raise NotYet(
                f"of two partitions {symbol or 'a price without a symbol'} goes to partition {place}",
                f"the last one is for important symbols, so it should go to {wanted}",
                "`partitions`, which is not always 4",
            )
    for symbol in sorted(IMPORTANT):
        place = _place(partition_of, symbol, MORE_PARTITIONS)
        if place != MORE_PARTITIONS - 1:
            raise NotYet(
                f"of {MORE_PARTITIONS} partitions {symbol} goes to {place}",
                f"it should go to the last one, {MORE_PARTITIONS - 1}",
                "`partitions`, which is not always 4",
            )
