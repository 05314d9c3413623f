"""One Java program under both versions of the transactions' protocol, for lab 11."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.transactions import in_the_log

if TYPE_CHECKING:
    import pandas as pd

FEATURE, NEWEST = "transaction.version", 2
PROGRAM = ("--num-records", "200", "--record-size", "10", "--throughput", "200")
EACH_MS = "100"  # so long each transaction is open: about ten in the second that it takes


def epochs_by_version(lab: Lab) -> "pd.DataFrame":
    """Return how many transactions and producer epochs kafka-producer-perf-test has, by transaction.version.

    The cluster's feature is set to 1, and then to 2, which is Kafka's default and stays.
    """
    import pandas as pd  # only where a table is shown

    lab.cluster.expect_own("no feature of it is changed here")
    rows = {}
    with _newest_at_the_end(lab):
        for version in (1, NEWEST):
            _finalize(lab, version)
            rows[f"{FEATURE}={version}"] = _run(lab)
    return pd.DataFrame(rows).T


def _run(lab: Lab) -> dict[str, int]:
    """Run the program, and count in the log what it has written."""
    topic = lab.fresh_topic("by-java", replication_factor=3)
    name = ("--transactional-id", lab.topic("by-java"), "--transaction-duration-ms", EACH_MS)
    lab.cluster.tool("kafka-producer-perf-test", "--topic", topic, *PROGRAM, *name)
    log = in_the_log(lab, topic)
    records = log[log["what"].str.contains("record")]
    return {"transactions": len(log) - len(records), "epochs": int(records["epoch"].nunique())}


@contextmanager
def _newest_at_the_end(lab: Lab) -> Iterator[None]:
    try:
        yield
    finally:
        _finalize(lab, NEWEST)


def _finalize(lab: Lab, version: int) -> None:
    """Let the cluster speak this version, if it does not yet."""
    known = _finalized(lab)
    if known != version:
        word = "upgrade" if version > known else "downgrade"
        lab.cluster.tool("kafka-features", word, "--feature", f"{FEATURE}={version}")


def _finalized(lab: Lab) -> int:
    """Return the version that the cluster speaks."""
    for line in lab.cluster.tool("kafka-features", "describe").splitlines():
        words = line.split()
        if FEATURE in words:
            return int(words[words.index("FinalizedVersionLevel:") + 1])
    raise LabError(f"The brokers know no feature {FEATURE}", "run the cell again")
