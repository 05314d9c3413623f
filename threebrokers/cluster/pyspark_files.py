"""The installed PySpark, as its files tell it: nothing of it is imported."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

CORE = re.compile(r"spark-core_(?P<scala>[\d.]+)-(?P<spark>[\w.]+)\.jar")


@dataclass(frozen=True)
class Spark:
    """A release of Spark and the Scala that it is made with."""

    spark: str
    scala: str

    def __str__(self) -> str:
        return f"{self.spark} for Scala {self.scala}"


def folder() -> Path | None:
    """Return the folder of the PySpark that `import pyspark` gives; None without one."""
    found = find_spec("pyspark")
    return Path(found.origin).parent if found and found.origin else None


def installed() -> Spark | None:
    """Return the Spark that `import pyspark` gives, as its own jars name it; None without one."""
    found = folder()
    return named(CORE, (path.name for path in (found / "jars").glob("spark-core_*.jar"))) if found else None


def named(pattern: re.Pattern[str], names: Iterable[str]) -> Spark | None:
    """Return what the first name tells that fits."""
    fits = (pattern.fullmatch(name) for name in names)
    return next((Spark(found["spark"], found["scala"]) for found in fits if found), None)
