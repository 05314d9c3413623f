"""Cells that only ask: no part of what is executed, and drawn by the build."""

import json

from tools.lessons import asides, execution, notebooks
from tools.lessons.build import build

QUESTIONS = "threebrokers/quiz/questions/lab03.toml"


def quiz(course, folder="solutions"):
    notebook = notebooks.read(course.notebook(folder))
    return next(cell for cell in notebook.cells if asides.is_aside(cell.source))


def sources(course):
    path = course.notebook("solutions")
    return execution.sources(course.root, path, notebooks.read(path))


def test_only_the_one_call_is_such_a_cell():
    assert asides.is_aside("lab.quiz()")
    assert asides.is_aside("lab.review()\n")
    assert not asides.is_aside("quiz = lab.quiz()")
    assert not asides.is_aside("lab.quiz()\nlab.cluster.kill(1)")


def test_a_solution_is_as_fresh_with_such_a_cell_as_without(course):
    assert build(course.root) == []
    with_quiz = sources(course)
    path = course.notebook("solutions")
    notebook = notebooks.read(path)
    notebook.cells = [cell for cell in notebook.cells if not asides.is_aside(cell.source)]
    assert execution.sources(course.root, path, notebook) == with_quiz


def test_other_questions_are_drawn_and_nothing_is_stale(course):
    assert build(course.root) == []
    before = sources(course)
    assert "How many copies are left?" in json.dumps(quiz(course).outputs)
    assert quiz(course, "labs").outputs == []
    course.edit("How many copies are left?", "How many are left?", QUESTIONS)
    assert len(build(course.root, check=True)) == 1
    assert build(course.root) == []
    assert "How many are left?" in json.dumps(quiz(course).outputs)
    assert sources(course) == before


def test_what_a_run_leaves_there_is_taken_away(course):
    assert build(course.root) == []
    path = course.notebook("solutions")
    before = path.read_bytes()
    notebook = notebooks.read(path)
    cell = next(cell for cell in notebook.cells if asides.is_aside(cell.source))
    cell.outputs, cell.execution_count, cell.metadata[notebooks.SECONDS] = [], 7, 4
    asides.fill(notebook, course.root, "03")
    assert notebooks.text(notebook).encode() == before


def test_the_outputs_of_other_cells_stay(course):
    assert build(course.root) == []
    path = course.notebook("solutions")
    notebook = notebooks.read(path)
    notebook.metadata["threebrokers"] = {"sources": "kept"}
    for cell in notebooks.codes(notebook):
        cell.execution_count = 3
    path.write_text(notebooks.text(notebook), "utf-8")
    course.edit("How many copies are left?", "How many are left?", QUESTIONS)
    assert build(course.root) == []
    after = notebooks.read(path)
    assert after.metadata["threebrokers"] == {"sources": "kept"}
    assert {cell.execution_count for cell in notebooks.codes(after)} == {3, 0}
