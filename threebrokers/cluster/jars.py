"""Kafka's jars and the Spark connector's jars: that they are here, and whole."""

import hashlib
import shutil
from pathlib import Path

from threebrokers.cluster.cache_lock import faults_told, only_one
from threebrokers.cluster.lockfile import Jar, locked
from threebrokers.paths import cache
from threebrokers.store import JsonFile


def kafka_jars(*, verify: bool = False) -> list[Path]:
    """Return the jars of Kafka's brokers and tools, in the order of the class path.

    What is missing is fetched. `verify` reads every file again; a damaged one is replaced.
    Raises LabError in one sentence: no network, a wrong file, a full disk, no right to write.
    """
    return _present("kafka", verify)


def spark_jars(*, verify: bool = False) -> list[Path]:
    """Return the four jars with which Spark reads and writes Kafka; otherwise as `kafka_jars`."""
    return _present("spark", verify)


def take(folder: Path) -> None:
    """Copy into the cache what a folder has of the jars and the cache lacks. Raises LabError.

    Each is compared with jars.lock before it is used, as every jar is.
    """
    with only_one(_folder()), faults_told(_folder()):
        for jar in (*locked("kafka"), *locked("spark")):
            given = folder / jar.name
            if given.is_file() and not _is_whole(jar):
                part = _folder() / f".part-{jar.name}"
                part.mkdir(exist_ok=True)
                shutil.copyfile(given, part / jar.name)
                (part / jar.name).replace(_folder() / jar.name)
                part.rmdir()


def unsound(group: str) -> list[str]:
    """Return the names of a group's jars that are missing or damaged; reads every file, changes nothing."""
    return [jar.name for jar in locked(group) if not _is_whole(jar)]


def _folder() -> Path:
    return cache() / "jars"


def _present(group: str, verify: bool) -> list[Path]:
    jars = locked(group)
    stamp = {} if verify else _stamp().read() or {}
    doubtful = [jar for jar in jars if stamp.get(jar.name) != _mark(jar)]
    if doubtful:
        with only_one(_folder()):
            # Another process may have fetched them while this one waited.
            missing = [jar for jar in doubtful if not _is_whole(jar)]
            if missing:
                from threebrokers.cluster.download import fetch  # slow to import, and rarely needed

                fetch(missing, _folder())
            with faults_told(_folder()):
                _stamp().write((_stamp().read() or {}) | {jar.name: _mark(jar) for jar in doubtful})
    return [_folder() / jar.name for jar in jars]


def _is_whole(jar: Jar) -> bool:
    path = _folder() / jar.name
    try:
        if path.stat().st_size != jar.size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256
    except OSError:
        return False


# The stamp spares a start from reading 60 MB again: it trusts a file that was verified once and
# has had the same size and time of change since.


def _mark(jar: Jar) -> str:
    try:
        status = (_folder() / jar.name).stat()
    except OSError:
        return "missing"
    return f"{status.st_size} {status.st_mtime_ns} {jar.sha256}"


def _stamp() -> JsonFile[dict[str, str]]:
    return JsonFile(_folder() / "verified.json", dict[str, str], mode=0o644)  # several users may share it
