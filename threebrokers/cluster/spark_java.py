"""The Java process of a notebook's Spark: its command, and what makes its start quick.

Spark's own script starts a first Java only to ask it for the command of the second. Most of the rest is
reading about 15,000 classes. So the first session of a machine notes which classes it uses, the next one
stores them once as the Java virtual machine maps them, and all later ones begin with that.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from threebrokers.cluster import cds, prepare, pyspark_files, quick_start
from threebrokers.cluster.cache_lock import only_one
from threebrokers.cluster.jars import spark_jars
from threebrokers.cluster.java import java
from threebrokers.cluster.spark_settings import COMPILER
from threebrokers.errors import LabError
from threebrokers.paths import cache, lab_command
from threebrokers.waiting import shown

MAIN = "org.apache.spark.api.python.PythonGatewayServer"
HEAP = "-Xmx768m"
# What Spark's script gives every JVM (org.apache.spark.launcher.JavaModuleOptions).
OPENED = (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
    "java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch", "sun.nio.cs",
    "sun.security.action", "sun.util.calendar",
)  # fmt: skip
MODULES = (
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-XX:+IgnoreUnrecognizedVMOptions", "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED", "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled", "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "-Dderby.connection.requireAuthentication=false",
)  # fmt: skip
FLAGS = [*COMPILER, *MODULES]
LOG = f"-Dlog4j2.configurationFile={prepare.HERE}/log4j2.spark.properties"
# Lists lie beside what is made of them: a session that runs still writes into its own.
CLASSES, MADE, LIST, LATE = "spark.jsa", "made", ".classes", "late"
# A list without it is of a session that read no topic, or was killed.
READ_KAFKA = b"org/apache/spark/sql/kafka010/KafkaOffsetReader"
# Ends at once; it makes sure that Java takes what was stored.
TRY = ["org.apache.spark.deploy.SparkSubmit", "--version"]
KEPT = 2
STORE_SECONDS = 120


def command(scratch: Path) -> list[str]:
    """Return the command that starts it; `scratch` is a folder for its files.

    Raises LabError if Spark is not whole, or Java not there.
    """
    path = _class_path()
    here = [LOG, f"-Djava.io.tmpdir={scratch}"]
    return [str(java()), HEAP, *FLAGS, *_quick(path), *here, "-cp", os.pathsep.join(path), MAIN]


def stored() -> tuple[str, list[str]] | None:
    """Return the class path for which classes are stored, and the flags to use them; None if there are none.

    A process of Spark that is no session starts with them too, but notes and stores nothing.
    """
    with suppress(LabError, OSError):
        path = _class_path()
        made = cache() / "spark" / _key(path) / MADE
        if (made / CLASSES).exists() and quick_start.is_unchanged(made):
            return os.pathsep.join(path), _use(made)
    return None


def _class_path() -> list[str]:
    """Return all jars: an archive of classes fits one order of them only. Raises LabError."""
    found = pyspark_files.folder()
    jars = sorted((found / "jars").glob("*.jar")) if found else []
    if not jars:
        raise LabError("PySpark is not installed, or is not whole", f"`{lab_command()}` installs it")
    jars.sort(key=lambda path: not path.name.startswith("slf4j-api"))  # as Spark's script does
    return [str(path) for path in (*jars, *spark_jars())]


def _quick(path: list[str]) -> list[str]:
    """Return the flags that make Java use what is stored, or note what is to be stored.

    None of it is needed: where it cannot be written, or did not succeed, Spark starts without.
    """
    place = cache() / "spark"
    folder = place / _key(path)
    made = folder / MADE
    with suppress(LabError, OSError, subprocess.SubprocessError):
        if not quick_start.is_unchanged(made):
            with only_one(place, waits=False):  # who comes meanwhile starts without
                folder.mkdir(exist_ok=True)
                lists = sorted(_finished(folder))
                if not (lists or quick_start.is_unchanged(made)):
                    return [cds.listing(folder / f"{os.getpid()}{LIST}")]
                if lists:
                    _store(made, path, lists)
                    _forget_old(place)
        os.utime(folder)
        return _use(made) if (made / CLASSES).exists() else []
    return []


def _use(made: Path) -> list[str]:
    return [f"-XX:SharedArchiveFile={made / CLASSES}", "-Xshare:auto", "-Xlog:cds=off", "-Xlog:aot=off"]


def _finished(folder: Path) -> Iterator[Path]:
    """Yield the lists of sessions that have ended and have read a topic; delete those that have not read."""
    for path in folder.glob(f"*{LIST}"):
        if path.stem != str(os.getpid()) and psutil.pid_exists(int(path.stem)):
            continue
        if READ_KAFKA in path.read_bytes():
            yield path
        else:
            path.unlink()


def _store(made: Path, path: list[str], lists: list[Path]) -> None:
    """Store the classes; without success, what is noted is that there is nothing, so nobody tries again.

    A machine may only be busy: where time ran out, the session after the next one tries once more.
    """
    archive, late, again = made / CLASSES, made.with_name(LATE), False
    made.mkdir(exist_ok=True)
    try:
        with shown("the classes of Spark to be stored, once", STORE_SECONDS):
            cds.store(java(), FLAGS, os.pathsep.join(path), lists, archive, TRY)
    except (OSError, subprocess.SubprocessError) as fault:
        archive.unlink(missing_ok=True)
        again = isinstance(fault, subprocess.TimeoutExpired) and not late.exists()
    for used in lists:
        used.unlink(missing_ok=True)
    if again:
        late.touch()
    else:
        quick_start.note(made)


def _forget_old(place: Path) -> None:
    made = [path for path in place.iterdir() if path.is_dir()]
    for path in sorted(made, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(path, ignore_errors=True)


def _key(path: list[str]) -> str:
    """Name what was made after the Java, its flags, and each jar with its size and time."""
    stats = ((jar, Path(jar).stat()) for jar in path)
    jars = [f"{jar} {found.st_size} {found.st_mtime_ns}" for jar, found in stats]
    return hashlib.sha256("\n".join([prepare.release_of(java()), *FLAGS, *jars]).encode()).hexdigest()[:16]
