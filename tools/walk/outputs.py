"""What a cell said, read from its outputs as a notebook keeps them."""

from collections.abc import Mapping, Sequence
from typing import Any

VIEW = "application/vnd.jupyter.widget-view+json"


def verdict(outputs: Sequence[Mapping[str, Any]]) -> str:
    """Return the last sentence that a check gave: its error's, or the one that says that it is solved."""
    said = ""
    for one in outputs:
        if one["output_type"] == "error":
            said = str(one["evalue"])
        elif "data" in one:
            said = _text(one["data"].get("text/plain", "")).strip("'") or said
    return said


def traceback(outputs: Sequence[Mapping[str, Any]]) -> str:
    """Return the error that ended a cell with a traceback, or an empty text."""
    for one in outputs:
        if one["output_type"] == "error" and len(one["traceback"]) > 1:
            return f"{one['ename']}: {one['evalue']}"
    return ""


def without_views(outputs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the outputs without what asks for a live widget, which a later run of their cell has closed."""
    return [
        {**one, "data": {kind: form for kind, form in one["data"].items() if kind != VIEW}}
        if "data" in one
        else dict(one)
        for one in outputs
    ]


def _text(value: Any) -> str:
    return "".join(value) if isinstance(value, list) else str(value)
