"""Troubles of the machine itself: Java, memory, disk, damaged jars."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from threebrokers.cluster.java import java
from threebrokers.cluster.process import BrokerProcess
from threebrokers.doctor.finding import Finding
from threebrokers.errors import LabError
from threebrokers.paths import lab_command
from threebrokers.text import shortened

MEGA, GIGA = 1_000_000, 1_000_000_000
MEMORY_NEEDED, SPARK_NEEDS = 2 * GIGA, 3 * GIGA
DISK_NEEDED = GIGA


def look_for_java() -> Finding:
    """See whether the Java that runs everything is there and new enough."""
    try:
        return Finding("Java", True, str(java()))
    except LabError as fault:
        return Finding("Java", False, fault.what, fault.next_step)


def look_at_memory(available: int, brokers: Iterable[BrokerProcess]) -> Finding:
    """Compare the memory (bytes) that is free, or used by these brokers already, with what a lab needs."""
    used = {broker.id: broker.rss for broker in brokers if broker.state != "down"}
    have = available + sum(used.values())
    each = ", ".join(f"broker {n} {rss / MEGA:.0f} MB" for n, rss in used.items())
    found = (
        f"{have / GIGA:.1f} GB free for the course; it needs {MEMORY_NEEDED / GIGA:.0f} GB, "
        f"{SPARK_NEEDS / GIGA:.0f} GB in labs with Spark{f' ({each})' if each else ''}"
    )
    return Finding(
        "memory", have >= MEMORY_NEEDED, found, "" if have >= MEMORY_NEEDED else "close other programs"
    )


def look_at_disk(free: Mapping[Path, int]) -> Finding:
    """Compare the free space (bytes) at the home and at the cache with what a lab needs."""
    where, least = min(free.items(), key=lambda item: item[1])
    enough = least >= DISK_NEEDED
    cure = "free some space, or set THREEBROKERS_HOME and THREEBROKERS_CACHE to folders on another disk"
    return Finding(
        "disk", enough, f"{least / GIGA:.1f} GB free in {where}; 1 GB is enough", "" if enough else cure
    )


def look_at_jars(unsound: Iterable[str], here: Collection[str]) -> Finding:
    """Say which of the locked jars are not the files that they should be; `here` are the files that exist."""
    names = list(unsound)
    damaged = [name for name in names if name in here]
    if damaged:
        what = f"{len(damaged)} damaged: {shortened(damaged)}"
        return Finding("jars", False, what, f"`{lab_command()}` fetches them again")
    if names:
        return Finding(
            "jars", True, f"{len(names)} were not needed yet", "they are fetched when they are needed"
        )
    return Finding("jars", True, "every file has the sha256 of jars.lock")
