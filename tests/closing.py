"""The end of a member of a group that may have a rebalance of which it did not hear."""

from confluent_kafka import Consumer

from threebrokers.kafka.clients import CLOSE_SECONDS, ends_within


def close(*members: Consumer) -> None:
    """Close consumers; one that does not come to its end is left alone in its thread.

    librdkafka's `close()` waits for ever if such a rebalance is answered when the member has left already
    (its issue 4884). It is seldom, no test is about it, and neither a time-out nor Ctrl-C would end the wait.
    """
    for member in members:
        ends_within(member.close, CLOSE_SECONDS)
