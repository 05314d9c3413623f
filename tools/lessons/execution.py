"""The execution of one solution, and what is kept of it."""

import hashlib
import json
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError

from threebrokers.files import write_whole
from tools.lessons import notebooks, shown
from tools.proof.kernel import QUIET
from tools.rules import checks

CELL_SECONDS = 180
WIDGET = "application/vnd.jupyter.widget-view+json"


class CellFaultError(Exception):
    """A cell of a solution failed: one sentence that names notebook, cell and error."""


def sources(root: Path, path: Path, notebook: Any) -> str:
    """Return a hash of what a solution's answers depend on: its code and its checks.

    What only draws or words its outputs is kept apart, by shown.prints.
    """
    texts = [module.read_text("utf-8") for module in checks.modules(root, path.stem[:2])]
    return hashlib.sha256(json.dumps([notebooks.code(notebook), *texts]).encode()).hexdigest()


def execute(root: Path, path: Path) -> None:
    """Execute one solution and write it with its outputs. Raises CellFaultError, and writes nothing then."""
    notebook = notebooks.read(path)
    assert notebook is not None
    drawn = shown.prints(root)
    _run(notebook, path, path.relative_to(root))
    notebook.metadata = dict(notebooks.METADATA)
    notebook.metadata["threebrokers"] = {"sources": sources(root, path, notebook), "shown": drawn}
    for cell in notebooks.codes(notebook):
        for output in cell.outputs:
            _settle(output)
    write_whole(path, notebooks.text(notebook).encode())


def _run(notebook: Any, path: Path, name: Path) -> None:
    at: list[tuple[int, Any]] = []

    def note(cell: Any, cell_index: int) -> None:
        at.append((cell_index, cell))

    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        config=QUIET,
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        coalesce_streams=True,
        on_cell_start=note,
    )
    try:
        client.execute()
    except (CellControlSignal, DeadKernelError) as fault:
        index, cell = at[-1]
        first = cell.source.partition("\n")[0]
        kept = "the file stays as it was"
        raise CellFaultError(f"{name}, cell {index + 1} ('{first}'): {_last(fault)}; {kept}.") from fault


def _last(fault: Exception) -> str:
    if isinstance(fault, CellExecutionError):
        return f"{fault.ename}: {fault.evalue.strip().splitlines()[-1] if fault.evalue.strip() else ''}"
    return f"{type(fault).__name__}: {str(fault).strip().splitlines()[0]}"


def _settle(output: Any) -> None:
    """Take out of an output what would differ in the next run or asks for a widget that is gone."""
    data = output.get("data", {})
    view = data.get(WIDGET)
    if view and data.get("text/html"):
        del data[WIDGET]  # its picture is shown instead
    elif view:
        # JupyterLab hides a view without a model; it would complain about one that it does not find.
        view["model_id"] = ""
