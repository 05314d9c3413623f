"""What a walk tells: verdicts, what is odd, and pictures that a page shows side by side."""

from tools.walk import outputs, shots
from tools.walk.shots import Shot

BOX = {"output_type": "error", "ename": "NotYet", "evalue": "✗ 6.1  lost", "traceback": ["✗ 6.1  lost"]}
FAILED = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["…", "ValueError: no"]}
SOLVED = {"output_type": "execute_result", "data": {"text/plain": ["✓ 6.1  ", "none lost"]}}


def test_a_sentence_in_a_box_is_a_verdict_and_no_traceback():
    assert outputs.verdict([BOX]) == "✗ 6.1  lost"
    assert outputs.traceback([BOX]) == ""
    assert outputs.verdict([SOLVED]) == "✓ 6.1  none lost"
    assert outputs.traceback([SOLVED, FAILED]) == "ValueError: no"


def shot(verdict, *, wanted, **more):
    known = {"number": 7, "place": 3, "cell": "check-6-1", "exercise": "6.1", "answer": "late & lost"}
    return Shot(**known, judges=True, verdict=verdict, wanted=wanted, **more)


def test_what_is_odd_is_said():
    assert shot("✗ 6.1  lost", wanted=False).odd == []
    assert shot("✓ 6.1", wanted=True).odd == []
    assert shot("✓ 6.1", wanted=False).odd == ["the check should say not yet"]
    assert len(shot("", wanted=True, traceback="ValueError: no", wider="an output").odd) == 3


def test_the_table_and_the_page_show_tries_and_the_consoles_errors():
    told = shots.table([shot("✗ 6.1  lost", wanted=False)], ["404"])
    assert "6.1       late & lost" in told
    assert "Errors of the browser's console: 1\n  404" in told
    page = shots.page("Lab 06", [shot("✗ 6.1  <b>", wanted=False, typed="a < b")], [])
    assert "a &lt; b" in page
    assert "late &amp; lost" in page
    assert 'src="007-check-6-1-light.png"' in page
    assert 'src="007-check-6-1-dark.png"' in page


def test_what_a_later_run_has_closed_is_not_asked_for_again():
    panel = {
        "output_type": "display_data",
        "data": {outputs.VIEW: {"model_id": "1"}, "text/plain": "a panel"},
    }
    assert outputs.without_views([panel, BOX]) == [panel | {"data": {"text/plain": "a panel"}}, BOX]
