"""What `make bench` measures of a solution: one that fails is not measured."""

import subprocess
import sys

import pytest

from tools.bench import solutions


def test_each_lab_with_spark_has_a_solution_and_one_that_fails_is_not_measured(tmp_path, monkeypatch):
    asked = []

    def command(paths):
        asked.extend(path.name[:2] for path in paths)
        return [sys.executable, "-c", f"import sys; sys.exit({asked[-1] == '15'})"]

    monkeypatch.setattr(solutions.nbval, "command", command)
    for lab in solutions.LABS[:-1]:
        assert 0 < solutions.seconds(tmp_path, lab) < 60
    with pytest.raises(subprocess.CalledProcessError):
        solutions.seconds(tmp_path, solutions.LABS[-1])
    assert asked == ["12", "13", "14", "15"]
