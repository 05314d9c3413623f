"""Exercises 5.2 and 5.5: what a topic's batches tell of the producer that made them."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from confluent_kafka import Producer

from threebrokers.checks.expect import log_of, topic_setting
from threebrokers.checks.expect_clients import client_setting
from threebrokers.kafka.batches import Batch
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.packing import reading
from threebrokers.lab.values import told
from threebrokers.text import counted

Flight = tuple[bytes | None, bytes]
SHARE = 0.2
A_BATCH, LONGEST_MS, PARTITIONS = 100, 500, 3
CONNECTING_MS = 100
AS_THEY_COME_MS = 600  # the last reading comes 700 ms after the first
LATE_MS = 1400  # whoever needs so long for them waits for something else
FEW = 10  # with fewer records a batch no codec has much to work with
HEAD = 150  # bytes that the client adds for its request and the longest head of a next record
PACKERS = ("gzip", "snappy", "lz4", "zstd")


def expect_given(lab: Lab, topic: str, name: str, producer: Producer) -> None:
    """Raise NotYet if nothing is in the topic and this producer of the lab was told to send nothing to it."""
    if isinstance(producer, LabProducer) and not producer.given(topic) and not log_of(lab, topic):
        raise NotYet(
            f"the topic {topic!r} is empty: the producer that the check was given has sent nothing to it",
            f"it should have sent all of them, to `{name}`",
            "the topic that produce() names, and the producer whose produce() you call",
        )


def judge_flights(records: Sequence[Record], flights: Sequence[Flight]) -> None:
    """Raise NotYet unless the log has exactly these keys and values, in any order."""
    wanted = Counter((key, value) for key, value in flights)
    there = Counter((record.key, record.value or b"") for record in records)
    if there == wanted:
        return
    if Counter((record.value, record.key) for record in records) == wanted:
        raise NotYet(
            "the values of the topic are the flights' keys, and its keys are their values",
            "a reader expects them the other way round",
            "the order of produce()'s arguments: topic, value, key",
        )
    values = {value for _, value in flights}
    strange = [record for record in records if record.value not in values]
    if strange:
        raise NotYet(
            f"the record at offset {strange[0].offset} has another value than each flight: "
            f"{(strange[0].value or b'')[:12]!r}…",
            "readers expect the flights as they are; the client packs whole batches, and unpacks them",
            "the value that produce() gets",
        )
    if len({(r.key, r.value) for r in records if r.key is None} - set(wanted)):
        raise NotYet("a record has no key", "each flight should keep its key", "key=… of produce()")
    if Counter(record.value for record in records) == Counter(value for _, value in flights):
        odd, value = next(iter(there - wanted))
        key = next(iter(key for key, flight in flights if flight == value))
        raise NotYet(
            f"a record has the key {told(odd)}, and its flight has {told(key)}",
            "each flight should keep its key",
            "key=… of produce()",
        )
    count = len(records)
    raise NotYet(
        f"the topic holds {counted(count, 'record')}",
        f"each of the {len(flights)} flights should be there once, with its key",
        "the loop, and flush() after it",
    )


def judge_size(
    lab: Lab, topic: str, packer: Producer, batches: Sequence[Batch], flights: Sequence[Flight]
) -> int:
    """Return the percentage of the values' bytes that is stored; NotYet if it is more than a fifth."""
    plain = sum(len(value) for _, value in flights)
    share = sum(batch.size for batch in batches) / plain
    each = sum(batch.records for batch in batches) / len(batches)
    codecs = {batch.codec for batch in batches}
    percent = f"the batches have {100 * share:.0f} % of the bytes of the values"
    setting = topic_setting(lab, topic, "compression.type")
    asked = [client_setting(packer, name, "none") for name in ("compression.type", "compression.codec")]
    _expect_packed_on_its_way(setting, asked)
    if share <= SHARE:
        return round(100 * share)
    if setting == "uncompressed" or (codecs == {"none"} and set(asked) & set(PACKERS)):
        if setting == "uncompressed":
            raise NotYet(
                f"{percent}: the topic's compression.type is uncompressed, so the leader unpacks all",
                "the topic should keep batches as they come",
                "the settings of the topic",
            )
        raise NotYet(
            f"{percent}: with {_records(each)} a batch no codec made one smaller, so they went as they are",
            "a codec finds what records have in common, and they must be in one batch for that",
            "what ends a batch: linger.ms, batch.size, batch.num.messages or a flush()",
        )
    if codecs == {"none"}:
        raise NotYet(
            f"{percent}: nothing is compressed",
            f"they should have {100 * SHARE:.0f} % or less",
            "compression.type of the producer",
        )
    if each < FEW:
        raise NotYet(
            f"{percent}: {', '.join(sorted(codecs))} packs {_records(each)} at a time",
            "a codec finds what records have in common, and they must be in one batch for that",
            "what ends a batch: linger.ms, batch.size, batch.num.messages or a flush()",
        )
    raise NotYet(
        f"{percent}, with {', '.join(sorted(codecs))} and {_records(each)} a batch",
        f"they should have {100 * SHARE:.0f} % or less",
        "the table above: which codec, and how many records a batch, come below that?",
    )


