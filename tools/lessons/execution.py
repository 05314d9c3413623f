"""The execution of one solution, and what is kept of it."""

import hashlib
import json
import time
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError

from threebrokers.files import write_whole
from threebrokers.grading.kernel import QUIET
from tools.lessons import asides, notebooks, shown
from tools.rules import checks, predictions

CELL_SECONDS = 240  # more than any wait in it: a cell that waits in vain says itself for what
WAIT_SECONDS = 3  # a cell that ends sooner has ended before its output is read
WIDGET = "application/vnd.jupyter.widget-view+json"


class CellFaultError(Exception):
    """A cell of a solution failed: one sentence that names notebook, cell and error."""


def sources(root: Path, path: Path, notebook: Any) -> str:
    """Return a hash of what a solution's answers depend on: its code, its checks and its questions.

    A quiz is not among them: see tools/lessons/asides.py. What only draws or words its outputs is kept
    apart, by shown.prints.
    """
    files = [*checks.modules(root, path.stem[:2]), predictions.where(root, path.stem[:2])]
    texts = [file.read_text("utf-8") for file in files if file.exists()]
    return hashlib.sha256(json.dumps([notebooks.code(notebook), *texts]).encode()).hexdigest()


def execute(root: Path, path: Path) -> None:
    """Execute one solution and write it with its outputs. Raises CellFaultError, and writes nothing then."""
    notebook = notebooks.read(path)
    assert notebook is not None
    drawn = shown.prints(root)
    took = _run(notebook, path, path.relative_to(root))
    notebook.metadata = dict(notebooks.METADATA)
    notebook.metadata["threebrokers"] = {"sources": sources(root, path, notebook), "shown": drawn}
    for cell in notebooks.codes(notebook):
        _note(cell, took[cell.id])
        for output in cell.outputs:
            _settle(output)
    asides.fill(notebook, root, path.stem[:2])
    write_whole(path, notebooks.text(notebook).encode())


def _run(notebook: Any, path: Path, name: Path) -> dict[str, float]:
    """Execute the notebook in place; return how many seconds each cell took, by its id."""
    at: list[tuple[int, Any]] = []
    took: dict[str, float] = {}

    def note(cell: Any, cell_index: int) -> None:
        at.append((cell_index, cell))
        took[cell.id] = -time.monotonic()

    def ended(cell: Any, cell_index: int, execute_reply: Any) -> None:
        took[cell.id] += time.monotonic()

    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        config=QUIET,
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        coalesce_streams=True,
        on_cell_start=note,
        on_cell_executed=ended,
    )
    try:
        client.execute()
    except (CellControlSignal, DeadKernelError) as fault:
        index, cell = at[-1]
        first = cell.source.partition("\n")[0]
        kept = "the file stays as it was"
        raise CellFaultError(f"{name}, cell {index + 1} ('{first}'): {_last(fault)}; {kept}.") from fault
    return took


def _note(cell: Any, seconds: float) -> None:
    """Keep for how long a cell makes wait; the time of an earlier run stays if it is half to twice that."""
    before = cell.metadata.pop(notebooks.SECONDS, 0)
    if before / 2 <= seconds <= before * 2:
        cell.metadata[notebooks.SECONDS] = before
    elif seconds >= WAIT_SECONDS:
        cell.metadata[notebooks.SECONDS] = round(seconds)


def _last(fault: Exception) -> str:
    if isinstance(fault, CellExecutionError):
        return f"{fault.ename}: {fault.evalue.strip().splitlines()[-1] if fault.evalue.strip() else ''}"
    return f"{type(fault).__name__}: {str(fault).strip().splitlines()[0]}"


def _settle(output: Any) -> None:
    """Take out of an output what would differ in the next run or asks for a widget that is gone."""
    # Without the view JupyterLab shows what else there is: a picture or a text.
    output.get("data", {}).pop(WIDGET, None)
