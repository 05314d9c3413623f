"""One sitting: brokers and JupyterLab from `make lab` to Ctrl-C."""

import signal
from collections.abc import Callable
from pathlib import Path

import psutil

from threebrokers import progress, workspace
from threebrokers.app import jupyterlab
from threebrokers.app.browser import can_open_browser, open_with_token
from threebrokers.app.endings import one_interrupt
from threebrokers.cluster import Cluster, programs, sessions, spark_cluster
from threebrokers.cluster.engine import COMPOSE
from threebrokers.cluster.process import Identity
from threebrokers.doctor import containers
from threebrokers.doctor.machine import look_at_memory
from threebrokers.kafka import access
from threebrokers.paths import home, lab_command
from threebrokers.text import counted

# A script's `make lab &` was started with Ctrl-C ignored, and nothing else would end it in good order.
ALWAYS = (signal.SIGINT,)


def sit(number: str | None, port: int | None, say: Callable[[str], None]) -> None:
    """Start brokers and JupyterLab at a lab (the first unless told) and stay until Ctrl-C; then end both.

    A JupyterLab whose `make lab` was killed is taken over, with its kernels. Raises LabError if a step
    fails; then what it had started is ended too.
    """
    notebook = workspace.mine(workspace.lab(number) if number else next(iter(workspace.labs().values())))
    if not sessions.orphans(home()):
        jupyterlab.choose_port(port)  # before the brokers are started for nothing
    cluster = Cluster()
    with one_interrupt(ALWAYS), sessions.entered(last_out=lambda: _end_all(cluster, say)) as sitting:
        try:
            for told in [*workspace.hand_out(), *progress.lost()]:
                say(told)
            ready = _ready(cluster, say)
            started = _taken_over(sitting, notebook, say)
            if started is None:
                say(f"{ready} Starting JupyterLab …")
                _warn_of_another(say)
                started = jupyterlab.start(notebook, port)
                sitting.opened(started.identity)
            say(_address(started.address))
            _stay(started.identity, say)
        except KeyboardInterrupt:
            say("")
        finally:
            if sitting.jupyter and sitting.jupyter.process():
                say("Ending JupyterLab …")
                jupyterlab.let_save(sitting.jupyter)
                jupyterlab.end(sitting.jupyter)
            others = len(sessions.still_open(home())) - 1
            if others:
                say(f"The brokers go on for {others} other `{lab_command()}` of this home.")


def end_orphans(say: Callable[[str], None]) -> None:
    """End the JupyterLabs of this home whose `make lab` was killed, when their pages have saved."""
    for orphan in sessions.orphans(home()):
        jupyterlab.let_save(orphan)
        jupyterlab.end(orphan)
        say(f"Ended a JupyterLab whose `{lab_command()}` was killed.")


def _taken_over(
    sitting: sessions.Sitting, notebook: Path, say: Callable[[str], None]
) -> jupyterlab.Server | None:
    """Return a JupyterLab that runs without its `make lab`, if there is one; others like it are ended.

    One server is enough for the notebooks of a home: of two, one overwrites what the other has saved.
    """
    taken = None
    while taken is None and (orphan := sitting.adopt()):
        taken = jupyterlab.running(orphan, notebook)
        if taken is None:
            jupyterlab.end(orphan)
            say(f"Ended a JupyterLab whose `{lab_command()}` was killed, because it did not answer.")
    if taken:
        end_orphans(say)
        say(
            f"The last `{lab_command()}` was killed, and its JupyterLab still runs: "
            "it goes on, with its kernels."
        )
        if can_open_browser():
            open_with_token(taken.address, "lab")
    return taken


def _warn_of_another(say: Callable[[str], None]) -> None:
    if len(sessions.still_open(home())) > 1:
        say(f"Another `{lab_command()}` of this home is open: open each notebook in one JupyterLab only.")


def _ready(cluster: Cluster, say: Callable[[str], None]) -> str:
    """Start the brokers, or look whether those of a cluster elsewhere let us in; say what is there."""
    if cluster.access is None:
        _warn_of_little_memory(cluster, say)
        cluster.up(say)
        return "Three brokers are up."
    there = counted(len(cluster.brokers), "broker")
    return (
        f"The cluster at {cluster.bootstrap} answers ({there}). It is not yours: your names begin with "
        f"{cluster.access.prefix!r}, and no broker is started or stopped."
    )


def _warn_of_little_memory(cluster: Cluster, say: Callable[[str], None]) -> None:
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


def stop_brokers(cluster: Cluster, say: Callable[[str], None]) -> None:
    """Stop the brokers, or in a cluster elsewhere the learner's programs, and before them Spark."""
    if cluster.access is None:
        say("Stopping the brokers …")
    spark_cluster.down(home())
    if cluster.access is None:
        cluster.down()
    else:
        programs.end_all(home())


def _end_all(cluster: Cluster, say: Callable[[str], None]) -> None:
    stop_brokers(cluster, say)
    say(
        "All ended. Your work is in work/: JupyterLab saves what you type every "
        f"{jupyterlab.AUTOSAVE_SECONDS} seconds, and had that time (on a very busy machine the last may "
        "be missing); the brokers' data stays."
    )


def _address(address: str) -> str:
    opened = "opens in your browser; if it does not" if can_open_browser() else "is ready"
    brokers = "" if access.chosen() else " and the brokers"
    ending = f"Ctrl-C here ends JupyterLab{brokers}."
    return f"JupyterLab {opened}: open this address\n\n    {address}\n\n{ending}"
