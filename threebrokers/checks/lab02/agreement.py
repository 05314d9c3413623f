"""Exercise 2.2: whether each landing stands behind its departure, and why not if it does not."""

from collections.abc import Sequence

from confluent_kafka import consistent, fnv1a, murmur2

from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet

PARTITIONS = 6
AIRCRAFT = 10
FUNCTIONS = {
    "as CRC32 has it, which is this client's own function": consistent,
    "as FNV-1a has it, which is neither client's function": fnv1a,
}


def judge(records: Sequence[Record]) -> None:
    """Raise NotYet with the first thing that is wrong in a topic of departures and landings."""
    departed = [record for record in records if _what(record) == "departed"]
    if len(departed) > AIRCRAFT:
        raise NotYet(
            f"there are {len(departed)} departures",
            "what this program writes are landings, so a value should be 'landed' and the tail number",
            "the value that produce() gets",
        )
    departures = {_tail(record): record for record in departed}
    landings = [record for record in records if _what(record) != "departed"]
    _untouched(departures)
    _complete(landings, departures)
    for landing in landings:
        _same_key(landing, departures)
    _same_partition(landings, departures)
    for landing in landings:
        _behind(landing, departures[_tail(landing)])


def _behind(landing: Record, departure: Record) -> None:
    if landing.offset < departure.offset:
        raise NotYet(
            f"the landing of {_tail(landing)} has offset {landing.offset}, and its departure "
            f"{departure.offset}: it stands before it",
            "the departures were there first, and a landing belongs behind its own",
            "the first line of the cell, departures_by_java(…), and what comes after it",
        )


def _untouched(departures: dict[str, Record]) -> None:
    stand = all(
        record.key == tail.encode() and record.partition == murmur2(tail.encode(), PARTITIONS)
        for tail, record in departures.items()
    )
    if len(departures) != AIRCRAFT or not stand:
        raise NotYet(
            "the departures are not where Java's program has put them",
            "they belong to the other program, and should stay as they are",
            "the first line of the cell, departures_by_java(…), and what comes after it",
        )


def _complete(landings: list[Record], departures: dict[str, Record]) -> None:
    for record in landings:
        if _what(record) != "landed" or _tail(record) not in departures:
            raise NotYet(
                f"a record holds {record.value!r}",
                "each value should be 'landed' and the tail number of a departure",
                "the value that produce() gets",
            )
    count, aircraft = len(landings), len({_tail(record) for record in landings})
    if count == AIRCRAFT != aircraft:
        raise NotYet(
            f"there are {count} landings, and they are of {aircraft} aircraft only",
            f"each of the {AIRCRAFT} departures should have one",
            "the tail number in the value that produce() gets",
        )
    if count != AIRCRAFT:
        raise NotYet(
            f"there {'is' if count == 1 else 'are'} {count or 'no'} landing{'s' * (count != 1)}",
            f"each of the {AIRCRAFT} departures should have one",
            "the topic in produce(…), and the loop that writes the landings",
        )


def _same_key(landing: Record, departures: dict[str, Record]) -> None:
    tail = _tail(landing)
    departure, look = departures[tail], "the argument key=… of produce(), and what type it has"
    if landing.key == departure.key:
        return
    expected = f"it should be the same bytes as the departure's: {departure.key!r}"
    if landing.key is None:
        found = f"the landing of {tail} has no key"
        expected = "a reader that keeps the last record of each key would not find it"
    elif landing.key in {other.key for other in departures.values()}:
        found = f"the landing of {tail} has the key of another departure: {landing.key!r}"
        look = "the arguments of produce(): key=… and the value should be of the same aircraft"
    else:
        found = f"the key of a landing is {landing.key!r}, which is no key of a departure"
    raise NotYet(found, expected, look)


def _same_partition(landings: list[Record], departures: dict[str, Record]) -> None:
    apart = sum(record.partition != departures[_tail(record)].partition for record in landings)
    if not apart:
        return
    found = f"the keys are right, and {apart} of {AIRCRAFT} landings are apart from their departures"
    used = {record.partition for record in landings}
    if len(used) == 1:
        raise NotYet(
            f"all ten landings are in partition {used.pop()}",
            "each belongs into the partition of its departure, which Java has chosen by the key",
            "the argument partition=… of produce(), which is not needed",
        )
    for what, function in FUNCTIONS.items():
        if all(record.partition == function(record.key or b"", PARTITIONS) for record in landings):
            raise NotYet(
                f"{found}, {what}",
                "both programs should use the same function, and Java's cannot be changed",
                "the producer's setting `partitioner`",
            )
    if all(_hashed(record) for record in landings):
        found += ", as Python's hash() has it"
    raise NotYet(found, "the client should choose the partition from the key, as Java does", "`partitioner`")


def _hashed(record: Record) -> bool:
    tail = _tail(record)
    return record.partition in (hash(tail) % PARTITIONS, hash(tail.encode()) % PARTITIONS)


def _what(record: Record) -> str:
    return _words(record)[0]


def _tail(record: Record) -> str:
    return _words(record)[1]


def _words(record: Record) -> tuple[str, str]:
    """Return both words of a value; a value of other words gives empty ones."""
    words = (record.value or b"").decode("utf-8", "replace").split()
    return (words[0], words[1]) if len(words) == 2 else ("", "")
