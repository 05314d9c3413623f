"""A shell of IPython, as a kernel has one."""

import atexit
from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell


@pytest.fixture
def ipython() -> Iterator[InteractiveShell]:
    """A new shell, which is let go: else each one looks through all memory when Python ends."""
    shell = InteractiveShell()
    yield shell
    atexit.unregister(shell.atexit_operations)
    if shell.history_manager is not None:
        shell.history_manager.end_session()
        shell.history_manager.close()
