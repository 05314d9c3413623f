"""The end of a member of a group that may have a rebalance of which it did not hear."""

from confluent_kafka import Consumer

from threebrokers.kafka.clients import hear_of_rebalances


def close(*members: Consumer) -> None:
    """Close consumers. librdkafka's `close()` may wait for ever if such a rebalance is not heard before."""
    for member in members:
        hear_of_rebalances(member, member.assignment)
        member.close()
