"""The course itself: every lesson keeps the rules, and what is built from it is up to date."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from threebrokers.lab.names import all_names
from tools import rules
from tools.lessons import code_names, lesson, run
from tools.lessons.build import ROOT, build
from tools.publish import terms
from tools.rules import checks

LESSONS = lesson.lessons(ROOT)
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=[path.stem for path in LESSONS])


def ruff(*arguments: str) -> str:
    command = [sys.executable, "-m", "ruff", *arguments, "--quiet", str(ROOT / "lessons")]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout


def named(path: Path, method: str) -> set[str]:
    """Return the texts that a lesson, its wrong answers too, gives to `lab.<method>(…)`."""
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    found = [call for call in calls if ast.unparse(call.func) == f"lab.{method}" and call.args]
    return {str(call.args[0].value) for call in found if isinstance(call.args[0], ast.Constant)}


@each_lesson
def test_a_lesson_keeps_the_rules(path):
    assert rules.problems(lesson.read(path), ROOT) == []


@each_lesson
def test_a_lesson_is_worded_for_its_readers_and_no_longer_than_it_says(path):
    assert rules.gates(lesson.read(path), ROOT) == []


def test_each_lesson_has_its_terms_in_the_index():
    assert terms.few(terms.explained(ROOT), [path.stem for path in LESSONS]) == []


def test_labs_and_solutions_are_what_lessons_say():
    assert build(ROOT, check=True) == []


def test_solutions_hold_the_outputs_of_their_sources():
    assert [path.name for path in run.stale(ROOT, [])] == []


def test_code_in_lessons_is_clean():
    assert ruff("check", "--output-format=concise") == ""


def test_code_in_lessons_is_formatted():
    assert ruff("format", "--diff") == ""


def test_checks_belong_to_a_lesson():
    numbers = {path.stem[:2] for path in LESSONS}
    modules = (ROOT / checks.where("01")).parent.glob("lab*.py")
    assert {path.stem[3:5] for path in modules} <= numbers


@each_lesson
def test_who_comes_back_to_a_check_still_has_the_answer(path):
    """No later cell gives another value to a name that a check is given.

    In labs 13 to 15 a query is called `query`, as in Spark's own pages; there the check says whose it is.
    """
    read = lesson.read(path)
    taken = []
    for exercise in read.exercises:
        later = [cell for cell in read.cells if cell.kind == "code" and not cell.is_tried]
        after = [cell for cell in later if cell.place > exercise.checks[0].place]
        bound = set().union(*(code_names.assigned(cell.solved) for cell in after))
        taken += [(exercise.number, name) for name in exercise.passed if name in bound - {"query"}]
    assert taken == []


@each_lesson
def test_what_a_lesson_makes_is_deleted_when_it_is_opened_again(path):
    names = all_names()[path.stem[:2]]
    assert named(path, "fresh_topic") <= set(names.topics), "topics missing in names.toml"
    assert named(path, "group") <= set(names.groups), "groups missing in names.toml"


def test_no_lab_deletes_what_another_lab_made():
    owners: dict[str, str] = {}
    for path in LESSONS:
        for topic in all_names()[path.stem[:2]].topics:
            assert owners.setdefault(topic, path.stem) == path.stem, topic
