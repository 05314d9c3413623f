"""A kernel that runs cells as JupyterLab does: each with its cell's id."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from types import TracebackType
from typing import Any, Self

from jupyter_client.manager import KernelManager
from traitlets.config import Config

# Without this each kernel warns on stderr that it is not encrypted.
QUIET = Config({"KernelManager": {"transport_encryption": "auto"}})


@dataclass
class Reply:
    """What a cell showed; `error` is the exception's name, or empty. Time in seconds.

    `result` is its last value as text, `shown` what it printed and displayed before as text, `displayed` what
    it displayed in every form, by MIME type.
    """

    error: str = ""
    message: str = ""
    traceback: list[str] = field(default_factory=list)
    result: str = ""
    shown: str = ""
    displayed: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0


class Kernel:
    """One kernel of this Python, started in a folder; it inherits the environment."""

    def __init__(self, folder: Path) -> None:
        self.manager: Any = KernelManager(kernel_name="python3", config=QUIET)
        self.manager.start_kernel(cwd=str(folder))
        self.client: Any = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, text: str, cell: str, within: float = 120) -> Reply:
        """Run one cell. Raises TimeoutError after so many seconds, RuntimeError if the kernel died."""
        content = {"code": text, "silent": False, "store_history": True, "user_expressions": {}}
        content |= {"allow_stdin": False, "stop_on_error": True}
        request = self.client.session.msg("execute_request", content, metadata={"cellId": cell})
        self.client.shell_channel.send(request)
        reply, start = Reply(), time.monotonic()
        while self._next(request, reply, start + within):
            pass
        self.client.get_shell_msg(timeout=within)
        reply.seconds = time.monotonic() - start
        return reply

    def close(self) -> None:
        """End the kernel."""
        self.client.stop_channels()
        self.manager.shutdown_kernel()
        self.manager.cleanup_resources()

    def _next(self, request: dict[str, Any], reply: Reply, end: float) -> bool:
        """Take one message of the running cell; False when it was the last."""
        try:
            message = self.client.get_iopub_msg(timeout=1)
        except Empty:
            if not self.manager.is_alive():
                raise RuntimeError("the kernel died") from None
            if time.monotonic() > end:
                self.manager.interrupt_kernel()
                raise TimeoutError("the cell did not end in time") from None
            return True
        if message["parent_header"].get("msg_id") != request["header"]["msg_id"]:
            return True
        content = message["content"]
        match message["msg_type"]:
            case "error":
                reply.error, reply.message = content["ename"], content["evalue"]
                reply.traceback = content["traceback"]
            case "execute_result":
                reply.result = content["data"].get("text/plain", "")
            case "stream":
                reply.shown += content["text"]
            case "display_data":
                reply.shown += content["data"].get("text/plain", "") + "\n"
                reply.displayed.append(content["data"])
            case "status":
                return bool(content["execution_state"] != "idle")
        return True
