"""Setting up .venv: redone when it must be, never otherwise, and each fault is one sentence."""

import collections
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tools import environment, packages, pip_progress, setup
from tools.setup_faults import SetupError, cannot_write, why

REPO = Path(__file__).parent.parent
OFFLINE = """\
WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(': Failed to')': /x/
ERROR: Could not find a version that satisfies the requirement hatchling>=1.27 (from versions: none)
ERROR: No matching distribution found for hatchling>=1.27
"""


class Root:
    """A clone to set up, with a fake pip and venv that note what they are asked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.said: list[str] = []
        self.done: list[str] = []
        for name in packages.SOURCES:
            (path / name).write_text(name)

    def ensure(self, extra: str = "") -> list[str]:
        """Set up, and return what was done for it."""
        self.done.clear()
        environment.ensure(self.path, extra, self.said.append)
        return self.done


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    root = Root(tmp_path)

    def make_venv(venv: Path) -> None:
        root.done.append("venv")
        (venv / "bin").mkdir(parents=True)
        (venv / "bin" / "python").symlink_to(sys.executable)

    def install(folder: Path, extra: str, say: object) -> None:
        root.done.append(f"install {extra}".strip())

    monkeypatch.setattr(packages, "make_venv", make_venv)
    monkeypatch.setattr(packages, "install", install)
    return root


def test_the_first_time_says_what_it_needs_and_the_second_does_nothing(root: Root):
    assert root.ensure() == ["venv", "install"]
    assert "1.4 GB of disk" in root.said[0]
    assert "2 GB of memory" in root.said[0]
    root.said.clear()
    assert root.ensure() == []
    assert root.said == []


@pytest.mark.parametrize("name", packages.SOURCES)
def test_a_change_is_installed_into_the_same_venv(root: Root, name: str):
    root.ensure()
    (root.path / name).write_text("changed")
    assert root.ensure() == ["install"]
    assert root.ensure() == []


def test_authors_need_more_and_keep_it(root: Root):
    root.ensure()
    assert root.ensure("test") == ["install test"]
    assert root.ensure("test") == []
    assert root.ensure() == []
    (root.path / "constraints.txt").write_text("changed")
    assert root.ensure() == ["install test"]


@pytest.mark.parametrize("first", [True, False])
def test_an_interrupted_set_up_is_begun_again(root: Root, monkeypatch: pytest.MonkeyPatch, first: bool):
    if not first:
        root.ensure()
        (root.path / "constraints.txt").write_text("changed")
    install = packages.install

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(packages, "install", interrupted)
    with pytest.raises(KeyboardInterrupt):
        root.ensure()
    monkeypatch.setattr(packages, "install", install)
    assert root.ensure() == ["venv", "install"]


def test_a_venv_whose_python_is_gone_is_made_again(root: Root):
    root.ensure()
    python = root.path / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python")
    assert root.ensure() == ["venv", "install"]


def test_a_venv_of_another_python_is_made_again(root: Root):
    root.ensure()
    stamp = root.path / ".venv" / "threebrokers.json"
    stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"python": "3.11 /old"}))
    assert root.ensure() == ["venv", "install"]


def test_a_moved_clone_is_set_up_again(root: Root, tmp_path: Path):
    root.ensure()
    moved = tmp_path / "moved"
    shutil.copytree(tmp_path, moved, symlinks=True)
    root.path = moved
    assert root.ensure() == ["venv", "install"]


def test_two_at_once_set_up_once(root: Root, monkeypatch: pytest.MonkeyPatch):
    waiting, install = threading.Event(), packages.install

    def slow(*arguments: Any) -> None:
        assert waiting.wait(10)
        install(*arguments)

    def say(text: str) -> None:
        if "waiting for it" in text:
            waiting.set()

    monkeypatch.setattr(packages, "install", slow)
    with ThreadPoolExecutor() as pool:
        for run in [pool.submit(environment.ensure, root.path, "", say) for _ in range(2)]:
            run.result()
    assert root.done == ["venv", "install"]


def test_too_little_disk_is_said_before_anything_is_made(root: Root, monkeypatch: pytest.MonkeyPatch):
    usage = collections.namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(900_000_000))
    with pytest.raises(SetupError, match=r"^Only 900 MB are free .* needs 3500 MB .*: free some space"):
        root.ensure()
    assert not (root.path / ".venv").exists()


def test_little_memory_is_only_said(root: Root, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 250_000, "SC_PAGE_SIZE": 4000}.get)
    assert root.ensure() == ["venv", "install"]
    assert "This machine has 1000 MB of memory, less than the 2000 MB that the course needs." in root.said


def test_a_python_without_venv(root: Root, monkeypatch: pytest.MonkeyPatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ensurepip" else find(name))
    with pytest.raises(SetupError, match="sudo apt install python3-venv"):
        root.ensure()
    assert not (root.path / ".venv").exists()


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (KeyboardInterrupt(), "was interrupted: run the same command again"),
        (SetupError("No, because."), "✗ No, because."),
        (OSError(28, "No space left on device"), "is full: free some space"),
        (
            PermissionError(13, "Permission denied", "/x"),
            "/x cannot be used (Permission denied): give yourself",
        ),
    ],
)
def test_each_fault_is_one_sentence(monkeypatch: pytest.MonkeyPatch, fault: BaseException, told: str):
    def ensure(*_: object) -> None:
        raise fault

    monkeypatch.setattr(environment, "ensure", ensure)
    said = environment.main(["runtime"])
    assert told in str(said)
    assert "Traceback" not in str(said)
    assert len(str(said).strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (OFFLINE, "The package index could not be reached: look at your network or proxy, then run"),
        (
            "ERROR: Could not install: [Errno 28] No space left on device: '/x'",
            "The disk of .* is full: free",
        ),
        ("ERROR: No matching distribution found for pygraphviz>=2", "There is no pygraphviz>=2 for Python 3"),
        (
            "note\nERROR: Something else",
            r"install the packages \(Something else\): read .*setup\.log, then run",
        ),
        ("", r"\(no reason was given\)"),
    ],
)
def test_what_pip_says_becomes_one_sentence(output: str, told: str):
    sentence = why(output, Path("/clone/.venv"), "install the packages")
    assert re.search(told, sentence)
    assert "\n" not in sentence


def fake_pip(root: Path, text: str) -> None:
    python = root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{text}\n")
    python.chmod(0o755)
    (root / "constraints.txt").write_text("a==1\n")


def test_pip_gets_the_exact_versions_and_a_temporary_folder_that_goes(tmp_path: Path):
    fake_pip(
        tmp_path,
        """echo "$@" > asked; echo "$TMPDIR" >> asked; mkdir -p "$TMPDIR/x"; mv asked "$(dirname "$0")" """,
    )
    said: list[str] = []
    packages.install(tmp_path, "test", said.append)
    words, temporary = (tmp_path / ".venv" / "bin" / "asked").read_text().splitlines()
    assert f"--constraint {tmp_path}/constraints.txt" in words
    assert words.endswith(f"--editable {tmp_path}[test]")
    assert Path(temporary).is_relative_to(tmp_path / ".venv")
    assert not Path(temporary).exists()
    assert said == ["Fetching about 1 packages …"]


def test_a_failing_pip_is_told_and_its_words_are_kept(tmp_path: Path):
    fake_pip(tmp_path, "echo 'ERROR: Something else'; exit 1")
    with pytest.raises(SetupError, match="Something else"):
        packages.install(tmp_path, "", lambda text: None)
    assert "Something else" in (tmp_path / ".venv" / "setup.log").read_text()


def test_an_interrupt_ends_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake_pip(tmp_path, "exec sleep 60")
    started: list[subprocess.Popen[bytes]] = []

    def interrupted(pip: subprocess.Popen[bytes], *_: object) -> None:
        started.append(pip)
        raise KeyboardInterrupt

    monkeypatch.setattr(pip_progress, "show", interrupted)
    with pytest.raises(KeyboardInterrupt):
        packages.install(tmp_path, "", lambda text: None)
    assert started[0].returncode is not None


def test_the_steps_of_pip():
    log = ""
    seen = []
    for line in (
        "Collecting a==1\n  Downloading a.whl (1 MB)",
        "Requirement already satisfied: b in /x",
        "Collecting a[more]",
        "  Building wheel for pyspark (pyproject.toml): started",
        "Installing collected packages: a, b",
    ):
        log += line + "\n"
        seen.append(pip_progress.step_of(log, 4))
    assert [part for _, part in seen] == [0.25, 0.5, 0.5, None, None]
    assert [step.split()[0] for step, _ in seen] == [
        "Fetching",
        "Fetching",
        "Fetching",
        "Packing",
        "Installing",
    ]


def test_a_failing_venv_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho 'Error: [Errno 28] No space left on device'\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    with pytest.raises(SetupError, match=r"The disk of .* is full"):
        packages.make_venv(tmp_path / ".venv")


def test_an_old_python_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert setup.main().startswith(
        "✗ This is Python 3.9, and the course needs 3.11 or newer: install one, or"
    )


def test_a_newer_python_takes_over(monkeypatch: pytest.MonkeyPatch):
    ran: list[Any] = []
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(sys, "argv", ["setup", "runtime"])
    monkeypatch.setattr(shutil, "which", {"python3.12": "/opt/python3.12"}.get)
    monkeypatch.setattr(os, "execv", lambda *words: ran.append(words) or sys.exit())
    with pytest.raises(SystemExit):
        setup.main()
    assert ran == [("/opt/python3.12", ["/opt/python3.12", "-m", "tools.setup", "runtime"])]


def test_a_folder_of_somebody_else():
    told = cannot_write(Path("/clone/.venv"), PermissionError(13, "Permission denied", "/clone/.venv"))
    assert told.startswith("/clone/.venv cannot be used (Permission denied): give yourself the right")


def test_the_constraints_pin_everything_and_hold_no_address():
    text = (REPO / "constraints.txt").read_text()
    assert "://" not in text
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+", line) for line in lines)
    runtime, everything = packages.pinned(REPO, ""), packages.pinned(REPO, "test")
    assert len(everything) == len(set(everything)) == len(lines)
    project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]

    def names(requirements: list[str]) -> set[str]:
        return {re.split(r"[<>=]", text)[0] for text in requirements}

    assert names(project["dependencies"]) <= set(runtime)
    assert names(project["optional-dependencies"]["test"]) <= set(everything)
    assert "pytest" not in runtime


def test_make_alone_lists_every_target_in_a_line():
    done = subprocess.run(
        ["make", "-C", REPO, "--no-print-directory"], capture_output=True, text=True, check=True
    )
    listed = [line.split()[1] for line in done.stdout.splitlines()]
    phony = re.search(r"^\.PHONY: (.*)$", (REPO / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    assert listed == [target for target in phony[1].split() if target not in ("runtime", "authors")]
    assert {"lab", "test", "bench", "down", "clean"} <= set(listed)
