"""The process that carries the links: started and ended with the brokers, found again by any notebook."""

import functools
import json
import os
import socket
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from threebrokers.cluster import ports, process
from threebrokers.cluster.link_faults import Fault, effects
from threebrokers.cluster.ports import HOST, Ports
from threebrokers.cluster.process import Identity
from threebrokers.errors import LabError
from threebrokers.waiting import quiet_wait

MARK = "-Dthreebrokers.links="  # of the process's command line, with the home
PROGRAM = Path(__file__).with_name("links_proxy.py")
START_SECONDS, ANSWER_SECONDS = 10.0, 5.0


def start(home: Path, outside: Ports) -> Identity:
    """Start the process for brokers with these addresses, and wait until it listens.

    Raises LabError if it does not.
    """
    behind = ports.behind(outside)
    ways = [
        f"{port}:{behind[broker][name]}:{broker}:{name}"
        for broker, of_broker in outside.items()
        for name, port in of_broker.items()
    ]
    control = ports.control(outside)
    for port in [control, *(port for of_broker in outside.values() for port in of_broker.values())]:
        quiet_wait(functools.partial(ports.is_free, port), START_SECONDS)
    # Python's own library is enough: without its packages it starts in 0.1 s and takes little memory.
    command = [sys.executable, "-I", "-S", str(PROGRAM), f"{MARK}{home}", str(control), *ways]
    log = home / "logs" / "links.log"
    started = process.launch(command, log, dict(os.environ), f"{MARK}{home}")
    quiet_wait(lambda: ports.answers(control) or not started.process(), START_SECONDS)
    if not (started.process() and ports.answers(control)):
        process.end([started], 0)
        said = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
        raise LabError(
            f"The links between the brokers could not be made ({''.join(said) or 'no answer'})",
            "`threebrokers down` and `up` choose other ports",
        )
    return started


def find(home: Path) -> list[Identity]:
    """Return the processes that carry links of this home, also those that no state file knows."""
    return process.marked(f"{MARK}{home}")


def faults(outside: Ports) -> list[Fault]:
    """Return what is wrong with the links now. Raises LabError if their process does not answer."""
    told = _ask(outside, {})["faults"]
    return [Fault(f["effect"], f["broker"], tuple(f["peers"]), f["ms"]) for f in told]


def put(outside: Ports, wanted: Iterable[Fault]) -> None:
    """Make these faults, and no others. Raises LabError if the links' process does not answer."""
    kept = list(wanted)
    table = {f"{source}>{target} {name}": e for (source, target, name), e in effects(kept).items()}
    _ask(outside, {"faults": [asdict(fault) for fault in kept], "effects": table})


def _ask(outside: Ports, order: dict[str, Any]) -> dict[str, Any]:
    try:
        with socket.create_connection((HOST, ports.control(outside)), timeout=ANSWER_SECONDS) as line:
            line.sendall(json.dumps(order).encode() + b"\n")
            with line.makefile(encoding="utf-8") as answers:
                return dict(json.loads(answers.readline()))
    except (OSError, ValueError) as fault:
        raise LabError(
            "The process that carries the links between the brokers has ended, so nothing reaches them",
            "open the lab again, it starts a new one with healthy links",
        ) from fault
