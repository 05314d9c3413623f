"""The grades as a table, a file for spreadsheets and a page; and the file that lets a grading go on."""

import csv
import io
from pathlib import Path

import pytest
from rich.console import Console

from threebrokers.errors import LabError
from threebrokers.grading import report
from threebrokers.grading.grades import Grade, Grades
from threebrokers.grading.orders import NOT_ATTEMPTED, NOT_YET, SOLVED, TROUBLE, Mark

MARKS = [
    Mark("1.1", SOLVED, "so it is.", 2.5, "check inside"),
    Mark("1.2", NOT_YET, "=1+1 <script>; look", 1.0),
    Mark("1.3", NOT_ATTEMPTED),
    Mark("1.4", TROUBLE, "The notebook was ended."),
]
ANNA = Grade("anna/01.ipynb", "anna", "01", "d", "c", marks=MARKS, notes=["It was ended."], seconds=12.3)
BAO = Grade("bao.ipynb", "=bao", fault="It is no notebook, or it is damaged.")


def printed(*grades: Grade, width: int = 140) -> str:
    out = io.StringIO()
    Console(width=width, file=out).print(report.table(grades))
    return out.getvalue()


def test_a_hand_in_is_a_row_of_the_table_and_every_sign_has_its_word_below() -> None:
    text = printed(ANNA, BAO)
    assert "1 ✓ 2 ✗ 3 ○ 4 ⚠" in text
    assert "1 of 4" in text
    assert "It is no notebook, or it is damaged." in text
    assert "✓ solved   ✗ not yet   ○ not attempted   ⚠ trouble" in text
    assert "kept apart" not in text


def test_no_sign_is_parted_from_its_exercise_on_a_narrow_terminal() -> None:
    eight = [Mark(f"7.{number}", SOLVED, "so it is.") for number in range(1, 9)]
    ended = "It was ended in exercise 7.4: the memory limit: 3000 MB."
    text = printed(Grade("a/07.ipynb", "anna", "07", marks=eight, notes=[ended]), width=80)
    assert "1 ✓ 2 ✓ 3 ✓ 4 ✓ 5 ✓ 6 ✓ 7 ✓ 8 ✓" in text


def test_hand_ins_that_were_not_kept_apart_are_told_below_the_table() -> None:
    apart = Grade("a.ipynb", "a", "01", marks=MARKS, apart=False)
    assert "These hand-ins were NOT kept apart" in " ".join(printed(apart).split())


def test_a_spreadsheet_gets_a_row_an_exercise_and_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(report.as_csv([ANNA, BAO]))))
    assert [row["verdict"] for row in rows] == [SOLVED, NOT_YET, NOT_ATTEMPTED, TROUBLE, "not graded"]
    assert rows[1]["sentence"].startswith("'=1+1")
    assert rows[4]["learner"] == "'=bao"
    assert (rows[0]["solved"], rows[0]["of"], rows[0]["judged by"]) == ("1", "4", "check inside")


def test_the_page_holds_every_sentence_as_text_and_asks_for_nothing_outside() -> None:
    page = report.as_page([ANNA, BAO], {"1.1": "Send ten <greetings>"})
    assert "<script>" not in page
    assert "Send ten &lt;greetings&gt;" in page
    assert "http" not in page
    assert "src=" not in page


def test_what_is_graded_is_not_graded_again_until_file_or_lab_change(tmp_path: Path) -> None:
    Grades(tmp_path).add(ANNA)
    again = Grades(tmp_path)
    assert again.known(ANNA.file, "d", "c") == ANNA
    assert again.known(ANNA.file, "e", "c") is None
    assert again.known(ANNA.file, "d", "x") is None


def test_a_hand_in_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    grades = Grades(tmp_path)
    grades.add(ANNA)
    grades.add(BAO)
    grades.only([BAO.file])
    assert grades.of([ANNA.file, BAO.file]) == [BAO]
    assert Grades(tmp_path).known(ANNA.file, "d", "c") is None


def test_a_damaged_file_of_grades_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "grades.json").write_text("{")
    with pytest.raises(LabError, match=r"grades\.json cannot be read"):
        Grades(tmp_path)
