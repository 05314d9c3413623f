"""The numbers that producers give to their batches, from the log's own files: for lab 10."""

from typing import TYPE_CHECKING

from threebrokers.lab.lab import Lab

if TYPE_CHECKING:
    import pandas as pd


def numbered_batches(lab: Lab, topic: str) -> "pd.DataFrame":
    """Return the batches of a topic of one partition, a row each, as kafka-dump-log tells them."""
    import pandas as pd  # only where a table is shown

    files = ",".join(str(path) for path in lab.cluster.segments(topic, 0))
    dump = lab.cluster.tool("kafka-dump-log", "--files", files)
    return pd.DataFrame([_row(line) for line in dump.splitlines() if line.startswith("baseOffset:")])


def _row(line: str) -> dict[str, object]:
    words = line.split()
    told = dict(zip(words[::2], words[1::2], strict=False))
    numbered = told["producerId:"] != "-1"
    return {
        "offsets": f"{told['baseOffset:']}–{told['lastOffset:']}",
        "records": int(told["count:"]),
        "producer id": told["producerId:"] if numbered else "none",
        "epoch": told["producerEpoch:"] if numbered else "none",
        "sequence numbers": f"{told['baseSequence:']}–{told['lastSequence:']}" if numbered else "none",
    }
