"""Every broker setting that differs from Kafka's default or is written out on purpose, with its reason.

Defaults are those of Kafka 4.3.1. One table for every engine; the labs show it.
"""

from dataclasses import dataclass

BROKERS = (1, 2, 3)
LISTENERS = ("CLIENT", "REPL", "CONTROLLER")


@dataclass(frozen=True)
class Setting:
    """One broker setting: its name, Kafka's default, the course's value, and why it has that."""

    name: str
    default: str
    here: str
    why: str


TABLE = (
    Setting("broker.session.timeout.ms", "9000", "1700", "a dead broker is noticed within 2 s"),
    Setting("broker.heartbeat.interval.ms", "2000", "300", "several heartbeats fit into one session"),
    Setting("controller.quorum.election.timeout.ms", "1000", "500", "a new controller is there soon"),
    Setting("controller.quorum.fetch.timeout.ms", "2000", "1000", "a silent controller is noticed soon"),
    Setting("controller.quorum.election.backoff.max.ms", "1000", "500", "voters who disagree try again soon"),
    Setting(
        "controller.socket.timeout.ms",
        "30000",
        "2000",
        "a frozen controller holds up for a moment only what brokers pass on to it",
    ),
    Setting("replica.lag.time.max.ms", "30000", "4000", "a slow replica leaves the ISR while you look"),
    Setting("replica.fetch.backoff.ms", "1000", "200", "a follower tries again soon after an error"),
    Setting(
        "auto.leader.rebalance.enable",
        "true",
        "false",
        "leadership stays where a failure put it, until you move it",
    ),
    Setting("auto.create.topics.enable", "true", "false", "a misspelt topic is an error, not a new topic"),
    Setting("group.initial.rebalance.delay.ms", "3000", "0", "the first consumer of a group starts at once"),
    Setting("group.min.session.timeout.ms", "6000", "1000", "labs may ask for a short session"),
    Setting("group.consumer.min.session.timeout.ms", "45000", "1000", "a group may ask for a short session"),
    Setting(
        "group.consumer.min.heartbeat.interval.ms", "5000", "200", "a group may ask for short heartbeats"
    ),
    Setting("group.consumer.session.timeout.ms", "45000", "6000", "a dead member is noticed in 6 s"),
    Setting("group.consumer.heartbeat.interval.ms", "5000", "1000", "members hear soon of a change"),
    Setting("offsets.topic.num.partitions", "50", "3", "fewer files to open at a start"),
    Setting(
        "offsets.topic.replication.factor",
        "3",
        "3",
        "groups go on when a broker dies (Kafka's default, kept)",
    ),
    Setting("transaction.state.log.num.partitions", "50", "3", "fewer files to open at a start"),
    Setting(
        "transaction.state.log.replication.factor", "3", "3", "transactions go on when a broker dies (kept)"
    ),
    Setting(
        "transaction.state.log.min.isr", "2", "2", "transactions go on with two of three replicas (kept)"
    ),
    Setting(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        "10000",
        "1000",
        "a transaction that is open for too long ends soon",
    ),
    Setting("share.coordinator.state.topic.num.partitions", "50", "3", "fewer files to open at a start"),
    Setting("log.cleaner.backoff.ms", "15000", "500", "compaction looks for work twice a second"),
    Setting(
        "log.cleaner.dedupe.buffer.size",
        "134217728",
        "8388608",
        "less memory: small topics need a small table of keys",
    ),
    Setting(
        "log.initial.task.delay.ms",
        "30000",
        "500",
        "brokers first look for old segments soon after their start (an internal setting)",
    ),
    Setting("log.retention.check.interval.ms", "300000", "2000", "old segments go within seconds"),
    Setting("log.segment.delete.delay.ms", "60000", "1000", "files of a deleted topic go within seconds"),
    Setting(
        "replica.selector.class",
        "null",
        "org.apache.kafka.common.replica.RackAwareReplicaSelector",
        "a reader that names its rack may read from a follower there",
    ),
    Setting(
        "socket.request.max.bytes",
        "104857600",
        "16777216",
        "a program that speaks another protocol cannot use up the memory of a broker",
    ),
    Setting("num.network.threads", "3", "2", "less memory: few clients"),
    Setting("num.io.threads", "8", "4", "less memory: few clients"),
    Setting("background.threads", "10", "2", "less memory: few topics"),
)


def properties(
    node: int, addresses: dict[int, dict[str, str]], data: str, listening: dict[str, str] | None = None
) -> dict[str, str]:
    """Return the whole configuration of one broker.

    `addresses` maps each broker to its address ("host:port") on each listener; `data` is its folder.
    The listeners are three, so that each kind of traffic can be cut apart. `listening` is where this
    broker itself listens, if that is not its address.
    """
    own = addresses[node]
    return {
        "process.roles": "broker,controller",
        "node.id": str(node),
        "broker.rack": f"rack-{node}",  # each in a rack of its own: a reader can ask for the nearest replica
        "controller.quorum.voters": ",".join(f"{n}@{a['CONTROLLER']}" for n, a in sorted(addresses.items())),
        "listeners": ",".join(f"{name}://{(listening or own)[name]}" for name in LISTENERS),
        "advertised.listeners": advertised_listeners(own),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in LISTENERS),
        "inter.broker.listener.name": "REPL",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": data,
        **{setting.name: setting.here for setting in TABLE},
    }


def advertised_listeners(addresses: dict[str, str]) -> str:
    """Return one broker's `advertised.listeners`: the address ("host:port") that it tells, by listener."""
    return ",".join(f"{name}://{addresses[name]}" for name in LISTENERS)


def as_text(values: dict[str, str]) -> str:
    """Return a Java properties file of these values, in ASCII: Java reads such a file as Latin-1."""
    return "".join(f"{name}={_escaped(value)}\n" for name, value in values.items())


def _escaped(value: str) -> str:
    units = value.encode("utf-16-be", "surrogatepass")
    letters = [int.from_bytes(units[i : i + 2]) for i in range(0, len(units), 2)]
    text = "".join(_letter(letter) for letter in letters)
    return f"\\{text}" if text.startswith(" ") else text  # Java drops blanks before a value


def _letter(unit: int) -> str:
    plain = chr(unit)
    if plain == "\\":
        return "\\\\"
    return plain if " " <= plain <= "~" else f"\\u{unit:04x}"
