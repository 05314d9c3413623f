"""Which cell of a notebook runs now."""

from IPython import get_ipython


def running_cell() -> tuple[str, int]:
    """Name the notebook cell that runs now, and which of its runs this is; ('', 0) elsewhere."""
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return "", 0
    parent = shell.get_parent()
    # JupyterLab sends the cell's id; other front ends are known by the cell's text.
    name = parent.get("metadata", {}).get("cellId") or parent.get("content", {}).get("code", "")
    return str(name), int(shell.execution_count)
