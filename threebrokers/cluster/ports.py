"""Ports of one home: free, remembered, and never those of another home on this machine."""

import functools
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
import psutil

from threebrokers import paths
from threebrokers.cluster import locks, process
from threebrokers.cluster.settings import BROKERS, LISTENERS
from threebrokers.cluster.spark_settings import MARK
from threebrokers.errors import LabError
from threebrokers.files import faults_told
from threebrokers.store import JsonFile
from threebrokers.waiting import quiet_wait

HOST = "127.0.0.1"
# Broker 1 listens from 11092, broker 2 from 12092, broker 3 from 13092: the number can be read in the port.
# All are below the range that systems hand out to outgoing connections, so a dead broker's port stays free.
FIRST, STEP, BENCHES = 92, 10, 89
# The process that carries the links listens at a broker's ports, and the broker three further.
BEHIND, CONTROL = 3, 9
SPARK, SPARKS = 3_000, 8  # so far above broker 1's, and so many
Ports = dict[int, dict[str, Annotated[int, msgspec.Meta(ge=1, le=65535 - CONTROL)]]]
Claims = dict[str, Annotated[int, msgspec.Meta(ge=0, lt=BENCHES)]]
FREE_SECONDS, LOCK_SECONDS = 5.0, 30.0


def claim(home: Path) -> Ports:
    """Choose a block of 27 free ports for this home: the same as last time, if they are free.

    Returned are nine of them, three of each broker. There are nine behind these, one for orders to the links'
    process, and eight of Spark's. The home's own are waited for while the system closes them; at Spark's, its
    own Spark cluster may run.

    Raises LabError if no block of ports is free, if where that is written down belongs to another user, or
    after 30 s in which another command chooses.
    """
    book = JsonFile[Claims](paths.runtime() / "ports.json", Claims)
    late = LabError(
        f"Another command of yours has been choosing ports for more than {LOCK_SECONDS:g} s",
        "end it, or look with `threebrokers doctor`",
    )
    with faults_told(book.path, "TMPDIR"), locks.held(book, LOCK_SECONDS, late):
        claims = {h: k for h, k in (book.read() or {}).items() if Path(h).is_dir()}
        own = claims.pop(str(home), None)
        if own is not None:
            quiet_wait(lambda: not any(map(_closing, [*_needed(own), *_sparks(own)])), FREE_SECONDS)
        order = [own] if own is not None else []
        order += [k for k in range(BENCHES) if k not in claims.values() and k != own]
        for block in order:
            free_for_spark = all(map(is_free, _sparks(block))) or (block == own and _spark_runs(home))
            if free_for_spark and all(map(is_free, _needed(block))):
                claims[str(home)] = block
                book.write(claims)
                return _block(block)
    raise LabError(
        f"No block of {len(_needed(0)) + SPARKS} free ports was found from {min(_needed(0))} to "
        f"{max(_sparks(BENCHES - 1))}",
        "`threebrokers doctor` shows who uses them",
    )


def behind(outside: Ports) -> Ports:
    """Return the ports at which the brokers themselves listen: clients are told the others."""
    return {n: {name: port + BEHIND for name, port in of.items()} for n, of in outside.items()}


def control(outside: Ports) -> int:
    """Return the port at which the process that carries the links takes orders."""
    return min(_flat(outside)) + CONTROL


def spark(outside: Ports) -> int:
    """Return the first of eight ports of this home's Spark cluster: from 14092, beyond those of broker 3."""
    return min(_flat(outside)) + SPARK


def carried(outside: Ports) -> list[int]:
    """Return the ports at which the process that carries the links listens."""
    return [control(outside), *_flat(outside)]


def is_free(port: int) -> bool:
    """Tell whether a server could listen on this port of the loopback address now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    # macOS lets two listen at one port if the other one listens at every address of the machine.
    return psutil.LINUX or not answers(port)


def wait_free(broker: int, wanted: Mapping[str, int]) -> None:
    """Wait until the ports of a broker's listeners are free. Raises LabError if one is not after 5 s.

    The system may still be closing the sockets of a broker that was killed a moment ago.
    """
    for name, port in wanted.items():
        if not quiet_wait(functools.partial(is_free, port), FREE_SECONDS):
            raise LabError(
                f"Port {port} ({name} of broker {broker}) is used by another program",
                "end it (`threebrokers doctor` names it), "
                "or move all brokers with `threebrokers down` and `up`",
            )


def answers(port: int, host: str = HOST) -> bool:
    """Tell whether somebody accepts connections on this port of the loopback address, or of a host."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        try:
            return probe.connect_ex((host, port)) == 0
        except OSError:  # nobody knows a host of this name
            return False


def _closing(port: int) -> bool:
    """Tell whether a port is taken although nobody listens: an ended process's, which the system closes."""
    return not is_free(port) and not answers(port)


def _needed(block: int) -> list[int]:
    ports = _block(block)
    return [*_flat(ports), *_flat(behind(ports)), control(ports)]


def _sparks(block: int) -> range:
    first = spark(_block(block))
    return range(first, first + SPARKS)


def _spark_runs(home: Path) -> bool:
    """Tell whether a Spark cluster of this home runs, which brokers that start again do not leave."""
    return bool(process.marked(f"{MARK}{home}"))


def _block(block: int) -> Ports:
    return {
        n: {name: 10_000 + 1000 * n + FIRST + STEP * block + i for i, name in enumerate(LISTENERS)}
        for n in BROKERS
    }


def _flat(ports: Ports) -> list[int]:
    return [port for of_broker in ports.values() for port in of_broker.values()]
