"""The folder of a query's checkpoint, as Spark leaves it on the disk."""

import json
from pathlib import Path


def query_id(checkpoint: Path) -> str | None:
    """Return the id of the query that has its checkpoint in this folder; None if it is no checkpoint."""
    try:
        return str(json.loads((checkpoint / "metadata").read_text(encoding="utf-8"))["id"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
