"""Installing packages with uv, or with pip where uv cannot be had or does not work.

Standard library only: it runs before anything is installed.
"""

import ast
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.setup import progress
from tools.setup.errors import SetupError, ending, is_final, last_line, why

# So long without an answer from the package index is enough to say so: with no network, within 30 s.
UNHEARD = ("--retries", "1", "--timeout", "10")
UV_SECONDS = {"UV_HTTP_CONNECT_TIMEOUT": "5", "UV_HTTP_TIMEOUT": "10", "UV_HTTP_RETRIES": "1"}
# setuptools would compress PySpark's 400 MB of jars again, only for them to be unpacked at once.
DISTUTILS = "[bdist_wheel]\ncompression=stored\n"
# What pip was told about its index, in uv's words.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
}
# What pip keeps of its settings: where packages come from. Others (target, user, constraints, …) say where
# somebody wants packages of their own, or which.
PIP_KEPT = {*UV_NAMES, "cache-dir", "keyring-provider", "no-cache-dir", "no-index"}


class Installer:
    """Installs into one environment: with uv, and with its pip from the moment that uv has failed."""

    def __init__(self, root: Path, say: Callable[[str], None], wheels: Path | None = None) -> None:
        venv = root / ".venv"
        self.venv, self.log, self.temporary, self._say = venv, venv / "setup.log", venv / "tmp", say
        # On the same disk as .venv, so that files are linked and not copied.
        self.own_cache = root / "build" / "uv"
        self.cache = Path(os.environ.get("UV_CACHE_DIR") or self.own_cache)
        self._pip = (str(venv / "bin" / "python"), "-m", "pip")
        self._uv_environment: dict[str, str] | None = None  # None: pip installs
        self._pip_environment = dict(os.environ)
        # With a folder of wheels nothing else is asked, whatever pip and uv were told.
        self._only = ["--no-index", "--find-links", str(wheels)] if wheels else []

    def get_uv(self, requirements: str) -> None:
        """Install uv with pip; where there is none for this machine, say that pip goes on.

        Raises SetupError if the package index cannot be reached.
        """
        asked = [*self._pip, "config", "list"]
        listed = ""
        if not self._only:
            listed = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
        self._pip_environment = pip_environment(listed, os.environ)
        # In so many words it also says what the index has answered.
        told = self._run_pip(["-vv", "--only-binary", ":all:", *self._file(requirements)])
        if told is None:
            self._uv_environment = {"UV_NO_CONFIG": "1"} if self._only else uv_environment(listed, os.environ)
        elif is_final(told):
            raise self._fault(told)
        else:
            self._give_up_uv(told)

    def install(self, requirements: str, count: int, *words: str) -> None:
        """Install exactly these packages; `count` are expected, further `words` are for uv and pip alike.

        Raises SetupError; what uv and pip said is in .venv/setup.log.
        """
        self._install([*words, *self._file(requirements)], count)

    def install_editable(self, folder: Path) -> None:
        """Install a project so that its own files are used. Raises SetupError."""
        self._install(["--no-deps", "--no-build-isolation", "--editable", str(folder)], 0)

    def _install(self, words: list[str], count: int) -> None:
        if self._uv_environment is not None:
            told = self._run_uv(words, count)
            if told is None:
                return
            if is_final(told) and "certificate" not in told:  # pip may know the certificate
                raise self._fault(told)
            self._give_up_uv(told)
        told = self._run_pip(words, count)
        if told is not None:
            raise self._fault(told)

    def _run_uv(self, words: list[str], count: int) -> str | None:
        python, archives = self.venv / "bin" / "python", self.cache / "archive-v0"
        before = _count(archives)
        return self._run(
            [
                str(self.venv / "bin" / "uv"), "pip", "install", "--python", str(python), *self._only,
                *(["--offline"] if self._only else []), *words,
            ],
            {**os.environ, "UV_CACHE_DIR": str(self.cache), **(self._uv_environment or {})},
            # uv unpacks each wheel into a folder of its own, and says nothing until all are there.
            lambda _: (_count(archives) - before) / count if count else None,
        )  # fmt: skip

    def _run_pip(self, words: list[str], count: int = 0) -> str | None:
        return self._run(
            [
                *self._pip, "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off",
                *UNHEARD, *self._only, *words,
            ],
            # Before 23.1 pip would run setup.py itself; a newer one may not know this as an option.
            {**self._pip_environment, "PYTHONUNBUFFERED": "1", "PIP_USE_PEP517": "1"},
            lambda told: len(re.findall("^ *Collecting ", told, re.MULTILINE)) / count if count else None,
        )  # fmt: skip

    def _run(
        self, command: list[str], settings: dict[str, str], look: Callable[[str], float | None]
    ) -> str | None:
        """Run a program to its end; return None, or what it said if it failed."""
        cfg = self.temporary / "distutils.cfg"
        cfg.write_text(DISTUTILS, encoding="utf-8")
        # Sources are packed in the temporary folder: there may be no room for that in the machine's.
        ours = {**settings, "TMPDIR": str(self.temporary), "DIST_EXTRA_CONFIG": str(cfg)}
        with self.log.open("ab") as output:
            began = output.tell()
            try:
                program = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=ours)
            except OSError as fault:
                return str(fault)

        def told() -> str:
            return self.log.read_bytes()[began:].decode("utf-8", "replace")

        with ended(program):
            code = progress.watch(program, self.venv, lambda: look(told()))
            return told() + ending(code) if code else None

    def _file(self, requirements: str) -> list[str]:
        path = self.temporary / "requirements.txt"
        path.write_text(requirements, encoding="utf-8")
        return ["--no-deps", "--require-hashes", "-r", str(path)]

    def _give_up_uv(self, told: str) -> None:
        self._uv_environment = None
        self._say(f"uv does not work here, so pip does it, which takes longer ({last_line(told)}).")

    def _fault(self, told: str) -> SetupError:
        return SetupError(why(told, self.venv, "install the packages"))


