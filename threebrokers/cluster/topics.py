"""Making topics afresh and deleting them, until every broker knows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from itertools import count
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from threebrokers.cluster import Cluster
from threebrokers.errors import LabError
from threebrokers.kafka.state import TopicState
from threebrokers.text import quoted
from threebrokers.waiting import wait_until

SETTLE_SECONDS = 20.0
CALL_SECONDS = 15.0
# How long the first client has; each one after it has twice as long. Usually 0.05 s are enough.
FIRST_SECONDS = 1.5
OTHERWISE = "see with `threebrokers status` who is up."


def delete(cluster: Cluster, names: Iterable[str]) -> None:
    """Delete those of the topics that exist, and wait until every broker has forgotten them."""
    doomed = sorted(set(names))
    if not doomed:
        return
    # The controller is asked for all: a broker may not have heard yet of a topic made a moment ago.
    gone = _carry_out(
        cluster,
        f"{quoted(doomed)} to be deleted",
        lambda admin, within: admin.delete_topics(doomed, operation_timeout=within, request_timeout=within),
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    )
    if gone:
        _settle(cluster, gone, f"every broker to forget {quoted(gone)}", lambda topic: topic is None)


def create(
    cluster: Cluster,
    name: str,
    partitions: int,
    replication_factor: int,
    config: Mapping[str, str],
    brokers: Sequence[int] = (),
) -> None:
    """Create a topic and wait until every broker knows a leader for each of its partitions.

    `brokers` are those that keep each partition, the first one leading; without them the controller
    chooses so many as `replication_factor` says. Raises LabError with the broker's own words if it refuses.
    """
    copies: dict[str, Any] = {"replication_factor": replication_factor}
    if brokers:
        copies = {"replica_assignment": [list(brokers)] * partitions}
    _fence(cluster)
    new = NewTopic(name, num_partitions=partitions, config=dict(config), **copies)
    try:
        _carry_out(
            cluster,
            f"'{name}' to be made",
            lambda admin, within: admin.create_topics(
                [new], operation_timeout=within, request_timeout=within
            ),
            KafkaError.TOPIC_ALREADY_EXISTS,  # an answer can be lost: how it was made is seen below
        )
    except KafkaException as refused:
        raise LabError(
            f"The brokers refused to create '{name}' ({refused.args[0].str()})",
            "look at the topic's name, its numbers and its settings",
        ) from refused

    def led(topic: TopicState | None) -> bool:
        return (
            topic is not None
            and len(topic.partitions) == partitions
            and all(p.leader is not None and len(p.isr) == len(p.replicas) for p in topic.partitions)
        )

    _settle(cluster, [name], f"every broker to know the leaders of '{name}'", led)


def delete_groups(cluster: Cluster, beginnings: tuple[str, ...]) -> None:
    """Delete the empty groups whose names begin so."""
    admin = cluster.admin()
    told = admin.list_consumer_groups(request_timeout=CALL_SECONDS).result()
    doomed = [group.group_id for group in told.valid if group.group_id.startswith(beginnings)]
    if not doomed:
        return
    for future in admin.delete_consumer_groups(doomed, request_timeout=CALL_SECONDS).values():
        _done(future.result, KafkaError.GROUP_ID_NOT_FOUND, KafkaError.NON_EMPTY_GROUP)


def _carry_out(
    cluster: Cluster, what: str, ask: Callable[[AdminClient, float], dict[str, Future[None]]], *expected: int
) -> list[str]:
    """Ask until all is answered; return the names for which it was done, and was not refused as expected.

    A client that is told the address of a broker that has just died keeps to it until it gives up: then a
    fresh one is asked. What the first one asked may have been done all the same.
    """
    done: set[str] = set()
    patience = (FIRST_SECONDS * 2**tries for tries in count())

    def carried_out() -> bool:
        admin = cluster.admin()  # a client that is let go takes its open calls with it
        calls = ask(admin, next(patience))
        try:
            done.update(name for name, call in calls.items() if _done(call.result, *expected))
        except KafkaException as fault:
            if fault.args[0].code() != KafkaError._TIMED_OUT:
                raise
            done.update(calls)
            return False
        return True

    wait_until(carried_out, what=what, within=SETTLE_SECONDS, otherwise=OTHERWISE)
    return sorted(done)


def _fence(cluster: Cluster) -> None:
    """Wait until nobody counts a broker as alive that is not: the new topic's copies would go there too."""
    away = {n for n, process in cluster.processes().items() if process.state != "up"}

    def fenced() -> bool:
        views = cluster.views([]).values()
        return not any(view.registered & away for view in views)

    if away:
        named = ", ".join(map(str, sorted(away)))
        what = f"the controller to notice that broker {named} is gone"
        wait_until(fenced, what=what, within=SETTLE_SECONDS, otherwise=OTHERWISE)


def _settle(
    cluster: Cluster, names: list[str], what: str, settled: Callable[[TopicState | None], bool]
) -> None:
    alive = {n for n, p in cluster.processes().items() if p.state == "up"}

    def everywhere() -> bool:
        views = cluster.views(names)
        return alive <= views.keys() and all(
            settled(view.topic(name)) for view in views.values() for name in names
        )

    wait_until(everywhere, what=what, within=SETTLE_SECONDS, otherwise=OTHERWISE)


def _done(result: Callable[[], object], *expected: int) -> bool:
    """Tell whether a call was carried out; False if it was refused for an expected reason."""
    try:
        result()
    except KafkaException as fault:
        if fault.args[0].code() not in expected:
            raise
        return False
    return True
