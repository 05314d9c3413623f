"""What lab 02's checks say of answers, without brokers."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import TopicPartition, consistent, fnv1a, murmur2

from threebrokers.checks.lab02 import agreement, keys, page, since
from threebrokers.data import AIRCRAFT
from threebrokers.data.topics import NOTED_AFTER, TEN_DAYS
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet


def flight(number: int, tail: str, minute: int) -> dict[str, object]:
    when = f"2013-01-01T05:{minute:02d}"
    return {
        "flight": number,
        "tailnum": tail,
        "scheduled": when,
        "carrier": "UA",
        "origin": "EWR",
        "dest": "IAH",
    }


def stored(*places: int) -> list[keys.Stored]:
    """Return four flights of two aircraft without keys, each in the partition that is named."""
    flights = [flight(n, f"N{n % 2}", n) for n in range(len(places))]
    records = [
        Record("by-aircraft", place, n, None, json.dumps(flights[n]).encode(), -1, "create")
        for n, place in enumerate(places)
    ]
    return keys.flights_in(records)


@pytest.mark.parametrize(
    ("places", "text"),
    [
        ((0, 1, 2, 3), "no record has a key, and the flights of aircraft N0 are in 2 partitions"),
        ((4, 4, 4, 4), "no record has a key, and the client put them into partition 4 this time, as it came"),
        ((1, 2, 1, 2), "them into partition 1 and 2 this time"),
    ],
    ids=["spread", "all in one partition", "by chance each aircraft in one partition"],
)
def test_records_without_a_key_are_told_so_wherever_they_went(places, text):
    with pytest.raises(NotYet) as caught:
        keys.judge(stored(*places), 6)
    assert text in str(caught.value)


def keyed(choose: Callable[[keys.Flight], str | None], place: Callable[[int], int]) -> list[keys.Stored]:
    """Return twelve flights of two aircraft, with the key and in the partition that these choose."""
    flights = [flight(n, f"N{n % 2}", n) for n in range(12)]
    return [
        (Record("by-aircraft", place(n), n, str(choose(f)).encode(), json.dumps(f).encode(), -1, "create"), f)
        for n, f in enumerate(flights)
    ]


@pytest.mark.parametrize(
    ("log", "text"),
    [
        (
            keyed(lambda f: str(f["tailnum"]), lambda n: n % 3),
            "the keys are right, and yet the flights of air",
        ),
        (keyed(lambda f: str(f["tailnum"]), lambda n: 5), "keys, and yet the partitions do not follow from"),
        (keyed(json.dumps, lambda n: n % 3), "each record has a key of its own, and the flights of aircraft"),
        (keyed(lambda f: "AB"[int(f["flight"]) > 5], lambda n: n // 6), "aircraft N0 are in 2 partitions"),
    ],
    ids=["a partition named", "one partition named", "a key for each record", "a key without a meaning"],
)
def test_keys_that_do_not_keep_aircraft_are_told_with_the_reason(log, text):
    with pytest.raises(NotYet) as caught:
        keys.judge(log, 6)
    assert text in str(caught.value)


def nameless(key: Callable[[int], bytes | None], place: Callable[[int], int]) -> list[keys.Stored]:
    """Return flights of 200 aircraft by their keys, and ten without a tail number with these keys."""
    named = [(flight(n, f"N{n}", n), f"N{n}".encode()) for n in range(200)]
    log = [(Record("by-aircraft", murmur2(text, 6), 0, text, b"{}", -1, "create"), f) for f, text in named]
    none = flight(99, "", 99) | {"tailnum": None}
    return [
        *log,
        *((Record("by-aircraft", place(n), n, key(n), b"{}", -1, "create"), none) for n in range(10)),
    ]


def test_flights_without_a_tail_number_are_not_one_aircraft():
    with pytest.raises(NotYet, match=r"10 flights .* have the text 'null' as their key, as if they were one"):
        keys.judge(nameless(lambda n: b"null", lambda n: 3), 6)
    with pytest.raises(NotYet, match=r"7 flights .* have the text 'UA' as their key, as if they were one"):
        keys.judge(nameless(lambda n: b"AA" if n < 3 else b"UA", lambda n: 3 if n < 3 else 5), 6)
    keys.judge(nameless(lambda n: b"", lambda n: n % 6), 6)  # this client spreads empty keys
    keys.judge(nameless(lambda n: None, lambda n: n % 6), 6)
    keys.judge(nameless(lambda n: b"a flight %d" % n, lambda n: n % 6), 6)  # no two are one aircraft
    keys.judge(nameless(lambda n: b"UA %d" % (n // 2 * n % 9), lambda n: n % 6), 6)  # two have one number


def hashed(tails: list[str]) -> list[keys.Stored]:
    """Return one flight of each aircraft, with its key, where Python's hash() puts it."""
    flights = [flight(n, tail, n) for n, tail in enumerate(tails)]
    return [
        (Record("by-aircraft", hash(tail) % 6, n, tail.encode(), b"{}", -1, "create"), flights[n])
        for n, tail in enumerate(tails)
    ]


