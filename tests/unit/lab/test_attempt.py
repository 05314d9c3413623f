"""A check judges the learner's last try: not old variables, and not names that are not there."""

import contextlib
import io
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from IPython.core.interactiveshell import InteractiveShell

from threebrokers import cells, clock, progress
from threebrokers.lab import attempt as module
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Checks

Run = Callable[..., BaseException | None]


@exercise("9.1", "Three", errors={"math domain": ("the number should be positive", "its sign")})
def three(lab: object, number: int) -> str:
    if number != 3:
        raise module.NotYet(f"you counted to {number}", "three", "number")
    return "it is three."


@exercise("9.2", "Two names")
def two(lab: object, topic: str, producer: object) -> str:
    run = attempt()
    return f"judged {run.source.splitlines()[-1] if run else None}."


@pytest.fixture
def run(ipython: InteractiveShell, monkeypatch: pytest.MonkeyPatch, tmp_path) -> Iterator[Run]:
    """Run a cell as Jupyter does, with its id; return the error in which it ended."""
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    shell = ipython
    for place in (cells, module):
        monkeypatch.setattr(place, "shell", lambda: shell)
    cells._history.cache_clear()
    cells.history()
    checks = Checks(SimpleNamespace(number="09"), lambda: SimpleNamespace(three=three, two=two))
    shell.user_ns["lab"] = SimpleNamespace(check=checks)

    def send(cell: str, source: str) -> BaseException | None:
        with contextlib.redirect_stdout(io.StringIO()):
            result = shell.run_cell(source, store_history=True, cell_id=cell)
        return result.error_before_exec or result.error_in_exec

    yield send
    cells._history.cache_clear()


def test_a_cell_that_ended_in_an_error_is_said_first_and_old_variables_are_not_judged(run: Run) -> None:
    run("exercise-9-1", "number = 3")
    assert run("check-9-1", "lab.check.three(number)") is None
    run("exercise-9-1", "print('x')\nnumber = int('three')")
    said = str(run("check-9-1", "lab.check.three(number)"))
    assert said.startswith(
        "✗ 9.1  the cell of the exercise ended in an error in line 2: ValueError: invalid "
    )
    assert said.endswith("line 2 of that cell: mend it and run it again")
    run("exercise-9-1", "number = 3")
    assert run("check-9-1", "lab.check.three(number)") is None


@pytest.mark.parametrize(
    ("source", "where"),
    [
        ("def half(n):\n    return n / 0\n\nnumber = half(3)", "in line 2 (called from line 4): ZeroDiv"),
        ("number = max([3], key=lambda n:\n    n / 0)", "in line 2 (called from line 1): ZeroDivision"),
        ("number = 3\nquarter(number)", "in line 2: ZeroDivision"),
        ("number = 3\neval('number number')", "in line 2: SyntaxError"),
        ("class Own:\n    n = 1 / 0\nnumber = Own()", "in line 2 (called from line 1): ZeroDivision"),
    ],
)
def test_the_innermost_line_of_the_cell_is_named(run: Run, source: str, where: str) -> None:
    run("code-1234abcd", "\n\n\n\ndef quarter(n):\n    return n / 0")
    run("exercise-9-1", source)
    said = str(run("check-9-1", "lab.check.three(number)"))
    assert f"ended in an error {where}" in said
    assert "Look at: line 2 of that cell: mend it" in said


def test_a_sentence_of_the_course_is_followed_and_no_line_is_mended(run: Run) -> None:
    run("exercise-9-1", "from threebrokers.errors import LabError\nraise LabError('No leader', 'wait')")
    said = str(run("check-9-1", "lab.check.three(number)"))
    assert "in line 2: No leader: wait; it should" in said
    assert said.endswith("the sentence under that cell: mend what it names, and run the cell again")


def test_an_error_that_the_exercise_knows_is_told_with_more(run: Run) -> None:
    run("exercise-9-1", "from threebrokers.errors import LabError\nraise LabError('math domain error')")
    said = str(run("check-9-1", "lab.check.three(number)"))
    assert "in line 2: math domain error; the number should be positive. Look at: its sign" in said


def test_an_error_counts_as_a_try_and_not_as_solved(run: Run) -> None:
    run("exercise-9-1", "number = 1 / 0")
    run("check-9-1", "lab.check.three(number)")
    assert progress.tried() == {"9.1"}
    assert not progress.solved()


@pytest.mark.parametrize("source", ["number = = 3", "raise KeyboardInterrupt"])
def test_also_what_python_cannot_read_and_what_was_interrupted(run: Run, source: str) -> None:
    run("exercise-9-1", "number = 3")
    run("exercise-9-1", source)
    said = str(run("check-9-1", "lab.check.three(number)"))
    assert "ended in an error in line 1: SyntaxError" in said or "was interrupted before its end" in said


