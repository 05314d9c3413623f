"""Ten aircraft, whose departures a Java program writes."""

from typing import TYPE_CHECKING

from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.lab import Lab

if TYPE_CHECKING:
    import pandas as pd

AIRCRAFT = (
    "N14228",
    "N24211",
    "N619AA",
    "N804JB",
    "N668DN",
    "N39463",
    "N516JB",
    "N829AS",
    "N593JB",
    "N10156",
)


def departures_by_java(lab: Lab, name: str) -> str:
    """Return the full name of a fresh topic of six partitions, with a departure of each aircraft.

    Kafka's own console producer writes them: it is a Java program. The key is the tail number.
    """
    topic = lab.fresh_topic(name, partitions=6)
    typed = "".join(f"{tail}\tdeparted {tail}\n" for tail in AIRCRAFT)  # key, tabulator, value
    options = ["--topic", topic, "--reader-property", "parse.key=true"]
    lab.cluster.tool("kafka-console-producer", *options, typed=typed)
    return topic


def partitions_by_aircraft(lab: Lab, topic: str) -> "pd.DataFrame":
    """Return in which partition each aircraft's records are, one column for each kind of record.

    The values of the topic are two words, such as "landed N14228".
    """
    import pandas as pd  # only where a table is shown

    rows = [
        (*(record.value or b"").decode().split(), record.partition)
        for record in read_log(lab.bootstrap, topic)
    ]
    found = pd.DataFrame(rows, columns=["", "aircraft", "partition"])
    table = found.pivot_table(index="aircraft", columns="", values="partition", aggfunc="first", sort=False)
    return table.astype("Int64")