def test_python_s_hash_is_told_from_one_partition_that_it_names_by_chance():
    many = [f"N{n}" for n in range(200)]
    with pytest.raises(NotYet, match=r"spread by Python's hash\(\)"):
        keys.judge(hashed(many), 6)
    with pytest.raises(NotYet, match="keys, and yet the partitions do not follow from"):
        keys.judge(hashed([tail for tail in many if hash(tail) % 6 == 5]), 6)


def test_a_partition_with_almost_no_flight_is_told_so():
    even = keyed(lambda f: "", lambda n: n % 6) * 10
    keys._even(even, 6)
    few = [(record, f) for record, f in even if record.partition != 5] + even[5:6]
    with pytest.raises(NotYet, match="but partition 5 has 1 of 101 flights; an even share is 17%"):
        keys._even(few, 6)


JANUARY = [("2013-01-01", "UA", number) for number in range(4)]
FEBRUARY = [("2013-02-01", "UA", number) for number in range(3)]


@pytest.mark.parametrize(
    ("there", "text"),
    [
        (
            FEBRUARY,
            "3 records of flights that are not in `timetable`, and 4 flights of January are not there",
        ),
        (
            JANUARY + FEBRUARY,
            "holds 3 records of flights that are not in `timetable`; each flight of January",
        ),
        (JANUARY[:1] * 4, "holds some flights more than once, and 3 flights of January not at all; each"),
        (JANUARY * 2, "holds 4 records too many; each"),
        (JANUARY[1:], "holds 3 of January's 4 flights; all of them"),
    ],
    ids=["only February", "the whole year", "always the same flight", "twice", "one missing"],
)
def test_flights_that_are_missing_other_or_doubled_are_told_apart(there: list[keys.Identity], text: str):
    keys.expect_once("by-aircraft", Counter(JANUARY), Counter(JANUARY))
    with pytest.raises(NotYet) as caught:
        keys.expect_once("by-aircraft", Counter(there), Counter(JANUARY))
    assert text in str(caught.value)


def test_a_flight_that_is_not_as_in_the_timetable_is_told_so(monkeypatch):
    right = flight(1, "N1", 0) | {"dep_delay": None}
    monkeypatch.setattr(keys, "_flights", lambda month: {keys.identity(right): right})
    record = Record("by-aircraft", 3, 7, None, b"", -1, "create")
    keys.expect_same([(record, dict(reversed(right.items())))], 1)
    with pytest.raises(NotYet, match="offset 7 of partition 3 has NaN as its 'dep_delay'; it should be null"):
        keys.expect_same([(record, right | {"dep_delay": float("nan")})], 1)
    with pytest.raises(NotYet, match="'dep_delay'"):
        keys.expect_same([(record, flight(1, "N1", 0))], 1)


class Counting:
    """A producer of confluent-kafka: its length is the number of what it waits for."""

    def __init__(self, waiting: int | None) -> None:
        self.waiting = waiting

    def __len__(self) -> int:
        if self.waiting is None:
            raise RuntimeError("closed")
        return self.waiting


def test_a_producer_that_nobody_waited_for_is_told_so():
    with pytest.raises(NotYet, match="3 records of `producer` have no delivery report yet"):
        keys.all_reported("producer", Counting(3))


@pytest.mark.parametrize("waiting", [0, None], ids=["all reported", "closed"])
def test_a_producer_without_open_reports_may_go(waiting: int | None):
    keys.all_reported("producer", Counting(waiting))


def movement(what: str, tail: str, partition: int, key: bytes | None = b"own", *, offset: int = 0) -> Record:
    key = tail.encode() if key == b"own" else key
    return Record("movements", partition, offset, key, f"{what} {tail}".encode(), -1, "create")


def java(tail: str) -> int:
    return murmur2(tail.encode(), 6)


def movements(
    choose: Callable[[str], int] = java, key: Callable[[str], bytes | None] = str.encode
) -> list[Record]:
    """Return the departures as Java has written them, and landings with this key in this partition."""
    departures = [movement("departed", tail, java(tail)) for tail in AIRCRAFT]
    return departures + [movement("landed", tail, choose(tail), key(tail), offset=1) for tail in AIRCRAFT]


