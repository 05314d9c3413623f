"""What makes starts quick: Kafka's classes ready to be mapped, and a folder formatted by Kafka's own tool.

Both are made once, on the learner's machine, from the course's Java and jars, and kept in the cache.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from threebrokers.cluster import cds, quick_start
from threebrokers.cluster.cache_lock import faults_told, only_one
from threebrokers.cluster.java import java
from threebrokers.cluster.lockfile import LOCK
from threebrokers.paths import cache

# As an address: Log4j takes a list of files, so a comma in a path must be written otherwise.
HERE = Path(__file__).parent.as_uri()
KEPT = 3
FORM = "1: with a note of its files"  # of what is prepared: another one is made anew
TRIED = "tried"
TRIES = 2  # to store the classes: what hindered the first one may have been a full disk

# Flag and reason. All are known to every Java from 17 on.
COMMON = (
    ("-XX:+UseSerialGC", "one thread collects garbage: the least memory, the quickest start"),
    ("-XX:TieredStopAtLevel=1", "only the quick compiler: three brokers start together on two cores"),
    ("-XX:-UsePerfData", "no file in the temporary folder for each JVM, which a killed one would leave"),
    ("-Xshare:auto", "stored classes are used if they fit, and nothing is said if they do not"),
    ("-Xlog:disable", "the JVM's own warnings would stand in a tool's answer"),
    ("-XX:+ErrorFileToStderr", "a crash is told in the log, not in a file in your folder"),
)
BROKER = (
    ("-Xmx256m", "enough for the labs; three brokers fit into 650 MB"),
    ("-Xms64m", "the heap grows when it is needed, not before"),
    ("-XX:+ExitOnOutOfMemoryError", "a broker without memory is down, not half alive"),
    ("-Xmn24m", "a small nursery: a broker would fill a large one with garbage before it cleans up"),
    (f"-Dlog4j2.configurationFile={HERE}/log4j2.broker.properties", "time, level, message, class"),
)
TOOL = (
    ("-Xmx128m", "a tool holds little"),
    (f"-Dlog4j2.configurationFile={HERE}/log4j2.tool.properties", "only errors, apart from the answer"),
)
# Java 24 and newer warn, in the middle of a tool's output, of what Kafka and its compression libraries do.
SINCE_24 = ("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED")


@dataclass(frozen=True)
class Prepared:
    """How to start brokers and tools: JVM flags for each, and a formatted data folder to copy."""

    broker_flags: list[str]
    tool_flags: list[str]
    template: Path


def prepare(say: Callable[[str], None], thoroughly: bool = False) -> Prepared:
    """Return what a start needs; the first time it is made, which takes about half a minute and is said.

    What is damaged is made anew: a file that has changed, or, thoroughly, whose content has. If the classes
    cannot be stored, everything works without, only slower, and is tried once more. Raises LabError if
    Kafka's own tool cannot format a folder, or if the cache cannot be written.
    """
    program, folder, broker, tool = _asked()
    if not _is_ready(folder, thoroughly):
        with only_one(folder.parent), faults_told(folder.parent):
            if not _is_ready(folder, thoroughly):  # another process may have made it meanwhile
                _make(folder, program, broker, tool, say)
                _forget_old(folder.parent)
    with suppress(OSError):  # a cache that may only be read is good enough
        os.utime(folder)
    stored = folder / cds.CLASSES
    use = [f"-XX:SharedArchiveFile={stored}"] if stored.exists() else []
    return Prepared(broker + use, tool + use, folder / cds.TEMPLATE)


def renew_damaged(say: Callable[[str], None]) -> bool:
    """Make anew what is prepared if a file has another content than it had; tell whether that was so."""
    _, folder, _, _ = _asked()
    if quick_start.is_sound(folder):
        return False
    prepare(say, thoroughly=True)
    return True


def _asked() -> tuple[Path, Path, list[str], list[str]]:
    """Return the Java, the folder of what is prepared for it, and the flags of brokers and of tools."""
    program = java()
    release = release_of(program)
    common = [flag for flag, _ in COMMON] + (list(SINCE_24) if _major(release) >= 24 else [])
    broker = [flag for flag, _ in BROKER] + common
    tool = [flag for flag, _ in TOOL] + common
    return program, cache() / "prepared" / _key(release, [*broker, *tool]), broker, tool


def _is_ready(folder: Path, thoroughly: bool) -> bool:
    whole = quick_start.is_sound(folder) if thoroughly else quick_start.is_unchanged(folder)
    return whole and ((folder / cds.CLASSES).exists() or _tries(folder) >= TRIES)


def _make(
    folder: Path, program: Path, broker: list[str], tool: list[str], say: Callable[[str], None]
) -> None:
    work, tries = folder.with_name(".training"), 1
    if quick_start.is_sound(folder):
        if (folder / cds.CLASSES).exists():  # it was copied, say, and so has other times
            quick_start.note(folder)
            return
        tries += _tries(folder)
    elif folder.exists():
        say("The quick start of Kafka was damaged: it is made anew …")
    try:
        made = cds.make(program, broker, tool, work, say)
        if not (made / cds.CLASSES).exists():
            (made / TRIED).write_text(f"{tries}\n", encoding="ascii")
        quick_start.note(made)
        shutil.rmtree(folder, ignore_errors=True)  # brokers that run keep what they have opened
        made.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _tries(folder: Path) -> int:
    """Return how often it was tried in vain to store the classes."""
    try:
        return int((folder / TRIED).read_text("ascii"))
    except (OSError, ValueError):
        return 0


def _forget_old(place: Path) -> None:
    """Delete what was not used for the longest time: each takes 75 MB, and upgrades leave them behind."""
    made = [path for path in place.iterdir() if path.is_dir() and not path.name.startswith(".")]
    for path in sorted(made, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(path, ignore_errors=True)


def _key(release: str, flags: list[str]) -> str:
    """Name what was made after everything that it was made from, but not after this clone."""
    parts = [FORM, release, LOCK.read_text(encoding="utf-8"), str(cache()), *flags]
    parts = [part.replace(HERE, "") for part in parts]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def release_of(program: Path) -> str:
    """Return what this Java says about itself in the file beside it, without starting it."""
    home = program.resolve().parent.parent
    try:
        return (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"unknown {program} {program.stat().st_mtime_ns}"


def _major(release: str) -> int:
    _, _, rest = release.partition('JAVA_VERSION="')
    digits = rest.partition(".")[0].partition('"')[0]
    return int(digits) if digits.isdigit() else 0
