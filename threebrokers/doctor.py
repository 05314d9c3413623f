"""Known troubles: each is looked for by one function, which names what it found and the cure."""

import json
import shutil
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from threebrokers import forgotten
from threebrokers.cluster import Cluster, bench, jars, links, ports
from threebrokers.cluster.process import BrokerProcess
from threebrokers.errors import BenchError
from threebrokers.home import cache, home
from threebrokers.machine import Finding, look_at_disk, look_at_jars, look_at_memory, look_for_java
from threebrokers.state import Broker

MEGA = 1_000_000


def examine() -> list[Finding]:
    """Look for every known trouble; one look that cannot be made does not stop the others."""
    cluster = Cluster()
    processes = cluster.processes()
    looks: dict[str, Callable[[], Finding]] = {
        "Java": look_for_java,
        "memory": lambda: look_at_memory(
            psutil.virtual_memory().available, sum(p.rss for p in processes.values())
        ),
        "disk": lambda: look_at_disk(
            {folder: shutil.disk_usage(folder).free for folder in (home(), cache())}
        ),
        "jars": lambda: look_at_jars(jars.unsound("kafka") + jars.unsound("spark")),
        "state": lambda: look_at_state(home()),
        "ports": lambda: look_at_ports(bench.load(home()).listening_ports(), processes),
        "links": lambda: look_at_links(bench.load(home())),
        "addresses": lambda: look_at_addresses(cluster, processes),
        "forgotten brokers": lambda: look_for_forgotten(home(), forgotten.benches()),
    }
    return [_made(about, look) for about, look in looks.items()]


def look_at_state(folder: Path) -> Finding:
    """See whether the state file can be read and names only processes that run."""
    path = folder / "bench.json"
    if not path.exists():
        return Finding("state", True, "no brokers were started in this home yet")
    mend = "`threebrokers up` mends it"
    try:
        json.loads(path.read_text())["brokers"]
    except (ValueError, KeyError, TypeError):
        return Finding("state", False, f"{path} is damaged", mend)
    gone = {n: i.pid for n, i in bench.load(folder).brokers.items() if not i.process()}
    if gone:
        told = ", ".join(f"broker {n} (process {pid})" for n, pid in gone.items())
        return Finding(
            "state", False, f"{told} ended without being asked; its log is in {folder / 'logs'}", mend
        )
    return Finding("state", True, "agrees with the processes that run")


def look_at_ports(known: ports.Ports, processes: Mapping[int, BrokerProcess]) -> Finding:
    """See whether another program listens where a broker that is down wants to listen."""
    taken = {
        port: f"{port} ({name} of broker {n})"
        for n, of_broker in known.items()
        for name, port in of_broker.items()
        if processes[n].state == "down" and not ports.is_free(port)
    }
    if not taken:
        return Finding("ports", True, "no other program uses a broker's port")
    who = ", ".join(forgotten.listeners(set(taken))) or "another program"
    cure = "end it, or `threebrokers down` and `threebrokers up`: then all brokers get other ports"
    return Finding("ports", False, f"port {', '.join(taken.values())} is used by {who}", cure)


def look_at_links(here: bench.Bench) -> Finding:
    """See whether the process runs that carries the links, and whether something is wrong with them."""
    if here.links is None:
        return Finding("links", True, "brokers and clients reach each other directly")
    try:
        faults = links.faults(here.ports)
    except BenchError as fault:
        return Finding("links", False, str(fault).partition(":")[0], "`threebrokers up` starts it again")
    if not faults:
        return Finding("links", True, "all are healthy")
    told = "; ".join(f"{fault.effect} at broker {fault.broker}, {fault.words}" for fault in faults)
    return Finding("links", True, told, "`lab.cluster.heal()` or `threebrokers up` mends them")


def look_at_addresses(cluster: Cluster, processes: Mapping[int, BrokerProcess]) -> Finding:
    """Compare the address that each broker advertises to clients with the one where it answers."""
    running = [n for n, process in processes.items() if process.state == "up"]
    if not running:
        return Finding("addresses", True, "no broker runs, so none advertises an address")
    views = cluster.views([])
    if not views:
        return Finding("addresses", False, "no broker answers", f"read the end of {cluster.log(running[0])}")
    advertised = tuple({broker.id: broker for view in views.values() for broker in view.brokers}.values())
    return compare_addresses(advertised, {n: cluster.address(n) for n in running}, _reachable)


def compare_addresses(
    advertised: tuple[Broker, ...], listening: Mapping[int, str], reachable: Callable[[str, int], bool]
) -> Finding:
    """Say which broker sends clients to an address where it does not listen or that cannot be reached."""
    wrong = []
    for broker in advertised:
        address = f"{broker.host}:{broker.port}"
        if broker.id in listening and listening[broker.id] != address:
            wrong.append(f"broker {broker.id} advertises {address} and listens at {listening[broker.id]}")
        elif broker.id in listening and not reachable(broker.host, broker.port):
            wrong.append(f"broker {broker.id} advertises {address}, where nobody answers")
    if not wrong:
        return Finding("addresses", True, "every broker answers at the address that it advertises")
    cure = "advertised.listeners in its configuration: `threebrokers down` and `up` write it anew"
    return Finding("addresses", False, "; ".join(wrong), cure)


def look_for_forgotten(own: Path, benches: list[forgotten.RunningBench]) -> Finding:
    """Name brokers that run although nobody has a lab open there."""
    left = [bench for bench in benches if not bench.lab_open]
    others = [bench for bench in left if bench.home != own]
    if others:
        found = "; ".join(
            f"{len(b.pids)} of {b.home} ({b.rss / MEGA:.0f} MB, process {', '.join(map(str, b.pids))})"
            for b in others
        )
        return Finding(
            "forgotten brokers", False, found, f"THREEBROKERS_HOME={others[0].home} threebrokers down"
        )
    if left:
        return Finding(
            "forgotten brokers", True, "yours run and no `make lab` is open", "`threebrokers down` ends them"
        )
    return Finding("forgotten brokers", True, "none")


def _reachable(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False


def _made(about: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except (BenchError, OSError, psutil.Error) as fault:
        return Finding(about, False, f"could not be looked at ({fault})", "see the message")
