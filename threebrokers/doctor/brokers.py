"""Whether the brokers that run form a whole cluster: registered, led, and with enough replicas."""

from collections.abc import Mapping

from threebrokers.doctor.finding import Finding
from threebrokers.kafka.state import ClusterState
from threebrokers.text import shortened

REPLICAS = 3
LEFT_OVER = "existed in isrMembers, but not in the topics map"
INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")


def look_at_registration(state: ClusterState) -> Finding:
    """Name brokers that run and do not belong to the cluster, that answer nobody, or that are paused."""
    running = [broker for broker in state.brokers if broker.state != "down"]
    if not running:
        return Finding("registration", True, "no broker runs")
    silent = [str(b.id) for b in running if b.state == "unknown"]
    if silent:
        return Finding(
            "registration",
            False,
            f"broker {', '.join(silent)} runs and answers nobody",
            f"wait some seconds, it may be starting; lab.cluster.log({silent[0]}) says what it does",
        )
    stray = [str(b.id) for b in running if b.state == "up" and not b.registered]
    if stray:
        return Finding(
            "registration",
            False,
            f"broker {', '.join(stray)} runs and is not registered with the cluster: nobody is sent to it",
            f"`threebrokers up` mends links and waits for it; lab.cluster.log({stray[0]}) says what it lacks",
        )
    paused = [str(b.id) for b in running if b.state == "paused"]
    if paused:
        what = f"broker {', '.join(paused)} is paused: whoever asks it waits in silence"
        return Finding("registration", True, what, "`threebrokers up` lets it go on")
    return Finding("registration", True, f"{len(running)} brokers run, and all are registered")


def look_at_controllers(logs: Mapping[int, str]) -> Finding:
    """Tell whether the active controller refuses every broker that starts, as the ends of the logs say.

    So it is in Kafka 4.3.1 after a topic was deleted whose min.insync.replicas had been changed while it had
    eligible leader replicas: the controllers still count it, and fail at each registration.
    """
    if not any(LEFT_OVER in log for log in logs.values()):
        return Finding("controllers", True, "no registration fails")
    return Finding(
        "controllers",
        False,
        "a broker that starts cannot register: the controllers still count a topic that is deleted (a fault "
        "of Kafka: its min.insync.replicas was changed while a replica was away)",
        "`threebrokers reset` begins anew: all topics and records go",
    )


def settled(state: ClusterState) -> bool:
    """Tell whether every broker that runs answers and is registered: at a start that takes a moment."""
    return all(b.registered and b.state == "up" for b in state.brokers if b.state in ("up", "unknown"))


def look_at_leaders(state: ClusterState) -> Finding:
    """Name partitions that nobody leads: they can be neither read nor written."""
    every = [partition for topic in state.topics for partition in topic.partitions]
    without = [p for p in every if p.leader is None]
    if not without:
        return Finding("leaders", True, f"each of {len(every)} partitions has one")
    names = shortened(
        [f"{p.topic}-{p.id} (replicas on broker {', '.join(map(str, p.replicas))})" for p in without]
    )
    down = {b.id for b in state.brokers if b.state == "down"} & {n for p in without for n in p.replicas}
    cure = (
        f"start broker {', '.join(map(str, sorted(down)))} (`threebrokers up`): nobody else has all records"
        if down
        else "`threebrokers up`; a leader needs two of three brokers that reach each other"
    )
    return Finding("leaders", False, f"nobody leads {names}", cure)


def look_at_internal_topics(state: ClusterState) -> Finding:
    """Name topics of Kafka's own that have too few replicas: one broker's death then stops groups."""
    own = [topic for name in INTERNAL if (topic := state.topic(name))]
    poor = {t.name: least for t in own if (least := min(len(p.replicas) for p in t.partitions)) < REPLICAS}
    if poor:
        told = shortened([f"{name} has {least} of {REPLICAS} replicas" for name, least in poor.items()])
        return Finding(
            "internal topics",
            False,
            f"{told}, so all groups or transactions can stop with one broker",
            "`threebrokers reset` makes it anew, with offsets.topic.replication.factor=3 and "
            "transaction.state.log.replication.factor=3",
        )
    return Finding(
        "internal topics", True, f"{shortened([t.name for t in own]) or 'none yet'}: {REPLICAS} replicas each"
    )
