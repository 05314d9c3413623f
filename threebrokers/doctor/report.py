"""What the doctor found as one JSON object, for a teacher who collects them."""

import json
import os
import platform
import re
from collections.abc import Iterable
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from threebrokers.cluster import engine
from threebrokers.doctor.finding import Finding
from threebrokers.errors import LabError
from threebrokers.kafka.access import machine_user
from threebrokers.paths import home


def report(findings: Iterable[Finding]) -> str:
    """Return course, engine, machine and findings as JSON, without the user's name; memory in bytes.

    Never raises: what cannot be told is null.
    """
    told: dict[str, Any] = {
        "course": _version(),
        "engine": _engine(),
        "machine": {
            "os": f"{platform.system()} {platform.release()}",
            "arch": platform.machine(),
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "memory": psutil.virtual_memory().total,
        },
        "ok": True,
        "findings": [asdict(finding) for finding in findings],
    }
    told["ok"] = all(finding["ok"] for finding in told["findings"])
    return json.dumps(_nameless(told), indent=1)


def nameless(text: str, own: str, user: str) -> str:
    """Return a text in which the home folder is ~ and the user's name in other paths is a sign."""
    text = re.sub(rf"{re.escape(own)}(?![\w-])", "~", text) if own not in ("", "/") else text
    text = re.sub(r"://[^/@\s]+@", "://…@", text)
    return re.sub(rf"(?<=[/\\]){re.escape(user)}(?=[/\\\s,;:)'\"]|$)", "…", text) if user else text


def _nameless(told: Any) -> Any:
    if isinstance(told, dict):
        return {key: _nameless(value) for key, value in told.items()}
    if isinstance(told, list):
        return [_nameless(value) for value in told]
    return nameless(told, _own(), machine_user()) if isinstance(told, str) else told


def _own() -> str:
    try:
        return str(Path.home())
    except RuntimeError:  # a container's user may have none
        return ""


def _version() -> str | None:
    try:
        return metadata.version("threebrokers")
    except metadata.PackageNotFoundError:
        return None


def _engine() -> str | None:
    try:
        return engine.chosen(home()).name
    except LabError:
        return None
