"""Of a learner's cells of an exercise the one that gives the answer is the try, and not one that looks."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.grading import run as module
from threebrokers.grading.kernel import Reply
from threebrokers.grading.orders import Limits, Order, Step
from threebrokers.grading.run import Run
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