def test_landings_behind_their_departures_are_right():
    agreement.judge(movements())


@pytest.mark.parametrize(
    ("records", "text"),
    [
        (movements(key=lambda tail: str(tail.encode()).encode()), "is b\"b'N14228'\", which is no key of"),
        (
            movements(key=lambda tail: AIRCRAFT[-1].encode()),
            f"landing of N14228 has the key of another departure: {AIRCRAFT[-1].encode()!r}; it should",
        ),
        (movements()[:10] + movements()[10:11] * 10, "10 landings, and they are of 1 aircraft only; each of"),
        (movements(key=lambda tail: None), "the landing of N14228 has no key"),
        (movements(lambda tail: consistent(tail.encode(), 6)), "9 of 10 landings are apart from their dep"),
        (movements(lambda tail: consistent(tail.encode(), 6)), "as CRC32 has it"),
        (movements(lambda tail: fnv1a(tail.encode(), 6)), "as FNV-1a has it"),
        (movements(lambda tail: hash(tail) % 6), "as Python's hash() has it"),
        (movements(lambda tail: 3), "all ten landings are in partition 3"),
        (movements(lambda tail: (java(tail) + 1) % 6), "10 of 10 landings are apart from their departures;"),
        (movements()[:10], "there are no landings; each of the 10"),
        (movements()[:11], "there is 1 landing; each of the 10"),
        (movements() + movements()[-1:], "there are 11 landings"),
        (movements() + movements()[:10], "there are 20 departures"),
        (
            [*movements()[1:], movement("departed", "N14228", java("N14228"), offset=2)],
            "the landing of N14228 has offset 1, and its departure 2: it stands before it; the departures",
        ),
        (movements()[10:], "the departures are not where Java's program has put them"),
        ([*movements(), movement("taxied", "N14228", 0)], "a record holds b'taxied N14228'"),
        ([*movements(), movement("landed", "N1", 0)], "a record holds b'landed N1'"),
        ([*movements(), movement("landed", "N1 late", 0)], "a record holds b'landed N1 late'"),
    ],
)
def test_each_fault_of_two_programs_is_told(records: Sequence[Record], text: str):
    with pytest.raises(NotYet) as caught:
        agreement.judge(records)
    assert text in str(caught.value)


NOW = 1_800_000_000_000
HALF_AN_HOUR = 1_800_000


def ten_days(kind: str, days: Sequence[int] = TEN_DAYS) -> list[Record]:
    """Return one flight of each day; a day is a second later than the one before."""
    slow = HALF_AN_HOUR if kind == "create" else 0
    return [
        Record("days", 0, n, None, value(day), NOW + 1000 * n - (slow if n % 2 else 0), kind)
        for n, day in enumerate(days)
    ]


def value(day: int) -> bytes:
    return json.dumps({"scheduled": f"2013-01-{day:02}T05:15:00-05:00"}).encode()


@pytest.fixture
def _one_flight_a_day(monkeypatch):
    monkeypatch.setattr(since, "_flights", lambda: dict.fromkeys(TEN_DAYS, 1))


MOMENT = NOW + 1000 * NOTED_AFTER - 1


def judged(records: Sequence[Record], moment: int, offset: int, *, is_changed: bool = False) -> None:
    first = since.is_filled(records)
    since.has_one_clock(records, first, moment, offset, is_changed=is_changed)
    since.is_the_first(records, first, moment, offset)


@pytest.mark.usefixtures("_one_flight_a_day")
def test_the_first_record_of_one_clock_is_right():
    judged(ten_days("append"), MOMENT, NOTED_AFTER)


