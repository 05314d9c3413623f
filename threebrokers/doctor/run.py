"""One examination: look after look, and none that fails hides what the others find."""

from collections.abc import Callable
from contextlib import closing

import psutil
from confluent_kafka import KafkaException

from threebrokers.cluster import Cluster, engine
from threebrokers.cluster.compose import ComposeEngine
from threebrokers.cluster.remote import RemoteEngine
from threebrokers.doctor import checks, containers, elsewhere
from threebrokers.doctor.finding import Finding, told
from threebrokers.doctor.processes import look_for_orphans
from threebrokers.errors import LabError
from threebrokers.paths import home, lab_command


def examine() -> list[Finding]:
    """Look for every known trouble; one look that cannot be made does not stop the others. Never raises."""
    found = [_made(*look) for look in checks.of_machine()]
    try:
        chosen = engine.chosen(home())
    except LabError as fault:
        return [*found, told("engine", fault)]
    if isinstance(chosen, RemoteEngine):
        found.append(_made("JupyterLab", lambda: look_for_orphans(home())))
        return found + [_made(*look) for look in elsewhere.looks(chosen, Cluster())]
    if isinstance(chosen, ComposeEngine):
        docker = _made("Docker", containers.look_at_docker)
        found.append(docker)
        if not docker.ok:
            return found  # without it there is nothing to be asked
    else:
        found.append(Finding("Docker", True, "not needed: the brokers are processes of this machine"))
    found += [_made(*look) for look in checks.of_home(chosen)]
    try:
        cluster = Cluster()
        processes = cluster.processes()
    except LabError as fault:
        return [*found, told("brokers", fault)]
    except (OSError, psutil.Error) as fault:
        return [*found, Finding("brokers", False, f"could not be looked at ({fault})", "see the message")]
    if all(process.state != "up" for process in processes.values()):
        cure = f"`threebrokers up` or `{lab_command()}` starts them"
        return [*found, Finding("brokers", True, "none runs", cure)]
    with closing(cluster.poller()) as poller:
        return found + [_made(*look) for look in checks.of_brokers(cluster, processes, poller)]


def _made(about: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except LabError as fault:
        return told(about, fault)
    except (OSError, psutil.Error, KafkaException) as fault:
        return Finding(about, False, f"could not be looked at ({fault})", "see the message")
    except Exception as fault:  # a fault of this look must not hide what the others find
        what = f"could not be looked at ({type(fault).__name__}: {fault})"
        return Finding(about, False, what, "please report this, it is a fault of the course")
