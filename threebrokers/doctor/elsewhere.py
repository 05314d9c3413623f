"""A cluster that is not the learner's: whether it is reached, lets the learner in, and allows the labs."""

import os
import stat
from collections.abc import Callable, Iterator

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from threebrokers.cluster import Cluster
from threebrokers.cluster.remote import RemoteEngine
from threebrokers.cluster.settings import BROKERS
from threebrokers.doctor.finding import Finding
from threebrokers.kafka import access, rights
from threebrokers.paths import expanded
from threebrokers.text import counted

CALL_SECONDS = 10.0
TRIED = "threebrokers-doctor"  # the end of a name that is asked for, and never made


def looks(engine: RemoteEngine, cluster: Cluster) -> Iterator[tuple[str, Callable[[], Finding]]]:
    """Yield the looks at such a cluster, in order; each raises LabError with what it found."""
    yield "password file", lambda: look_at_file(os.environ.get(access.CLIENT, ""))
    yield "cluster", lambda: look_at_entrance(engine)
    yield "brokers", lambda: look_at_number(cluster.brokers)
    yield "rights", lambda: look_at_rights(cluster.admin(), engine.access)


def look_at_file(path: str) -> Finding:
    """Say whether others of this machine may read the file with the password."""
    if not path:
        return Finding("password file", True, f"none: {access.CLIENT} is not set")
    if stat.S_IMODE(expanded(path).stat().st_mode) & 0o077:
        return Finding("password file", False, f"others may read {path}", f"run `chmod 600 {path}`")
    return Finding("password file", True, "only you may read it")


def look_at_entrance(engine: RemoteEngine) -> Finding:
    """Enter at each address. Raises LabError with the reason why one cannot be entered."""
    engine.enter_all()
    count = counted(len(engine.access.bootstrap.split(",")), "address", "addresses")
    return Finding("cluster", True, f"{count} of {engine.access.bootstrap} let you in")


def look_at_number(brokers: tuple[int, ...]) -> Finding:
    """Compare the brokers with those that the labs expect."""
    if brokers == BROKERS:
        return Finding("brokers", True, "1, 2 and 3, as the labs expect")
    told = ", ".join(map(str, brokers))
    cure = "some cells ask for brokers 1, 2 and 3 or for three copies, and are refused here"
    return Finding("brokers", len(brokers) >= len(BROKERS), f"their numbers are {told}", cure)


def look_at_rights(admin: AdminClient, way: access.Access) -> Finding:
    """Ask whether a topic of the learner's might be made, and make none."""
    asked = NewTopic(f"{way.prefix}{TRIED}", num_partitions=1, replication_factor=1)
    [future] = admin.create_topics([asked], validate_only=True, request_timeout=CALL_SECONDS).values()
    try:
        future.result()
    except KafkaException as fault:
        if refused := rights.of_fault(fault, asked.topic):
            raise refused from fault
        if fault.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
    return Finding("rights", True, "you may make topics whose names begin with your prefix")
