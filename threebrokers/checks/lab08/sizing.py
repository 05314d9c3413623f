"""What lab 08 says of how long records may stay on disks of a given size."""

from threebrokers.checks.expect import existing_topic
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.packing import stored_batches

VALUE_BYTES, RATE, DAY_SECONDS = 1000, 10, 86_400
DISK, FREE, BROKERS, SEGMENT_DAYS = 100e9, 0.2, 3, 7
PARTITIONS, DAY_MS = 12, 86_400_000
NEAR, SHORT = 0.02, 2  # of the bytes; days that may be given away, for those who count the indexes
FILES = "stored_batches(lab, meters): the sizes and the records of its batches"


def judge_sizing(lab: Lab, on_disk: float, days: float) -> None:
    """Raise NotYet unless these are the bytes of a record in the files, and the days that surely fit."""
    topic = lab.topic("meters")
    existing_topic(lab, topic)
    batches = stored_batches(lab, topic)
    count = sum(batch.records for batch in batches)
    if not count:
        raise NotYet("the topic 'meters' is empty", "its files tell how large a record is", "the cell above")
    measured = sum(batch.size for batch in batches) / count
    judge_record(on_disk, measured)
    judge_period(days, measured)


def judge_record(on_disk: float, measured: float) -> None:
    """Raise NotYet unless `on_disk` is near what was measured (bytes)."""
    if abs(on_disk - measured) <= NEAR * measured:
        return
    if abs(on_disk - VALUE_BYTES) < 1:
        raise NotYet(
            f"`on_disk` is {on_disk:g}, which are the bytes of the value alone",
            "each batch has a head of 61 bytes, and each record some bytes of its own",
            FILES,
        )
    times = "; all three replicas lie on three disks" if on_disk > 2 * measured else ""
    raise NotYet(
        f"`on_disk` is {on_disk:g}, and in the files it is {measured:.0f}{times}",
        "it should be the bytes of one record, with its part of the batch, in one replica",
        FILES,
    )


def possible(record: float, disks: int = 1, free: float = FREE) -> float:
    """Return how many days of records (bytes each) fit on so many disks."""
    return disks * DISK * (1 - free) / (record * RATE * DAY_SECONDS)


def judge_period(days: float, record: float) -> None:
    """Raise NotYet unless `days` is the longest retention for which the disks surely suffice."""
    fits = possible(record)
    most = fits - SEGMENT_DAYS
    expected = "the largest whole number of days for which no disk is ever fuller than four fifths"
    if most - SHORT <= days <= most:
        if float(days).is_integer():
            return
        raise NotYet(f"`days` is {days:g}, which is not whole", f"it should be {expected}", "`days`")
    if days < most - SHORT:
        raise NotYet(
            f"with {days:g} days the disks stay emptier than they may be{_divided(days, fits)}",
            expected,
            "what one disk takes in a day, and how much longer than retention.ms a record may stay",
        )
    if days > possible(VALUE_BYTES, disks=2 * BROKERS):
        unit = ": it seems to be in milliseconds" if days >= DAY_MS else ""
        raise NotYet(f"`days` is {days:g}{unit}", f"it should be a number of days: {expected}", "`days`")
    if days > possible(record, disks=2):
        raise NotYet(
            f"{days:g} days would fit if each record were on one broker only",
            f"three replicas on three brokers: each disk holds everything; {expected}",
            "what one disk takes in a day",
        )
    if days > fits + 1:
        raise _too_full(days, record, expected)
    if days < most + 1:
        raise NotYet(
            f"records of {days:g} days and of a segment more fill a disk for a little more than four fifths",
            expected,
            "rounding: the days that fit are no whole number",
        )
    raise NotYet(
        f"records of {days:g} days fill what may be filled, and they stay longer than retention.ms: a "
        f"segment holds up to {SEGMENT_DAYS} days, and goes when its newest record is too old",
        expected,
        "how old the oldest record was at the beginning of this lab",
    )


def _too_full(days: float, record: float, expected: str) -> NotYet:
    """Say how full a disk gets with so many days, which are more than fit."""
    longer = f"a record may stay up to {SEGMENT_DAYS} days longer than retention.ms"
    if abs(days - SEGMENT_DAYS - possible(record)) < 1:
        return NotYet(
            f"{days:g} days are about {SEGMENT_DAYS} more than four fifths of a disk can take",
            f"{longer}, so they should be taken away, not added; {expected}",
            "the sign before the days of a segment",
        )
    most = possible(record, free=0) - SEGMENT_DAYS
    if days > most - 1:  # for those who round down
        nothing = "nothing" if days >= most else "next to nothing"
        return NotYet(f"with {days:g} days {nothing} stays free", expected, "a fifth of 100 GB")
    return NotYet(
        f"with {days:g} days less than a fifth of a disk stays free: {longer}",
        expected,
        "a fifth of 100 GB, and the days of a segment",
    )


def _divided(days: float, fits: float) -> str:
    """Say what was divided by a number that plays no part, if these days look like that."""
    if abs(days - fits / BROKERS) <= SEGMENT_DAYS + 1:
        return " (every broker has a replica of each partition: nothing is divided by three)"
    if days <= fits / PARTITIONS + 1:
        return " (the ten records of a second are those of all partitions: nothing is divided by twelve)"
    return ""
