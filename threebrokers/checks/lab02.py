"""Exercise 2.1: whether a topic's records keep each aircraft's flights in order, and what is wrong if not."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from confluent_kafka import TopicPartition, consistent, fnv1a, murmur2

from threebrokers.checks.expect import committed, expect_topic, log_of, messages_only
from threebrokers.data.flights import flight_messages
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet, eventually, exercise
from threebrokers.lab.lab import Lab

MOST = 0.25  # of six partitions the fullest may hold this share: an even sixth is 0.17
KEY_SETTING = "the argument key=… of produce()"
NAMES = {
    "flight": "the flight number",
    "origin": "the airport",
    "dest": "the destination",
    "carrier": "the airline",
    "scheduled": "the scheduled time",
}

Flight = Mapping[str, Any]
Stored = tuple[Record, Flight]


def flights_in(records: Iterable[Record]) -> list[Stored]:
    """Return each record with the flight in its value. Raises NotYet at the first that holds none."""
    return [(record, _flight(record)) for record in records]


def identity(flight: Flight) -> tuple[str, str, int]:
    """Return what tells a flight from every other one."""
    return flight["scheduled"], flight["carrier"], flight["flight"]


@cache
def timetable(month: int) -> Counter[tuple[str, str, int]]:
    """Return the identities of a month's flights."""
    sent = [Record("", -1, -1, key, value, -1, "create") for key, value in flight_messages(month)]
    return Counter(identity(flight) for _, flight in flights_in(sent))


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
                    "one producer that cannot overtake itself should send them in the order of `timetable`",
                    "the loop that sends, and enable.idempotence if the producer is your own",
                )