@contextmanager
def opened(root: Path, say: Callable[[str], None], wheels: Path | None = None) -> Iterator[Installer]:
    """Give an installer its temporary folder; what it fetched stays if the block fails.

    With a folder of wheels it installs from there alone.
    """
    installer = Installer(root, say, wheels)
    installer.log.unlink(missing_ok=True)
    installer.temporary.mkdir(exist_ok=True)
    try:
        yield installer
        shutil.rmtree(installer.own_cache, ignore_errors=True)
    finally:
        shutil.rmtree(installer.temporary, ignore_errors=True)


@contextmanager
def ended(program: subprocess.Popen[Any]) -> Iterator[None]:
    """End a program with the block, if it still runs then."""
    with program:
        try:
            yield
        finally:
            if program.poll() is None:
                program.terminate()


def uv_environment(pip_settings: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what uv must be told of the answer of `pip config list`; settings made for uv come first."""
    found = _settings(pip_settings)
    handed_on = {UV_NAMES[name]: value for name, value in found.items() if name in UV_NAMES}
    if "UV_FIND_LINKS" in handed_on:
        handed_on["UV_FIND_LINKS"] = handed_on["UV_FIND_LINKS"].replace(" ", ",")
    bundle = environment.get("REQUESTS_CA_BUNDLE") or environment.get("CURL_CA_BUNDLE")
    ours = {**UV_SECONDS, "UV_SYSTEM_CERTS": "true"}
    if bundle:
        ours["SSL_CERT_FILE"] = bundle
    return {name: value for name, value in {**ours, **handed_on}.items() if name not in environment}


def pip_environment(pip_settings: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return pip's environment: of its settings, as `pip config list` tells them, only those it keeps."""
    others = {name: value for name, value in environment.items() if not name.startswith("PIP_")}
    kept = {
        f"PIP_{name.upper().replace('-', '_')}": value
        for name, value in _settings(pip_settings).items()
        if name in PIP_KEPT
    }
    return {**others, **kept, "PIP_CONFIG_FILE": os.devnull}


def _settings(told: str) -> dict[str, str]:
    """Read the answer of `pip config list`: each setting with the value that counts for `pip install`."""
    found: dict[str, tuple[int, str]] = {}
    for place, name, value in re.findall(r"^(:env:|\w+)\.([\w-]+)=(.*)$", told, re.MULTILINE):
        rank = {"global": 1, "install": 2, ":env:": 3}.get(place, 0)
        if rank > found.get(name, (0, ""))[0]:
            found[name] = rank, " ".join(str(ast.literal_eval(value)).split())
    return {name: value for name, (_, value) in found.items()}


def _count(folder: Path) -> int:
    try:
        return sum(1 for _ in folder.iterdir())
    except OSError:
        return 0
