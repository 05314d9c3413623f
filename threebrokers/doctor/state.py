"""Whether what a home remembers of its brokers is still true: their processes, ports, links and disks."""

from collections.abc import Mapping
from pathlib import Path

from threebrokers.cluster import ports, state_file
from threebrokers.cluster.engine import Engine
from threebrokers.cluster.process import BrokerProcess
from threebrokers.doctor.finding import Finding
from threebrokers.doctor.processes import listeners
from threebrokers.errors import LabError

RESET = "`threebrokers reset` deletes all data and starts a fresh cluster; copy first what you need"
Addresses = Mapping[int, Mapping[str, str]]


def look_at_state(folder: Path) -> Finding:
    """See whether the state file can be read and names only processes that run."""
    file = state_file.file(folder)
    if not file.path.exists():
        return Finding("state", True, "no brokers were started in this home yet")
    mend = "`threebrokers up` mends it"
    known = file.read()
    if known is None:
        return Finding("state", False, f"{file.path} is damaged", mend)
    gone = {n: i.pid for n, i in known.brokers.items() if not i.process()}
    if gone:
        told = ", ".join(f"broker {n} (process {pid})" for n, pid in gone.items())
        return Finding(
            "state", False, f"{told} ended without being asked; its log is in {folder / 'logs'}", mend
        )
    return Finding("state", True, "agrees with the processes that run")


def look_at_ports(listening: Addresses, processes: Mapping[int, BrokerProcess]) -> Finding:
    """See whether another program listens where a broker that is down wants to listen."""
    known = {n: {name: int(a.rpartition(":")[2]) for name, a in of.items()} for n, of in listening.items()}
    taken = {
        port: f"{port} ({name} of broker {n})"
        for n, of_broker in known.items()
        for name, port in of_broker.items()
        if processes[n].state == "down" and not ports.is_free(port)
    }
    if not taken:
        return Finding("ports", True, "no other program uses a broker's port")
    who = ", ".join(listeners(set(taken))) or "another program"
    cure = "end it, or `threebrokers down` and `threebrokers up`: then all brokers get other ports"
    return Finding("ports", False, f"port {', '.join(taken.values())} is used by {who}", cure)


def look_at_links(engine: Engine) -> Finding:
    """See whether brokers and clients reach each other, and whether somebody can tell."""
    if not engine.has_links():
        return Finding("links", True, "brokers and clients reach each other directly")
    try:
        faults = engine.faults()
    except LabError as fault:
        return Finding("links", False, fault.what, "`threebrokers up` starts it again")
    if not faults:
        return Finding("links", True, "all are healthy")
    told = "; ".join(f"{fault.effect} at broker {fault.broker}, {fault.words}" for fault in faults)
    return Finding("links", True, told, "`lab.cluster.heal()` or `threebrokers up` mends them")


def look_at_data(ids: Mapping[int, str], known: str = "") -> Finding:
    """Compare the cluster ids on the brokers' disks with each other, and with the one that is remembered.

    `known` is empty if nothing is remembered. A broker whose id differs never joins the others.
    """
    if not ids:
        return Finding("data", True, "there is none yet")
    each = ", ".join(f"broker {n} {one}" for n, one in sorted(ids.items()))
    if len(set(ids.values())) > 1:
        return Finding("data", False, f"the brokers' data are of different clusters ({each})", RESET)
    if known and known not in ids.values():
        what = f"the data are of an earlier cluster ({each}; this one is {known})"
        return Finding("data", False, what, RESET)
    return Finding("data", True, f"all of one cluster ({ids[min(ids)]})")


def ids_in(metas: Mapping[int, str]) -> dict[int, str]:
    """Return the cluster id that each broker's meta.properties names."""
    names = {
        n: [line for line in text.splitlines() if line.startswith("cluster.id=")] for n, text in metas.items()
    }
    return {n: lines[0].partition("=")[2].strip() for n, lines in names.items() if lines}
