"""One sitting: brokers and JupyterLab from `make lab` to Ctrl-C."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import psutil

from threebrokers.app import jupyterlab, workspace
from threebrokers.app.browser import can_open_browser
from threebrokers.cluster import Cluster, sessions
from threebrokers.cluster.engine import COMPOSE
from threebrokers.cluster.process import Identity
from threebrokers.doctor import containers
from threebrokers.doctor.machine import look_at_memory
from threebrokers.paths import home

# Ctrl-C, a polite end from outside, a closed terminal.
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def sit(number: str | None, port: int | None, say: Callable[[str], None]) -> None:
    """Start brokers and JupyterLab at a lab (the first unless told) and stay until Ctrl-C; then end both.

    Raises LabError if a step fails; then what it had started is ended too.
    """
    notebook = workspace.mine(workspace.lab(number) if number else next(iter(workspace.labs().values())))
    free_port = jupyterlab.choose_port(port)
    server: Identity | None = None
    with _one_interrupt(), sessions.entered(last_out=lambda: _stop_brokers(say)) as opened:
        try:
            for told in workspace.hand_out():
                say(told)
            _warn_of_little_memory(say)
            Cluster().up(say)
            say("Three brokers are up. Starting JupyterLab …")
            started = jupyterlab.start(notebook, free_port)
            server = started.identity
            opened(server)
            say(_address(started.address))
            _stay(server, say)
        except KeyboardInterrupt:
            say("")
        finally:
            if server and server.process():
                say("Ending JupyterLab …")
                jupyterlab.end(server)
            others = len(sessions.still_open(home())) - 1
            if others:
                say(f"The brokers go on for {others} other `make lab` of this home.")


def _warn_of_little_memory(say: Callable[[str], None]) -> None:
    cluster = Cluster()
    findings = [look_at_memory(psutil.virtual_memory().available, cluster.processes().values())]
    if cluster.engine == COMPOSE:
        findings.append(containers.look_at_memory())
    for finding in findings:
        if not finding.ok:
            say(f"Little memory: {finding.what}. If a broker does not start, {finding.cure}.")


def _stay(server: Identity, say: Callable[[str], None]) -> None:
    process = server.process()
    if process:
        process.wait()
    say("JupyterLab was shut down from its menu, or ended.")


def _stop_brokers(say: Callable[[str], None]) -> None:
    say("Stopping the brokers …")
    Cluster().down()
    say("All ended. Your work is saved in work/; the brokers' data stays.")


def _address(address: str) -> str:
    opened = "opens in your browser; if it does not" if can_open_browser() else "is ready"
    ending = "Ctrl-C here ends JupyterLab and the brokers."
    return f"JupyterLab {opened}: open this address\n\n    {address}\n\n{ending}"


@contextmanager
def _one_interrupt() -> Iterator[None]:
    """Turn the first request to end into KeyboardInterrupt and ignore more: an ending is not broken off."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        for ending in ENDINGS:
            signal.signal(ending, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {ending: signal.signal(ending, interrupt) for ending in ENDINGS}
    try:
        yield
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)
