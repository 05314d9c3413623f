"""What lab 08 says of a topic that may have only a part of a disk."""

from threebrokers.checks.expect import expect_topic, topic_setting
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import bytes_on_disk
from threebrokers.lab.scenarios.retention import FRAME_BYTES, FRAMES, PARTITIONS

MEGABYTE = 1_000_000
MOST, LEAST = 12 * MEGABYTE, 6 * MEGABYTE
WRITTEN = FRAMES * FRAME_BYTES  # into each partition
WITH_HEADS = 1.01 * WRITTEN  # each batch has a head
WEEK_MS = 7 * 24 * 3_600_000  # Kafka's default
CALL = "frames = film(lab, settings)"


def judge_sizes(lab: Lab, topic: str) -> None:
    """Raise NotYet unless the settings bound the topic from both sides, and its files are within."""
    found = expect_topic(lab, topic, "frames")
    if len(found.partitions) != PARTITIONS:
        raise NotYet(
            f"the topic has {len(found.partitions)} partition(s)", f"it should have {PARTITIONS}", CALL
        )
    judge_settings(*(int(topic_setting(lab, topic, name)) for name in ("retention.bytes", "segment.bytes")))
    judge_time(int(topic_setting(lab, topic, "retention.ms")))
    stored = sum(bytes_on_disk(lab, topic, range(PARTITIONS)))
    if not LEAST <= stored <= MOST:
        raise NotYet(
            f"the files hold {_mb(stored)} now",
            f"it should be between {_mb(LEAST)} and {_mb(MOST)}",
            f"{CALL}, and whether another setting decides, too",
        )


def judge_settings(retention: int, segment: int) -> None:
    """Raise NotYet unless four partitions with these settings (bytes) stay between 6 and 12 MB."""
    bounds = f"all {PARTITIONS} together should stay between {_mb(LEAST)} and {_mb(MOST)}"
    if retention < 0:
        raise NotYet("retention.bytes is -1: size deletes nothing", bounds, "`settings`")
    if PARTITIONS * retention > MOST:
        raise NotYet(
            f"retention.bytes counts for each partition: {PARTITIONS} × {_mb(retention)} are "
            f"{_mb(PARTITIONS * retention)}",
            bounds,
            "retention.bytes",
        )
    if segment >= WITH_HEADS:
        raise NotYet(
            f"segment.bytes is {segment}, so all {_mb(WRITTEN)} of a partition may lie in one segment, and "
            "only whole segments go",
            bounds,
            "segment.bytes; its smallest value is 1048576",
        )
    if PARTITIONS * (retention + segment) > MOST:
        raise NotYet(
            "a segment goes only if retention.bytes are left without it, so a partition may hold a segment "
            f"more: {PARTITIONS} × ({_mb(retention)} + {_mb(segment)}) are "
            f"{_mb(PARTITIONS * (retention + segment))}",
            bounds,
            "the sum of both settings",
        )
    if PARTITIONS * retention < LEAST:
        raise NotYet(
            f"only {PARTITIONS} × {_mb(retention)} = {_mb(PARTITIONS * retention)} are sure to stay",
            bounds,
            "retention.bytes: what is left when a segment goes",
        )


def judge_time(retention: int) -> None:
    """Raise NotYet if frames go sooner than by default because of their age (ms; below 0 they never do)."""
    if 0 <= retention < WEEK_MS:
        raise NotYet(
            f"retention.ms is {retention}: what is older goes, too, however little is left",
            f"the newest {_mb(LEAST)} should stay",
            "`settings`",
        )


def _mb(size: int) -> str:
    return f"{size / MEGABYTE:.1f} MB"
