"""What a scenario changes of the whole cluster for a while, and what puts it back when a lab is opened.

A kernel that is killed meanwhile puts nothing back, and the change outlives it. So a change is noted in the
home before it is made.
"""

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from threebrokers import paths
from threebrokers.cluster.process import Identity, identify
from threebrokers.lab.lab import Lab
from threebrokers.store import JsonFile
from threebrokers.text import listed

Noted = dict[str, Identity]  # what was changed, and the process that puts it back
# Each of these modules of `scenarios` has a function put_back(lab), which does nothing if all is as before.
SCENARIOS = {
    "transaction.version": "epochs",
    "transaction.partition.verification.enable": "by_hand",
}
LOCK_SECONDS = 10.0


@contextmanager
def for_a_while(lab: Lab, what: str) -> Iterator[None]:
    """Note a change of the whole cluster before the block makes it.

    The block puts it back itself, as its last step; if it does not come to that, it is done here.
    """
    with _file().changed(Noted, LOCK_SECONDS) as noted:
        noted[what] = identify(os.getpid())
    try:
        yield
    except BaseException:
        _put_back(lab, what)
        raise
    _forget(what)


def put_back(lab: Lab) -> str:
    """Put back what a killed kernel has left; return what that was, in words. Raises LabError."""
    noted, own = _file().read() or {}, os.getpid()
    over = [what for what, owner in noted.items() if owner.pid == own or owner.process() is None]
    left = [what for what in over if what in SCENARIOS]
    for what in left:
        _put_back(lab, what)
    return f" {listed(left)} had been changed for an experiment, and is as before." if left else ""


def _put_back(lab: Lab, what: str) -> None:
    importlib.import_module(f"threebrokers.lab.scenarios.{SCENARIOS[what]}").put_back(lab)
    _forget(what)


def _forget(what: str) -> None:
    with _file().changed(Noted, LOCK_SECONDS) as noted:
        noted.pop(what, None)


def _file() -> JsonFile[Noted]:
    return JsonFile(paths.home() / "changed.json", Noted)
