"""The topics that several labs read: all flights, sent once for the whole course."""

from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from threebrokers.data.flights import flight_messages
from threebrokers.errors import LabError
from threebrokers.kafka import client_settings
from threebrokers.kafka.log_reader import end_offsets, start_offsets
from threebrokers.lab.lab import Lab
from threebrokers.waiting import shown

FLIGHTS = 336_776
SEND_SECONDS = 120.0


def has_all_flights(lab: Lab) -> bool:
    """Tell whether the topic "flights" holds every flight; False also if there is no such topic."""
    return _kept(lab, lab.topic("flights")) == FLIGHTS


def ensure_flights(lab: Lab) -> str:
    """Return the full name of the topic "flights"; make it and send all flights if some are not there.

    Six partitions, three replicas, keyed by tail number, records as `data.flight_messages()` makes
    them, kept for ever. Sending takes about 10 s. Raises LabError.
    """
    if has_all_flights(lab):
        return lab.topic("flights")
    topic = lab.fresh_topic("flights", partitions=6, replication_factor=3, config={"retention.ms": "-1"})
    with shown(f"all {FLIGHTS:,} flights to be in the topic '{topic}'", SEND_SECONDS):
        send(lab, topic, flight_messages())
    return topic


def month_topic(lab: Lab, name: str, month: int) -> str:
    """Return the full name of a fresh topic that holds one month's flights, in three partitions."""
    topic = lab.fresh_topic(name, partitions=3, replication_factor=3, config={"retention.ms": "-1"})
    send(lab, topic, flight_messages(month))
    return topic


def send(lab: Lab, topic: str, messages: Iterable[tuple[bytes | None, bytes]]) -> None:
    """Send (key, value) messages and wait until the brokers have all of them. Raises LabError."""
    refused: list[KafkaError] = []

    def report(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            refused.append(error)

    settings = client_settings.shared(lab.bootstrap) | {
        "enable.idempotence": True,  # order inside a partition survives a repeated request
        "linger.ms": 50,
        "on_delivery": report,
    }
    producer = Producer(settings)  # not one of the lab's clients: it ends with this call
    for key, value in messages:
        while True:
            try:
                producer.produce(topic, value=value, key=key)
                break
            except BufferError:
                producer.poll(0.1)
    left = producer.flush(SEND_SECONDS)
    if left or refused:
        why = refused[0].str() if refused else f"{left} records were still waiting after {SEND_SECONDS:g} s"
        raise LabError(
            f"The topic '{topic}' could not be filled ({why}): see with `threebrokers status` whether all "
            "brokers are up, then run this cell again."
        )


def _kept(lab: Lab, topic: str) -> int | None:
    try:
        first, last = start_offsets(lab.bootstrap, topic), end_offsets(lab.bootstrap, topic)
    except KafkaException:
        return None
    return sum(last.values()) - sum(first.values())
