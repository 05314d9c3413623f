"""The notebook that this code runs in, if there is one: its shell, its running cell, and what that shows."""

import sys
from typing import Any


def shell() -> Any | None:
    """Return the IPython shell that this code runs in, or None."""
    # Code that runs in a shell has IPython loaded. Importing it only to ask would cost 0.15 s.
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def kernel_shell() -> Any | None:
    """Return the shell of the notebook that this code runs in; None in a terminal's IPython and elsewhere."""
    here = shell()
    return here if hasattr(here, "kernel") else None


def running_cell() -> tuple[str, int]:
    """Name the notebook cell that runs now, and which of its runs this is; ('', 0) elsewhere."""
    here = kernel_shell()
    if here is None:
        return "", 0
    parent = here.get_parent()
    # JupyterLab sends the cell's id; other front ends are known by the cell's text.
    name = parent.get("metadata", {}).get("cellId") or parent.get("content", {}).get("code", "")
    return str(name), int(here.execution_count)


def tell(value: object) -> None:
    """Show a value under the running cell; outside a notebook print it in words."""
    if kernel_shell() is None:
        print(repr(value))
        return
    from IPython.display import display  # whoever has a cell has it loaded

    display(value)  # type: ignore[no-untyped-call]


def show(value: object) -> Any:
    """Show a value under the running cell and return its handle, with which it can be changed."""
    from IPython.display import display  # whoever has a cell has it loaded

    return display(value, display_id=True)  # type: ignore[no-untyped-call]


def heard_while_cells_run(widget: Any) -> None:
    """Let what a reader presses in a widget be heard while a cell runs.

    ipykernel 7.4 hands a message to the loop that drew last, which is the one that runs cells: it would wait.
    So a message goes to the subshell that JupyterLab sent it to. A page that was loaded again may not know
    its subshell for seconds after the kernel has made it, and names none: then it goes to the newest one.
    """

    def subshell(data: Any, sent_to: str | None) -> str | None:
        # It is asked in the thread that also makes and ends subshells, so what it names is there.
        return sent_to or next(reversed(shells.list_subshell()), None)

    # A kernel of another kind has none, and no subshells.
    thread = getattr(getattr(shell(), "kernel", None), "shell_channel_thread", None)
    if thread is not None:
        shells = thread.manager
        widget.comm._reply_subshell_for = subshell
