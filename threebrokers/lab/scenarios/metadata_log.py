"""What the controllers wrote into their own log, in words."""

import json
import re
from typing import Any

from confluent_kafka import TopicCollection

from threebrokers.lab.lab import Lab

CALL_SECONDS = 10.0
RECORD = re.compile(r"\boffset: (\d+) CreateTime: (\d+) .* payload: (\{.*\})$")
NOBODY = -1


def decisions(lab: Lab, since: float, until: float) -> list[tuple[int, str, str]]:
    """Return what the controllers wrote about brokers and partitions between two moments (s since 1970).

    Each has the record's offset in `__cluster_metadata`, its type, and what it says in words.
    """
    quorum_leader = lab.cluster.state([]).quorum_leader
    files = lab.cluster.segments("__cluster_metadata", 0, quorum_leader)[-2:]
    dump = lab.cluster.tool(
        "kafka-dump-log", "--cluster-metadata-decoder", "--files", ",".join(map(str, files))
    )
    names = _names(lab)
    return [
        (int(offset), told["type"], words)
        for line in dump.splitlines()
        if (found := RECORD.search(line))
        for offset, milliseconds, payload in [found.groups()]
        if since < int(milliseconds) / 1000 < until
        for told in [json.loads(payload)]
        if (words := in_words(told["type"], told["data"], names))
    ]


def in_words(kind: str, data: dict[str, Any], names: dict[str, str]) -> str:
    """Return what a record says of a broker or of a partition; empty if it is about something else.

    `names` has the topic of each topic id.
    """
    if kind == "BROKER_REGISTRATION_CHANGE_RECORD" and data.get("fenced"):
        return f"broker {data['brokerId']} is {'fenced' if data['fenced'] > 0 else 'not fenced any more'}"
    if kind != "PARTITION_CHANGE_RECORD":
        return ""
    said = []
    if (leader := data.get("leader")) is not None:
        said.append("nobody leads" if leader == NOBODY else f"broker {leader} leads")
    if (isr := data.get("isr")) is not None:
        said.append(f"in sync: {', '.join(map(str, isr)) or 'none'}")
    return f"{names.get(data['topicId'], 'a topic')}-{data['partitionId']}: {'; '.join(said)}" if said else ""


def _names(lab: Lab) -> dict[str, str]:
    """Return the topic of each topic id."""
    admin = lab.admin()
    topics = list(admin.list_topics(timeout=CALL_SECONDS).topics)
    told = admin.describe_topics(TopicCollection(topics), request_timeout=CALL_SECONDS)
    # The client writes an id with + and /, the dump writes - and _ for them.
    ids = {name: str(future.result().topic_id).rstrip("=") for name, future in told.items()}
    return {written.replace("+", "-").replace("/", "_"): name for name, written in ids.items()}
