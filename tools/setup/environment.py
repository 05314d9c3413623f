"""The course's own Python environment, .venv: made when it is missing or out of date, otherwise left alone.

Standard library only: it runs before anything is installed.
"""

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import FrameType

from tools import ROOT
from tools.setup import bundle, installer, kafka, packages
from tools.setup.bundle import Bundle
from tools.setup.errors import SetupError, cannot_write

# Measured with PySpark 4.2, which comes as source and is packed on the way (MB).
DISK, DISK_MEANWHILE, MEMORY = 1500, 3500, 2000
STAMP = ("python", "made_from", "extra")  # what is noted in .venv when it is done
EXTRAS = ("", "test")
NEEDS = (
    "Setting up the course in .venv: once, about a minute. It needs a network, about 1.5 GB of disk "
    "(2 GB more while it unpacks) and 2 GB of memory."
)
OFFLINE = NEEDS.replace(" a network,", "")


def main(words: list[str]) -> int | str:
    """Run the command line; return 0, or the sentence that says what went wrong."""
    extra = "test" if "authors" in words else ""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        ensure(ROOT, extra, lambda text: print(text, flush=True), bundle_of(words))
    except KeyboardInterrupt:
        return "\n✗ The set-up was interrupted: run the same command again."
    except SetupError as fault:
        return f"✗ {fault}"
    except OSError as fault:
        return f"✗ {cannot_write(ROOT / '.venv', fault)}"
    return 0


def bundle_of(words: list[str]) -> Path | None:
    """Return the file that the word `--bundle=FILE` names; None without one."""
    named = [word.partition("=")[2] for word in words if word.startswith("--bundle=")]
    return Path(named[0]) if named and named[0] else None


def ensure(root: Path, extra: str, say: Callable[[str], None], file: Path | None = None) -> None:
    """Make `root`/.venv what requirements.txt and pyproject.toml ask for, with an extra ("" or "test").

    Does nothing if it is so already. A set-up that was interrupted is begun again. With a bundle `file` no
    network is asked. Raises SetupError.
    """
    venv = root / ".venv"
    with _only_one(root, say), ExitStack() as block:
        if _is_ready(root, extra):
            return
        had = _stamp(venv)
        say("Bringing .venv up to date." if had else OFFLINE if file else NEEDS)
        _check_machine(root, say, fresh=not had)
        if extra and file:
            raise SetupError("A bundle has what learners need: for authors, run it again without BUNDLE.")
        given = block.enter_context(bundle.opened(root, file, say)) if file else None
        if venv.is_file():
            venv.unlink()
        _stamp_path(venv).unlink(missing_ok=True)  # from here on the environment is half made
        if had.get("python") != _python(root):
            say(f"Making .venv with Python {'.'.join(map(str, sys.version_info[:3]))} …")
            shutil.rmtree(venv, ignore_errors=True)
            packages.make_venv(venv)
        _install(root, extra, {} if given else had, say, given)
    say("The course is set up.")


def _install(
    root: Path, asked: str, had: dict[str, str], say: Callable[[str], None], given: Bundle | None
) -> None:
    """Install everything; for learners the first start is prepared meanwhile. Raises SetupError."""
    venv, extra = root / ".venv", asked or had.get("extra", "")
    wheels, jars, built = (given.wheels, given.jars, given.built(root)) if given else (None, None, "")
    with installer.opened(root, say, wheels) as programs:
        say("Installing the packages …" if given else "Fetching the packages …")
        packages.install_wheels(root, extra, programs)
        with nullcontext() if asked else kafka.begun(root, say, jars) as wait_for_kafka:
            say("Installing PySpark …" if given else "Packing PySpark, which comes as source …")
            packages.install_sources(root, programs, built)
            stamp = {"python": _python(root), "made_from": _made_from(root), "extra": extra}
            _stamp_path(venv).write_text(json.dumps(stamp), encoding="utf-8")
            if wait_for_kafka:
                wait_for_kafka()


def _is_ready(root: Path, extra: str) -> bool:
    had = _stamp(root / ".venv")
    return (had.get("python"), had.get("made_from")) == (_python(root), _made_from(root)) and (
        not extra or had.get("extra") == extra
    )


def _made_from(root: Path) -> str:
    """Return a fingerprint of all that decides what is installed."""
    parts = [root.joinpath(name).read_text("utf-8") for name in packages.SOURCES]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _python(root: Path) -> str:
    """Return what a venv cannot outlive: its Python, and its own place, which its scripts name."""
    return f"{sys.version_info[0]}.{sys.version_info[1]} {sys.base_prefix} {root}"


def _stamp_path(venv: Path) -> Path:
    return venv / "threebrokers.json"


def _stamp(venv: Path) -> dict[str, str]:
    if not os.access(venv / "bin" / "python", os.X_OK):  # also when the Python behind it was removed
        return {}
    try:
        had = json.loads(_stamp_path(venv).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    told = {name: had[name] for name in STAMP if name in had} if isinstance(had, dict) else {}
    sound = all(isinstance(value, str) for value in told.values()) and told.get("extra") in EXTRAS
    return told if sound else {}


def _check_machine(root: Path, say: Callable[[str], None], fresh: bool) -> None:
    if any(importlib.util.find_spec(name) is None for name in ("venv", "ensurepip")):
        raise SetupError(
            "Python's venv module is missing: install it (Debian, Ubuntu: `sudo apt install python3-venv`), "
            "then run the same command again."
        )
    free = shutil.disk_usage(root).free // 10**6
    if fresh and free < DISK_MEANWHILE:
        raise SetupError(
            f"Only {free} MB are free on the disk of {root}, and the set-up needs {DISK_MEANWHILE} MB "
            f"(it keeps {DISK}): free some space, then run the same command again."
        )
    memory = _memory()
    if fresh and memory is not None and memory < MEMORY:
        say(f"This machine has {memory} MB of memory, less than the {MEMORY} MB that the course needs.")


def _memory() -> int | None:
    """Return this machine's memory (MB); None if the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 10**6
    except (ValueError, OSError):
        return None


@contextmanager
def _only_one(root: Path, say: Callable[[str], None]) -> Iterator[None]:
    handle = os.open(root, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another set-up of this folder is running: waiting for it …")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
