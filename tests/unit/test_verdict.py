"""The box of each kind of verdict: ranks, words, code, what is escaped; and when it is shown."""

import html
import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from threebrokers import notebook, theme
from threebrokers.errors import LabError
from threebrokers.lab import opening, outcomes
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.outcomes import (
    NotAttempted,
    NotYet,
    Solved,
    show_in_boxes,
    show_in_words,
    trouble,
)
from threebrokers.predictions import Verdict
from threebrokers.verdict import NO_STRIP, Box

EVIL = "<script>alert('`x<y`')</script> & `a`"
EVIL_HTML = "&lt;script&gt;alert(&#x27;<code>x&lt;y</code>&#x27;)&lt;/script&gt; &amp; <code>a</code>"


@exercise("9.1", "Count <to> three")
def counts(lab: object, number: int) -> str:
    if number == 0:
        raise LabError("Broker 2 is down", "start `it`")
    if number != 3:
        raise NotYet(f"you counted to {number}", "it should be `3`", "`number = …`")
    return "`three` is enough."


def box_of(number: object) -> Box:
    """Return the box of what the check says of this answer."""
    try:
        return counts("lab", number).box
    except outcomes.Outcome as outcome:
        return outcome.box
    except LabError as fault:
        return trouble(fault)


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))


KINDS = {
    3: (theme.GOOD, "✓ 9.1  Count <to> three: `three` is enough."),
    4: (theme.BAD, "✗ 9.1  you counted to 4; it should be `3`. Look at: `number = …`"),
    ...: (theme.OPEN, "○ 9.1  Exercise 9.1 is not attempted yet: fill in the `...` in the cell above."),
    0: (theme.WARNING, "⚠ 9.1  Broker 2 is down: start `it`."),
}


@pytest.mark.parametrize("answer", KINDS, ids=str)
def test_each_outcome_of_a_check_is_the_same_box_with_its_sign_number_title_and_words(answer):
    look, twin = KINDS[answer]
    box, shown = box_of(answer), box_of(answer)._repr_html_()
    assert repr(box) == box.forms["text/plain"] == twin
    assert shown.startswith(f'<div class="tb-verdict" style="border-left:4px solid {look.colour};')
    assert f'aria-label="{look.word}"' in shown
    assert "&ensp;9.1&ensp;<b>Count &lt;to&gt; three:</b></div>" in shown
    words = html.unescape(re.sub(r"<[^>]+>", " ", shown)).split()
    sentence = twin.replace("`", "").removeprefix(f"{look.sign} 9.1  ").removeprefix("Count <to> three: ")
    assert "".join(words) == f"{look.sign}9.1Count<to>three:{sentence}".replace(" ", "")


def test_solved_shows_itself_as_its_box():
    solved = counts("lab", 3)
    assert isinstance(solved, Solved)
    assert solved._repr_html_() == box_of(3)._repr_html_()
    assert "<div><code>three</code> is enough.</div>" in solved._repr_html_()


def test_not_yet_has_three_ranks():
    shown = box_of(4)._repr_html_()
    assert "<div><b>you counted to 4</b>; it should be <code>3</code>.</div>" in shown
    assert shown.endswith("Look at: <code>number = …</code></div></div>")
    assert shown.count("color-mix(in srgb,currentColor 76%,transparent)") == 1  # only where to look is softer


def test_a_trouble_has_what_happened_and_the_next_step():
    assert "<b>Broker 2 is down</b>: start <code>it</code>." in box_of(0)._repr_html_()
    whole = trouble(LabError("Waited in vain."))
    assert (repr(whole), whole.number) == ("⚠ Waited in vain.", "")
    assert "</b>&ensp;Waited in vain.</div>" in whole._repr_html_()


@pytest.mark.parametrize(
    "box",
    [
        NotYet(EVIL, "b", "c").box,
        NotYet("a", EVIL, "c").box,
        NotYet("a", "b", EVIL).box,
        NotAttempted(EVIL).box,
        trouble(LabError(EVIL, "b")),
        trouble(LabError("a", EVIL)),
        Box(theme.GOOD, "", EVIL),
    ],
)
def test_what_a_learner_wrote_is_never_html(box: Box):
    assert EVIL_HTML in box._repr_html_()
    assert "<script" not in box._repr_html_()


def test_number_and_title_are_escaped():
    shown = Solved("<i>", "Where <to>?", "here")._repr_html_()
    assert "&ensp;&lt;i&gt;&ensp;<b>Where &lt;to&gt;?</b>" in shown  # a question needs no colon


