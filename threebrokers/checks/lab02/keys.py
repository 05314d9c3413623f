"""Exercise 2.1: whether a topic's records keep each aircraft's flights in order, and what is wrong if not."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from confluent_kafka import Producer, consistent, fnv1a, murmur2

from threebrokers.data.flights import flight_messages
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet

# Of six partitions the fullest and the emptiest may hold these shares: an even sixth is 0.17.
MOST, LEAST = 0.25, 0.08
KEY_SETTING = "the argument key=… of produce()"
BY_KEY = "a client chooses the partition from the key only if the program does not name one"
PARTITION = "the argument partition=… of produce(), which is not needed"
NAMES = {
    "flight": "the flight number",
    "origin": "the airport",
    "dest": "the destination",
    "carrier": "the airline",
    "scheduled": "the scheduled time",
}

Flight = Mapping[str, Any]
Stored = tuple[Record, Flight]
Identity = tuple[str, str, int]


def flights_in(records: Iterable[Record]) -> list[Stored]:
    """Return each record with the flight in its value. Raises NotYet at the first that holds none."""
    return [(record, _flight(record)) for record in records]


def identity(flight: Flight) -> Identity:
    """Return what tells a flight from every other one."""
    return flight["scheduled"], flight["carrier"], flight["flight"]


@cache
def timetable(month: int) -> Counter[Identity]:
    """Return the identities of a month's flights."""
    return Counter(_flights(month).keys())


@cache
def _flights(month: int) -> dict[Identity, Flight]:
    flights = [json.loads(value) for _, value in flight_messages(month)]
    return {identity(flight): flight for flight in flights}


def expect_once(topic: str, there: Counter[Identity], wanted: Counter[Identity]) -> None:
    """Raise NotYet unless each flight that is wanted is in the topic once, and no other."""
    few, many = wanted - there, there - wanted
    if other := sum(count for flight, count in many.items() if flight not in wanted):
        lacks = f", and {few.total():,} flights of January are not there" if few else ""
        raise NotYet(
            f"'{topic}' holds {other:,} records of flights that are not in `timetable`{lacks}",
            "each flight of January should be there once, and no other",
            "what the loop goes through, and the value that produce() gets",
        )
    if few and many:
        raise NotYet(
            f"'{topic}' holds some flights more than once, and {few.total():,} flights of January not at all",
            "each flight of January should be there once",
            "the value that produce() gets, and what the loop goes through",
        )
    if many:
        raise NotYet(
            f"'{topic}' holds {many.total():,} records too many",
            "each flight of January should be there once",
            'how often the loop runs; lab.fresh_topic("by-aircraft", …) begins with an empty topic',
        )
    if few:
        raise NotYet(
            f"'{topic}' holds {there.total():,} of January's {wanted.total():,} flights",
            "all of them should be there, also those without a tail number",
            "the loop over `timetable`, and producer.flush() after it",
        )


def expect_same(stored: Iterable[Stored], month: int) -> None:
    """Raise NotYet at the first record that has something else than the flight in the timetable.

    How the JSON is written does not matter.
    """
    wanted = _flights(month)
    for record, flight in stored:
        right = wanted[identity(flight)]
        if flight == right:
            continue
        name = next(name for name in {**right, **flight} if flight.get(name, "") != right.get(name, ""))
        raise NotYet(
            f"the record at offset {record.offset} of partition {record.partition} has "
            f"{json.dumps(flight.get(name))} as its '{name}'",
            f"it should be {json.dumps(right.get(name))}, as in `timetable`",
            "the value that produce() gets: json.dumps(flight), with the flight as it is",
        )


def all_reported(name: str, producer: Producer) -> None:
    """Raise NotYet while records or delivery reports wait in the producer: nobody has asked for them yet."""
    try:
        waiting = producer.unreported() if isinstance(producer, LabProducer) else len(producer)
    except RuntimeError:  # it was closed, which waits for all
        return
    if waiting:
        raise NotYet(
            f"{waiting:,} records of `{name}` have no delivery report yet",
            "a record that nobody has waited for may be stored or not, as it comes",
            "flush(), after the loop and without a number",
        )


def judge(stored: list[Stored], partitions: int) -> None:
    """Raise NotYet with the first thing that is wrong with keys, partitions or order."""
    logs: dict[str, list[Stored]] = defaultdict(list)
    for record, flight in stored:
        if flight["tailnum"]:
            logs[flight["tailnum"]].append((record, flight))
    _keyed(stored, logs)
    _together(stored, logs, partitions)
    _in_order(logs)
    _known_to_all(stored, partitions)
    _even(stored, partitions)
    _of_nobody(stored)


def _flight(record: Record) -> Flight:
    try:
        flight = json.loads(record.value or b"")
        identity(flight), flight["tailnum"], flight["origin"]
    except (ValueError, TypeError, KeyError):
        raise NotYet(
            f"the record at offset {record.offset} of partition {record.partition} holds no flight",
            "each value should be one flight of `timetable`, written by json.dumps()",
            "the value that produce() gets",
        ) from None
    return flight  # type: ignore[no-any-return]


def _keyed(stored: list[Stored], logs: Mapping[str, list[Stored]]) -> None:
    """Refuse records without any key, also if they went to one partition.

    A quick loop can end before the client has turned to another one.
    """
    if any(record.key is not None for record, _ in stored):
        return
    tail, spread = _most_spread(logs)
    used = sorted({record.partition for record, _ in stored})
    together = f"the client put them into partition {' and '.join(map(str, used))} this time, as it came"
    raise NotYet(
        "no record has a key, and "
        + (f"the flights of aircraft {tail} are in {spread} partitions" if spread > 1 else together),
        "records that share their key stay together, each time",
        KEY_SETTING,
    )


