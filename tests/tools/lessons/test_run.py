"""Executed solutions: only what changed, its outputs kept, and a failure told in one sentence."""

import json

import nbformat
import pytest

from tools.lessons import execution, notebooks, run
from tools.lessons.build import build

pytestmark = pytest.mark.programs

CHECKS = "threebrokers/checks/lab03.py"


def solution(course):
    return notebooks.read(course.notebook("solutions"))


def results(course):
    outputs = [output for cell in notebooks.codes(solution(course)) for output in cell.outputs]
    return [output.data["text/plain"] for output in outputs if output.output_type == "execute_result"]


def test_outputs_are_kept_and_a_second_run_executes_nothing(runnable, capsys, monkeypatch):
    assert run.main([], runnable.root) == 0
    assert results(runnable) == ["'solved failsafe'", "3"]
    assert "solutions/03_replication.ipynb: executed in " in capsys.readouterr().out
    assert run.main(["--check"], runnable.root) == 0
    assert build(runnable.root, check=True) == []

    before = runnable.notebook("solutions").read_bytes()
    monkeypatch.setattr(execution, "execute", lambda *_: pytest.fail("executed again"))
    assert run.main([], runnable.root) == 0
    assert build(runnable.root) == []
    assert runnable.notebook("solutions").read_bytes() == before


def test_nothing_in_it_belongs_to_one_run_only(runnable):
    execution.execute(runnable.root, runnable.notebook("solutions"))
    notebook = json.loads(runnable.notebook("solutions").read_text("utf-8"))
    assert set(notebook["metadata"]) == {"kernelspec", "language_info", "threebrokers"}
    assert "version" not in notebook["metadata"]["language_info"]
    kinds = [
        kind for cell in notebook["cells"] for o in cell.get("outputs", []) for kind in o.get("data", {})
    ]
    assert "text/plain" in kinds
    assert execution.WIDGET not in kinds
    assert all("execution" not in cell["metadata"] for cell in notebook["cells"])


def test_a_second_execution_differs_in_nothing(runnable, monkeypatch):
    monkeypatch.setattr(execution, "WAIT_SECONDS", 600)  # else a slow cell's time is noted, each time another
    path = runnable.notebook("solutions")
    execution.execute(runnable.root, path)
    before = path.read_bytes()
    execution.execute(runnable.root, path)
    assert path.read_bytes() == before


def test_long_waits_are_kept_and_another_run_changes_them_only_if_they_are_others(monkeypatch):
    cell = nbformat.v4.new_code_cell("x")
    kept = []
    for seconds in (2.9, 8.2, 5, 16, 17, 0.1):
        execution._note(cell, seconds)
        kept.append(cell.metadata.get(notebooks.SECONDS))
    assert kept == [None, 8, 8, 8, 17, None]