@pytest.mark.usefixtures("_one_flight_a_day")
@pytest.mark.parametrize(
    ("records", "moment", "offset", "text"),
    [
        (ten_days("append", TEN_DAYS[:4]), MOMENT, 3, "'days' lacks flights of 6 of the ten days"),
        (ten_days("append", TEN_DAYS * 2), MOMENT, 3, "'days' has some days twice"),
        (ten_days("append", sorted(TEN_DAYS)), MOMENT, 3, "'days' has the ten days in another order"),
        ([], MOMENT, 3, "'days' lacks flights of 10 of the ten days"),
        (
            ten_days("create"),
            MOMENT,
            4,
            "what stands from offset 3 to 3, all flights of the 5th, is not read",
        ),
        (ten_days("create"), MOMENT, 3, "the offset is right, but the topic still has the times of the prog"),
        (ten_days("create"), MOMENT, 0, "the 3 records before offset 3 would be read twice"),
        (ten_days("create"), MOMENT, 9, "offset 9 is not the first that was stored since"),
        (ten_days("create"), MOMENT, -1, "offset -1 is where the log ends: no record is late enough"),
        (ten_days("create"), MOMENT, 10, "offset 10 is where the log ends: no record is late enough"),
        (ten_days("append"), MOMENT // 1000, 0, "`moment` is in seconds: Kafka's times are in milliseconds"),
        (ten_days("append"), NOW - 60_000, 0, "`moment` is a time before anything was stored"),
        (ten_days("append"), NOW + 60_000, 9, "`moment` is a time after all was stored"),
        (ten_days("append"), MOMENT - 1000, 2, "`moment` is not the time that was noted"),
        (ten_days("append"), MOMENT, 0, "offset 0 is the answer for a time long ago"),
        (ten_days("append"), MOMENT, 2, "offset 2 is the last record stored before `moment`"),
        (ten_days("append"), MOMENT, 1, "offset 1 was stored before `moment`"),
        (ten_days("append"), MOMENT, 4, "offset 4 is the second record stored since `moment`; the first"),
        (ten_days("append"), MOMENT, 5, "offset 5 was stored after `moment`"),
        (ten_days("append"), MOMENT, 10, "offset 10 is where the log ends"),
        (ten_days("append"), MOMENT, -1, "offset -1 is where the log ends"),
    ],
)
def test_each_fault_of_a_time_is_told(records: Sequence[Record], moment: int, offset: int, text: str):
    with pytest.raises(NotYet) as caught:
        judged(records, moment, offset)
    assert text in str(caught.value)


@pytest.mark.usefixtures("_one_flight_a_day")
def test_a_setting_that_came_too_late_is_told_so():
    with pytest.raises(NotYet, match="the setting was changed after the records had been stored"):
        judged(ten_days("create"), MOMENT, 3, is_changed=True)


def test_a_reader_that_read_more_than_the_page_is_told_so():
    reader = LabConsumer({"group.id": "page"}, {"bootstrap.servers": "127.0.0.1:1"})
    reader.received = 120
    page.is_of_group(reader, "page")
    with pytest.raises(NotYet, match="`reader` belongs to the group 'page'; it should be of 'other'"):
        page.is_of_group(reader, "other")
    with pytest.raises(NotYet, match="`reader` has read 120 records; these 20 are wanted"):
        page.is_all_that_was_read(reader, [None] * 20)
    reader.received = 21
    with pytest.raises(NotYet, match=r"your code where it ends\. Look at: the offset in TopicPartition, and"):
        page.is_all_that_was_read(reader, [None] * 20)
    for received, told in ((0, "none"), (5, 5)):
        reader.received = received
        with pytest.raises(NotYet, match=f"`reader` has read {told} of these 20; `reader` should be the"):
            page.is_all_that_was_read(reader, [None] * 20)
    reader.received = 20
    page.is_all_that_was_read(reader, [None] * 20)
    reader.close()


def test_a_reader_that_subscribed_and_got_something_else_is_told_so():
    reader = LabConsumer({"group.id": "page"}, {"bootstrap.servers": "127.0.0.1:1"})
    reader.subscribe(["january"])
    with pytest.raises(NotYet, match="`reader` has subscribed to 'january'"):
        page.is_the_page(reader, [], "january")
    with pytest.raises(NotYet, match="`reader` has subscribed to 'january'"):
        page.is_the_page(reader, [], "flights")
    reader.unsubscribe()
    with pytest.raises(NotYet, match="`page` is empty, and `reader` has no partition now; it should keep"):
        page.is_the_page(reader, [], "january")
    reader.close()


def test_a_reader_that_was_told_nothing_is_told_so():
    reader = LabConsumer({"group.id": "page"}, {"bootstrap.servers": "127.0.0.1:1"})
    with pytest.raises(NotYet, match="has neither subscribed nor been assigned"):
        page.is_the_page(reader, [], "january")
    reader.close()


def test_a_reader_that_was_given_other_partitions_is_told_so():
    reader = LabConsumer({"group.id": "page"}, {"bootstrap.servers": "127.0.0.1:1"})
    page.is_alone(reader, "january")
    reader.assign([TopicPartition("january", 1, 100)])
    page.is_alone(reader, "january")
    reader.assign([TopicPartition("january", p, 100) for p in range(6)])
    with pytest.raises(NotYet, match="the page is right this time, but `reader` was given 6 partitions"):
        page.is_alone(reader, "january")
    reader.close()
    page.is_alone(reader, "january")


def test_any_other_consumer_is_believed():
    reader: Any = SimpleNamespace()
    page.is_of_group(reader, "page")
    page.is_all_that_was_read(reader, [None] * 20)
