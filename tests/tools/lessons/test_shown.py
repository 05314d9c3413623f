"""What stands in solutions' outputs: every place of the package that shows something is known."""

import re

from tools import ROOT
from tools.lessons import shown

PACKAGE = ROOT / "threebrokers"
SHOWS = re.compile(r"def (_repr_\w+_|_render_traceback_|_ipython_display_)\(|\bdisplay\(")


def test_every_place_is_there():
    assert list(shown.prints(ROOT)) == list(shown.PLACES)


def test_whatever_shows_itself_in_a_notebook_is_among_them():
    showing = [path for path in PACKAGE.rglob("*.py") if SHOWS.search(path.read_text("utf-8"))]
    assert showing
    # The build draws the quizzes, and no lesson shows the report.
    known = [PACKAGE / place for place in (*shown.PLACES, "quiz", "report")]
    assert [path for path in showing if not any(path.is_relative_to(place) for place in known)] == []


def test_only_what_changed_is_told(tmp_path):
    for name in ("panel/widget.js", "panel/widget.py", "panel/notes.txt", "text.py", "paths.py"):
        path = tmp_path / "threebrokers" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    kept = shown.prints(tmp_path)
    assert list(kept) == ["panel", "text.py"]
    for name, places in [("paths.py", []), ("panel/notes.txt", []), ("panel/widget.js", ["panel"])]:
        (tmp_path / "threebrokers" / name).write_text("changed")
        assert shown.changed(tmp_path, kept) == places
    (tmp_path / "threebrokers" / "text.py").unlink()
    assert shown.changed(tmp_path, kept) == ["panel", "text.py"]
