"""Settings that somebody has made for all brokers: they outlive every lab, and could solve an exercise."""

from confluent_kafka import KafkaException
from confluent_kafka.admin import ConfigEntry, ConfigResource, ConfigSource, ResourceType

from threebrokers.lab.lab import Lab

CALL_SECONDS = 5.0


def told(lab: Lab) -> str:
    """Say which settings of the whole cluster have another value than Kafka's own; empty if none has.

    A new cluster holds one that has the same, min.insync.replicas.
    """
    if lab.cluster.access:
        return ""  # they are not the learner's to set back
    asked = ConfigResource(ResourceType.BROKER, str(lab.cluster.brokers[0]))
    try:
        entries = lab.admin().describe_configs([asked], request_timeout=CALL_SECONDS)[asked].result()
    except KafkaException:
        return ""  # it is asked again when a lab is opened the next time
    return "".join(
        f" Somebody has set {name}={entry.value} for the whole cluster, so every topic that does not set it "
        f'has it too; `lab.cluster.tool("kafka-configs", "--alter", "--entity-type", "brokers", '
        f'"--entity-default", "--add-config", "{name}={own_default(entry)}")` sets it back.'
        for name, entry in sorted(entries.items())
        if entry.source == ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG.value and is_changed(entry)
    )


def is_changed(entry: ConfigEntry) -> bool:
    """Tell whether a setting has another value than Kafka's own default."""
    default = own_default(entry)
    return default is not None and entry.value != default


def own_default(entry: ConfigEntry) -> str | None:
    """Return Kafka's own default of a setting, None if it tells none."""
    # The stubs say that a synonym's source is a ConfigSource; it is a number.
    known = (ConfigSource.DEFAULT_CONFIG, ConfigSource.DEFAULT_CONFIG.value)
    return next((same.value for same in (entry.synonyms or {}).values() if same.source in known), None)
