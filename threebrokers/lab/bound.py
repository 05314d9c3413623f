"""A bound for checks: whatever the brokers do, the learner gets an answer within ten seconds."""

import contextvars
import gc
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from types import FrameType

from threebrokers.errors import LabError
from threebrokers.waiting import late

ANSWER_SECONDS = 9.0  # then there is a second left to say why
LONGEST_SECONDS = 90.0  # a busy machine may need more than ten while enough brokers are well
NOTICE_SECONDS = 1.0
TIDYING_SIGNALS = 4  # so often what tidies up on its way out is left in peace
SIGNAL = signal.SIGUSR2

_END: ContextVar[float | None] = ContextVar("threebrokers_end", default=None)


class _OverError(BaseException):
    """The time is over; no `except Exception` of a check may hide it."""


def left(within: float) -> float:
    """Return how much of so many seconds the running check may still wait; all of them outside a check."""
    end = _END.get()
    return within if end is None else max(0.0, min(within, end - monotonic()))


@contextmanager
def bounded(reason: Callable[[], LabError | None]) -> Iterator[None]:
    """End the block after 9 s if `reason()` has one: that is raised. If it has none, go on for 90 s at most.

    The block is ended by a signal to the main thread, as Ctrl-C does it, so it leaves nothing behind that
    still works: a check in a thread of its own would go on when its answer is no longer wanted. In another
    thread than the main one nothing is bounded.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with late("the brokers' answers", ANSWER_SECONDS + 1) as notice:
        watch = _Watch(reason, notice)
        token = _END.set(monotonic() + ANSWER_SECONDS - 1)
        before = signal.signal(SIGNAL, watch.stop)
        gc.callbacks.append(watch.collects)
        watch.thread.start()
        try:
            try:
                yield
            finally:
                watch.ended = True  # from here on a signal that comes late does nothing
        except BaseException as fault:
            # A library may have made an error of its own of the signal.
            if watch.fault is not None and not isinstance(fault, KeyboardInterrupt):
                raise watch.fault from None
            raise
        finally:
            try:
                watch.end()
            finally:  # also after another Ctrl-C, for the lock or while the thread still asks the brokers
                watch.done.set()
                gc.callbacks.remove(watch.collects)
                signal.signal(SIGNAL, before or signal.SIG_DFL)
                _END.reset(token)


class _Watch:
    """Looks from a thread whether the time is over, and interrupts the main thread then."""

    def __init__(self, reason: Callable[[], LabError | None], notice: Callable[[], None]) -> None:
        self.reason, self.notice = reason, notice
        self.fault: LabError | None = None
        self.ended, self.done, self.spared = False, threading.Event(), 0
        self.collecting, self.main = False, threading.get_ident()
        self.sending = threading.Lock()
        self.began = monotonic()
        context = contextvars.copy_context()  # with it the notebook knows to which cell a line belongs
        self.thread = threading.Thread(target=context.run, args=(self._run,), daemon=True)

    def end(self) -> None:
        """End the thread; even if Ctrl-C breaks off the wait for it, no signal comes any more."""
        with self.sending:
            self.done.set()
        self.thread.join()

    def send(self) -> None:
        """Interrupt the main thread, unless the block has ended: then a signal would end the kernel."""
        with self.sending:
            if not self.done.is_set():
                signal.pthread_kill(self.main, SIGNAL)

    def stop(self, number: int, frame: FrameType | None) -> None:
        """End what the main thread does; what is ending already may close its connections first.

        An error that is raised while Python collects garbage is only printed under the cell: such a signal is
        passed over, and the next one counts.
        """
        if self.ended or self.collecting or (frame and frame.f_code is _Watch.collects.__code__):
            return
        if isinstance(sys.exc_info()[1], _OverError) and self.spared < TIDYING_SIGNALS:
            self.spared += 1
            return
        raise _OverError

    def collects(self, phase: str, info: dict[str, int]) -> None:
        """Note whether the main thread collects garbage: one of Python's `gc.callbacks`."""
        # No function that is written in Python is called here: a signal could come inside it.
        if threading.get_ident() == self.main:
            self.collecting = phase == "start"

    def _run(self) -> None:
        if self.done.wait(NOTICE_SECONDS):
            return
        self.notice()
        if self.done.wait(ANSWER_SECONDS - NOTICE_SECONDS):
            return
        while not (fault := self._over()):
            if self.done.wait(NOTICE_SECONDS):
                return
        self.fault = fault
        while not self.done.is_set():
            self.send()
            self.done.wait(NOTICE_SECONDS / 2)

    def _over(self) -> LabError | None:
        try:
            found = self.reason()
        except Exception as fault:  # nobody stands above a thread to show it
            found = LabError(f"The check got no answer ({fault})", "run it again")
        if found is None and monotonic() - self.began > LONGEST_SECONDS:
            return LabError(
                f"The check had no answer after {LONGEST_SECONDS:g} s, and enough brokers are up",
                "run it again when the machine is less busy",
            )
        return found
