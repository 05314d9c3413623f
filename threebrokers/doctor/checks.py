"""Which looks there are, in order: at the machine, at what is remembered, at the brokers, at their groups."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

from threebrokers import paths as places
from threebrokers.cluster import Cluster, jars, pyspark_files
from threebrokers.cluster.compose import DATA, ComposeEngine
from threebrokers.cluster.engine import Engine
from threebrokers.cluster.process import BrokerProcess
from threebrokers.doctor import (
    addresses,
    brokers,
    containers,
    groups,
    machine,
    settings,
    state,
    versions,
)
from threebrokers.doctor.finding import Finding
from threebrokers.doctor.processes import look_for_forgotten, look_for_orphans, running_homes
from threebrokers.kafka.poller import ClusterPoller
from threebrokers.kafka.state import ClusterState
from threebrokers.paths import home
from threebrokers.waiting import poll
from threebrokers.why_empty import probe

SETTLE_SECONDS = 3.0
LAST_BYTES = 200_000  # what fails at each try to register stands in them, three times a second
Looks = Iterator[tuple[str, Callable[[], Finding]]]


def of_machine() -> Looks:
    """Yield the looks at this machine."""
    yield "Java", machine.look_for_java
    yield (
        "disk",
        lambda: machine.look_at_disk({f: shutil.disk_usage(f).free for f in (home(), places.cache())}),
    )
    yield "jars", lambda: machine.look_at_jars(jars.unsound("kafka") + jars.unsound("spark"), _fetched())
    yield (
        "Spark",
        lambda: versions.look_at_versions(
            pyspark_files.installed(), versions.connector(), versions.java_release()
        ),
    )


def of_home(chosen: Engine) -> Looks:
    """Yield the looks at what the home remembers, and what its engine runs."""
    yield (
        "memory",
        lambda: machine.look_at_memory(psutil.virtual_memory().available, chosen.processes().values()),
    )
    yield "ports", lambda: state.look_at_ports(chosen.listening(), chosen.processes())
    yield "links", lambda: state.look_at_links(chosen)
    if isinstance(chosen, ComposeEngine):
        yield from _of_containers(chosen)
    else:
        yield "state", lambda: state.look_at_state(home())
        yield "data", lambda: state.look_at_disks(home(), _running(chosen))
    yield "JupyterLab", lambda: look_for_orphans(home())
    yield "forgotten brokers", lambda: look_for_forgotten(home(), running_homes())


def _of_containers(chosen: ComposeEngine) -> Looks:
    kept, project = home() / chosen.name, chosen.containers
    yield "state", lambda: state.look_at_state(kept)
    yield "memory of Docker", containers.look_at_memory
    yield "containers", lambda: containers.look_at_ends(project, containers.last_actions(home()))
    yield (
        "data",
        lambda: state.look_at_volumes(containers.metas(project, kept / "copies", DATA)),
    )
    yield "forgotten containers", lambda: containers.look_for_others(containers.running(), project.project)


def of_brokers(cluster: Cluster, processes: Mapping[int, BrokerProcess], poller: ClusterPoller) -> Looks:
    """Yield the looks at the brokers that run, and at the groups that they know."""
    running = [n for n, process in processes.items() if process.state == "up"]

    @cache
    def cluster_state() -> ClusterState:
        for found in poll(lambda: poller.poll(None, patient=True), SETTLE_SECONDS):
            if brokers.settled(found):
                break
        return found

    @cache
    def names() -> tuple[str, ...]:
        return probe.groups(cluster.admin())

    yield "addresses", lambda: addresses.look_at_addresses(cluster, processes)
    yield "registration", lambda: brokers.look_at_registration(cluster_state())
    yield "controllers", lambda: brokers.look_at_controllers({n: _end_of(cluster.log(n)) for n in running})
    yield "leaders", lambda: brokers.look_at_leaders(cluster_state())
    yield "internal topics", lambda: brokers.look_at_internal_topics(cluster_state())
    yield "settings", lambda: settings.look_at_settings(settings.asked(cluster.admin(), running))
    yield (
        "frozen clients",
        lambda: groups.look_for_frozen(
            {int(cluster.address(n).rpartition(":")[2]) for n in running},
            {process.pid for process in processes.values() if process.pid},
        ),
    )
    yield "groups", lambda: groups.look_at_rebalances(lambda: poller.poll(None, names()))
    yield "forgotten members", lambda: groups.look_for_forgotten_members(lambda: poller.poll(None, names()))


def _end_of(log: Path) -> str:
    """Return what a broker has written last; empty if it has no log."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - LAST_BYTES))
        return file.read().decode(errors="replace")
    return ""


def _running(chosen: Engine) -> list[int]:
    return [n for n, process in chosen.processes().items() if process.state != "down"]


def _fetched() -> set[str]:
    return {path.name for path in (places.cache() / "jars").glob("*.jar")}
