"""Locks between commands: waited for with a bound, and told in one sentence when that is over."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from threebrokers.errors import LabError
from threebrokers.store import JsonFile


@contextmanager
def held(file: JsonFile[Any], within: float, otherwise: LabError) -> Iterator[None]:
    """Let one process at a time into the block. Raises `otherwise` if another holds the lock for so long."""
    from filelock import Timeout  # who only looks locks nothing

    with ExitStack() as lock:
        try:
            lock.enter_context(file.locked(within))
        except Timeout:  # of this lock: inside the block others are waited for
            raise otherwise from None
        yield
