"""Reading jars.lock, which names every jar exactly."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

LOCK = Path(__file__).with_name("jars.lock")


@dataclass(frozen=True)
class Jar:
    """One line of jars.lock."""

    coordinates: str  # group:artifact:version
    size: int  # bytes
    sha256: str

    @property
    def name(self) -> str:
        """Return the name of its file, as Maven names it."""
        _, artifact, version = self.coordinates.split(":")
        return f"{artifact}-{version}.jar"


def locked(group: str) -> list[Jar]:
    """Return the jars of a group of jars.lock ("kafka" or "spark"), in the order of the class path."""
    entries = tomllib.loads(LOCK.read_text(encoding="utf-8"))[group]
    return [Jar(entry["jar"], entry["size"], entry["sha256"]) for entry in entries]
