"""Exercise 1.1: what a producer and its delivery reports tell of ten records."""

from confluent_kafka import Message, Producer

from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.exercise import NotYet
from threebrokers.text import counted, quoted

GREETINGS = 10


def unreported(producer: Producer, topic: str) -> int:
    """Return how many records have no report yet; of a plain producer, how much it still holds."""
    try:
        return producer.unreported(topic) if isinstance(producer, LabProducer) else len(producer)
    except RuntimeError:  # it is closed, and has flushed
        return 0


def no_record(sender: Producer, reports: list[Message]) -> NotYet:
    """Say why a None is among the reports."""
    found = f"`reports[{reports.index(None)}]` is None"  # type: ignore[arg-type]
    if isinstance(sender, LabProducer) and not sender.has_listener:
        return NotYet(
            f"{found}, and produce() was given no function (what it returns is always None)",
            "it should be given the function itself, which the client calls later, with the report",
            "on_delivery=… in produce(…): the function's name, without brackets",
        )
    return NotYet(
        found,
        "the record is the second of the two things that your function is given; the first is the error",
        "the function at on_delivery",
    )


def no_reports(senders: list[Producer], late: int, stored: int, elsewhere: list[str]) -> NotYet:
    """Say why there are no reports: `late` are still to come, `elsewhere` are topics that others wait for."""
    patience = [one.flushed for one in senders if isinstance(one, LabProducer) and one.flushed is not None]
    bounded = [seconds for seconds in patience if seconds >= 0]
    if late and bounded:
        return NotYet(
            f"flush({bounded[-1]:g}) did not wait for the answers, and `reports` is empty",
            "without a number flush() waits until every record has its report",
            "flush(…)",
        )
    if late:
        return NotYet(
            f"{counted(late, 'record')} with no delivery report yet",
            "the producer hands reports over inside flush() and poll() only",
            "the end of your code: is there a flush()?",
        )
    if stored:
        return NotYet(
            f"{counted(stored, 'record')} arrived, but `reports` is empty",
            "your code should keep the record that comes with each report",
            "on_delivery in produce(…), and what its function does",
        )
    if elsewhere:
        return NotYet(
            f"records for {quoted(elsewhere)} still wait in the producer, and none is in `greetings`",
            f"{GREETINGS} records should be sent to `greetings`",
            "the first thing that produce(…) gets",
        )
    return NotYet("nothing was sent", f"{GREETINGS} records should be in the topic", "produce(…)")


def is_counted(stored: int, told: int, late: int) -> None:
    """Raise NotYet unless ten records are stored, and as many reports kept."""
    if stored > GREETINGS:
        raise NotYet(
            f"the topic holds {stored} records",
            f"it should hold {GREETINGS}",
            "how often produce(…) runs; the whole cell begins with an empty topic",
        )
    if told < stored == GREETINGS and not late:
        raise NotYet(
            f"the topic holds all {GREETINGS} records, and `reports` only {counted(told, 'report')}",
            "the report of each record should be kept, beside those that came before it",
            "the function at on_delivery: does it add to `reports`, and for every record?",
        )
    if told > stored == GREETINGS:
        raise NotYet(
            f"`reports` holds {counted(told, 'report')}, and the topic {GREETINGS} records",
            "there should be one report for each record",
            "what adds to `reports`: it should begin empty, and get each report once",
        )
    if told != GREETINGS:
        raise NotYet(
            f"`reports` holds {counted(told, 'report')}{f', and {late} are still to come' if late else ''}",
            f"it should hold {GREETINGS}, one for each record",
            "how often produce(…) runs, and flush() after it",
        )


def is_of_each(places: list[tuple[int, int]]) -> None:
    """Raise NotYet if several reports name the same place in the log."""
    records = len(set(places))
    if records < len(places):
        raise NotYet(
            f"`reports` holds {len(places)} reports, and they are of {counted(records, 'record')} only",
            "each record should have its own",
            "what adds to `reports`: the record that comes with each report, once",
        )
