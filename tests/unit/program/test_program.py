"""Programs whose process does not live to read them."""

import sys

import pytest

from threebrokers.program import Programs
from threebrokers.waiting import quiet_wait


@pytest.mark.parametrize("size", [10, 1_000_000])  # more than a pipe holds
def test_a_program_that_dies_at_once_is_told_in_its_box(tmp_path, monkeypatch, size):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no memory left\nexit 3\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    programs = Programs(tmp_path, "01", "abc")
    program = programs.run("dead", "x" * size)
    assert program.wait() == 3
    assert quiet_wait(lambda: repr(program) == "✗ dead: failed (exit code 3)", 5)
    assert program.output == "no memory left\n"
    programs.close()
