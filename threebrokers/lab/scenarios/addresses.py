"""Which addresses a client was told by the brokers, and whether it reaches them."""

import json
from typing import Any

EVERY_MS = 100


def connections_into(table: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Return the settings of a client that keeps in `table`, by broker, how it stands with it.

    It does so ten times a second. A row has the address that the client was told, whether there is a
    connection, and how many requests went over it. The address that was given to the client is not there:
    librdkafka leaves it as soon as it was told the others (since 2.10).
    """

    def note(statistics: str) -> None:
        for name, broker in json.loads(statistics)["brokers"].items():
            if broker["source"] == "learned":
                table[broker["nodeid"]] = {
                    "it was told the address": name.partition("/")[0],
                    "connected": broker["state"] == "UP",
                    "requests": broker["tx"],
                }

    return {"statistics.interval.ms": EVERY_MS, "stats_cb": note}
