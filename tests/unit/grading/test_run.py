"""Which of a learner's cells is the try, and which verdicts of a kernel are believed."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.grading import run as module
from threebrokers.grading.kernel import Reply
from threebrokers.grading.orders import SOLVED, TROUBLE, Limits, Mark, Order, Step, Told
from threebrokers.grading.run import INSIDE, Run
from threebrokers.grading.sights import Sight

CHECK = Step("check-1-3", "lab.check.topic_created(made)", check="1.3", passed=["made"])
ANSWER = Step("exercise-1-3", "made = 1", own=True, exercise="1.3")


def own(text: str) -> Step:
    return Step("own", text, own=True, exercise="1.3")


@pytest.mark.parametrize(
    ("steps", "tried"),
    [
        ([ANSWER, own("ledger.balance(made)")], ANSWER),
        ([ANSWER, own("other = made")], ANSWER),
        ([own("help(lab)"), ANSWER], ANSWER),
        ([ANSWER, own("%time\nmade = 2")], own("%time\nmade = 2")),
        ([ANSWER, own("x = " + "-" * 100_000 + "1")], ANSWER),
        ([own("print(made)")], own("print(made)")),
    ],
)
def test_the_try_is_the_cell_that_gives_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[Step], tried: Step
) -> None:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.setattr(module, "look", lambda: Sight(frozenset(), {}))
    monkeypatch.setattr(Run, "_send", lambda *_: Reply())
    order = Order("01", str(tmp_path), False, Limits(), [*steps, CHECK])
    warden: Any = SimpleNamespace(order=order)
    watch: Any = None
    run, kernel = Run(warden, watch, tmp_path), SimpleNamespace()
    for step in steps:
        run._take(kernel, step)  # type: ignore[arg-type]
    assert run._tries["1.3"][0] == tried


OURS, THEIRS = {"lab:": "1 Lab"}, {"lab:": "2 L"}


def told(prints: dict[str, str], **more: Any) -> Reply:
    """Return what a kernel answers to a question of the seal."""
    return Reply(told={"seal": repr(repr({"prints": repr(prints)} | more))})


def judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: Reply | None, after: Reply, plain: bool = False
) -> tuple[Mark, list[str]]:
    """Return the mark of an exercise whose kernel answers so before its check and after it, and the notes."""
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    step = Step("check-1-1", "lab.check.sent(made)", check="1.1", passed=["made"], plain=plain)
    notes: list[Told] = []
    warden: Any = SimpleNamespace(order=Order("01", "", False, Limits(), [step]), tell=notes.append)
    kernel: Any = None
    run = Run(warden, kernel, tmp_path)
    run._first = {"prints": OURS}
    monkeypatch.setattr(run, "_send", lambda _, sent, *more: after if sent is step else before)
    return run._judged(kernel, step), [one.note for one in notes]


GENUINE = {"genuine": True, "number": "1.1", "text": "Sent: so it is.", "answers": ""}


def test_a_check_inside_is_believed_if_the_courses_code_is_its_own_before_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, notes = judged(tmp_path, monkeypatch, told(OURS), told(OURS, **GENUINE))
    assert (mark.verdict, mark.sentence, mark.by, notes) == (SOLVED, "so it is.", INSIDE, [])


@pytest.mark.parametrize(
    ("before", "more", "said", "noted"),
    [
        (told(THEIRS), {}, "code of the course that the notebook has changed", True),
        (None, {}, "the kernel gives no proof of it", False),
        (told(OURS), {"genuine": False}, "something that is no check of the course", False),
        (told(OURS), {"number": "1.2"}, "something that is no check of the course", False),
    ],
)
def test_what_puts_itself_back_during_a_check_is_not_believed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    before: Reply | None,
    more: dict[str, Any],
    said: str,
    noted: bool,
) -> None:
    mark, notes = judged(tmp_path, monkeypatch, before, told(OURS, **(GENUINE | more)))
    assert (mark.verdict, said in mark.sentence) == (TROUBLE, True)
    assert ["changed in the notebook: lab:" in note for note in notes] == [True] * noted


def test_a_check_of_plain_values_is_never_believed_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, _ = judged(tmp_path, monkeypatch, told(OURS), told(OURS, **GENUINE), plain=True)
    said = "It is said to be solved, but its answers are not the plain values that its check takes."
    assert (mark.verdict, mark.sentence) == (TROUBLE, said)
