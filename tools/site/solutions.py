"""An executed solution as a page: its texts, its code, and what its cells gave."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from tools.lessons import notebooks
from tools.site import texts
from tools.site.links import heading_id
from tools.site.parts import Page

SAID = (
    '<p class="said"><strong>Solution.</strong> This page shows the answers, and what came of them when the '
    "cells were run. Nothing runs here: do the lab yourself before you read it.</p>"
)
ANSI = re.compile("\x1b\\[[0-9;]*m")


def page(path: Path) -> Page:
    """Return the page of a solution. Raises LookupError if the notebook cannot be read."""
    notebook = notebooks.read(path)
    if notebook is None:
        raise LookupError(f"{path.name} cannot be read: `make build` and `make run` write it.")
    where = f"solutions/{path.stem}.html"
    writer = texts.Writer(f"solutions/{path.name}", where, heading_id)
    mark = notebooks.MARK.format(name=path.name)  # it speaks of JupyterLab
    parts = [SAID, *(_cell(cell, writer) for cell in notebook.cells if cell.source != mark)]
    body = "\n".join(part for part in parts if part)
    found = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    title = re.sub("<[^>]*>", "", found[1]) if found else path.stem
    return Page(where, f"Lab {path.stem[:2]}: {title}", "Solutions", f'<article class="lab">{body}</article>')


def _cell(cell: Any, writer: texts.Writer) -> str:
    if cell.cell_type == "markdown":
        return writer.html(cell.source)
    shown = "".join(_outputs(cell.outputs))
    return texts.code(cell.source) + (f'<div class="output">{shown}</div>' if shown else "")


def _outputs(outputs: Any) -> Iterator[str]:
    for output in outputs:
        if output.output_type == "stream":
            yield _text(output.text)
        elif output.output_type == "error":
            yield _text("\n".join(output.traceback))
        else:
            yield _data(output.data)


def _data(data: Any) -> str:
    if html := data.get("text/html", "").strip():
        # A table of pandas or of a picture may be wider than the page.
        return f'<div class="wide" role="group" aria-label="Output" tabindex="0">{html}</div>'
    if image := data.get("image/png", ""):
        words = escape(data.get("text/plain", "") or "a chart")
        return f'<img alt="Chart that this cell drew ({words})" src="data:image/png;base64,{image.strip()}">'
    return _text(data.get("text/plain", ""))


def _text(text: str) -> str:
    told = ANSI.sub("", text).rstrip()
    return f"<pre>{escape(told)}</pre>" if told else ""
