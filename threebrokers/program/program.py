"""A cell that runs as a process of its own, as its notebook sees it."""

import codecs
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from threebrokers.errors import LabError
from threebrokers.program.display import Box, ending
from threebrokers.waiting import wait_until

SHOW_SECONDS = 0.2
KEPT = 1_000_000  # characters of output; what was written before them is let go
END_SECONDS = 10.0
STILL_SECONDS = 0.5  # a line that has no end yet is whole by then: it is a prompt, or the like


class Program:
    """A cell that runs as a process of its own.

    Its output is read as it comes and given to `show`; `over` is called when it has ended.
    """

    def __init__(
        self,
        name: str,
        process: subprocess.Popen[bytes],
        show: Callable[[Box], None],
        over: Callable[[], None],
    ) -> None:
        self.name, self.pid = name, process.pid
        self._process, self._show, self._over = process, show, over
        self._output, self._lock = "", threading.Lock()
        self._shown: Box | None = None
        self._showing = threading.Lock()
        self._ended = threading.Event()
        self.exit_code: int | None = None
        self._killed = False
        self._refresh()
        threading.Thread(target=self._follow, name=f"program {name}", daemon=True).start()

    def __repr__(self) -> str:
        return self._box().state

    @property
    def state(self) -> str:
        """'runs', or how it ended: 'ended by itself', 'failed (exit code 1)', 'ended by SIGSEGV', …"""
        return "runs" if self.exit_code is None else ending(self.exit_code, meant=self._box().meant)

    @property
    def output(self) -> str:
        """What the program has written so far, errors too (the last million characters of it)."""
        with self._lock:
            return self._output

    def stop(self) -> None:
        """Ask the program to end (SIGTERM): it closes its clients first. Raises LabError after 10 s."""
        self._end(signal.SIGTERM)

    def interrupt(self) -> None:
        """Send what Ctrl-C in a terminal sends (SIGINT). Does not wait for the end."""
        self._expect_running()
        self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """End the program at once (SIGKILL): it can close nothing and say goodbye to nobody."""
        self._expect_running()
        self._killed = True
        self._end(signal.SIGKILL)

    def wait(self, *, within: float = 10) -> int:
        """Wait until the program ends and return its exit code. Raises LabError after so many seconds."""
        wait_until(
            self._ended.is_set,
            what=f"the program {self.name} to end",
            within=within,
            otherwise=f'end it with lab.program("{self.name}").kill().',
        )
        self._refresh()
        assert self.exit_code is not None
        return self.exit_code

    def wait_for(self, text: str, *, within: float = 10) -> str:
        """Wait until the program has written a line that holds `text`, and return that line.

        A last line without an end counts once the program writes no more for a moment.
        Raises LabError after so many seconds, and at once if the program ends without that.
        """
        unchanged = _Unchanged()

        def found() -> str | None:
            over = self._ended.is_set()  # before the look: nothing is written after it
            output = self.output
            lines = output.splitlines()
            if not over and unchanged.seconds(output) < STILL_SECONDS and not output.endswith("\n"):
                lines = lines[:-1]  # the end of the last one may be still to come
            line = next((line for line in lines if text in line), None)
            if line is None and over:
                raise LabError(
                    f"The program {self.name} did not write “{text}” before its end ({self.state}): "
                    "read its output, under its cell."
                )
            return line

        what = f"the program {self.name} to write “{text}”"
        line = wait_until(found, what=what, within=within, otherwise="read its output, under its cell.")
        self._refresh()
        return line

    def _expect_running(self) -> None:
        if self._ended.is_set():
            raise LabError(
                f"The program {self.name} runs no more ({self.state}): run its cell to start it again."
            )

    def _end(self, number: signal.Signals) -> None:
        self._expect_running()
        self._process.send_signal(number)  # harmless if it has ended meanwhile: subprocess knows
        self.wait(within=END_SECONDS)

    def _follow(self) -> None:
        """Read what the program writes until it ends; runs in a thread."""
        assert self._process.stdout is not None
        handle = self._process.stdout.fileno()
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        written = selectors.DefaultSelector()  # select() knows no file beyond the 1,024th of a kernel
        written.register(handle, selectors.EVENT_READ)
        shown_at = time.monotonic()
        while True:
            over = self._process.poll() is not None  # before the read: what was written is there
            ready = written.select(0 if over else SHOW_SECONDS)
            part = os.read(handle, 65536) if ready else b""
            with self._lock:
                self._output = (self._output + decode(part, not part and over))[-KEPT:]
            if over and not part:
                break
            if not part and ready:  # it has closed its output and goes on
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(SHOW_SECONDS)
            if time.monotonic() - shown_at >= SHOW_SECONDS:
                self._refresh()
                shown_at = time.monotonic()
        written.close()
        self.exit_code = self._process.returncode
        self._process.stdout.close()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._over()
        self._refresh()
        self._ended.set()

    def _box(self) -> Box:
        return Box(self.name, self.pid, self.exit_code, self.output, self._killed)

    def _refresh(self) -> None:
        with self._showing:  # the newest is shown last
            box = self._box()
            if box != self._shown:
                self._shown = box
                self._show(box)


class _Unchanged:
    """How long an output is as it is, by the looks at it."""

    def __init__(self) -> None:
        self._output, self._since = "", time.monotonic()

    def seconds(self, output: str) -> float:
        """Return for how many seconds every look has found this output."""
        now = time.monotonic()
        if output != self._output:
            self._output, self._since = output, now
        return now - self._since
