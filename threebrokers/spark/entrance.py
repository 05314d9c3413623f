"""How Spark gets into a cluster that is not the learner's: beside the addresses it is told the rest."""

import functools
from typing import Any

from pyspark.sql import DataFrameReader, DataFrameWriter
from pyspark.sql.streaming import DataStreamReader, DataStreamWriter

from threebrokers.kafka import access

ADDRESSES = "kafka.bootstrap.servers"
# Plans and logs of Spark repeat options: what is secret in them is not to be read there.
HIDDEN = {
    "spark.redaction.string.regex": r'(?s)password="(?:[^"\\]|\\.)*"|-----BEGIN.*-----END[^-]*-----',
    "spark.sql.redaction.options.regex": "(?i)url|jaas|password|keystore",
}


def more_options(addresses: str) -> dict[str, str]:
    """Return what Spark is told beside these addresses; nothing for brokers of one's own."""
    way = access.chosen()
    if way is None or not access.reaches(way, addresses):
        return {}
    return {f"kafka.{name}": value for name, value in way.java().items()}


def fill_in() -> None:
    """Let each reader and writer that is told the cluster's addresses be told the rest too."""
    for kind in (DataFrameReader, DataFrameWriter, DataStreamReader, DataStreamWriter):
        if not hasattr(kind.option, "__wrapped__"):
            kind.option, kind.options = _option(kind.option), _options(kind.options)  # type: ignore[method-assign]


def _option(before: Any) -> Any:
    @functools.wraps(before)
    def option(self: Any, key: str, value: Any) -> Any:
        if key.lower() == ADDRESSES:
            for name, told in more_options(str(value)).items():
                before(self, name, told)
        return before(self, key, value)

    return option


def _options(before: Any) -> Any:
    @functools.wraps(before)
    def options(self: Any, **given: Any) -> Any:
        return before(self, **{**more_options(str(given.get(ADDRESSES, ""))), **given})

    return options
