"""What checks of several labs read from the cluster, with the sentences for what is missing."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from confluent_kafka import KafkaException, Message
from confluent_kafka.admin import ConfigResource, ConfigSource, ResourceType

from threebrokers.kafka.log_reader import UNKNOWN, Record, read_log
from threebrokers.kafka.state import ClusterState, PartitionState, TopicState, offsets_partition
from threebrokers.lab.cluster_defaults import is_changed
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.outage import no_answer, no_topic
from threebrokers.lab.values import told
from threebrokers.waiting import poll
from threebrokers.why_empty.facts import OFFSETS

CALL_SECONDS = 10.0
COORDINATOR_SECONDS, LEVEL_SECONDS = 8.0, 3.0

Word = Annotated[str, "one of the words that the task offers, in quotes"]
# A call of the admin client answers with nothing, so the future that it returns has no topic's name.
TopicName = Annotated[str, "the name of the topic, which lab.fresh_topic(…) returns"]


def existing_topic(lab: Lab, name: str) -> TopicState:
    """Return the topic as the cluster has it; NotYet, with the cell that makes it, if there is none.

    Raises LabError, with the brokers that are away, if nobody answers.
    """
    state = lab.cluster.state([name] if name else [])
    if state.last_response_at is None:
        raise no_answer(lab)
    found = state.topic(name)
    if found is None:
        raise no_topic(lab, name)
    return found


def expect_topic(lab: Lab, name: str, wanted: str) -> TopicState:
    """Return the topic if it is this lab's `wanted` (a short name) and exists; NotYet otherwise."""
    if name != lab.topic(wanted):
        raise NotYet(
            f"the topic is named {name!r}",
            f"it should be {lab.topic(wanted)!r}",
            f'lab.fresh_topic("{wanted}", …)',
        )
    return existing_topic(lab, name)


@dataclass(frozen=True)
class Setting:
    """The value of a topic's setting; `own` says whether it was set for this topic.

    If not, it is Kafka's default, or what somebody has set for the whole cluster (`of_cluster`).
    """

    value: str
    own: bool
    of_cluster: bool


def setting_of(lab: Lab, topic: str, setting: str, within: float = CALL_SECONDS) -> Setting:
    """Return one setting of a topic as the brokers have it, and who has set it; NotYet if there is no topic.

    `topic_setting` returns only the value. A check that asks for a setting of the topic itself looks at
    `own`: what was once set for the whole cluster would solve it for ever.
    """
    return settings_of(lab, topic, within)[setting]


def settings_of(lab: Lab, topic: str, within: float = CALL_SECONDS) -> dict[str, Setting]:
    """Return all settings of a topic, in one call; NotYet if there is no topic."""
    asked = ConfigResource(ResourceType.TOPIC, topic)
    for future in lab.admin().describe_configs([asked], request_timeout=within).values():
        try:
            entries = future.result()
        except KafkaException as fault:
            if fault.args[0].code() in UNKNOWN:
                raise no_topic(lab, topic) from fault
            raise
        own = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        return {
            name: Setting(str(one.value), one.source == own, one.source != own and is_changed(one))
            for name, one in entries.items()
        }
    raise LookupError(topic)


def topic_setting(lab: Lab, topic: str, setting: str) -> str:
    """Return the value of one setting of a topic, as the brokers have it."""
    return setting_of(lab, topic, setting).value


def committed(lab: Lab, group: str, topic: str) -> dict[int, int]:
    """Return the offsets that a group has committed in a topic, by partition; {} if it never did.

    Its coordinator is asked; where that one died, the next one, within 8 s, as soon as this one shows the
    newest commit. Raises LabError, with the brokers that are away, if none answers.
    """
    # Not by the AdminClient's list_consumer_group_offsets: if the coordinator is just changing, or there was
    # no group before, that ends the whole Python process (librdkafka issue 5040).
    lab.cluster.wait_for_markers()
    told: dict[int, int] | None = None
    end = float("inf")
    for state in poll(lambda: lab.cluster.state([OFFSETS], [group]), COORDINATOR_SECONDS):
        offsets = state.topic(OFFSETS)
        known = any(found.coordinator is not None for found in state.groups)
        if state.last_response_at is not None and offsets is None and not known:
            return {}  # there was no group at all yet
        own = offsets_partition(offsets.partitions, group) if offsets and offsets.partitions else None
        for found in state.groups:
            if found.coordinator is None:
                continue
            if told is None:
                end = time.monotonic() + LEVEL_SECONDS
            told = {part: offset for name, part, offset in found.committed if name == topic}
            # A cluster elsewhere may let nobody see that topic: then its coordinator is believed.
            if offsets is None or (own and _shows_all(own, found.coordinator)):
                return told
            if time.monotonic() > end and not (own and _is_followed(state, own)):
                return told
    if told is None:
        raise no_answer(lab)
    return told


def _shows_all(partition: PartitionState, coordinator: int) -> bool:
    """Tell whether a coordinator shows everything that was committed to it in this partition.

    One that took over just now does not show the newest commits until its followers have asked it for them.
    """
    return (
        partition.leader == coordinator and partition.high_watermark == partition.log_end_offset is not None
    )


def _is_followed(state: ClusterState, partition: PartitionState) -> bool:
    """Tell whether a follower that is up is in sync with the leader: busy or not, it asks soon."""
    up = {broker.id for broker in state.brokers if broker.state == "up"}
    return bool(up & set(partition.isr) - {partition.leader})


def log_of(lab: Lab, topic: str) -> list[Record]:
    """Return all committed records of a topic that exists, in order of partition and offset."""
    existing_topic(lab, topic)
    lab.cluster.wait_for_markers()
    return read_log(lab.bootstrap, topic)


def count_of(lab: Lab, topic: str) -> int:
    """Return how many records a topic that exists holds, counted by reading them.

    The end offset is no count: marks of transactions have offsets, too, and records can be deleted.
    """
    return len(log_of(lab, topic))


def expect_choice(name: str, word: object, right: str, wrong: Mapping[str, tuple[str, str, str]]) -> None:
    """Raise NotYet unless the answer called `name` is the right word of a task that offers several.

    `wrong` has for each other word what is found, what was expected, and where to look.
    """
    # "Flush" and "flush()" say the same as "flush".
    chosen = word.strip().lower().removesuffix("()") if isinstance(word, str) else word
    if chosen in wrong:
        raise NotYet(*wrong[str(chosen)])
    if chosen != right:
        words = ", ".join(sorted([right, *wrong]))  # in an order that does not tell which one is right
        raise NotYet(f"`{name}` is {word!r}", f"it should be one of {words}", "the task, above")


def messages_only(name: str, values: list[object], look_at: str) -> list[Message]:
    """Return the values if they are all messages of confluent-kafka; NotYet names the first that is not."""
    for place, value in enumerate(values):
        if value is None:
            raise NotYet(
                f"`{name}[{place}]` is None, which poll() returns while nothing has come",
                f"every item of `{name}` should be a Message: wait longer, and leave each None out",
                look_at,
            )
        if not isinstance(value, Message):
            raise NotYet(
                f"`{name}[{place}]` is {told(value)}",
                f"every item of `{name}` should be a Message, as poll() or a delivery report gives it",
                look_at,
            )
    return values  # type: ignore[return-value]
