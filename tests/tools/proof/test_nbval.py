"""nbval compares what the check cells of the solutions hold, and nothing that may differ."""

import json
import subprocess

import pytest

from tools.lessons import execution
from tools.proof.nbval import command

pytestmark = pytest.mark.programs


@pytest.fixture
def executed(runnable):
    execution.execute(runnable.root, runnable.notebook("solutions"))
    return runnable


def compared(course) -> subprocess.CompletedProcess:
    # The kernel has to find the stand-in beside the notebook, not the real package.
    return subprocess.run(
        [*command([course.notebook("solutions")]), "-p", "no:cacheprovider", "--rootdir", str(course.root)],
        capture_output=True,
        text=True,
        cwd=course.root,
    )


def change(course, code: str, old: str, new: str) -> None:
    """Change the stored outputs of the cell that holds this code."""
    path = course.notebook("solutions")
    notebook = json.loads(path.read_text("utf-8"))
    (cell,) = [cell for cell in notebook["cells"] if code in "".join(cell["source"]) and "outputs" in cell]
    before = json.dumps(cell["outputs"])
    assert old in before
    cell["outputs"] = json.loads(before.replace(old, new))
    path.write_text(json.dumps(notebook), "utf-8")


def test_the_same_checks_pass_though_a_wait_was_shown_and_other_cells_differ(executed):
    kept = executed.notebook("solutions").read_text("utf-8")
    assert "model_id" not in kept  # what asks for a widget is not kept
    assert '"text/html": []' in kept
    assert "Waiting" not in kept
    change(executed, "print(shown)", "shown", "not shown")
    answer = compared(executed)
    assert answer.returncode == 0, answer.stdout


def test_another_output_of_a_check_fails(executed):
    change(executed, "survives_one_broker", "solved failsafe", "solved failsave")
    answer = compared(executed)
    assert answer.returncode == 1
    assert "Cell outputs differ" in answer.stdout
