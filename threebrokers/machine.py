"""Troubles of the machine itself: Java, memory, disk, damaged jars."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from threebrokers.cluster.java import java
from threebrokers.errors import BenchError

GIGA = 1_000_000_000
MEMORY_NEEDED = 2 * GIGA
DISK_NEEDED = GIGA


@dataclass(frozen=True)
class Finding:
    """What was looked at, what was found, and what to do about it."""

    about: str
    ok: bool
    what: str
    cure: str = ""


def look_for_java() -> Finding:
    """See whether the Java that runs everything is there and new enough."""
    try:
        return Finding("Java", True, str(java()))
    except BenchError as fault:
        return Finding("Java", False, str(fault), "unset THREEBROKERS_JAVA: the course brings its own Java")


def look_at_memory(available: int, used_by_brokers: int) -> Finding:
    """Compare the memory (bytes) that is free, or used by these brokers already, with what a lab needs."""
    have = available + used_by_brokers
    found = f"{have / GIGA:.1f} GB free for the course; it needs {MEMORY_NEEDED / GIGA:.0f} GB"
    return Finding(
        "memory", have >= MEMORY_NEEDED, found, "" if have >= MEMORY_NEEDED else "close other programs"
    )


def look_at_disk(free: Mapping[Path, int]) -> Finding:
    """Compare the free space (bytes) at the bench and at the cache with what a lab needs."""
    where, least = min(free.items(), key=lambda item: item[1])
    enough = least >= DISK_NEEDED
    cure = "free some space, or set THREEBROKERS_HOME and THREEBROKERS_CACHE to folders on another disk"
    return Finding(
        "disk", enough, f"{least / GIGA:.1f} GB free in {where}; 1 GB is enough", "" if enough else cure
    )


def look_at_jars(unsound: list[str]) -> Finding:
    """Say which of the locked jars are missing or not the files that they should be."""
    if not unsound:
        return Finding("jars", True, "every file has the sha256 of jars.lock")
    some = ", ".join(unsound[:3]) + (", …" if len(unsound) > 3 else "")
    return Finding(
        "jars", False, f"{len(unsound)} missing or damaged: {some}", "`make lab` fetches them again"
    )
