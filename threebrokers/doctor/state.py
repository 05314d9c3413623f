"""Whether what a home remembers of its brokers is still true: their processes, ports, links and disks."""

from collections.abc import Collection, Mapping
from pathlib import Path

from threebrokers.cluster import log_dirs, ports, state_file
from threebrokers.cluster.engine import Engine
from threebrokers.cluster.process import BrokerProcess
from threebrokers.doctor.finding import Finding
from threebrokers.doctor.processes import listeners
from threebrokers.errors import LabError
from threebrokers.text import listed, numbered

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
    gone = {n: i.pid for n, i in known.brokers.items() if i.of_this_boot and not i.process()}
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
    try:
        faults = engine.faults()
    except LabError as fault:
        return Finding("links", False, fault.what, "`threebrokers up` starts it again")
    if not faults:
        return Finding("links", True, "all are healthy")
    told = "; ".join(f"{fault.effect} at broker {fault.broker}, {fault.words}" for fault in faults)
    return Finding("links", True, told, "`lab.cluster.heal()` or `threebrokers up` mends them")


def look_at_disks(home: Path, running: Collection[int]) -> Finding:
    """Name data folders that are missing, damaged or of another cluster; `running` brokers use theirs."""
    if not log_dirs.is_laid_out(home):
        return Finding("data", True, "there is none yet")
    cluster_id, lost = log_dirs.majority(log_dirs.clusters(home))
    if not lost:
        return Finding("data", True, f"all of one cluster ({cluster_id})")
    places = listed([str(log_dirs.folder(home, n)) for n in lost])
    what = f"the disk of {numbered('broker', lost)} is lost, damaged or of another cluster ({places})"
    if not cluster_id:
        return Finding("data", False, f"{what}, and {log_dirs.NO_MAJORITY}", log_dirs.BEGIN_ANEW)
    first = "`threebrokers down`, then " if set(lost) & set(running) else ""
    cure = f"{first}`threebrokers up`: a new, empty disk copies back all that it had"
    return Finding("data", False, what, cure)


def look_at_volumes(metas: Mapping[int, str]) -> Finding:
    """Compare the clusters that the meta.properties in the containers' volumes name."""
    ids = {n: named for n, text in metas.items() if (named := log_dirs.cluster_named(text))}
    if not ids:
        return Finding("data", True, "there is none yet")
    if len(set(ids.values())) > 1:
        each = ", ".join(f"broker {n} {one}" for n, one in sorted(ids.items()))
        return Finding("data", False, f"the brokers' data are of different clusters ({each})", RESET)
    return Finding("data", True, f"all of one cluster ({ids[min(ids)]})")