def _expect_packed_on_its_way(setting: str, asked: list[str | None]) -> None:
    """Raise NotYet if the leader packs, and not the producer, which was asked for these codecs."""
    if setting in ("producer", "uncompressed"):
        return
    wanted = "the flights should be small on their way to the leader, too"
    if asked == ["none", "none"]:
        raise NotYet(
            f"the topic's compression.type is {setting}, so the leader packs what comes in unpacked",
            wanted,
            "compression.type of the producer",
        )
    if asked == [None, None]:
        raise NotYet(
            f"the topic's compression.type is {setting}, and a plain producer does not tell whether it "
            "packs, or the leader",
            wanted,
            "the settings of the topic, which can stay as they are by default; or use `lab.producer`",
        )


def _records(each: float) -> str:
    return "one record" if each == 1 else f"{each:.0f} records" if each >= FEW else f"{each:.1f} records"


def expect_partitions(count: int) -> None:
    """Raise NotYet unless the topic of the readings is as the lab's cell makes it."""
    if count != PARTITIONS:
        raise NotYet(
            f"the topic has {counted(count, 'partition')}",
            f"it should have {PARTITIONS}, as the cell of the lab makes it: each has batches of its own",
            "the line that makes `stream`",
        )


def judge_readings(records: Sequence[Record]) -> None:
    """Raise NotYet unless these are the readings with their keys, each sent when it came in."""
    if any(record.key is None for record in records):
        raise NotYet("some readings have no key", "each should keep its machine as key", "key=… of produce()")
    pairs = [reading(number) for number in range(len(records))]
    wanted: Counter[tuple[bytes | None, bytes]] = Counter(
        (key.encode(), value.encode()) for key, value in pairs
    )
    if odd := Counter((record.key, record.value or b"") for record in records) - wanted:
        key, value = next(iter(odd))
        raise NotYet(
            f"a record has the key {told(key)} and the value {told(value)}",
            f"each should be as readings() gives it, such as {pairs[0]}",
            "the order of produce()'s arguments: topic, value, key",
        )
    used: dict[bytes | None, set[int]] = {}
    for record in records:
        used.setdefault(record.key, set()).add(record.partition)
    machine, places = max(used.items(), key=lambda item: len(item[1]))
    if len(places) > 1:
        raise NotYet(
            f"the readings of {told(machine)} are in {len(places)} partitions",
            "all of a machine should be in one, or their order is lost",
            "partition=… of produce(): the client chooses by the key if you do not",
        )
    sent = [record.timestamp for record in records]
    if (took := max(sent) - min(sent)) < AS_THEY_COME_MS:
        raise NotYet(
            f"by their timestamps all readings were sent within {took} ms, and they come in for 700 ms",
            "each should be sent when it comes, because a real source has no end to wait for",
            "the loop: does it begin when all readings are there, or does it set a timestamp?",
        )


