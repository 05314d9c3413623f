"""What a consumer of lab 01 has read of ten greetings, and why it has not read them all."""

from collections import Counter

from confluent_kafka import Consumer, KafkaError, Message

from threebrokers.checks.expect import committed, log_of, messages_only
from threebrokers.checks.expect_clients import client_setting, group_of, received
from threebrokers.checks.lab01.sending import GREETINGS
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import UNKNOWN, Record
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.text import counted, listed, quoted
from threebrokers.why_empty import explain
from threebrokers.why_empty.words import partitions

PARTITIONS = 3
SETTLE_SECONDS = 3.0
TOPIC = "the name of the topic, wherever your code gives one"
RESET = "auto.offset.reset: where does a group begin that has committed nothing?"
WHERE_ERRORS_COME_FROM = {KafkaError._AUTO_OFFSET_RESET: RESET, KafkaError._NO_OFFSET: RESET}
FROM_THE_START = ("earliest", "smallest", "beginning")
# What `why_empty` says of consumers that only had to poll a little longer, or are gone by now.
NO_FAULT = ("unread", "not joined", "not polled", "nobody", "closed", "moving", "forgotten", "unknown")

Place = tuple[int, int]  # partition and offset


def ten_greetings(lab: Lab, topic: str) -> list[Record]:
    """Return the log of a topic; NotYet unless it holds what the exercise put there."""
    log = log_of(lab, topic)
    if len(log) != GREETINGS:
        raise NotYet(
            f"the topic {topic!r} holds {counted(len(log), 'record')}",
            f"it should hold the {GREETINGS} that the cell of the exercise puts there",
            "that cell: run it again from its first line",
        )
    return log


def is_of_group(consumer: Consumer, group: str, name: str, which: str) -> None:
    """Raise NotYet unless the consumer belongs to the group; a plain one does not tell, and is believed."""
    own = group_of(consumer, group)
    if own != group:
        raise NotYet(
            f"your consumer belongs to the group {own!r}",
            f"it should be {group!r}, {which}: it is in `{name}`",
            f"group.id: {name}, without quotes",
        )


def has_read_before(lab: Lab, group: str, topic: str, others: list[str], done: dict[int, int]) -> None:
    """Raise NotYet unless the group is that of the first reading.

    `others` are the groups in which consumers of the lab have read ten records. If these do not tell, what
    the group has committed (`done`) does; a group that was deleted since has committed nothing.
    """
    prefix = lab.group("collectors").removesuffix(f"-{lab.opened}")
    ours = [name for name in others if name.startswith(f"{prefix}-")]
    if group in ours or (done and not ours):
        return
    raise NotYet(
        f"the group {group!r} has not read {topic!r} before",
        "it should be the group of the first reading",
        "`collectors`: the cell sets it, so run the cell again",
    )


def is_another_reading(first: list[Message], again: list[Message]) -> None:
    """Raise NotYet if both hold the same objects, whichever of the two readings these come from."""
    if {id(m) for m in again} & {id(m) for m in first}:
        raise NotYet(
            "`again` holds what `first` holds",
            "`first` should be the first reading, and `again` a second one from the brokers",
            "what is kept as `first`, and what as `again`",
        )


def messages_of(values: list[Message], name: str, topic: str, look_at: str) -> list[Message]:
    """Return the values if each is a record that is stored in the topic; NotYet names what is not."""
    told = messages_only(name, list(values), look_at)
    for message in told:
        fault: KafkaError | None = message.error()
        if fault is not None:
            raise NotYet(
                f"`{name}` holds an error where a record should be ({fault.str()})",
                f"each record should be stored in {topic!r}",
                WHERE_ERRORS_COME_FROM.get(fault.code(), TOPIC if fault.code() in UNKNOWN else look_at),
            )
        if message.topic() != topic:
            raise NotYet(
                f"`{name}` holds records of the topic {message.topic()!r}",
                f"they should be of {topic!r}",
                TOPIC,
            )
    return told


def places_of(log: list[Record], messages: list[Message], name: str, topic: str) -> list[Place]:
    """Return where the messages are stored; NotYet if one is no record of the log, or there twice."""
    told = messages_of(messages, name, topic, f"what you put into `{name}`: the records as they come")
    places = [place_of(message) for message in told]
    if len(set(places)) != len(places):
        raise NotYet(
            f"`{name}` holds some records twice", "each should be there once", f"what you put into `{name}`"
        )
    stored = {where(record): record.timestamp for record in log}
    if any(stored.get(place_of(message)) != message.timestamp()[1] for message in told):
        raise NotYet(
            f"`{name}` holds records that are no longer in {topic!r}",
            "the topic was made anew since, so they should be read again",
            "the cell of the exercise: run it from its first line",
        )
    return places


def nothing_came(lab: Lab, reader: Consumer, group: str, topic: str) -> NotYet:
    """Say why a consumer has got nothing: what it knows itself first, then as `lab.why_empty` sees it."""
    if not reads(reader):
        return NotYet(
            "your consumer has neither subscribed nor been given partitions",
            f"it should be told to read {topic!r}",
            "subscribe([…]) or assign([…]), before it reads",
        )
    others = reader.subscribed if isinstance(reader, LabConsumer) else ()
    if others and topic not in others and not any(name.startswith("^") for name in others):
        return NotYet(
            f"your consumer has subscribed to {quoted(others)}",
            f"it should read {topic!r}",
            "the list in subscribe([…])",
        )
    reset = client_setting(reader, "auto.offset.reset", "latest")
    if reset not in (None, *FROM_THE_START) and not committed(lab, group, topic):
        return NotYet(
            "your consumer began at the end of the topic and found nothing new",
            f"a new group begins where auto.offset.reset says: it begins at the end with {reset!r}",
            "auto.offset.reset",
        )
    asked = reader if isinstance(reader, LabConsumer) else group
    answer = explain(lab.cluster, asked, topic, settle=SETTLE_SECONDS, watch=0)
    if answer.cause in NO_FAULT:
        return NotYet(
            "nothing came while your code was reading",
            "an empty poll says only that nothing has arrived yet, not that the topic ends",
            "the place where your reading stops: how long does it wait?",
        )
    return NotYet("nothing came", answer.text.rstrip("."), "what your consumer is told before it reads")


