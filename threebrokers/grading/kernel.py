"""A kernel that runs cells as JupyterLab does: each with its cell's id."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from tempfile import TemporaryDirectory, gettempdir
from types import TracebackType
from typing import Any, Self

from jupyter_client.manager import KernelManager
from traitlets.config import Config

# A kernel's ports are found before it starts: one that somebody else has taken by then leaves a process that
# neither answers nor ends (1 of 1,300 starts, five at once). A folder of its own nobody else takes.
TRANSPORT = "ipc"
# The whole path of a socket has 103 bytes at most (macOS), and its folder and its own name take 24 of them.
LONGEST, SHORT = 79, "/tmp"  # noqa: S108 (the folder in it is made under a new name, for this user alone)
# Without this each kernel warns on stderr that it is not encrypted.
QUIET = Config({"KernelManager": {"transport_encryption": "auto"}})
ARGUMENTS = ("-m", "ipykernel_launcher", "-f", "{connection_file}")
READY_SECONDS = 120
# Of what a cell shows; a loop that prints, or displays, would fill the memory.
MOST_SHOWN = 1_000_000  # letters of its text, and of an error's
MOST_DISPLAYED, OF_EACH = 10_000_000, 1_000  # bytes of all that it displays; what a small one takes in memory
MOST_SENT = 100_000_000  # bytes of one message; who sends a longer one is cut off


@dataclass
class Reply:
    """What a cell showed; `error` is the exception's name, or empty. Time in seconds.

    `result` is its last value as text, `shown` what it printed and displayed before as text, `displayed` what
    it displayed in every form, by MIME type; `told` what the expressions gave that were asked after it.
    """

    error: str = ""
    message: str = ""
    traceback: list[str] = field(default_factory=list)
    result: str = ""
    shown: str = ""
    displayed: list[dict[str, Any]] = field(default_factory=list)
    told: dict[str, str] = field(default_factory=dict)
    seconds: float = 0
    kept: int = 0  # bytes of `displayed`

    def show(self, text: str) -> None:
        """Keep a text that was shown, as far as there is room."""
        self.shown += text[: MOST_SHOWN - len(self.shown)]

    def show_forms(self, forms: dict[str, Any]) -> None:
        """Keep what was displayed, if there is room."""
        self.show(f"{forms.get('text/plain', '')}\n")
        size = OF_EACH + len(json.dumps(forms))
        if self.kept + size <= MOST_DISPLAYED:
            self.kept += size
            self.displayed.append(forms)


class Kernel:
    """One kernel of this Python, started in a folder; it inherits the environment unless one is given.

    `before` are words of a command that starts it; a `quiet` one writes nothing to our own output. If it does
    not start, nothing of it is left.
    """

    def __init__(
        self,
        folder: Path,
        before: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        quiet: bool = False,
    ) -> None:
        with ExitStack() as ending:
            at = str(Path(ending.enter_context(_folder())) / "at")
            manager: Any = KernelManager(kernel_name="python3", transport=TRANSPORT, ip=at, config=QUIET)
            ending.callback(manager.cleanup_resources)
            if before:
                spec: Any = manager.kernel_spec
                spec.argv = [*before, sys.executable, *ARGUMENTS]
            more: dict[str, Any] = {} if environment is None else {"env": dict(environment)}
            more |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} if quiet else {}
            manager.start_kernel(cwd=str(folder), **more)
            ending.callback(manager.shutdown_kernel)
            client: Any = manager.blocking_client()
            client.context.maxmsgsize = MOST_SENT
            client.start_channels()
            ending.callback(client.stop_channels)
            client.wait_for_ready(timeout=READY_SECONDS)
            self.manager, self.client, self._ending = manager, client, ending.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The number of the kernel's process."""
        return int(self.manager.provisioner.pid)

    def run(
        self, text: str, cell: str, within: float = 120, expressions: Mapping[str, str] | None = None
    ) -> Reply:
        """Run one cell. Raises TimeoutError after so many seconds, RuntimeError if the kernel died.

        After a cell that ended well the `expressions` are computed; the texts of their values are `told`.
        """
        content = {"code": text, "silent": False, "store_history": True}
        content |= {"user_expressions": dict(expressions or {}), "allow_stdin": False, "stop_on_error": True}
        request = self.client.session.msg("execute_request", content, metadata={"cellId": cell})
        self.client.shell_channel.send(request)
        reply, start = Reply(), time.monotonic()
        while self._next(request, reply, start + within):
            pass
        self._take_answer(request, reply, within)
        reply.seconds = time.monotonic() - start
        return reply

    def close(self) -> None:
        """End the kernel."""
        self._ending.close()

    def _take_answer(self, request: dict[str, Any], reply: Reply, within: float) -> None:
        """Take the answer to a request; those to cells that were given up come before it."""
        end = time.monotonic() + within
        while True:
            try:
                answer = self.client.get_shell_msg(timeout=1)
            except Empty:
                if time.monotonic() > end or not self.manager.is_alive():
                    raise RuntimeError("the kernel gave no answer") from None
                continue
            if answer["parent_header"].get("msg_id") == request["header"]["msg_id"]:
                break
        found = answer["content"].get("user_expressions") or {}
        reply.told = {name: told.get("data", {}).get("text/plain", "") for name, told in found.items()}

    def _next(self, request: dict[str, Any], reply: Reply, end: float) -> bool:
        """Take one message of the running cell; False when it was the last."""
        if time.monotonic() > end:  # also while it prints without end
            self.manager.interrupt_kernel()
            raise TimeoutError("the cell did not end in time")
        try:
            message = self.client.get_iopub_msg(timeout=1)
        except Empty:
            if not self.manager.is_alive():
                raise RuntimeError("the kernel died") from None
            return True
        if message["parent_header"].get("msg_id") != request["header"]["msg_id"]:
            return True
        return _noted(message["msg_type"], message["content"], reply)


def _folder() -> "TemporaryDirectory[str]":
    """Return a new folder for a kernel's sockets."""
    place = gettempdir()
    place = place if len(os.fsencode(place)) <= LONGEST else SHORT
    return TemporaryDirectory(prefix="kernel-", dir=place, ignore_cleanup_errors=True)


def _noted(kind: str, content: dict[str, Any], reply: Reply) -> bool:
    """Note what a message tells of the running cell; False when it was the last."""
    match kind:
        case "error":
            reply.error, reply.message = content["ename"][:MOST_SHOWN], content["evalue"][:MOST_SHOWN]
            if len(json.dumps(content["traceback"])) <= MOST_DISPLAYED:
                reply.traceback = content["traceback"]
        case "execute_result":
            reply.result = content["data"].get("text/plain", "")[:MOST_SHOWN]
        case "stream":
            reply.show(content["text"])
        case "display_data":
            reply.show_forms(content["data"])
        case "status":
            return bool(content["execution_state"] != "idle")
    return True
