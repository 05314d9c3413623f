"""What the brokers of a home went through: told by their logs."""

import re
from dataclasses import dataclass
from pathlib import Path

FENCED = re.compile(r"Fencing broker \d+ at epoch \d+ because its session has timed out")
ELECTED = re.compile(r"Completed transition to Leader\(")


@dataclass(frozen=True)
class Unrest:
    """How often a broker was fenced for its silence, and how often a controller was elected."""

    fencings: int
    elections: int

    def since(self, before: "Unrest") -> "Unrest":
        """Return what came after `before`."""
        return Unrest(self.fencings - before.fencings, self.elections - before.elections)

    def __str__(self) -> str:
        return f"{self.fencings} fencings, {self.elections} elections"


def unrest(home: Path) -> Unrest:
    """Return what the brokers' logs tell so far."""
    texts = [path.read_text("utf-8", errors="replace") for path in (home / "logs").glob("broker-*.log")]
    return Unrest(
        sum(len(FENCED.findall(text)) for text in texts), sum(len(ELECTED.findall(text)) for text in texts)
    )