def test_the_small_form_is_one_line_with_the_same_bar():
    [observed] = told_by(lambda: Lab.observed(None, "Broker 2 `was` away.", True))
    shown = observed._repr_html_()
    assert repr(observed) == "✓ Broker 2 `was` away."
    assert f"border-left:4px solid {theme.GOOD.colour}" in shown
    assert shown.count("<div") == 2
    assert 'aria-hidden="true"' in shown  # a screen reader reads the sentence, not the word of an exercise
    assert "</b>&ensp;Broker 2 <code>was</code> away.</div>" in shown


@pytest.mark.parametrize(
    ("verdict", "look", "shown"),
    [
        (Verdict("a", "a", "Why."), theme.GOOD, "<b>You predicted: a. So it was.</b> Why."),
        (Verdict("a", "b", "Why."), theme.BAD, "<b>You predicted: a. It was: b.</b> Why."),
        (Verdict(None, "b"), theme.OPEN, "<b>It was: b.</b> You had not chosen an answer"),
    ],
)
def test_a_comparison_is_small_too(verdict: Verdict, look: theme.Look, shown: str):
    found = verdict._repr_mimebundle_()
    assert f"border-left:4px solid {look.colour}" in found["text/html"]
    assert shown in found["text/html"]
    assert found["text/plain"].startswith(f"{look.sign} ")


def told_by(act: Callable[[], Any]) -> list[Any]:
    """Return what is displayed in a notebook meanwhile."""
    shown: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notebook, "shell", lambda: SimpleNamespace(kernel=None))
        patch.setattr("IPython.display.display", shown.append)
        act()
    return shown


class NotebookShell(InteractiveShell):
    """A shell that has a kernel, which tells it from a terminal's."""

    kernel = None


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Run a cell in a shell of a notebook, in which verdicts have boxes; return the error that ended it."""
    shell = NotebookShell()
    shell.user_ns["counts"] = counts
    monkeypatch.setattr(notebook, "shell", lambda: shell)
    show_in_boxes()
    yield lambda text: shell.run_cell(text).error_in_exec
    shell.history_manager.end_session()


def order_of(run: Callable[[str], Any], text: str, capsys: pytest.CaptureFixture[str]) -> tuple[Any, str]:
    """Return the error that ends a cell, and in order what it shows: each box begins a line with BOX."""

    def draw(box: Box) -> None:
        assert box.raised
        assert box._repr_html_().startswith(NO_STRIP)
        print("BOX", box)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("IPython.display.display", draw)
        error = run(text)
    return error, capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "kind"), [("counts(0, 4)", NotYet), ("counts(0, ...)", NotAttempted), ("counts(0, 0)", LabError)]
)
def test_a_cell_that_fails_shows_its_box_once_and_then_the_same_as_an_error(run, capsys, text, kind):
    error, told = order_of(run, text, capsys)
    assert type(error) is kind
    [line] = error._render_traceback_()
    assert told.splitlines() == [f"BOX {line}", line]


def test_a_learners_own_error_has_a_traceback_and_no_box(run, capsys):
    error, told = order_of(run, "1 / 0", capsys)
    assert isinstance(error, ZeroDivisionError)
    assert "Traceback" in told
    assert "BOX" not in told


def test_what_another_library_raises_is_shown_in_our_words_if_it_is_ours(run, capsys):
    ours = LabError("Java has ended", "start it")
    for _ in range(2):  # asked for twice, it is shown once
        show_in_words((ConnectionError,), lambda fault: ours if "111" in str(fault) else None)
    _, told = order_of(run, "raise ConnectionRefusedError(111, 'refused')", capsys)
    [line] = ours._render_traceback_()
    assert told.splitlines() == [f"BOX {line}", line]
    _, told = order_of(run, "raise ConnectionResetError('mine')", capsys)
    assert "Traceback" in told
    assert "BOX" not in told
    error, told = order_of(run, "counts(0, 4)", capsys)
    assert type(error) is NotYet
    assert told.count("BOX") == 1


def test_an_outcome_that_the_cell_catches_shows_nothing(run, capsys):
    error, told = order_of(run, "try:\n    counts(0, 4)\nexcept Exception as e:\n    pass", capsys)
    assert (error, told) == (None, "")


def test_outside_a_notebook_nothing_is_changed(monkeypatch):
    for shell in (None, SimpleNamespace()):  # no IPython; IPython in a terminal
        monkeypatch.setattr(notebook, "shell", lambda shell=shell: shell)
        show_in_boxes()
        show_in_words((ConnectionError,), lambda fault: None)


def test_a_lab_asks_for_boxes_before_anything_can_fail(monkeypatch):
    asked: list[bool] = []
    monkeypatch.setattr(opening, "show_in_boxes", lambda shown: asked.append(True))
    with pytest.raises(LabError, match="two digits"):
        opening.open_lab("one")
    assert asked == [True]