def test_a_run_writes_the_minutes_anew(runnable, monkeypatch):
    runnable.edit('shown = "shown"', 'import time\n\ntime.sleep(0.2)\nshown = "shown"')
    monkeypatch.setattr(execution, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr("tools.lessons.minutes.EXERCISE_SECONDS", 0)
    assert build(runnable.root) == []
    assert run.main([], runnable.root) == 0
    assert build(runnable.root, check=True) == []
    assert run.main(["--check"], runnable.root) == 0


def test_changed_checks_make_a_solution_stale(runnable, capsys):
    execution.execute(runnable.root, runnable.notebook("solutions"))
    assert run.stale(runnable.root, []) == []
    runnable.edit("two copies are left", "both copies are left", CHECKS)
    assert run.stale(runnable.root, []) == [runnable.notebook("solutions")]
    assert run.stale(runnable.root, ["12"]) == []
    assert run.main(["--check"], runnable.root) == 1
    told = "solutions/03_replication.ipynb was not executed since it changed; run `python -m tools run`.\n"
    assert capsys.readouterr().err == told


def test_changed_code_does_too(runnable):
    path = runnable.notebook("solutions")
    before = execution.sources(runnable.root, path, notebooks.read(path))
    runnable.edit("copies = 3", "copies = 2 + 1")
    assert build(runnable.root) == []
    assert execution.sources(runnable.root, path, notebooks.read(path)) != before


def test_what_draws_its_outputs_is_told_and_executed_when_asked(runnable, capsys, monkeypatch):
    reading = runnable.root / "threebrokers" / "checks" / "expect.py"
    reading.write_text("WORDS = 'two copies are left'\n")
    path = runnable.notebook("solutions")
    execution.execute(runnable.root, path)
    assert run.older(runnable.root, []) == {}
    reading.write_text("WORDS = 'both copies are left'\n")
    assert run.stale(runnable.root, []) == []
    assert run.older(runnable.root, []) == {path: ["checks/expect.py"]}
    assert run.older(runnable.root, ["12"]) == {}
    assert run.main(["--check"], runnable.root) == 0
    told = "solutions/03_replication.ipynb shows what was made before checks/expect.py changed; "
    assert f"{told}run `python -m tools run --shown 03`.\n" in capsys.readouterr().out
    assert run.main(["--check", "--shown"], runnable.root) == 1

    done = []
    monkeypatch.setattr(execution, "execute", lambda root, path: done.append(path))
    assert run.main([], runnable.root) == 0
    assert run.main(["--shown"], runnable.root) == 0
    assert done == [path]


def test_what_an_earlier_version_executed_is_not_judged_by_what_it_shows(runnable):
    path = runnable.notebook("solutions")
    execution.execute(runnable.root, path)
    notebook = json.loads(path.read_text("utf-8"))
    del notebook["metadata"]["threebrokers"]["shown"]
    path.write_text(json.dumps(notebook), "utf-8")
    assert (run.stale(runnable.root, []), run.older(runnable.root, [])) == ([], {})


def test_lines_that_come_one_by_one_make_one_output(runnable):
    lines = "print(1, flush=True); print(2, file=sys.stderr, flush=True); print(3, flush=True)"
    runnable.edit("print(shown)", f"import sys; {lines}")
    assert build(runnable.root) == []
    execution.execute(runnable.root, runnable.notebook("solutions"))
    (cell,) = [cell for cell in notebooks.codes(solution(runnable)) if "stderr" in cell.source]
    assert sorted(output.text for output in cell.outputs) == ["1\n3\n", "2\n"]


def test_changed_words_do_not(runnable):
    execution.execute(runnable.root, runnable.notebook("solutions"))
    runnable.edit("A partition is one log.", "A partition is a log.")
    assert build(runnable.root) == []
    assert run.stale(runnable.root, []) == []


def test_a_build_comes_first(runnable, capsys):
    runnable.edit("copies = 3", "copies = 2 + 1")
    assert run.main([], runnable.root) == 1
    assert "run `python -m tools build`" in capsys.readouterr().err


def test_a_failing_cell_is_named_and_the_file_stays(runnable, capsys):
    runnable.edit('shown = "shown"', 'shown = 1 / 0  # "shown"')
    assert build(runnable.root) == []
    before = runnable.notebook("solutions").read_bytes()
    assert run.main([], runnable.root) == 1
    assert capsys.readouterr().err == (
        "solutions/03_replication.ipynb, cell 5 ('shown = 1 / 0  # \"shown\"'): "
        "ZeroDivisionError: division by zero; the file stays as it was.\n"
    )
    assert runnable.notebook("solutions").read_bytes() == before


def test_a_kernel_that_dies_is_told(runnable, capsys):
    runnable.edit('shown = "shown"', 'import os; shown = os._exit(3)  # "shown"')
    assert build(runnable.root) == []
    assert run.main([], runnable.root) == 1
    assert "cell 5 ('import os; shown = os._exit(3)" in capsys.readouterr().err


def test_a_cell_that_never_ends_is_told(runnable, capsys, monkeypatch):
    monkeypatch.setattr(execution, "CELL_SECONDS", 10)  # on a busy machine the first cell needs a second
    runnable.edit('shown = "shown"', 'shown = "shown"\nimport time\ntime.sleep(600)')
    assert build(runnable.root) == []
    assert run.main([], runnable.root) == 1
    assert "cell 5 ('shown = \"shown\"'): CellTimeoutError" in capsys.readouterr().err