def test_blanks_that_are_left_are_not_attempted_whatever_else_failed(run: Run) -> None:
    run("exercise-9-1", "number = ...\nnumber + 1")
    said = str(run("check-9-1", "lab.check.three(number)"))
    assert said == "○ 9.1  Exercise 9.1 is not attempted yet: fill in the `...` of `number` in its cell."


def test_a_blank_of_an_earlier_run_does_not_hide_an_error(run: Run) -> None:
    run("exercise-9-1", "number = ...")
    run("exercise-9-1", "number = int('three')")
    assert "ended in an error" in str(run("check-9-1", "lab.check.three(number)"))


def test_an_answer_in_a_cell_of_the_learners_own_is_judged(run: Run) -> None:
    run("exercise-9-1", "number = int('three')")
    run("f3c1", "number = 3")
    assert run("check-9-1", "lab.check.three(number)") is None
    run("f3c1", "number = None.x")
    assert "AttributeError" in str(run("check-9-1", "lab.check.three(number)"))


def test_an_error_in_another_cell_of_the_lesson_is_not_this_exercises(run: Run) -> None:
    run("exercise-9-1", "number = 3")
    for cell in ("code-1234abcd", "exercise-9-2", "check-9-2"):
        run(cell, "number = 3\nint('x')")
    assert run("check-9-1", "lab.check.three(number)") is None


def test_without_ids_the_names_tell_the_cell(run: Run) -> None:
    run("", "number = 3")
    run("", "other = int('x')")
    assert run("", "lab.check.three(number)") is None
    run("", "number = int('x')")
    assert "ended in an error" in str(run("", "lab.check.three(number)"))


def test_an_answer_and_its_check_in_one_cell(run: Run) -> None:
    assert "counted to 2" in str(run("x", "number = 2\nlab.check.three(number)"))
    assert run("x", "number = 3\nlab.check.three(number)") is None
    assert run("check-9-1", "lab.check.three(number)") is None


def test_a_name_that_is_missing_is_one_sentence(run: Run) -> None:
    said = str(run("check-9-1", "lab.check.three(number)"))
    assert (
        said == "○ 9.1  Exercise 9.1 is not attempted yet: run its cell first, which gives `number` a value."
    )
    run("exercise-9-2", "topic = 'x'")
    said = str(run("check-9-2", "lab.check.two(topic, producer=producer)"))
    assert "✗ 9.2  `producer` does not exist; the cell of the exercise should give `producer` a value" in said


def test_a_name_that_the_cell_below_gives_is_looked_for_there(run: Run) -> None:
    run("exercise-9-1", "print('a program')")
    said = str(run("check-9-1", "lab.check.three(number)"))
    assert "`number` does not exist; the cell of the exercise, or the one below it, should give" in said
    run("code-1234abcd", "number = 1 / 0")
    said = str(run("check-9-1", "lab.check.three(number)"))
    assert "the cell that should give `number` a value ended in an error in line 1: ZeroDivision" in said
    run("code-1234abcd", "number = 3")
    assert run("check-9-1", "lab.check.three(number)") is None


def test_an_answer_that_another_cell_of_the_page_has_set_anew_is_not_judged(run: Run) -> None:
    run("exercise-9-1", "number = 3")
    run("code-1234abcd", "number = 4 / 0")  # it has set nothing
    run("own", "other = 5")
    assert run("check-9-1", "lab.check.three(number)") is None
    run("exercise-9-2", "number = 4")
    said = str(run("check-9-1", "lab.check.three(number)"))
    assert "`number` is not the exercise's any more: another cell of the page has set it since" in said
    run("exercise-9-1", "number = 3")
    assert run("check-9-1", "lab.check.three(number)") is None
    run("own", "number = 2")
    assert "you counted to 2" in str(run("check-9-1", "lab.check.three(number)"))


def test_what_another_cell_of_the_page_has_set_is_no_answer_of_an_exercise_that_did_not_run(run: Run) -> None:
    run("exercise-9-2", "number = 2")
    said = str(run("check-9-1", "lab.check.three(number)"))
    assert said == (
        "○ 9.1  Exercise 9.1 is not attempted yet: run its cell first, which gives `number` another value."
    )
    assert progress.tried() == set()
    assert run("check-9-1", "number = 3\nlab.check.three(number)") is None
    run("own", "number = 4")
    assert "you counted to 4" in str(run("check-9-1", "lab.check.three(number)"))


