"""What checks of several labs read from the cluster, with the sentences for what is missing."""

from collections.abc import Mapping

from confluent_kafka import ConsumerGroupTopicPartitions, Message, TopicPartition
from confluent_kafka.admin import ConfigResource, ResourceType

from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import Record, read_log
from threebrokers.kafka.state import TopicState
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab

CALL_SECONDS = 10.0


def existing_topic(lab: Lab, name: str) -> TopicState:
    """Return the topic as the cluster has it; NotYet if there is none of this name, or if nobody answers."""
    state = lab.cluster.state([name] if name else [])
    if state.last_response_at is None:
        raise NotYet(
            "no broker answers",
            "the brokers should be up",
            "the first cell of the page, which starts them: run it again",
        )
    found = state.topic(name)
    if found is None:
        raise NotYet(
            f"the cluster has no topic {name!r}",
            "the name should be the one that lab.fresh_topic(…) returned",
            "lab.fresh_topic(…) in the cell of the exercise",
        )
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


def topic_setting(lab: Lab, topic: str, setting: str) -> str:
    """Return the value of one setting of a topic, as the brokers have it."""
    asked = ConfigResource(ResourceType.TOPIC, topic)
    for future in lab.admin().describe_configs([asked], request_timeout=CALL_SECONDS).values():
        return str(future.result()[setting].value)
    raise LookupError(topic)


def committed(lab: Lab, group: str, topic: str) -> dict[int, int]:
    """Return the offsets that a group has committed in a topic, by partition; {} if it never did."""
    asked = [ConsumerGroupTopicPartitions(group)]
    for future in lab.admin().list_consumer_group_offsets(asked, request_timeout=CALL_SECONDS).values():
        told: list[TopicPartition] = future.result().topic_partitions
        return {tp.partition: tp.offset for tp in told if tp.topic == topic and tp.offset >= 0}
    return {}


def log_of(lab: Lab, topic: str) -> list[Record]:
    """Return all records of a topic that exists, in order of partition and offset."""
    existing_topic(lab, topic)
    return read_log(lab.bootstrap, topic)


def expect_choice(name: str, word: object, right: str, wrong: Mapping[str, tuple[str, str, str]]) -> None:
    """Raise NotYet unless the answer called `name` is the right word of a task that offers several.

    `wrong` has for each other word what is found, what was expected, and where to look.
    """
    if word in wrong:
        raise NotYet(*wrong[str(word)])
    if word != right:
        words = ", ".join([right, *wrong])
        raise NotYet(f"`{name}` is {word!r}", f"it should be one of {words}", "the task, above")


def consumer_of_lab(name: str, value: object) -> LabConsumer:
    """Return the value if it is a consumer that the lab has made; NotYet otherwise."""
    if not isinstance(value, LabConsumer):
        raise NotYet(
            f"`{name}` is {value!r}",
            "it should be the consumer that lab.consumer({…}) returned",
            "the cell of the exercise, above",
        )
    return value


def messages_only(name: str, values: list[object], look_at: str) -> list[Message]:
    """Return the values if they are all messages of confluent-kafka; NotYet names the first that is not."""
    for place, value in enumerate(values):
        if not isinstance(value, Message):
            raise NotYet(
                f"`{name}[{place}]` is {value!r} ({type(value).__name__})",
                f"every item of `{name}` should be a Message, as poll() or a delivery report gives it",
                look_at,
            )
    return values  # type: ignore[return-value]
