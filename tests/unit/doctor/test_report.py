"""The doctor's JSON: whole whatever happens, and without anybody's name."""

import getpass
import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run
from threebrokers import doctor
from threebrokers.doctor import Finding, checks, report
from threebrokers.doctor.report import nameless


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    return tmp_path


def told(text: str) -> Any:
    return json.loads(text)


def test_it_tells_course_engine_machine_and_findings() -> None:
    found = told(report([Finding("disk", True, "fine"), Finding("Java", False, "old", "unset it")]))
    assert set(found) == {"course", "engine", "machine", "ok", "findings"}
    assert set(found["machine"]) == {"os", "arch", "python", "cores", "memory"}
    assert (found["course"], found["engine"], found["ok"]) == ("0.1.0", "local", False)
    assert found["machine"]["memory"] > 100_000_000
    assert found["findings"][1] == {"about": "Java", "ok": False, "what": "old", "cure": "unset it"}


@pytest.mark.parametrize("fine", [True, False])
def test_the_exit_code_is_the_same(monkeypatch: pytest.MonkeyPatch, fine: bool) -> None:
    monkeypatch.setattr(doctor, "examine", lambda: [Finding("disk", fine, "x" * 300 + " [bold]", "")])
    codes = [run(*words) for words in (["doctor"], ["doctor", "--json"])]
    assert [result.exit_code for result in codes] == [0 if fine else 1] * 2
    assert told(codes[1].output)["findings"][0]["what"] == "x" * 300 + " [bold]"


@pytest.mark.parametrize("fault", [OSError(28, "No space left"), ZeroDivisionError("a fault of our own")])
def test_it_is_whole_also_when_a_look_fails(monkeypatch: pytest.MonkeyPatch, fault: Exception) -> None:
    def fail(*words: Any) -> Any:
        raise fault

    monkeypatch.setattr(checks.jars, "unsound", fail)
    monkeypatch.setattr(checks.machine, "look_for_java", fail)
    result = run("doctor", "--json")
    assert result.exit_code == 1
    findings = {finding["about"]: finding for finding in told(result.output)["findings"]}
    assert str(fault) in findings["jars"]["what"]
    assert "disk" in findings


def test_it_is_whole_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREEBROKERS_HOME", "/dev/null/here")
    result = run("doctor", "--json")
    assert result.exit_code == 1
    assert told(result.output)["engine"] is None


def test_it_is_whole_with_an_engine_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREEBROKERS_CLUSTER", "podman")
    result = run("doctor", "--json")
    assert told(result.output)["engine"] is None


def test_nobodys_name_is_in_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    person = tmp_path / "home" / "ada.lovelace"
    bench = person / "bench"
    bench.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("THREEBROKERS_HOME", str(bench))
    monkeypatch.setattr(getpass, "getuser", lambda: "ada.lovelace")
    (bench / "cluster.json").write_text("{")
    text = run("doctor", "--json").output
    assert "~/bench" in text
    assert "ada.lovelace" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/ada/x is damaged", "~/x is damaged"),
        ("/home/adam/x", "/home/adam/x"),
        ("logs of /var/ada/y, /data/ada: gone", "logs of /var/…/y, /data/…: gone"),
        ("at ssh://ada@10.0.0.1", "at ssh://…@10.0.0.1"),
        ("ada is a language", "ada is a language"),
    ],
)
def test_what_is_hidden(text: str, shown: str) -> None:
    assert nameless(text, "/home/ada", "ada") == shown
