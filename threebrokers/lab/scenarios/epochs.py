"""One Java program under both versions of the transactions' protocol, for lab 11."""

from typing import TYPE_CHECKING

from threebrokers.errors import LabError
from threebrokers.lab import changes
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.transactions import in_the_log

if TYPE_CHECKING:
    import pandas as pd

FEATURE, NEWEST = "transaction.version", 2
PROGRAM = ("--num-records", "200", "--record-size", "10", "--throughput", "200")
EACH_MS = "100"  # so long each transaction is open: about ten in the second that it takes


def epochs_by_version(lab: Lab) -> "pd.DataFrame":
    """Return how many transactions and producer epochs kafka-producer-perf-test has, by transaction.version.

    The cluster's feature is set to 1, and then back to 2, which is Kafka's default.
    """
    import pandas as pd  # only where a table is shown

    lab.cluster.expect_own("no feature of it is changed here")
    rows = {}
    with changes.for_a_while(lab, FEATURE):
        known = _finalized(lab)
        for version in (1, NEWEST):
            _finalize(lab, known, version)
            known = version
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


def put_back(lab: Lab) -> None:
    """Let the cluster speak the newest version again, if it does not."""
    _finalize(lab, _finalized(lab), NEWEST)


def _finalize(lab: Lab, known: int, version: int) -> None:
    """Let the cluster, which speaks the `known` version, speak this one."""
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
