"""Labs and solutions from a lesson: what is in them, and that a second build changes nothing."""

import json

import nbformat
import pytest

from tools.lessons import asides, notebooks
from tools.lessons.build import build


def cells(course, folder, name):
    notebook = nbformat.read(course.notebook(folder), as_version=4)
    return [cell for cell in notebook.cells if cell.id == name]


def words(course, folder):
    return course.notebook(folder).read_text("utf-8")


@pytest.fixture
def built(course):
    assert build(course.root) == []
    return course


def executed(course):
    """Put outputs into the solution, as an execution would."""
    notebook = notebooks.read(course.notebook("solutions"))
    for count, cell in enumerate(notebooks.codes(notebook), 1):
        cell.execution_count = count
        cell.outputs = [nbformat.v4.new_output("stream", text=f"output {count}\n")]
    asides.fill(notebook, course.root, "03")
    notebook.metadata["threebrokers"] = {"sources": "abc"}
    course.notebook("solutions").write_text(notebooks.text(notebook), "utf-8")


def test_a_lab_has_blanks(built):
    first, second = cells(built, "labs", "exercise-3-1") + cells(built, "labs", "exercise-3-2")
    assert first.source == "# A comment that stays.\n# TODO: make the topic: how many copies?\ntopic = ..."
    assert second.source == "# TODO: count\nfirst = ...\nsecond = ...\ndone = True"


def test_a_prediction_outside_exercises_is_left_to_the_learner(course):
    course.predict()
    assert build(course.root) == []
    lab, solution = (
        [cell.source for cell in notebooks.read(course.notebook(folder)).cells if "predict" in cell.source]
        for folder in ("labs", "solutions")
    )
    assert lab == ['guess_3a = lab.predict("3.a")\n# TODO: choose']
    assert solution == ['guess_3a = lab.predict("3.a")\nguess_3a.choose("two")']
    assert "The other one is gone." not in words(course, "labs")


def test_a_solution_has_answers_without_marks(built):
    (first,) = cells(built, "solutions", "exercise-3-1")
    assert first.source.splitlines() == [
        "# A comment that stays.",
        "copies = 3",
        'topic = lab.fresh_topic("failsafe", replication_factor=copies)',
    ]


@pytest.mark.parametrize("folder", ["labs", "solutions"])
def test_what_is_for_authors_stays_out(built, folder):
    text = words(built, folder)
    for hidden in ("SOLUTION", "A012", "covers", "fewer", "miscount", "keeps 1 copy", "failsave", '"wrong"'):
        assert hidden not in text
    assert "replication_factor=1" not in text


def test_answers_stay_out_of_labs(built):
    assert "copies = 3" not in words(built, "labs")
    assert "TODO" not in words(built, "solutions")


@pytest.mark.parametrize("folder", ["labs", "solutions"])
def test_check_cells_keep_their_tag(built, folder):
    (check,) = cells(built, folder, "check-3-1")
    assert check.metadata == {"tags": ["nbval-check-output"]}
    assert check.source == "lab.check.survives_one_broker(topic)"


def test_both_are_valid_notebooks_with_ids_of_their_own(built):
    for folder in ("labs", "solutions"):
        notebook = nbformat.read(built.notebook(folder), as_version=4)
        nbformat.validate(notebook)
        assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


def test_equal_cells_get_different_ids(course):
    twice = "# %%\nprint(1)\n\n# %%\nprint(1)\n\n# %% [markdown]\n# ## What to remember"
    course.edit("# ## What to remember", f"#\n\n{twice}")
    assert build(course.root) == []
    ids = [cell.id for cell in notebooks.read(course.notebook("labs")).cells if cell.source == "print(1)"]
    assert len(set(ids)) == 2


def test_an_id_stays_when_a_cell_is_added_before_it(built):
    before = [cell.id for cell in notebooks.read(built.notebook("labs")).cells]
    built.edit("# ### Exercise 3.1", "# More.\n\n# %%\nprint(2)\n\n# %% [markdown]\n# ### Exercise 3.1")
    assert build(built.root) == []
    assert set(before) < {cell.id for cell in notebooks.read(built.notebook("labs")).cells}


