"""A program that is copied for each of its lives: that takes milliseconds, where a new Python takes a second.

Only a process without threads of clients can be copied, so it makes no client before that.
"""

import os
import signal
import threading
from contextlib import suppress

from threebrokers.waiting import quiet_wait

_REQUESTS = {signal.SIGTERM, signal.SIGINT}
CLOSE_SECONDS = 8.0  # who asks a program to end has a little more patience than this


def next_life(most: int, *, gently: bool = False) -> int:
    """Copy this process for each life of its program; return in the copy which life it is (0, 1, …).

    The process itself waits here until a life ends that was not killed, or until it is asked to end, and
    exits as that life did. `gently` hands the request on, so that the life closes its clients.
    """
    for life in range(most):
        reader, writer = os.pipe()
        # A request that came between the copy and the wait for it would be handed on to nobody.
        signal.pthread_sigmask(signal.SIG_BLOCK, _REQUESTS)
        child = os.fork()
        if not child:
            os.close(writer)
            threading.Thread(target=_end_with_parent, args=(reader,), daemon=True).start()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _REQUESTS)
            return life
        os.close(reader)
        status = _waited(child, gently)
        os.close(writer)
        if not os.WIFSIGNALED(status):
            raise SystemExit(os.waitstatus_to_exitcode(status))
    raise SystemExit(1)


def _waited(child: int, gently: bool) -> int:
    """Return how a process ended; if this one is asked to end meanwhile, it takes that one along."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _REQUESTS)
        return os.waitpid(child, 0)[1]
    except BaseException:
        with suppress(ProcessLookupError, ChildProcessError):
            _end(child, gently)
        raise


def _end(child: int, gently: bool) -> None:
    if gently:
        os.kill(child, signal.SIGTERM)
        if quiet_wait(lambda: os.waitpid(child, os.WNOHANG) != (0, 0), CLOSE_SECONDS):
            return
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _end_with_parent(reader: int) -> None:
    """End this process when the other end of the pipe is closed: its parent is gone."""
    os.read(reader, 1)
    os._exit(1)
