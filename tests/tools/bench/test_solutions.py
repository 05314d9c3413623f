"""What `make bench` measures of a solution: one that fails is said, and left out."""

import subprocess
import sys

import pytest

from tools.bench import solutions

FAILS = "import sys; print('what came before'); print('FAILED Cell 9'); sys.exit(1)"


def test_each_lab_with_spark_has_a_solution_and_one_that_fails_is_left_out(tmp_path, monkeypatch):
    asked, said = [], []

    def command(paths):
        asked.extend(path.name[:2] for path in paths)
        return [sys.executable, "-c", FAILS if asked[-1] == "13" else "pass"]

    monkeypatch.setattr(solutions.nbval, "command", command)
    took = solutions.measured(tmp_path, said.append)
    assert asked == ["12", "13", "14", "15"]
    assert list(took) == ["12", "14", "15"]
    assert all(0 < seconds < 60 for seconds in took.values())
    [fault] = [text for text in said if "✗" in text]
    assert fault.startswith("✗ The solution of lab 13 was not measured:")
    assert fault.endswith("FAILED Cell 9")


def test_what_fails_is_never_a_number(tmp_path, monkeypatch):
    monkeypatch.setattr(solutions.nbval, "command", lambda _: [sys.executable, "-c", FAILS])
    with pytest.raises(subprocess.CalledProcessError):
        solutions.seconds(tmp_path, "12")
