"""The process that carries the links: started and ended with the brokers, found again by any notebook."""

import functools
import json
import os
import secrets
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
from threebrokers.files import faults_told, set_aside
from threebrokers.waiting import quiet_wait

MARK = "-Dthreebrokers.links="  # of the process's command line, with the home
PROGRAM = Path(__file__).with_name("links_proxy.py")
START_SECONDS, ANSWER_SECONDS = 10.0, 5.0
LOOK_SECONDS = 1.0  # for its answer, before it is thought to be frozen
CURE = "`threebrokers up`, or `lab.cluster.up()` in a notebook, starts it again with healthy links"


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
    for port in ports.carried(outside):
        quiet_wait(functools.partial(ports.is_free, port), START_SECONDS)
    token = _new_token(home)
    # Python's own library is enough: without its packages it starts in 0.1 s and takes little memory.
    command = [sys.executable, "-I", "-S", str(PROGRAM), f"{MARK}{home}", str(control), str(token), *ways]
    log = home / "logs" / "links.log"
    set_aside(log)
    started = process.launch(command, log, dict(os.environ), f"{MARK}{home}")
    # Its own answer, with the token: another program may sit at the port.
    quiet_wait(lambda: _answers(home, outside, LOOK_SECONDS) or not started.process(), START_SECONDS)
    if not (started.process() and _answers(home, outside, LOOK_SECONDS)):
        process.end([started], 0)
        said = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
        raise LabError(
            f"The links between the brokers could not be made ({''.join(said) or 'no answer'})",
            "`threebrokers down` and `up` choose other ports",
        )
    return started


def mended(home: Path, outside: Ports, known: Identity) -> Identity:
    """Return the process that carries the links now: this one, or a new one if it has died or hangs.

    One that somebody has frozen goes on, with its faults; a new one has healthy links.
    """
    if known.process():
        if _answers(home, outside, LOOK_SECONDS):
            return known
        process.send(known, "resume")
        if _answers(home, outside, ANSWER_SECONDS):  # on a busy machine that may take so long
            return known
    process.end([known, *find(home)], 0)
    return start(home, outside)


def find(home: Path) -> list[Identity]:
    """Return the processes that carry links of this home, also those that no state file knows."""
    return process.marked(f"{MARK}{home}")


def faults(home: Path, outside: Ports) -> list[Fault]:
    """Return what is wrong with the links now. Raises LabError if their process does not answer."""
    told = _ask(home, outside, {})["faults"]
    return [Fault(**{**fault, "peers": tuple(fault["peers"])}) for fault in told]


def put(home: Path, outside: Ports, wanted: Iterable[Fault]) -> None:
    """Make these faults, and no others. Raises LabError if the links' process does not answer."""
    kept = list(wanted)
    table = {f"{source}>{target} {name}": e for (source, target, name), e in effects(kept).items()}
    _ask(home, outside, {"faults": [asdict(fault) for fault in kept], "effects": table})


def _answers(home: Path, outside: Ports, within: float) -> bool:
    try:
        _ask(home, outside, {}, within)
    except LabError:
        return False
    return True


def _ask(home: Path, outside: Ports, order: dict[str, Any], within: float = 0.0) -> dict[str, Any]:
    within = within or ANSWER_SECONDS
    who = "The process that carries the links between the brokers"
    try:
        token = _token(home).read_text("ascii", "replace") if _token(home).exists() else ""
        with socket.create_connection((HOST, ports.control(outside)), timeout=within) as line:
            line.sendall(json.dumps({**order, "token": token}).encode() + b"\n")
            with line.makefile(encoding="utf-8") as answers:
                return dict(json.loads(answers.readline()))
    except ConnectionRefusedError as fault:
        raise LabError(f"{who} has ended, so nothing reaches them", CURE) from fault
    except TimeoutError as fault:
        raise LabError(f"{who} did not answer for {within:g} s: it may be frozen", CURE) from fault
    except (OSError, ValueError) as fault:
        port = ports.control(outside)
        raise LabError(f"{who} gives this home no answer: at its port {port} is another one", CURE) from fault


def _new_token(home: Path) -> Path:
    """Write a new token, which only this user can read: other users reach the control port, too."""
    path = _token(home)
    with faults_told(home):
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex())
    return path


def _token(home: Path) -> Path:
    return home / "links.token"
