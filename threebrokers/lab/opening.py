"""Opening a lab: its brokers run, and its own topics and groups are gone."""

import functools
import importlib
import re
import secrets
from types import ModuleType

from confluent_kafka import KafkaException

from threebrokers import cells, progress
from threebrokers.cluster import Cluster
from threebrokers.cluster.settings import BROKERS
from threebrokers.errors import LabError
from threebrokers.kafka import rights
from threebrokers.lab import changes, cluster_defaults
from threebrokers.lab.lab import Lab
from threebrokers.lab.names import Names, all_names
from threebrokers.lab.outcomes import show_in_boxes
from threebrokers.notebook import shell
from threebrokers.text import counted, listed, numbered

__all__ = ["join_lab", "open_lab", "opened_here"]


def open_lab(number: str) -> Lab:
    """Open a lab: start brokers that are missing, and delete only this lab's own topics and groups.

    What a killed kernel had changed of the whole cluster is put back. Raises LabError if there is no such
    lab, or if the brokers cannot start.
    """
    from threebrokers.lab.recorded import Shown  # programs of a lab do without recordings

    show_in_boxes(Shown(number))
    cells.history()  # which notes from now on how each cell ends
    names = _names(number)
    for earlier in opened_here():
        earlier.close()  # a cell that runs again must not leave members in a group
    cluster = Cluster()
    lost = cluster.ended_unasked()
    if cluster.access is None:
        cluster.up()
    lab = Lab(number, cluster, functools.partial(_checks, number), secrets.token_hex(3))
    try:
        lab.clear(names)
        restored = changes.put_back(lab)
    except KafkaException as fault:
        if refused := rights.of_fault(fault):
            raise refused from fault
        raise LabError(
            f"The brokers run, but did not answer in time ({fault.args[0].str()}): run this cell again, "
            "and `threebrokers doctor` if it says so twice."
        ) from fault
    _offer_programs(lab)
    for told in progress.lost():
        print(told)
    print(f"{_opened(lab)}{_news(lost)}{restored}{_solved(number)}{cluster_defaults.told(lab)}")
    return lab


def _opened(lab: Lab) -> str:
    access = lab.cluster.access
    if access is None:
        return f"Lab {lab.number} is open: three brokers at {lab.cluster.bootstrap}."
    count = len(lab.cluster.brokers)
    few = "" if count >= len(BROKERS) else f" It has {counted(count, 'broker')}; labs expect three."
    return (
        f"Lab {lab.number} is open on a cluster that is not yours, at {access.bootstrap}: names of topics "
        f"and groups begin with {access.prefix!r}, and what needs power over brokers is skipped.{few}"
    )


def _news(lost: list[int]) -> str:
    """Say which brokers had ended unasked; what the learner or the course did to them is no news."""
    if not lost:
        return ""
    were, themselves = ("was", "itself") if len(lost) == 1 else ("were", "themselves")
    return (
        f" {numbered('Broker', lost)} had ended by {themselves} and {were} started again; "
        f"`lab.cluster.log({lost[0]})` may say why."
    )


def _solved(number: str) -> str:
    """Say which exercises of a lab are solved already; nothing on the first day."""
    mine = progress.solved_in(number)
    return f" You have solved {listed(mine)}." if mine else ""


def join_lab(number: str, opened: str, program_name: str = "") -> Lab:
    """Return a lab that another process has opened, with the same names; nothing is started or deleted."""
    return Lab(number, Cluster(), functools.partial(_checks, number), opened, program_name)


def _offer_programs(lab: Lab) -> None:
    """Let a cell that begins with `%%program name` run as a process of its own."""
    here = shell()
    if here:

        def program(line: str, cell: str) -> None:
            """Run this cell as a program: a process of its own, with `lab` ready in it."""
            lab.programs.run(line, cell)

        here.register_magic_function(program, "cell")


def opened_here() -> list[Lab]:
    """Return the labs that this notebook holds in its variables."""
    here = shell()
    return [value for value in here.user_ns.values() if isinstance(value, Lab)] if here else []


def _names(number: str) -> Names:
    if not (isinstance(number, str) and re.fullmatch(r"[0-9]{2}", number)):
        raise LabError(
            f'A lab is named by two digits as text, not by {number!r}: for example open_lab("01").'
        )
    names = all_names().get(number)
    if names is None:
        raise LabError(f"There is no lab {number} yet: see the folder labs/ for those that exist.")
    return names


def _checks(number: str) -> ModuleType:
    return importlib.import_module(f"threebrokers.checks.lab{number}")
