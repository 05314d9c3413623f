"""What lessons do to a cluster and measure in it, where reading the code would not help a learner."""

from threebrokers.lab.scenarios.failover import (
    Asker,
    Heartbeats,
    controller_last,
    coordinator_of,
    leaderless_everywhere,
    leads_nothing,
    member_of_new_group,
    read_and_commit,
    through_a_kill,
    two_writers,
)
from threebrokers.lab.scenarios.measuring import (
    accepted,
    bytes_by_broker,
    compose_file,
    megabytes_per_second,
    send_and_read,
)
from threebrokers.lab.scenarios.outages import is_balanced, take_down, unbalanced_topic
from threebrokers.lab.scenarios.partitions import partition_of

__all__ = [
    "Asker",
    "Heartbeats",
    "accepted",
    "bytes_by_broker",
    "compose_file",
    "controller_last",
    "coordinator_of",
    "is_balanced",
    "leaderless_everywhere",
    "leads_nothing",
    "megabytes_per_second",
    "member_of_new_group",
    "partition_of",
    "read_and_commit",
    "send_and_read",
    "take_down",
    "through_a_kill",
    "two_writers",
    "unbalanced_topic",
]