def test_a_second_build_changes_nothing(built, capsys):
    executed(built)
    files = [built.notebook("labs"), built.notebook("solutions")]
    before = [(file.read_bytes(), file.stat().st_mtime_ns) for file in files]
    capsys.readouterr()
    assert build(built.root) == []
    assert [(file.read_bytes(), file.stat().st_mtime_ns) for file in files] == before
    assert capsys.readouterr().out == ""


def test_outputs_stay_when_only_words_change(built):
    executed(built)
    built.edit("A partition is one log.", "A partition is a log.")
    assert build(built.root) == []
    assert "A partition is a log." in words(built, "solutions")
    assert "output 1" in words(built, "solutions")
    assert json.loads(words(built, "solutions"))["metadata"]["threebrokers"] == {"sources": "abc"}


def test_only_the_outputs_of_changed_code_go_and_nothing_says_that_the_rest_is_fresh(built):
    executed(built)
    built.edit("copies = 3", "copies = 2 + 1")
    assert build(built.root) == []
    assert "output 3" not in words(built, "solutions")
    assert all(f"output {count}" in words(built, "solutions") for count in (1, 2, 4, 5, 6))
    assert "threebrokers" not in json.loads(words(built, "solutions"))["metadata"]
    built.edit("copies = 2 + 1", "copies = 3")
    assert build(built.root) == []
    assert "threebrokers" not in json.loads(words(built, "solutions"))["metadata"]


def test_outputs_never_reach_a_lab(built):
    executed(built)
    assert build(built.root) == []
    assert all(not cell.outputs for cell in notebooks.codes(notebooks.read(built.notebook("labs"))))


def test_widget_state_is_dropped(built):
    notebook = notebooks.read(built.notebook("solutions"))
    notebook.metadata["widgets"] = {"state": {}}
    built.notebook("solutions").write_text(notebooks.text(notebook), "utf-8")
    assert len(build(built.root, check=True)) == 1
    assert build(built.root) == []
    assert "widgets" not in words(built, "solutions")


def test_check_tells_what_is_stale_and_writes_nothing(built):
    built.edit("A partition is one log.", "A partition is a log.")
    told = [
        f"{folder}/03_replication.ipynb is not what lessons/03_replication.py says; "
        "run `python -m tools build`."
        for folder in ("labs", "solutions")
    ]
    assert build(built.root, check=True) == told
    assert build(built.root, check=True) == told


def test_a_lab_changed_by_hand_is_stale(built):
    built.notebook("labs").write_text(words(built, "labs").replace("one log", "two logs"), "utf-8")
    assert len(build(built.root, check=True)) == 1


def test_a_file_without_a_lesson_is_told(built):
    for folder in ("labs", "solutions"):
        (built.root / folder / "09_gone.ipynb").write_text("{}", "utf-8")
    told = [
        f"{folder}/09_gone.ipynb has no lesson; delete it, or bring back lessons/09_gone.py."
        for folder in ("labs", "solutions")
    ]
    assert build(built.root, check=True) == told
    assert build(built.root) == told


def test_nothing_is_written_of_a_lesson_with_faults(built):
    before = words(built, "labs")
    built.edit("protect you from?", "protect you from")
    assert len(build(built.root)) == 1
    assert words(built, "labs") == before


def test_one_lesson_only(built):
    (built.root / "lessons" / "04_broken.py").write_text("x = 1\n", "utf-8")
    built.edit("](../sol", "](04_broken.ipynb) and [it](../sol")
    assert build(built.root, ["03"]) == []
    assert build(built.root) != []
    assert build(built.root, ["99"]) == ["There is no lesson 99 in lessons/."]


def test_a_broken_solution_is_built_anew(built):
    built.notebook("solutions").write_text("{", "utf-8")
    assert build(built.root) == []
    assert build(built.root, check=True) == []
