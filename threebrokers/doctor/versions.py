"""Pain 14 of learners: PySpark, the Kafka connector, Scala and Java must match."""

import re

from threebrokers.cluster.java import OLDEST, java, release
from threebrokers.cluster.lockfile import locked
from threebrokers.cluster.pyspark_files import Spark, named
from threebrokers.doctor.finding import Finding
from threebrokers.paths import lab_command

CONNECTOR = re.compile(r"org\.apache\.spark:spark-sql-kafka-0-10_(?P<scala>[\d.]+):(?P<spark>[\w.]+)")
INSTALL = (
    f"`{lab_command()}` installs the course's own; a PYTHONPATH or SPARK_HOME of another Spark must not come "
    "first"
)


def connector() -> Spark | None:
    """Return the Spark that the connector in jars.lock is made for."""
    return named(CONNECTOR, (jar.coordinates for jar in locked("spark")))


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
