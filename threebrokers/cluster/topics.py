"""Making topics afresh and deleting them, until every broker knows."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from itertools import count
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from threebrokers.cluster import Cluster
from threebrokers.errors import LabError
from threebrokers.kafka import rights
from threebrokers.kafka.state import TopicState
from threebrokers.text import quoted
from threebrokers.waiting import poll, quiet_wait, wait_until

SETTLE_SECONDS = 20.0
CALL_SECONDS = 15.0
# A broker that is cut off from the controller is never counted, and the controller can say so itself.
COUNTED_SECONDS = 10.0
# How long the first client has; each one after it has twice as long. Usually 0.05 s are enough.
FIRST_SECONDS = 1.5
# The connection was given up, by whichever side: what was asked may have been done, or not.
UNANSWERED = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._DESTROY_BROKER)
# The second one comes if the controller has just deleted a topic whose id it had looked up for this request.
ABSENT = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.UNKNOWN_TOPIC_ID)
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
        *ABSENT,
    )
    if gone:
        _settle(cluster, gone, f"every broker to forget {quoted(gone)}", lambda topic: topic is None)


def create(
    cluster: Cluster,
    name: str,
    partitions: int,
    replication_factor: int,
    config: Mapping[str, str],
    brokers: Sequence[int | Sequence[int]] = (),
) -> None:
    """Create a topic and wait until every broker knows a leader for each of its partitions.

    The controller may put some copies on a broker that is away: nobody waits for these.
    `brokers` are those that keep each partition, the first one leading, or such a list for each partition;
    without them the controller chooses so many as `replication_factor` says. Raises LabError with the
    broker's own words if it refuses.
    """
    copies: dict[str, Any] = {"replication_factor": replication_factor}
    lists = [list(one) for one in brokers if not isinstance(one, int)]
    lists = lists or [[one for one in brokers if isinstance(one, int)]] * partitions
    if brokers:
        copies = {"replica_assignment": lists}
    up = _fence(cluster, {n for each in lists for n in each})
    new = NewTopic(name, num_partitions=partitions, config=dict(config), **copies)
    refused = _ask_for(cluster, new, asked_again=replication_factor <= len(up))
    if refused:
        if told := rights.of_fault(KafkaException(refused), name):
            raise told
        raise LabError(
            f"The brokers refused to create '{name}' ({refused.str()})",
            "look at the topic's name, its numbers and its settings",
        )

    def led(topic: TopicState | None) -> bool:
        return (
            topic is not None
            and len(topic.partitions) == partitions
            and all(p.leader is not None and up & {*p.replicas} <= {*p.isr} for p in topic.partitions)
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


def _ask_for(cluster: Cluster, new: NewTopic, asked_again: bool) -> KafkaError | None:
    """Ask for the topic; return why it was refused, None if it was made.

    After an outage the controller does not count every broker that runs, and says that they are too few for
    the copies: `asked_again` tells to go on then.
    """

    def refusal() -> KafkaError | None:
        try:
            _carry_out(
                cluster,
                f"'{new.topic}' to be made",
                lambda admin, within: admin.create_topics(
                    [new], operation_timeout=within, request_timeout=within
                ),
                KafkaError.TOPIC_ALREADY_EXISTS,  # an answer can be lost: how it was made is seen later
            )
        except KafkaException as fault:
            refused: KafkaError = fault.args[0]
            return refused
        return None

    for refused in poll(refusal, COUNTED_SECONDS):
        if not asked_again or refused is None or refused.code() != KafkaError.INVALID_REPLICATION_FACTOR:
            break
    return refused


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
            if fault.args[0].code() not in UNANSWERED:
                raise
            done.update(calls)
            return False
        return True

    wait_until(carried_out, what=what, within=SETTLE_SECONDS, otherwise=OTHERWISE)
    return sorted(done)


def _fence(cluster: Cluster, needed: Collection[int]) -> set[int]:
    """Wait until nobody counts a broker as alive that is not; return those that run.

    The new topic's copies would go to a dead one too. And until those are counted that it is to lie on: a
    moment after an outage brokers run that the controller does not count yet, and they would not lead.
    """
    processes = cluster.processes()
    away = {n for n, process in processes.items() if process.state != "up"}
    up = processes.keys() - away
    wanted = up & set(needed)

    def fenced() -> bool:
        views = cluster.views([])
        return up <= views.keys() and not any(view.registered & away for view in views.values())

    def counted() -> bool:
        views = cluster.views([])
        return up <= views.keys() and all(wanted <= view.registered for view in views.values())

    if away:
        named = ", ".join(map(str, sorted(away)))
        what = f"the controller to notice that broker {named} is gone"
        wait_until(fenced, what=what, within=SETTLE_SECONDS, otherwise=OTHERWISE)
    if wanted:
        quiet_wait(counted, COUNTED_SECONDS)
    return set(up)


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
