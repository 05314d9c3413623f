"""What is pressed in a program's box is heard while a cell runs, in a kernel as JupyterLab talks to it."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

PRESSED = """
import threading
from threebrokers.program.display import Box
from threebrokers.program.widget import LiveBox
heard = threading.Event()
box = LiveBox(Box("clock", 1, None, "ready", False), lambda kind: heard.set())
print(box.comm.comm_id)
"""
WAITS = "print(heard.wait({seconds}))"


@pytest.fixture
def kernel() -> Iterator[BlockingKernelClient]:
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.programs
@pytest.mark.parametrize(
    ("subshells", "named", "heard"),
    [(2, True, "True"), (2, False, "True"), (0, False, "False")],
    ids=["the subshell is named", "the page does not know it yet", "there is none"],
)
def test_a_press_is_heard_while_a_cell_runs(
    kernel: BlockingKernelClient, subshells: int, named: bool, heard: str
) -> None:
    widget = told(kernel, kernel.execute(PRESSED)).strip()
    made = [subshell(kernel) for _ in range(subshells)]
    cell = kernel.execute(WAITS.format(seconds=30 if heard == "True" else 1))
    until_it_runs(kernel, cell)
    content = {"comm_id": widget, "data": {"method": "custom", "content": {"kind": "stop"}}}
    message = kernel.session.msg("comm_msg", content)
    message["header"]["subshell_id"] = made[0] if named else None
    began = time.monotonic()
    kernel.shell_channel.send(message)
    assert told(kernel, cell).strip() == heard
    assert time.monotonic() - began < 20


def subshell(kernel: BlockingKernelClient) -> str:
    """Make a subshell, as JupyterLab does for its widgets."""
    message = kernel.session.msg("create_subshell_request", {})
    kernel.control_channel.send(message)
    answer = kernel.get_control_msg(timeout=30)
    assert answer["parent_header"]["msg_id"] == message["header"]["msg_id"]
    return str(answer["content"]["subshell_id"])


def until_it_runs(kernel: BlockingKernelClient, cell: str) -> None:
    while not of(message := kernel.get_iopub_msg(timeout=30), cell, "execute_input"):
        assert message


def told(kernel: BlockingKernelClient, cell: str) -> str:
    """Return what a cell prints until its end."""
    printed = ""
    while True:
        message = kernel.get_iopub_msg(timeout=60)
        if of(message, cell, "stream"):
            printed += message["content"]["text"]
        assert not of(message, cell, "error"), message["content"]
        if of(message, cell, "status") and message["content"]["execution_state"] == "idle":
            return printed


def of(message: Any, cell: str, kind: str) -> bool:
    return message["parent_header"].get("msg_id") == cell and message["msg_type"] == kind
