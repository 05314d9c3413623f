"""Storing the classes that a JVM loads, so that the next one maps them instead of reading jars."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

STEP_SECONDS = 120
# Only G1 can store objects too, and linked classes; Java 17 knows no linking and leaves it out.
STORING = ("-Xmx512m", "-XX:+UseG1GC", "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+AOTClassLinking")
OTHERWISE = ("-Xmx", "-XX:+UseSerialGC", "-Xshare")


def listing(path: Path) -> str:
    """Return the flag that makes a JVM write down the classes that it loads."""
    return f"-XX:DumpLoadedClassList={path}"


def merged(lists: Iterable[Path]) -> str:
    """Return one list for several JVMs: each line once, without the numbers that one run gave to classes."""
    names: dict[str, None] = {}
    for path in lists:
        lines = path.read_text(encoding="utf-8").splitlines()
        names |= dict.fromkeys(line.partition(" id: ")[0] for line in lines if not line.startswith("#"))
    return "".join(f"{name}\n" for name in names)


def store(java: Path, flags: list[str], path: str, lists: list[Path], archive: Path) -> None:
    """Write the archive of all classes in `lists`, for this class path, and make sure that a JVM takes it.

    Raises CalledProcessError or TimeoutExpired.
    """
    every = archive.with_suffix(".list")
    every.write_text(merged(lists), encoding="utf-8")
    archived = f"-XX:SharedArchiveFile={archive}"
    kept = [flag for flag in flags if not flag.startswith(OTHERWISE)]
    run(java, [*kept, *STORING, "-Xshare:dump", f"-XX:SharedClassListFile={every}", archived], path, [])
    every.unlink()
    with archive.open("rb+") as file:
        os.fsync(file)  # a JVM crashes on an archive that lost a page in a power cut
    run(java, [*flags, "-Xshare:on", archived], path, ["org.apache.kafka.tools.TopicCommand", "--version"])


def run(java: Path, flags: list[str], path: str, words: list[str], given: str = "") -> None:
    """Run a main class with its arguments to its end. Raises CalledProcessError or TimeoutExpired."""
    command = [str(java), *flags, "-cp", path, *words]
    subprocess.run(command, input=given, capture_output=True, text=True, timeout=STEP_SECONDS, check=True)
