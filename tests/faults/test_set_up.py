"""Set-up over bad networks, and beside settings for other packages: a sentence that names the cause."""

import http.server
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.silent import silent
from tools.setup import environment, installer, packages
from tools.setup.errors import SetupError, why

LOCKED = f"""\
# [uv] first
not-to-be-had==1.0 \\
    --hash=sha256:{"0" * 64}
# [build] next
# [source] source
# [runtime] learners
also-not-to-be-had==1.0 \\
    --hash=sha256:{"1" * 64}
# [test] authors
"""
ENDED = "kill -9 $$"
NAMES = "Installing collected packages: " + ", ".join(f"package{n}" for n in range(200))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone whose .venv is real and has nothing but pip."""
    root = tmp_path_factory.mktemp("clone")
    packages.make_venv(root / ".venv")
    (root / packages.LOCK).write_text(LOCKED)
    return root


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def refused(root: Path) -> str:
    """Install, and return the sentence with which that ends; it comes within half a minute."""
    began = time.monotonic()
    with pytest.raises(SetupError) as raised, installer.opened(root, lambda text: None) as opened:
        packages.install_wheels(root, "", opened)
    assert time.monotonic() - began < 30
    said = str(raised.value)
    assert "\n" not in said
    assert len(said) < 400
    return said


@contextmanager
def answering(code: int) -> Iterator[str]:
    """An index that answers every question with this code."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(code)

        def log_message(self, *_: object) -> None:
            return None

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple"
        server.shutdown()


@pytest.mark.slow_fault
@pytest.mark.fault("Set-up", "the package index answers 404")
def test_an_index_that_has_nothing(made, monkeypatch, behaviour):
    with answering(404) as index:
        monkeypatch.setenv("PIP_INDEX_URL", index)
        said = refused(made)
    assert "404 Not Found" in said
    assert "pip config list" in said
    behaviour("the set-up ends at once", says=said)


@pytest.mark.slow_fault
@pytest.mark.fault("Set-up", "the package index takes the connection and says nothing")
def test_an_index_that_is_silent(made, monkeypatch, behaviour):
    with silent() as index:
        monkeypatch.setenv("PIP_INDEX_URL", f"{index}/simple")
        said = refused(made)
    assert "could not be reached" in said
    behaviour("the set-up ends within 30 s", says=said)


@pytest.mark.slow_fault
@pytest.mark.fault("Set-up", "the package index falls silent after uv has come from it")
def test_an_index_that_falls_silent_for_uv(made, monkeypatch, behaviour):
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("uv is not installed here")
    (made / ".venv" / "bin" / "uv").symlink_to(uv)
    monkeypatch.setattr(installer.Installer, "_run_pip", lambda *_: None)  # it has brought uv
    try:
        with silent() as index:
            monkeypatch.setenv("UV_DEFAULT_INDEX", f"{index}/simple")
            said = refused(made)
    finally:
        (made / ".venv" / "bin" / "uv").unlink()
    assert "could not be reached" in said
    behaviour("the set-up ends within 30 s", says=said)


@pytest.mark.slow_fault
@pytest.mark.fault("Set-up", "the proxy is at a port where nobody listens")
def test_a_closed_proxy(made, monkeypatch, behaviour):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    said = refused(made)
    assert "could not be reached" in said
    assert "proxy" in said
    behaviour("the set-up ends within 30 s", says=said)


