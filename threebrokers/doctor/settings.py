"""Whether the brokers that run have the settings of the course: somebody else may have made the cluster."""

from collections.abc import Mapping
from contextlib import suppress

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, ConfigSource

from threebrokers.cluster.settings import TABLE, Setting
from threebrokers.doctor.finding import Finding

ANSWER_SECONDS, TRIES, MOST = 2.0, 2, 3
CHANGED = (ConfigSource.DYNAMIC_BROKER_CONFIG, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)

Told = Mapping[str, tuple[str | None, bool]]  # value, and whether it was changed while the broker ran


def settings_of(admin: AdminClient, broker: int) -> Told:
    """Return what a broker says of the course's settings. Raises KafkaException."""
    resource = ConfigResource(ConfigResource.Type.BROKER, str(broker))
    # One broker a call: only it knows its own.
    [call] = admin.describe_configs([resource], request_timeout=ANSWER_SECONDS).values()
    told = call.result()
    sources = {source.value for source in CHANGED}
    return {
        setting.name: (told[setting.name].value, told[setting.name].source in sources)
        for setting in TABLE
        if setting.name in told
    }


def look_at_settings(told: Mapping[int, Told]) -> Finding:
    """Compare what the running brokers say with the course's table."""
    if not told:
        return Finding("settings", True, "no broker tells its settings")
    wrong: dict[tuple[Setting, str | None, bool], list[int]] = {}
    for n, of in sorted(told.items()):
        for setting in TABLE:
            value, changed = of.get(setting.name, (setting.here, False))
            if value != setting.here:
                wrong.setdefault((setting, value, changed), []).append(n)
    if not wrong:
        return Finding("settings", True, f"all {len(TABLE)} of the course are in force")
    names = [
        f"{setting.name}={value} on broker {', '.join(map(str, brokers))}, "
        f"in the course {setting.here} ({setting.why})"
        for (setting, value, _), brokers in wrong.items()
    ]
    ((setting, _, changed), [broker, *_]) = next(iter(wrong.items()))
    cure = (
        f"it was changed while the broker ran: `kafka-configs --alter --entity-type brokers --entity-name "
        f"{broker} --delete-config {setting.name}` takes that back"
        if changed
        else "`threebrokers down` and `threebrokers up` start the brokers with the course's settings"
    )
    return Finding("settings", False, "; ".join(names[:MOST]) + ("; …" if len(names) > MOST else ""), cure)


def asked(admin: AdminClient, brokers: list[int]) -> dict[int, Told]:
    """Return what these brokers say; one that does not answer is asked again, then left out."""
    found: dict[int, Told] = {}
    for n in brokers * TRIES:
        if n not in found:
            with suppress(KafkaException):
                found[n] = settings_of(admin, n)
    return found