def _most_spread(logs: Mapping[str, list[Stored]]) -> tuple[str, int]:
    """Return the aircraft whose flights are in most partitions, and in how many."""
    places = {tail: len({record.partition for record, _ in log}) for tail, log in logs.items()}
    tail = max(sorted(places), key=lambda name: places[name])
    return tail, places[tail]


def _together(stored: list[Stored], logs: Mapping[str, list[Stored]], partitions: int) -> None:
    tail, count = _most_spread(logs)
    if count == 1:
        return
    spread = f"the flights of aircraft {tail} are in {count} partitions"
    field = _field_of_key(stored)
    if field == "origin":
        empty = partitions - len({record.partition for record, _ in stored})
        found = (
            f"the key is the airport, so the order of each airport holds, but {spread}; and one partition "
            f"has {_fullest(stored)[1]:.0%} of all flights while {empty} of {partitions} are empty"
        )
        expected = "an aircraft leaves from several airports, so a key is wanted that stays with the aircraft"
    elif field:
        found = f"the key is {NAMES[field]}, and {spread}"
        expected = "records stay together only if they share their key"
    elif all(record.key == _bytes(flight["tailnum"]) for record, flight in stored if flight["tailnum"]):
        raise NotYet(
            f"the keys are right, and yet {spread}",
            BY_KEY,
            PARTITION,
        )
    elif len({record.key for record, _ in stored}) == len(stored):
        found = f"each record has a key of its own, and {spread}"
        expected = "records stay together only if they share their key"
    else:
        found, expected = spread, "all flights of one aircraft belong into one partition"
    raise NotYet(found, expected, KEY_SETTING)


def _in_order(logs: Mapping[str, list[Stored]]) -> None:
    for tail, log in logs.items():
        times = [flight["scheduled"] for _, flight in log]
        for earlier, later in pairwise(times):
            if later < earlier:
                raise NotYet(
                    f"aircraft {tail} leaves at {later} after a flight of {earlier}",
                    "they should be sent in the order of `timetable`, by one producer that keeps this order",
                    "the loop that sends, and enable.idempotence if the producer is your own",
                )


def _known_to_all(stored: list[Stored], partitions: int) -> None:
    """Refuse partitions that do not follow from a key, or that only this Python process can compute."""
    named = [(record, flight["tailnum"]) for record, flight in stored if flight["tailnum"]]
    # Two aircraft that share a partition show nothing: hash() of both names it by chance, once in many runs.
    hashed = len({record.partition for record, _ in named}) > 1 and all(
        record.partition in (hash(tail) % partitions, hash(tail.encode()) % partitions)
        or record.key == str(hash(tail)).encode()
        for record, tail in named
    )
    by_key = all(record.key is not None for record, _ in named) and any(
        all(record.partition == chosen(record.key or b"", partitions) for record, _ in named)
        for chosen in (consistent, murmur2, fnv1a)
    )
    if hashed:
        raise NotYet(
            "the aircraft are spread by Python's hash(), which gives other numbers when Python starts again",
            "after a restart the same aircraft would go to another partition, and its order would be lost",
            f"{KEY_SETTING}: give it the tail number itself",
        )
    if not by_key and all(record.key is not None for record, _ in named):
        raise NotYet("there are keys, and yet the partitions do not follow from them", BY_KEY, PARTITION)
    if not by_key:
        raise NotYet(
            "the partitions do not follow from the records' keys",
            "give each record a key and let the client choose the partition from it",
            KEY_SETTING,
        )


def _of_nobody(stored: list[Stored]) -> None:
    """Refuse a few keys that flights without a tail number share; one may have none, or one of its own."""
    nobody = [(record.key, record.partition) for record, flight in stored if not flight["tailnum"]]
    keys = Counter(key for key, _ in nobody if key is not None)
    # Airline and flight number together are a right key, although a few of these flights share them.
    if not keys or 2 * len(keys) > len(nobody) or keys.total() < len(nobody):
        return
    if b"" in keys and len(set(nobody)) > 1:  # this client spreads empty keys
        return
    key, count = keys.most_common(1)[0]
    raise NotYet(
        f"{count} flights without a tail number have the text {key.decode('utf-8', 'replace')!r} as their "
        "key, as if they were one aircraft",
        "they belong to no aircraft: a record without a key has key=None, not text",
        KEY_SETTING,
    )


def _even(stored: list[Stored], partitions: int) -> None:
    fullest, share = _fullest(stored)
    if share > MOST:
        field = _field_of_key(stored)
        raise NotYet(
            f"the order holds, but partition {fullest} has {share:.0%} of all flights"
            + (f", because the key is {NAMES[field]}" if field else ""),
            f"an even share is {1 / partitions:.0%}, and whoever reads a hot partition has too much to do",
            f"{KEY_SETTING}: a key with many more values than there are partitions",
        )
    counts = Counter(record.partition for record, _ in stored)
    emptiest = min(range(partitions), key=lambda partition: counts[partition])
    if counts[emptiest] < LEAST * len(stored):
        raise NotYet(
            f"the order holds, but partition {emptiest} has {counts[emptiest]:,} of {len(stored):,} flights",
            f"an even share is {1 / partitions:.0%}, so its reader would have almost nothing to do",
            f"{KEY_SETTING}: a key with many more values than there are partitions",
        )


def _bytes(text: object) -> bytes:
    return str(text).encode()


def _field_of_key(stored: list[Stored]) -> str | None:
    for field in NAMES:
        if all(record.key == _bytes(flight[field]) for record, flight in stored):
            return field
    return None


def _fullest(stored: list[Stored]) -> tuple[int, float]:
    partition, count = Counter(record.partition for record, _ in stored).most_common(1)[0]
    return partition, count / len(stored)
