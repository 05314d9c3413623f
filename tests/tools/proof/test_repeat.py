"""Repetition of a lesson: what its cells promise, what is counted, and what a failure says."""

import pytest
from rich.console import Console

from threebrokers.grading.kernel import Reply
from threebrokers.predictions import Verdict
from tools.lessons import lesson
from tools.lessons.lesson import Cell, Exercise
from tools.proof import environment, expectations, repeat

QUIET = Console(quiet=True)


def cell(source: str, place: int = 0) -> Cell:
    return Cell(place, "code", source, {})


def compared(*verdicts: Verdict) -> Reply:
    return Reply(displayed=[{"text/plain": "○"}, *(verdict._repr_mimebundle_() for verdict in verdicts)])


def names(source: str) -> list[str]:
    return [promise.name for promise in expectations.of(cell(source), None)]


def test_a_cell_promises_its_sentences_and_its_exercise():
    assert names("x = 1\nprint('✓ not this')") == []
    assert names("lab.observed('A was lost.', lost)\nlab.observed('B stayed', not lost)") == [
        "✓ A was lost",
        "✓ B stayed",
    ]
    assert names('lab.observed(f"Broker {n} was out after {s:.1f} s.", out)') == [
        "✓ Broker … was out after … s"
    ]
    assert names("lab.observed(sentence, out)") == []
    assert names("%%program worker_a\nlab.observed('x', True)") == []
    check = cell("lab.check.counts(x)")
    assert [p.name for p in expectations.of(check, Exercise("3.1", "Count", (check,)))] == [
        "Exercise 3.1: Count"
    ]


def test_what_was_shown_before_a_failure_is_kept():
    first, second = expectations.of(
        cell("lab.observed(f'A took {s} s', a); lab.observed('B (of 3) was lost', b)"), None
    )
    failed = Reply("LabError", "This time it did not happen: B", shown="✓ A took 1.2 s.\n")
    assert first.kept(failed)
    assert not second.kept(failed)
    assert second.kept(Reply())
    assert second.kept(Reply("KeyError", "later", shown="✓ A took 1.2 s.\n✓ B (of 3) was lost.\n"))


def test_the_truth_of_a_prediction_is_a_field_of_its_verdict():
    verdicts = [Verdict(chosen, "a. b", "It was: c.") for chosen in (None, "a. b", "b")]
    assert expectations.truths(compared(*verdicts)) == ["a. b"] * 3
    assert expectations.truths(Reply(shown=repr(verdicts[0]))) == []


def test_a_prediction_with_more_than_one_answer_is_a_failure():
    tally = repeat.Tally()
    for run, truth in enumerate("aab"):
        tally.take(run, cell("guess.compare(x)", 7), [], compared(Verdict(None, truth)))
    tally.settle()
    assert tally.failures == ["Prediction 1 of cell 7 had more than one answer: 'a' 2 times, 'b' 1 times"]


def test_the_table_says_how_often_and_how_long():
    tally = repeat.Tally({"A": repeat.Row(2, [1.0, 3.0]), "B": repeat.Row(1, [2.0]), "C": repeat.Row()})
    console = Console(width=80)
    with console.capture() as told:
        console.print(repeat.table(tally, 2))
    rows = [line.split() for line in told.get().splitlines() if "of 2" in line]
    assert rows == [
        ["A", "✓", "2", "of", "2", "2.0"],
        ["B", "✗", "1", "of", "2", "2.0"],
        ["C", "✗", "0", "of", "2", "–"],
    ]


def test_a_lesson_that_does_not_exist_is_told(course, capsys):
    assert repeat.main(["77"], course.root) == 2
    assert "There is no lesson '77'" in capsys.readouterr().err


@pytest.mark.programs
def test_a_lesson_whose_experiment_fails_every_other_time(runnable, capsys, tmp_path):
    seen = tmp_path / "seen"
    flaky = f"""import pathlib
lab.observed = lambda what, truth: print('✓ ' + what) if truth else 1 / 0
path = pathlib.Path({str(seen)!r})
path.write_text(path.read_text() + 'x' if path.exists() else 'x')
lab.observed('It was even', len(path.read_text()) % 2 == 0)
print(shown)"""
    runnable.edit("print(shown)", flaky)
    (runnable.root / "solutions" / "threebrokers.py").rename(runnable.root / "lessons" / "threebrokers.py")
    assert repeat.main(["03", "--times", "2"], runnable.root) == 1
    told = capsys.readouterr().out
    assert "✗ 1 of 2" in told
    assert "run 1, cell 'shown = \"shown\"': ZeroDivisionError: division by zero" in told
    assert "Exercise 3.1: survive one broker" in told
    assert "Without being asked: 0 fencings, 0 elections." in told


@pytest.mark.programs
def test_a_lesson_that_always_comes_true(runnable):
    (runnable.root / "solutions" / "threebrokers.py").rename(runnable.root / "lessons" / "threebrokers.py")
    with environment.bench():
        tally = repeat.repeat(lesson.read(runnable.path), 2, QUIET)
    assert tally.failures == []
    assert {name: row.passed for name, row in tally.rows.items()} == {
        "Exercise 3.1: survive one broker": 2,
        "Exercise 3.2: count twice": 2,
    }
