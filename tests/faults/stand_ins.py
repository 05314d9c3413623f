"""The command line over a home that starts no broker: everything else is the course's own code."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.commands import Ended, run
from threebrokers import workspace
from threebrokers.app import jupyterlab, make_lab
from threebrokers.cluster import cds, jars, links, local, ports, prepare, process, registration
from threebrokers.cluster.lockfile import Jar
from threebrokers.cluster.process import Identity
from threebrokers.doctor import checks
from threebrokers.errors import LabError

LAB = "02_the_log.ipynb"
SERVED = LabError("JupyterLab is not started in this test.")


@dataclass
class Clone:
    """A clone, its home, its cache, the machine's temporary folder; `launched` are the brokers' commands."""

    root: Path
    launched: list[list[str]] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def work(self) -> Path:
        return self.root / "work" / LAB

    def run(self, *words: str) -> Ended:
        """Run a command; it ends well, or with one sentence."""
        done = run(*words)
        if done.exit_code:
            told = done.stderr.strip().splitlines()
            found = words[0] == "doctor" and not told
            assert found or (len(told) == 1 and told[0].startswith("✗ ")), (words, done)
        return done


def notebook(title: str = "What is a topic?") -> str:
    """Return a lab with one exercise."""
    code = {"execution_count": None, "outputs": []}
    cells = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": f"# {title}"},
        {
            "cell_type": "markdown",
            "id": "task1",
            "metadata": {},
            "source": "### Exercise 2.1: key the flights",
        },
        {"cell_type": "code", "id": "answer1", "metadata": {}, "source": "# TODO: key\nkeys = ...", **code},
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    """A clone in which everything works without a JVM, a network and a JupyterLab."""
    clone = Clone(tmp_path)
    (tmp_path / "labs").mkdir()
    (tmp_path / "labs" / LAB).write_text(notebook(), "utf-8")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("THREEBROKERS_HOME", str(clone.home))
    monkeypatch.setenv("THREEBROKERS_CACHE", str(tmp_path / "cache"))
    for name in ("XDG_RUNTIME_DIR", "THREEBROKERS_CLUSTER", "PORT", "LAB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(workspace, "root", lambda: tmp_path)
    monkeypatch.setattr(workspace, "course", lambda: tmp_path)
    monkeypatch.setattr(make_lab.jupyterlab, "start", _fail)
    monkeypatch.setattr(jupyterlab, "start", _fail)
    _without_brokers(clone, monkeypatch)
    jar = tmp_path / "cache" / "jars" / "a-1.jar"
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"jar")
    sound = Jar("g:a:1", 3, hashlib.sha256(b"jar").hexdigest())
    monkeypatch.setattr(jars, "locked", lambda group: [sound])
    monkeypatch.setattr(checks, "of_machine", lambda: iter(()))
    return clone


def _without_brokers(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(program: Path, broker: object, tool: object, work: Path, say: Callable[[str], None]) -> Path:
        (work / "made" / cds.TEMPLATE).mkdir(parents=True)
        (work / "made" / cds.TEMPLATE / "bootstrap.checkpoint").write_text("formatted")
        return work / "made"

    def launch(command: list[str], log: Path, environment: dict[str, str], mark: str) -> Identity:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch()
        clone.launched.append(command)
        return Identity(1, "0 ticks after boot of another machine", mark)  # nobody's: it is down

    def started(home: Path, outside: object) -> Identity:
        links._new_token(home)
        return launch(["links"], home / "logs" / "links.log", {}, "links")

    monkeypatch.setattr(ports, "is_free", lambda port: True)  # whatever else runs on this machine
    monkeypatch.setattr(prepare.cds, "make", made)
    monkeypatch.setattr(process, "launch", launch)
    monkeypatch.setattr(process, "_marked", lambda mark: iter(()))  # nothing of this home can run
    monkeypatch.setattr(checks, "running_homes", list)
    monkeypatch.setattr(links, "start", started)
    monkeypatch.setattr(links, "faults", lambda *_: [])
    monkeypatch.setattr(links, "mended", lambda home, outside, known: known)
    monkeypatch.setattr(local.LocalEngine, "wait_for_ports", lambda *_: {})
    monkeypatch.setattr(registration, "wait_registered", lambda *_: None)
    monkeypatch.setattr(registration, "misleading", lambda *_: [])


def _fail(*_: object) -> None:
    raise SERVED
