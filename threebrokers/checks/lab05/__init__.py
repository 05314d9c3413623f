"""The checks of lab 05."""

from collections.abc import Callable
from typing import Annotated, Any

from confluent_kafka import Producer

from threebrokers.checks.expect import TopicName, expect_topic, log_of
from threebrokers.checks.expect_clients import expect_flushed
from threebrokers.checks.lab05.deciding import judge_decisions
from threebrokers.checks.lab05.packed import (
    expect_given,
    expect_partitions,
    judge_flights,
    judge_readings,
    judge_size,
    judge_stream,
)
from threebrokers.checks.lab05.places import judge_function, judge_log, judge_restart
from threebrokers.checks.lab05.sending import judge_sending
from threebrokers.checks.lab05.way_back import judge_deserializer, judge_stages
from threebrokers.checks.lab05.wrapping import judge_quotes, judge_serializer, judge_traced
from threebrokers.data.flights import flight_messages
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.anew import defined_anew
from threebrokers.lab.exercise import NotYet, eventually, exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.choosing import PRICES
from threebrokers.lab.scenarios.packing import stored_batches

FLIGHTS, READINGS = 400, 1750
ClassOfTheirs = Annotated[Callable[..., Any], "a class"]


@exercise("5.1", "Fast, and no error lost")
def fast_and_sure(lab: Lab, send: Callable[..., Any]) -> str:
    """Solved if `send` waits for no single order, has a small queue, and tells what is not stored."""
    judge_sending(lab, send)
    return (
        "your program has many orders on their way while it sends the next one, holds 100 records in "
        "memory at most, and returned exactly the orders that no broker has."
    )


@exercise("5.2", "A fifth of the bytes")
def fifth_of_the_bytes(lab: Lab, small: TopicName, packer: Producer) -> str:
    """Solved if the topic has the flights as they are, in a fifth of their bytes, packed by the producer."""
    expect_topic(lab, small, "small")
    expect_flushed(lab, small, packer)
    expect_given(lab, small, "small", packer)
    flights = flight_messages(month=1)[:FLIGHTS]
    eventually(lambda: judge_flights(log_of(lab, small), flights), what="the flights to be stored", within=2)
    judge_size(lab, small, packer, stored_batches(lab, small), flights)
    return (
        "the flights need a fifth of their bytes or less, on the network, on each replica's disk and on the "
        "way to each reader: what packs well is not a record, but a batch."
    )


@exercise("5.3", "A partition of their own")
def partition_of_their_own(lab: Lab, partition_of: Callable[..., Any]) -> str:
    """Solved if important symbols are alone in the last partition, and all others share the rest by key."""
    judge_function(partition_of)
    topic = lab.topic("prices")
    expect_topic(lab, topic, "prices")
    judge_log(log_of(lab, topic), PRICES)
    judge_restart(partition_of, defined_anew("partition_of"))
    return (
        "IBM and UBER have the last partition for themselves, because all others are kept off it, and each "
        "symbol has one place, today and after every restart."
    )


@exercise("5.4", "Six errors, three answers")
def errors_decided(lab: Lab, decide: Callable[..., Any]) -> str:
    """Solved if a program that does what `decide` says of six errors stores, keeps apart and ends rightly."""
    judge_decisions(lab, decide)
    return (
        "a program that does what you say has stored what could be sent again, has kept apart what could "
        "not, and does not ask a producer that is finished."
    )


@exercise("5.5", "A hundred a batch")
def hundred_a_batch(lab: Lab, stream: TopicName, streamer: Producer) -> str:
    """Solved if batches have 100 readings on average, and in none a reading waited for more than 0.5 s."""
    expect_partitions(len(expect_topic(lab, stream, "machine-readings").partitions))
    expect_flushed(lab, stream, streamer)
    expect_given(lab, stream, "stream", streamer)
    records = eventually(lambda: _all_readings(lab, stream), what="the readings", within=2)
    judge_readings(records)
    settings = streamer.config if isinstance(streamer, LabProducer) else None
    judge_stream(stored_batches(lab, stream), settings)
    return (
        "a batch has 100 readings or more, and none of them waited for longer than half a second: linger.ms "
        "is the time in which one partition gets enough, and no longer."
    )


@exercise("5.6", "A serializer that refuses")
def bad_prices_refused(lab: Lab, serialize: Callable[..., Any]) -> str:
    """Solved if good prices become JSON in UTF-8, and each bad one a ValueError that names its field."""
    judge_serializer(serialize)
    topic = lab.topic("quotes")
    expect_topic(lab, topic, "quotes")
    judge_quotes(log_of(lab, topic))
    return (
        "only good prices are in the topic, as JSON that every program can read; a bad one never left the "
        "program, and its error says which field to mend."
    )


@exercise("5.7", "An interceptor in Python")
def every_record_traced(lab: Lab, Traced: ClassOfTheirs) -> str:  # noqa: N803 - as in the learner's cell
    """Solved if the class gives each record an id in a header, and counts what was acknowledged."""
    judge_traced(lab, Traced)
    return (
        "every record has a trace id of its own beside the program's headers, its value is untouched, the "
        "program hears its reports, and only what was acknowledged is counted."
    )


@exercise("5.8", "The way back")
def stages_read(lab: Lab, stage_from_bytes: Callable[..., Any]) -> str:
    """Solved if each key becomes the stage that it was made of, none stays none, and no UTF-8 is an error."""
    judge_deserializer(stage_from_bytes)
    topic = lab.topic("stages")
    expect_topic(lab, topic, "stages")
    judge_stages(log_of(lab, topic))
    return (
        "each reader gets the stage that was meant, an alert without a stage has none, and bytes of somebody "
        "else are an error where they are read."
    )


def _all_readings(lab: Lab, topic: str) -> list[Record]:
    records = log_of(lab, topic)
    if len(records) != READINGS:
        raise NotYet(
            f"the topic holds {len(records):,} of {READINGS:,} readings",
            "each should be there once",
            "the loop, and flush() after it",
        )
    return records
