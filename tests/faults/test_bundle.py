"""Setting up from a bundle: it is whole and for this machine, or nothing is done and a sentence says why."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import bundles
from tools import ROOT
from tools.setup import bundle, environment, packages
from tools.setup.errors import SetupError

LOOPBACK = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))
os.execvp(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in packages.SOURCES:
        (tmp_path / name).write_text("")
    monkeypatch.setattr(environment, "DISK_MEANWHILE", 0)
    return bundles.made(tmp_path, monkeypatch)


def refused(file: Path) -> str:
    """Set up from it, which must be refused in one sentence before anything is made; return that."""
    with pytest.raises(SetupError) as raised:
        environment.ensure(file.parent, "", lambda text: None, file)
    said = str(raised.value)
    assert "\n" not in said
    assert len(said) < 400
    assert not (file.parent / ".venv").exists()
    assert not (file.parent / "build" / "bundle").exists()
    return said


@pytest.mark.fault("Set-up", "a bundle has another byte anywhere, or ends too early")
def test_a_damaged_bundle(file: Path, behaviour) -> None:
    whole = file.read_bytes()
    said = set()
    for place in range(600, len(whole) - 10240, 997):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            with bundle.opened(file.parent, file, lambda text: None) as opened:
                parts = {path.name: path.read_bytes() for path in opened.wheels.iterdir()}
            # A byte that means nothing: of the padding, or of who owned a file.
            assert parts == {name: (file.parent / "parts" / name).read_bytes() for name in bundles.WHEELS}
        except SetupError as fault:
            said.add(str(fault))
    for place in range(0, len(whole) - 10240, 1499):
        file.write_bytes(whole[:place])
        said.add(refused(file))
    file.write_bytes(whole.replace(b"jars/kafka-1.0.jar" * 9, b"jars/kafka-1.1.jar" * 9, 1))
    told = refused(file)
    assert "the sha256 of jars/kafka-1.0.jar differs" in told
    assert all("copy it again" in one or "not a bundle" in one or "another" in one for one in said)
    behaviour("nothing is set up, and nothing of it stays", says=told)


@pytest.mark.fault("Set-up", "a bundle was written on another system")
def test_a_bundle_of_another_system(file: Path, behaviour) -> None:
    bundles.changed(file, lambda manifest, _: manifest.update(system="Darwin arm64"))
    said = refused(file)
    assert said.startswith("course.tar is for Darwin arm64, and this is ")
    behaviour("nothing is set up", says="course.tar is for Darwin arm64, and this is another system: …")


@pytest.mark.fault("Set-up", "a bundle was written on a newer macOS")
def test_a_bundle_of_a_newer_macos(file: Path, behaviour, monkeypatch: pytest.MonkeyPatch) -> None:
    bundles.changed(file, lambda manifest, _: manifest.update(macos="14.5"))
    monkeypatch.setattr(platform, "mac_ver", lambda: ("13.6", ("", "", ""), "arm64"))
    said = refused(file)
    assert said.startswith("course.tar was written on macOS 14.5, and this is 13.6: ")
    behaviour("nothing is set up", says=said)


@pytest.mark.fault("Set-up", "a bundle was written with another Python")
def test_a_bundle_of_another_python(file: Path, behaviour) -> None:
    bundles.changed(file, lambda manifest, _: manifest.update(python="3.99"))
    said = refused(file)
    assert "PYTHON=python3.99" in said
    behaviour("nothing is set up, and the sentence names the command that has that Python")


@pytest.mark.fault("Set-up", "a bundle was written by another version of the course")
def test_a_bundle_of_another_version(file: Path, behaviour) -> None:
    (file.parent / packages.LOCK).write_text(bundles.LOCK.replace("4.2.0", "4.2.1"))
    behaviour("nothing is set up", says=refused(file))


@pytest.mark.fault("Set-up", "BUNDLE names another file, or none")
def test_no_bundle(file: Path, behaviour) -> None:
    missing = refused(file.with_name("gone.tar"))
    assert missing.startswith("There is no bundle ")
    file.write_bytes(b"PK\3\4 a zip")
    assert "cannot be read" in refused(file)
    bundles.changed(bundles_again(file), lambda manifest, _: manifest.clear())
    assert "is damaged" in refused(file)
    behaviour(
        "nothing is set up",
        says="There is no bundle …/gone.tar: name the file that `threebrokers bundle` wrote.",
    )


def bundles_again(file: Path) -> Path:
    """Write the bundle of this folder anew."""
    shutil.rmtree(file.parent / "parts")
    with pytest.MonkeyPatch.context() as patch:
        return bundles.made(file.parent, patch)


@pytest.mark.fault(
    "Set-up", "a bundle holds files that its manifest does not name, or that would lie elsewhere"
)
@pytest.mark.parametrize("name", ["wheels/more.whl", "../evil", "wheels/../../evil", "/tmp/evil", "jars"])
def test_a_bundle_with_more_in_it(file: Path, behaviour, name: str) -> None:
    def add(manifest: dict, content: dict) -> None:
        content[name] = b"more"
        if name != "wheels/more.whl":
            manifest["files"][name] = {"size": 4, "sha256": "0" * 64}

    bundles.changed(file, add)
    assert "which its manifest does not name" in refused(file)
    assert not (file.parent / "evil").exists()
    behaviour(
        "nothing is set up",
        says="course.tar is damaged (it holds '../evil', which its manifest does not name), …",
    )


@pytest.mark.slow_fault
@pytest.mark.timeout(3600)
@pytest.mark.fault("Set-up", "there is no network at all, and no cache: a bundle is all there is")
def test_a_set_up_without_a_network(tmp_path: Path, behaviour) -> None:
    clone, home, file = tmp_path / "clone", tmp_path / "home", tmp_path / "course.tar"
    program = "import sys; from threebrokers.app.cli import app; sys.exit(app())"
    subprocess.run([sys.executable, "-c", program, "bundle", str(file)], check=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, os.fsdecode(listed).split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name)
    home.mkdir()
    ours = ("PIP_", "UV_", "PYTHON", "THREEBROKERS", "XDG_", "MAKE", "MFLAGS", "CONDA")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    words = ["make", "runtime", f"BUNDLE={file}", f"PYTHON={sys.executable}"]
    apart = ["unshare", "--net", "--map-root-user", sys.executable, "-c", LOOPBACK]
    for command in (words, [".venv/bin/threebrokers", "up"], [".venv/bin/threebrokers", "down"]):
        done = subprocess.run(
            [*apart, *command],
            cwd=clone,
            env={**kept, "HOME": str(home)},
            capture_output=True,
            text=True,
            check=False,
        )
        if "unshare" in done.stderr:
            pytest.skip(f"no network namespace can be made here: {done.stderr.strip()}")
        assert done.returncode == 0, done
    assert not (clone / "build" / "bundle").exists()
    behaviour("`make lab BUNDLE=…` sets everything up, and the brokers start")