def _known_to_all(stored: list[Stored], partitions: int) -> None:
    """Refuse keys that say nothing, and partitions that only this Python process can compute."""
    named = [(record, flight["tailnum"]) for record, flight in stored if flight["tailnum"]]
    if any(flight["tailnum"] is None and record.key == b"None" for record, flight in stored):
        raise NotYet(
            "flights without a tail number have the text 'None' as their key, as if they were one aircraft",
            "a record without a key has key=None, not text",
            KEY_SETTING,
        )
    hashed = all(
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
    if not by_key:
        raise NotYet(
            "the partitions do not follow from the records' keys",
            "give each record a key and let the client choose the partition from it",
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


def _field_of_key(stored: list[Stored]) -> str | None:
    for field in NAMES:
        if all(record.key == str(flight[field]).encode() for record, flight in stored):
            return field
    return None


def _fullest(stored: list[Stored]) -> tuple[int, float]:
    partition, count = Counter(record.partition for record, _ in stored).most_common(1)[0]
    return partition, count / len(stored)


PAGE = range(100, 120)
PARTITIONS = 6  # of the topics of exercise 2.4
FUNCTIONS = "dir(confluent_kafka): the package has the hash functions of both clients"


def _lab_consumer(name: str, value: object) -> LabConsumer:
    """Return the value if it is a consumer of the lab. Raises NotYet."""
    if not isinstance(value, LabConsumer):
        raise NotYet(
            f"`{name}` is {value!r}",
            "it should be the consumer that lab.consumer({…}) returned",
            "the cell of the exercise, above",
        )
    return value


def is_the_page(page: list[Any], topic: str) -> None:
    """Raise NotYet unless the messages are offsets 100 to 119 of partition 1 of the topic."""
    messages = messages_only("page", page, "poll() or consume(): keep each Message that it returns")
    for message in messages:
        fault, place = message.error(), (message.topic(), message.partition())
        if fault is not None or place != (topic, 1):
            where = fault.str() if fault is not None else f"partition {place[1]} of '{place[0]}'"
            raise NotYet(
                f"a record of the page says: {where}",
                f"all of them should be records of partition 1 of '{topic}'",
                "the TopicPartition that you assign",
            )
    offsets = [message.offset() for message in messages]
    if offsets == list(PAGE):
        return
    found = f"the page holds {len(offsets)} records"
    if offsets:
        found += f", from offset {offsets[0]} to offset {offsets[-1]}"
    expected = "it should hold the 20 records from offset 100 to offset 119, each once, in order"
    if offsets == list(PAGE)[:-1]:
        expected = "it ends one record early, as offset 119 belongs to the page"
    elif offsets == [*PAGE, PAGE.stop]:
        expected = "it ends one record late, as offset 120 is the first of the next page"
    raise NotYet(found, expected, "the offset in TopicPartition, and when your loop ends")


def is_the_first(offset: int, first: int, end: int) -> None:
    """Raise NotYet unless the offset is the first one; `end` is the offset that the next record will get."""
    if offset == first:
        return
    if offset == 0:
        found = "offset 0 is the answer for a time before anything was stored"
        expected = (
            "`moment` is a time of this year, in milliseconds since 1970, and should be asked for as it is"
        )
    elif offset >= end or offset < 0:
        found = f"offset {offset} means that no record is late enough"
        expected = (
            "`moment` should be compared with the records' timestamps, not with the times in their values"
        )
    elif offset == first - 1:
        found = f"offset {offset} is the last record stored before `moment`"
        expected = "the first one stored at `moment` or later is wanted"
    else:
        found = f"the record at offset {offset} was stored {'before' if offset < first else 'after'} `moment`"
        expected = "the first one with a timestamp from `moment` on is wanted"
    raise NotYet(found, expected, "offsets_for_times(), and what it wants in the place of the offset")


def is_unread(reader: LabConsumer, first: int) -> None:
    """Raise NotYet if the reader was placed before offset `first`, and so read its way there."""
    try:
        assigned: list[TopicPartition] = reader.assignment()
    except RuntimeError:  # closed: it does not tell any more
        return
    if any(place.offset < first for place in assigned):
        raise NotYet(
            f"offset {first} is right, but the reader went through all records before it to find it",
            "the broker keeps an index of times and can answer without sending one record",
            "Consumer.offsets_for_times()",
        )


def is_foretold(name: str, told: dict[Any, Any], found: dict[str, int], other: dict[str, int]) -> None:
    """Raise NotYet unless `told` says where each key was `found`; `other` is the other client's."""
    said = {key.decode() if isinstance(key, bytes) else str(key): place for key, place in told.items()}
    if said == found:
        return
    if said.keys() != found.keys():
        raise NotYet(
            f"{len(said.keys() & found.keys())} of the {len(found)} tail numbers are keys of `{name}`",
            "it should map each of them to a partition, and nothing else",
            "the loop over `tails`",
        )
    outside = [(key, n) for key, n in said.items() if not isinstance(n, int) or not 0 <= n < PARTITIONS]
    if outside:
        raise NotYet(
            f"`{name}` says {outside[0][1]!r} for {outside[0][0]}, and there is no such partition",
            f"the partition is the remainder of the hash by the number of partitions, 0 to {PARTITIONS - 1}",
            FUNCTIONS,
        )
    lost = sum(said[key] != found[key] for key in found)
    if all(n in (hash(key) % PARTITIONS, hash(key.encode()) % PARTITIONS) for key, n in said.items()):
        what, expected = "these are numbers of Python's hash()", "no client of Kafka uses it"
    elif said == other:
        client = "Java" if name == "here" else "Python"
        what, expected = (
            f"these are the places of the {client} client's records",
            "each client has its own function",
        )
    else:
        what = "they do not follow from this client's function"
        expected = "the client's own hash of the key's bytes is wanted, and its remainder by 6"
    raise NotYet(f"{lost} of {len(found)} aircraft are not where `{name}` says: {what}", expected, FUNCTIONS)


TOPICS = (
    "alerts",
    "by-aircraft",
    "clock-append",
    "clock-create",
    "days",
    "gaps",
    "january",
    "keys",
    "seven-1",
    "seven-13",
    "synced",
    "tails-java",
    "tails-python",
    "unsynced",
)
GROUPS = ("audit", "board", "everything", "first", "page")
CALL_SECONDS = 10.0

NOT_WHY = {
    "linger": (
        "the number is right, but linger.ms was a whole minute, and nobody waited for that",
        "something else told the producer to send",
        "the cell that fills 'days'",
    ),
    "size": (
        "the number is right, but no batch is near batch.size (1,000,000 bytes)",
        "something told the producer to send a batch that was not full",
        "the numbers after 'size:' in the dump, and the cell that fills 'days'",
    ),
    "leader": (
        "the number is right, but a leader never puts records together or takes them apart",
        "a batch is made before it travels",
        "the cell that fills 'days': what does its program do after each day?",
    ),
}


@exercise("2.1", "Keep each aircraft's flights in order")
def aircraft_in_order(lab: Lab, by_aircraft: str) -> str:
    """Solved if the topic holds January once, each aircraft in one partition, in scheduled order."""
    partitions = len(expect_topic(lab, by_aircraft, "by-aircraft").partitions)
    if partitions != 6:
        raise NotYet(
            f"'{by_aircraft}' has {partitions} partition{'s' * (partitions != 1)}",
            "6 are asked for, so that six readers can share the work",
            'lab.fresh_topic("by-aircraft", partitions=…)',
        )
    stored = eventually(lambda: _january(lab, by_aircraft), what="January's flights to be stored", within=3)
    judge(stored, partitions)
    aircraft = {flight["tailnum"] for _, flight in stored if flight["tailnum"]}
    return (
        f"each of {len(aircraft):,} aircraft has all its flights in one partition, in their order; so six "
        "readers can share the work, and each sees the whole story of its aircraft."
    )


@exercise("2.2", "Read one page and leave no trace")
def one_page(lab: Lab, reader: object, page: list[Any]) -> str:
    """Solved if the page is offsets 100 to 119 of partition 1, and the reader's group has left nothing."""
    consumer = _lab_consumer("reader", reader)
    is_the_page(page, lab.topic("january"))
    group = str(consumer.config.get("group.id"))
    told = lab.admin().describe_consumer_groups([group], request_timeout=CALL_SECONDS)[group].result()
    if not told.is_simple_consumer_group:
        raise NotYet(
            "the page is right, but the group has had a member: somebody subscribed",
            "a subscriber gets its partitions from the group and reads more than this page",
            "assign() with a TopicPartition, which takes partition and offset",
        )
    if consumer.config.get("enable.auto.commit", True) not in (False, "false"):
        raise NotYet(
            "the page is right, but the consumer commits by itself every five seconds and when it closes",
            "a look into the log should leave nothing behind",
            "enable.auto.commit, which is true unless you say otherwise",
        )
    for partition, offset in committed(lab, group, lab.topic("january")).items():
        raise NotYet(
            f"the page is right, but the group has committed offset {offset} of partition {partition}",
            "a look into the log should leave nothing behind",
            "commit(), which is not needed here",
        )
    return (
        "an offset is an address, so you can open the log anywhere and read any part again, "
        "and nobody else's reading has changed."
    )


@exercise("2.3", "Find the first flight stored after a given time")
def first_stored_after(lab: Lab, moment: int, reader: object, offset: int) -> str:
    """Solved if the offset is that of the first timestamp from `moment` on, and the log was not scanned."""
    consumer = _lab_consumer("reader", reader)
    records = _filled(lab, "days")
    later = [record.offset for record in records if record.timestamp >= moment]
    if not later or later[0] == records[0].offset:
        raise NotYet(
            f"`moment` is {moment}, and 'days' was not stored partly before and partly after it",
            "it should be the time that the cell above has noted",
            "the cell that fills 'days': run it again",
        )
    is_the_first(offset, later[0], records[-1].offset + 1)
    is_unread(consumer, later[0])
    return (
        "the broker found it in its index of times and did not send a single record; "
        "from there you can read again whatever came in since."
    )


@exercise("2.4", "Say which partition a key goes to")
def partitions_foretold(lab: Lab, here: dict[Any, Any], java: dict[Any, Any]) -> str:
    """Solved if both dictionaries name, for each tail number, the partition of the real record."""
    python_put, java_put = _places(lab, "tails-python"), _places(lab, "tails-java")
    is_foretold("here", here, python_put, java_put)
    is_foretold("java", java, java_put, python_put)
    return (
        f"all {len(python_put) + len(java_put)} records are where you said; the partition follows from the "
        "key, the number of partitions and the client's function, so programs that share keys must agree."
    )


@exercise("2.5", "Count the batches")
def batches_counted(lab: Lab, batches: int, why: str) -> str:
    """Solved if the number is that of the dump of partition 0 of 'days', and the reason is flush."""
    _filled(lab, "days")
    segments = lab.cluster.segments(lab.topic("days"), 0)
    dump = lab.cluster.tool("kafka-dump-log", "--files", ",".join(map(str, segments)))
    counts = [int(line.split(" count: ")[1].split()[0]) for line in dump.splitlines() if " count: " in line]
    if batches != len(counts):
        other = {sum(counts): "the number of records", len(segments): "the number of files (segments)"}
        raise NotYet(
            f"{batches} is {other.get(batches, 'not the number of batches')}",
            "each batch has one line in the dump, which begins with 'baseOffset'",
            "the output of kafka-dump-log without --print-data-log",
        )
    if why != "flush" and why not in NOT_WHY:
        raise NotYet(
            f"`why` is {why!r}", f"it should be one of flush, {', '.join(NOT_WHY)}", "the task, above"
        )
    if why in NOT_WHY:
        raise NotYet(*NOT_WHY[why])
    return (
        f"{len(counts)} batches hold {sum(counts):,} records, one batch for each flush(); the producer made "
        "them, and from there to the disk and to every reader they are only copied."
    )


def _january(lab: Lab, topic: str) -> list[Stored]:
    """Return the topic's flights once they are exactly those of January."""
    wanted = timetable(1)
    stored = flights_in(log_of(lab, topic))
    there = Counter(identity(flight) for _, flight in stored)
    if there - wanted:
        raise NotYet(
            f"'{topic}' holds {(there - wanted).total():,} records too many",
            "each flight of January should be there once",
            'lab.fresh_topic("by-aircraft", …), which starts from an empty topic',
        )
    if wanted - there:
        raise NotYet(
            f"'{topic}' holds {there.total():,} of January's {wanted.total():,} flights",
            "all of them should be there, also those without a tail number",
            "the loop over `timetable`, and producer.flush() after it",
        )
    return stored


def _places(lab: Lab, name: str) -> dict[str, int]:
    return {(record.key or b"").decode(): record.partition for record in _filled(lab, name)}


def _filled(lab: Lab, name: str) -> list[Record]:
    """Return the records of a topic that a cell of the lesson fills before the exercise."""
    topic = lab.topic(name)
    records = log_of(lab, topic) if lab.cluster.state([topic]).topic(topic) else []
    if not records:
        raise NotYet(
            f"the topic '{topic}' is not there or is empty",
            "the lab fills it before this exercise",
            f"the cell above with '{name}' in it: run it again",
        )
    return records
