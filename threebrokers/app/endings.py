"""How a command is ended from outside: Ctrl-C, a polite end, a closed terminal. Standard library only."""

import signal
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from types import FrameType

ENDINGS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def one_interrupt(always: Collection[signal.Signals] = ()) -> Iterator[None]:
    """Turn the first request to end into KeyboardInterrupt and ignore more: an ending is not broken off.

    What is ignored when the block begins (SIGHUP after `nohup`) stays so, unless it is among `always`.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        for ending in before:
            # What is started from now on inherits what is ignored: Ctrl-C is not for it either, but brokers
            # that a demo brings back are to hear SIGTERM.
            signal.signal(ending, _unheard if ending == signal.SIGTERM else signal.SIG_IGN)
        raise KeyboardInterrupt

    heard = [one for one in ENDINGS if one in always or signal.getsignal(one) != signal.SIG_IGN]
    # Python lets only its first thread listen, and interrupts only that.
    first = threading.current_thread() is threading.main_thread()
    before = {ending: signal.getsignal(ending) for ending in heard if first}
    try:
        for ending in before:
            signal.signal(ending, interrupt)
        yield
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)


def _unheard(number: int, frame: FrameType | None) -> None:
    return