def judge_stream(batches: Sequence[Batch], config: dict[str, Any] | None) -> tuple[int, int]:
    """Return records a batch, and the longest wait in one (ms); NotYet if too few, or too long."""
    each = sum(batch.records for batch in batches) / len(batches)
    longest = max(batch.max_timestamp - batch.first_timestamp for batch in batches)
    if each < A_BATCH:
        raise _too_few(each, batches, config)
    if longest > LONGEST_MS and not _waits_shortly(config, longest):
        raise NotYet(
            f"in one batch a reading waited {longest} ms for the last one",
            f"no reading should wait for longer than {LONGEST_MS} ms",
            "linger.ms: how many ms does a partition need for 100 readings?",
        )
    return int(each), longest


def _waits_shortly(config: dict[str, Any] | None, longest: int) -> bool:
    """Tell whether a wait is the machine's doing: a first batch waits for its connection, too."""
    if config is None:  # a plain producer hides its settings
        return longest <= LONGEST_MS + CONNECTING_MS
    linger = config.get("linger.ms", config.get("queue.buffering.max.ms", 5))
    return float(linger) <= LONGEST_MS


def _bound(batches: Sequence[Batch], settings: dict[str, Any]) -> str:
    """Return the setting at which most batches end though they might wait for more; empty if it is none.

    A batch ends at `batch.size` before it is packed: of packed ones not all that ended so are seen.
    """
    most, size = int(settings.get("batch.num.messages", 0)), int(settings.get("batch.size", 0))
    full = sum(batch.records == most for batch in batches)
    large = sum(batch.size * (1 + 1 / batch.records) + HEAD > size for batch in batches) if size else 0
    told = {f"batch.num.messages={most}": full, f"batch.size={size}": large}
    return next((name for name, count in told.items() if 2 * count > len(batches)), "")


def _too_few(each: float, batches: Sequence[Batch], config: dict[str, Any] | None) -> NotYet:
    found = f"a batch has {_records(each)}"
    wanted = f"it should have {A_BATCH} or more on average"
    settings = config or {}
    if bound := _bound(batches, settings):
        return NotYet(
            f"{found}: most end at {bound}",
            wanted,
            "what ends a batch before linger.ms is over; the last one of a partition has what is left",
        )
    took = max(batch.max_timestamp for batch in batches) - min(batch.first_timestamp for batch in batches)
    if all(batch.records == 1 for batch in batches):
        return NotYet(
            f"{found}, whatever the settings are: nothing travels together",
            wanted,
            "the loop: does it wait for each reading, with flush() or poll()?",
        )
    if took > LATE_MS:
        return NotYet(
            f"{found}: the readings were sent over {took / 1000:.1f} s, and they come in for 0.7 s",
            f"{wanted}, and each reading should be sent when it comes",
            "the loop: what else does it wait for?",
        )
    if config is None:  # a plain producer hides its settings
        return NotYet(
            f"{found}: its linger.ms is too short, a bound of its batches too small, or the loop waits",
            wanted,
            "linger.ms, batch.size and batch.num.messages of your producer; flush() in the loop",
        )
    linger = settings.get("linger.ms", settings.get("queue.buffering.max.ms"))
    if linger is None:
        return NotYet(
            f"{found}: the producer waits for more for 5 ms, as it does unless told otherwise",
            wanted,
            "linger.ms; batch.size and batch.num.messages are only upper bounds",
        )
    return NotYet(
        f"{found}, with linger.ms={linger}",
        f"{wanted}; each partition fills a batch of its own, with its share of the readings",
        "2,500 readings a second for 3 partitions: how long until one of them has 100?"
        + (" And how many bytes have 100?" if "batch.size" in settings else ""),
    )
