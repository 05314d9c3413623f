"""What a program's cell shows, for programs in every state."""

import pytest

from threebrokers.program.display import LINES, Box, ending


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "ended by itself"),
        (1, "failed (exit code 1)"),
        (-9, "ended by SIGKILL"),
        (-11, "ended by SIGSEGV"),
        (143, "stopped on request (SIGTERM)"),
        (-15, "stopped on request (SIGTERM)"),
    ],
)
def test_an_ending_is_told_in_words(code, words):
    assert ending(code) == words


def test_a_running_program_shows_its_process_and_its_output():
    box = Box("clock", 17, None, "tick 1\ntick 2\n")
    assert repr(box) == "● clock: runs (process 17)\n  tick 1\n  tick 2"
    assert "● clock: runs (process 17)" in box._repr_html_()
    assert "tick 1\ntick 2</pre>" in box._repr_html_()


def test_the_line_of_one_that_has_ended_is_seen_to_be_double():
    assert "border-left:4px solid" in Box("clock", 17, None, "")._repr_html_()
    # Less than 6 px have no room for two lines of two.
    assert "border-left:6px double" in Box("clock", 17, 0, "")._repr_html_()


def test_each_ending_has_a_sign_of_its_own():
    signs = {Box("clock", 17, code, "").state[0] for code in (None, 0, 143, -9)}
    assert signs == {"●", "✓", "○", "✗"}


def test_one_that_is_stopped_before_it_could_hear_is_no_alarm():
    assert Box("clock", 17, -15, "").state == "○ clock: stopped on request (SIGTERM)"


def test_a_kill_on_purpose_is_no_alarm():
    mine = Box("clock", 17, -9, "tick 1\n", killed=True)
    assert repr(mine) == "○ clock: killed on purpose (SIGKILL)\n  tick 1"
    labs = Box("worker", 17, -9, "run 1, order 7, after the invoice: is killed here\n")
    assert labs.state == "○ worker: killed on purpose (SIGKILL)"
    for accident in (
        Box("clock", 17, -9, "is killed here\nand goes on\n"),
        Box("clock", 17, -11, "", killed=True),
    ):
        assert accident.state.startswith("✗ clock: ended by SIG")


def test_only_the_end_of_a_long_output_is_shown():
    box = Box("clock", 17, 0, "".join(f"tick {n}\n" for n in range(100)))
    assert box.tail[0] == f"… {100 - LINES} earlier lines …"
    assert box.tail[1:] == [f"tick {n}" for n in range(100 - LINES, 100)]


def test_output_cannot_break_the_page():
    assert "<b>x" not in Box("clock", 17, 0, "<b>x")._repr_html_()