def some_missing(reader: Consumer, got: list[Place], missing: list[Place], name: str) -> NotYet:
    """Say which records are not there, as far as that tells the reason."""
    count = received(reader) or 0
    if count > len(got):
        return NotYet(
            f"your consumer was given {counted(count, 'record')}, and `{name}` holds {len(got) or 'none'} of "
            f"the {GREETINGS}",
            "each should be kept",
            "what your code does with a record after it has come",
        )
    whole = sorted({partition for partition, _ in got} - {partition for partition, _ in missing})
    none = sorted({partition for partition, _ in missing} - {partition for partition, _ in got})
    if whole and len(whole) + len(none) == PARTITIONS:
        return NotYet(
            f"`{name}` holds {len(got)} of the {GREETINGS} records: all of {partitions(whole)}, and "
            f"nothing of {partitions(none)}",
            "all three partitions should be read, from offset 0",
            "the partitions that you name, if you name any, and how long your reading waits",
        )
    begins = {partition: min(o for p, o in got if p == partition) for partition, _ in got}
    if late := [partition for partition, offset in sorted(begins.items()) if offset]:
        nothing = f", with nothing of {partitions(none)}" if none else ""
        return NotYet(
            f"`{name}` holds {len(got)} of the {GREETINGS} records, and begins at offset "
            f"{listed(sorted({begins[partition] for partition in late}))} in {partitions(late)}{nothing}",
            "the first record of a partition has offset 0",
            "the offsets that you name, if any: TopicPartition takes topic, partition and offset",
        )
    return NotYet(
        f"`{name}` holds {len(got)} of the {GREETINGS} records",
        "your reading stopped before the others came: it took too few, or an empty poll for the end",
        "the place where your reading stops: how long does it wait, and for how many?",
    )


def shared(lab: Lab, reader: Consumer, group: str, got: list[Place]) -> NotYet | None:
    """Say that another consumer of the group has got the rest, if one of the lab's has."""
    others = [one for one in lab.consumers() if one is not reader and group_of(one, "") == group]
    count = sum(one.received for one in others)
    if not count or len(got) == GREETINGS:
        return None
    return NotYet(
        f"another consumer of the group {group!r} has got {count} of the {GREETINGS} records",
        "the members of a group share the partitions, so `reader` should be its only one",
        "the consumers that your code makes",
    )


def read_nothing(consumer: str, kept: str) -> NotYet:
    """Say that a consumer, of this name, has not read what was kept: another one has."""
    return NotYet(
        f"`{consumer}` has read nothing",
        f"it should be the consumer that has read `{kept}`",
        "the consumers that your code makes: which one reads?",
    )


def beyond_the_end(log: list[Record], done: dict[int, int]) -> NotYet | None:
    """Say that the group's place in a partition lies behind the end of its log, if it does."""
    ends = Counter(record.partition for record in log)
    late = {partition: offset for partition, offset in sorted(done.items()) if offset > ends[partition]}
    if not late:
        return None
    first, offset = next(iter(late.items()))
    return NotYet(
        f"the group's place is offset {offset} in {partitions(list(late))}, and partition {first} ends at "
        f"offset {ends[first]}: nothing is there",
        "its place should go back to 0, where the first record is",
        "the offsets in commit(offsets=…)",
    )


def came_late(collector: Consumer, done: dict[int, int]) -> NotYet | None:
    """Say that the group went back only after a subscriber had asked for its place, if it looks like that."""
    try:
        asked = isinstance(collector, LabConsumer) and collector.subscribed and collector.assignment()
    except RuntimeError:  # it is closed
        return None
    if not asked or any(done.values()):
        return None
    return NotYet(
        "the group is back at offset 0, but your consumer had got its partitions before that",
        "a consumer asks for the group's place once, when it gets its partitions",
        "the order of your lines: commit(offsets=…), then subscribe([…])",
    )


def reads(consumer: Consumer) -> bool:
    """Tell whether a consumer has been told what to read; of a plain or closed one nobody knows better."""
    try:
        assigned = bool(consumer.assignment())
    except RuntimeError:  # it is closed
        return True
    return not isinstance(consumer, LabConsumer) or assigned or bool(consumer.subscribed)


def is_in_order(places: list[Place]) -> None:
    """Raise NotYet unless the offsets of each partition rise."""
    for partition in {partition for partition, _ in places}:
        offsets = [offset for p, offset in places if p == partition]
        if offsets != sorted(offsets):
            raise NotYet(
                f"the records of partition {partition} are not in the order of their offsets",
                "keep the order in which they came",
                "what you do with the records after reading",
            )


def place_of(message: Message) -> Place:
    """Return where a message is stored."""
    return message.partition() or 0, message.offset() or 0  # a message that is stored has both


def where(record: Record) -> Place:
    """Return where a record is stored."""
    return record.partition, record.offset