@pytest.mark.slow_fault
@pytest.mark.fault("Set-up", "there is no network")
def test_no_network(made, behaviour):
    program = f"""
import sys, time
sys.path.insert(0, {str(Path.cwd())!r})
from pathlib import Path
from tools.setup import installer, packages
from tools.setup.errors import SetupError
try:
    with installer.opened(Path({str(made)!r}), print) as opened:
        packages.install_wheels(Path({str(made)!r}), "", opened)
except SetupError as fault:
    print("told:", fault)
"""
    apart = ("unshare", "--net", "--map-root-user", sys.executable, "-c", program)
    began = time.monotonic()
    done = subprocess.run(apart, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr:
        pytest.skip(f"no network namespace can be made here: {done.stderr.strip()}")
    assert time.monotonic() - began < 30
    said = done.stdout.strip().removeprefix("told: ")
    assert "could not be reached" in said, done
    behaviour("the set-up ends within 30 s", says=said)


SETTINGS = """\
:env:.target='/elsewhere'
install.user='true'
install.prefix='/opt'
global.constraint='/mine.txt'
global.no-binary=':all:'
global.index-url='https://mirror/simple'
"""


@pytest.mark.fault(
    "Set-up", "pip is told to put packages elsewhere, or to take others (PIP_TARGET, PIP_USER, …)"
)
def test_settings_for_other_packages(behaviour):
    given = {"PIP_TARGET": "/elsewhere", "PIP_USER": "1", "PIP_CONFIG_FILE": "/mine", "HOME": "/h"}
    assert installer.pip_environment(SETTINGS, given) == {
        "HOME": "/h",
        "PIP_INDEX_URL": "https://mirror/simple",
        "PIP_CONFIG_FILE": os.devnull,
    }
    behaviour("only its settings of where packages come from are used: mirror, proxy, certificates")


@pytest.mark.slow_fault
@pytest.mark.fault("Set-up", "pip's own file of settings names another folder for packages")
def test_a_file_of_settings(made, monkeypatch, tmp_path, behaviour):
    file = tmp_path / "pip.conf"
    with answering(404) as index:
        file.write_text(
            f"[install]\ntarget = {tmp_path / 'else'}\nuser = true\n[global]\nindex-url = {index}\n"
        )
        monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
        assert "404" in refused(made), "the index of the file was asked"
    told = (made / ".venv" / "setup.log").read_text()
    assert "Can not combine" not in told
    behaviour("only its settings of where packages come from are used: mirror, proxy, certificates")


class Fakes:
    """A clone whose pip and uv are scripts."""

    def __init__(self, root: Path) -> None:
        self.root, self.bin = root, root / ".venv" / "bin"
        self.bin.mkdir(parents=True)
        (root / packages.LOCK).write_text(LOCKED)
        self.put("python", "exit 0")
        self.put("uv", "exit 0")

    def put(self, name: str, does: str) -> None:
        (self.bin / name).write_text(f'#!/bin/sh\n[ "$3" = config ] && exit 0\n{does}\n')
        (self.bin / name).chmod(0o755)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("python", marks=pytest.mark.fault("Set-up", "pip is killed")),
        pytest.param("uv", marks=pytest.mark.fault("Set-up", "uv is killed")),
    ],
)
def test_an_installer_that_is_killed(tmp_path, program, behaviour):
    fakes = Fakes(tmp_path)
    fakes.put(program, f"echo '{NAMES}'; {ENDED}")
    said = refused(tmp_path)
    assert "SIGKILL" in said
    assert "package1" not in said
    behaviour("the set-up ends; the same command goes on where it was", says=said)


@pytest.mark.fault("Set-up", "Kafka's first start is killed while it is prepared")
def test_a_prefetch_that_is_killed(tmp_path, behaviour):
    from tools.setup import kafka

    fakes = Fakes(tmp_path)
    fakes.put("python", f"echo Fetching; {ENDED}")
    with pytest.raises(SetupError) as raised, kafka.begun(tmp_path, lambda text: None) as wait:
        wait()
    assert "SIGKILL" in str(raised.value)
    behaviour("the packages stay; the same command goes on where it was", says=raised.value)


@pytest.mark.fault("Set-up", "pip fails and its last line names every package")
def test_no_list_of_packages_is_told(behaviour):
    said = why(f"{NAMES}\n{NAMES}", Path("/clone/.venv"), "install the packages")
    assert "package1" not in said
    behaviour("the sentence names no package; what pip said is in setup.log", says=said)


@pytest.mark.fault("Set-up", "no package of this name fits, on the tested Python")
def test_the_tested_python_is_not_proposed_to_who_has_it(monkeypatch, behaviour):
    monkeypatch.setattr(sys, "version_info", (3, 11, 7))
    output = "ERROR: No matching distribution found for hatchling>=1.27"
    said = why(output, Path("/clone/.venv"), "install the packages")
    assert "try Python" not in said
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    assert "try Python 3.11" in why(output, Path("/clone/.venv"), "install the packages")
    behaviour("the index is named as the likely cause", says=said)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b"1e999",
        b"[" * 100_000,
        b'{"extra": 7}',
        b'{"extra": "x"}',
        b'{"python": {}}',
        None,
    ],
)
@pytest.mark.fault("Set-up", ".venv's own note of what it holds is damaged")
def test_a_damaged_note(tmp_path, monkeypatch, content, behaviour):
    Fakes(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    note = tmp_path / ".venv" / "threebrokers.json"
    note.mkdir() if content is None else note.write_bytes(content)
    assert environment._stamp(tmp_path / ".venv") == {}
    assert not environment._is_ready(tmp_path, "")
    sound = {"python": "3.11", "made_from": "x", "extra": "test"}
    if content is not None:
        note.write_text(json.dumps(sound))
        assert environment._stamp(tmp_path / ".venv") == sound
    behaviour("the set-up is done again")