def test_a_program_in_a_cell_of_the_learners_own_is_the_answer_of_what_another_cell_made_of_it(
    run: Run,
) -> None:
    _let_programs_stand_in_cells(run)
    run("own-2", "%%program careful\nprint('it runs')")
    run("code-1234abcd", "topic = producer = str(twice(lab, 'careful'))")
    run("check-9-2", "said = lab.check.two(topic, producer).reason")
    assert run("c", """assert said == "judged print('it runs').", said""") is None


@pytest.mark.parametrize("made_in", ["code-1234abcd", "own-3"])
@pytest.mark.parametrize(
    "made",
    [
        "number = twice(lab, 'careful')",
        "of = 'careful'\nnumber = twice(lab, of)",
        "number = twice(lab, name='careful')",
    ],
)
def test_the_judged_program_is_the_last_one_of_the_name_that_was_run(
    run: Run, made_in: str, made: str
) -> None:
    _let_programs_stand_in_cells(run)
    history = cells.history()
    assert history is not None
    run("exercise-9-1", "%%program careful\nprint('skeleton')")
    run("own-2", "%%program careful\nprint('it runs')")
    run(made_in, made)
    at = clock.now()
    run("own-4", "%%program another\nprint('not this one')")
    judged = module.find(history, "9.1", ["number"])
    assert judged is not None
    assert judged.program_text == "print('it runs')"
    run("own-2", "%%program careful\nprint('it runs anew')")
    with module.judged(module.find(history, "9.1", ["number"])):
        assert module.has_changed_since(at)


def test_a_program_that_is_only_run_again_has_not_changed_where_cells_have_no_ids(run: Run) -> None:
    _let_programs_stand_in_cells(run)
    history = cells.history()
    assert history is not None
    run("", "%%program careful\nprint('it runs')")
    run("", "number = twice(lab, 'careful')")
    at = clock.now()
    run("", "%%program careful\nprint('it runs')")
    with module.judged(module.find(history, "9.1", ["number"])):
        assert not module.has_changed_since(at)
    run("", "%%program careful\nprint('it runs anew')")
    with module.judged(module.find(history, "9.1", ["number"])):
        assert module.has_changed_since(at)


def test_the_value_of_another_program_than_the_learners_own_is_no_answer(run: Run) -> None:
    _let_programs_stand_in_cells(run)
    run("own-2", "%%program another\nprint('it runs')")
    run("code-1234abcd", "number = twice(lab, 'careful')")
    assert "is not attempted yet" in str(run("check-9-1", "lab.check.three(number)"))


def _let_programs_stand_in_cells(run: Run) -> None:
    magic = "from IPython.core.magic import register_cell_magic as cell\ncell('program')(print)"
    assert run("code-0", f"{magic}\ntwice = lambda lab, name: 3") is None


def test_what_another_cell_gives_to_an_exercise_is_not_what_its_own_cell_should_give(run: Run) -> None:
    run("code-1234abcd", "topic = 'x'")
    said = str(run("check-9-2", "lab.check.two(topic, producer)"))
    assert said.endswith("not attempted yet: run its cell first, which gives `producer` a value.")


def test_a_cell_that_mends_another_answer_is_no_new_try_of_this_one(run: Run) -> None:
    [history] = [cells.history()]
    assert history is not None
    run("exercise-9-2", "topic = 'x'\nproducer = 1")
    run("own", "producer = 2")
    first, own = history.runs
    with module.judged(own):
        assert module.is_earlier(own.began, "topic") is False
        assert module.is_earlier(first.began - 1, "topic") is True
        assert module.is_earlier(first.began, "producer") is True
    with module.judged(first):
        assert module.is_earlier(first.began - 1, "topic") is True


def test_a_program_that_is_only_run_again_has_not_changed(run: Run) -> None:
    history = cells.history()
    assert history is not None
    run("exercise-9-1", "number = 3")
    at = clock.now()
    run("code-1234abcd", "runs = 1")
    assert not module.has_changed_since(at)
    run("exercise-9-1", "number = 3")
    with module.judged(history.runs[-1]):
        assert not module.has_changed_since(at)
    run("exercise-9-1", "number = 4")
    with module.judged(history.runs[-1]):
        assert module.has_changed_since(at)
        assert module.has_changed_since(history.runs[0].began - 1)


def test_a_check_knows_the_run_that_it_judges(run: Run) -> None:
    assert attempt() is None
    run("exercise-9-2", "topic = 'x'\nproducer = 1")
    run("code-1234abcd", "other = 2")
    run("check-9-2", "said = lab.check.two(topic, producer).reason")
    assert run("c", "assert said == 'judged producer = 1.', said") is None
    assert attempt() is None
