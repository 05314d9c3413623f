"""Programs whose process does not live to read them, or that are one of many files."""

import os
import resource
import sys
from types import SimpleNamespace

import pytest

from threebrokers.program import Programs
from threebrokers.program import program as module
from threebrokers.waiting import quiet_wait


def stand_in(folder, monkeypatch, script):
    """Have a script of the shell run in place of Python."""
    python = folder / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))


@pytest.mark.parametrize("size", [10, 1_000_000])  # more than a pipe holds
def test_a_program_that_dies_at_once_is_told_in_its_box(tmp_path, monkeypatch, size):
    stand_in(tmp_path, monkeypatch, "echo no memory left\nexit 3")
    programs = Programs(tmp_path, "01", "abc")
    program = programs.run("dead", "x" * size)
    assert program.wait() == 3
    assert quiet_wait(lambda: repr(program) == "✗ dead: failed (exit code 3)", 5)
    assert program.output == "no memory left\n"
    programs.close()


def test_a_line_is_waited_for_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "STILL_SECONDS", 60)  # no machine is so busy
    stand_in(tmp_path, monkeypatch, "printf committed; sleep 1; echo ' offset 42'; printf 'the rest'")
    programs = Programs(tmp_path, "01", "abc")
    program = programs.run("writer", "")
    assert quiet_wait(lambda: program.output == "committed", 60)
    assert program.wait_for("committed", within=60) == "committed offset 42"
    assert program.wait_for("rest", within=60) == "the rest", "what has no end is a line when all is over"
    programs.close()


def test_a_line_without_an_end_counts_when_the_program_writes_no_more(tmp_path, monkeypatch):
    stand_in(tmp_path, monkeypatch, "printf 'first\\nready> '; exec sleep 600")
    programs = Programs(tmp_path, "01", "abc")
    program = programs.run("asker", "")
    try:
        assert program.wait_for("ready", within=60) == "ready> "
        assert program.state == "runs"
    finally:
        program.kill()
        programs.close()


def test_an_output_that_grows_is_not_unchanged(monkeypatch):
    moments = iter([10.0, 10.25, 10.5, 10.75, 11.5])
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    unchanged = module._Unchanged()
    found = [unchanged.seconds(output) for output in ("re", "re", "ready", "ready")]
    assert found == [0, 0.25, 0, 0.75]


def test_a_program_is_read_in_a_kernel_that_has_many_files_open(tmp_path, monkeypatch):
    stand_in(tmp_path, monkeypatch, "echo here")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most[1], 4096), most[1]))
    files = []
    try:
        while not files or files[-1] < 1100:  # select() knows 1,024
            files.append(os.open(os.devnull, os.O_RDONLY))
        programs = Programs(tmp_path, "01", "abc")
        program = programs.run("speaker", "")
        assert program.wait() == 0
        assert quiet_wait(lambda: program.output == "here\n", 5)
        programs.close()
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
