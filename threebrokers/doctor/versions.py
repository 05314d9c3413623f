"""Pain 14 of learners: PySpark, the Kafka connector, Scala and Java must match."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from threebrokers.cluster.java import OLDEST, java, release
from threebrokers.cluster.lockfile import locked
from threebrokers.doctor.finding import Finding

CORE = re.compile(r"spark-core_(?P<scala>[\d.]+)-(?P<spark>[\w.]+)\.jar")
CONNECTOR = re.compile(r"org\.apache\.spark:spark-sql-kafka-0-10_(?P<scala>[\d.]+):(?P<spark>[\w.]+)")
INSTALL = (
    "`make lab` installs the course's own; a PYTHONPATH or SPARK_HOME of another Spark must not come first"
)


@dataclass(frozen=True)
class Spark:
    """A release of Spark and the Scala that it is made with."""

    spark: str
    scala: str

    def __str__(self) -> str:
        return f"{self.spark} for Scala {self.scala}"


def installed() -> Spark | None:
    """Return the Spark that `import pyspark` gives, as its own jars name it; None without one."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        return None
    return named(CORE, (path.name for path in (Path(found.origin).parent / "jars").glob("spark-core_*.jar")))


def connector() -> Spark | None:
    """Return the Spark that the connector in jars.lock is made for."""
    return named(CONNECTOR, (jar.coordinates for jar in locked("spark")))


def named(pattern: re.Pattern[str], names: Iterable[str]) -> Spark | None:
    """Return what the first name tells that fits."""
    fits = (pattern.fullmatch(name) for name in names)
    return next((Spark(found["spark"], found["scala"]) for found in fits if found), None)


def look_at_versions(pyspark: Spark | None, kafka: Spark | None, runs: int | None) -> Finding:
    """Compare PySpark with the Spark that the connector is made for, and Java with what both need."""
    if pyspark is None:
        return Finding("Spark", False, "PySpark is not installed, or is not whole", INSTALL)
    if kafka is None:
        return Finding(
            "Spark", False, "jars.lock names no connector for Kafka", "`git checkout` brings it back"
        )
    if pyspark.scala != kafka.scala or _minor(pyspark.spark) != _minor(kafka.spark):
        what = f"PySpark is {pyspark}, and the connector for Kafka is {kafka}: they do not fit together"
        return Finding("Spark", False, what, INSTALL)
    if runs is None or runs < OLDEST:
        what = f"Java is {runs or 'of an unknown release'}, and Spark {pyspark.spark} needs {OLDEST} or newer"
        return Finding("Spark", False, what, "unset THREEBROKERS_JAVA: the course brings its own Java")
    return Finding("Spark", True, f"PySpark and connector {pyspark}, Java {runs}")


def java_release() -> int | None:
    """Return the release of the Java that runs Spark. Raises LabError if it is not there."""
    return release(java())


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]
