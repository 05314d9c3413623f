"""A lesson as it is read: its exercises, their marks, and the names in its code."""

from pathlib import Path

from tools.lessons import code_names, lesson, solution_marks

BEGIN, END = "# BEGIN SOLUTION\n", "# END SOLUTION\n"


def test_what_belongs_to_an_exercise(course):
    first, second = lesson.read(course.path).exercises
    assert (first.number, first.title) == ("3.1", "survive one broker")
    assert (first.wrongs[0].name, first.wrongs[0].text) == ("one copy", "keeps 1 copy")
    assert first.blanks == ["topic"]
    assert second.blanks == ["first", "second"], "in the order in which the check gets them"
    assert second.few


def test_blanks_stand_in_the_order_of_the_check(course):
    course.edit("second = 2\nfirst = 1", "a = b = c = d = e = f = 1")
    course.edit("counts_twice(first, second)", "counts_twice(f, e, d, c, b, a, lab)")
    assert lesson.read(course.path).exercises[1].blanks == list("fedcba")


def test_a_cell_with_another_answer():
    cell = f"before = 1\n# TODO: x\n{BEGIN}a = 1\n{END}after = 2"
    assert solution_marks.replaced(cell, "a = 3") == "before = 1\n# TODO: x\na = 3\nafter = 2"
    assert solution_marks.untouched(cell, ["a", "b"]) == "before = 1\n# TODO: x\na = ...\nb = ...\nafter = 2"
    assert solution_marks.solved(cell) == "before = 1\na = 1\nafter = 2"


def test_names_that_code_binds_and_reads():
    text = (
        "import json as j\nfor i in range(3):\n    x = [k for k in y]\n"
        "def f(a):\n    inner = a + z\n    return inner"
    )
    assert code_names.assigned(text) == {"j", "i", "x", "f"}
    assert code_names.names_read(text) == {"range", "y", "z"}


def test_lessons_are_found_in_order(tmp_path: Path):
    (tmp_path / "lessons").mkdir()
    for name in ("12_b.py", "02_a.py", "notes.txt"):
        (tmp_path / "lessons" / name).touch()
    assert [path.name for path in lesson.lessons(tmp_path)] == ["02_a.py", "12_b.py"]
