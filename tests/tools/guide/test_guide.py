"""The teacher's guide has every exercise of every lesson, with all that a teacher needs to know of it."""

import re
from html import unescape

import pytest

from threebrokers.predictions import question
from threebrokers.quiz import question as quizzes
from threebrokers.text import as_html
from tools import ROOT
from tools.guide import markdown, page, write
from tools.guide.chapters import SAME, chapters, differing
from tools.lessons import lesson as lessons
from tools.lessons import minutes, solution_marks
from tools.lessons.build import build
from tools.lessons.lesson import lessons as paths

FILES = paths(ROOT)
TEACHING = (ROOT / "docs" / "teaching.md").read_text("utf-8")


@pytest.fixture(scope="module")
def known():
    """What the guide says of each lab, by the name of its lesson."""
    return {each.stem: each for each in chapters(ROOT)}


@pytest.fixture(scope="module")
def texts(known):
    """What a reader sees of each page, by the name of its file."""
    made = page.pages(TEACHING, known.values())
    return {each.name: text(each.body) for each in made}


def text(html):
    return flat(unescape(re.sub("<[^>]+>", "", html)))


def flat(words):
    return " ".join(words.split())


def plain(source):
    """Return Markdown as a reader sees it."""
    return text(markdown.html(source))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_quiz_is_there_with_the_right_answer_and_each_why(path, texts):
    told = texts[path.stem]
    for asked in quizzes.read(path.stem[:2]).values():
        part = told[told.index(plain(asked.question)) :]
        for answer in asked.answers:
            sign = "✓ right:" if answer.right else "✗"
            assert f"{sign} {plain(answer.answer)}: {plain(answer.why)}" in part


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_exercise_is_there_with_answer_hints_and_wrong_answers(path, texts):
    told, lesson = texts[path.stem], lessons.read(path)
    assert lesson.exercises
    for exercise in lesson.exercises:
        start = f"Exercise {exercise.number}: {plain(exercise.title)}"
        part = told[told.index(start) :].split("Exercise ", 2)[1]
        assert f"Wrong answers ({len(exercise.wrongs)})" in part
        assert flat(solution_marks.split(exercise.answers[0].source).region) in part
        assert all(plain(hint) in part for hint in exercise.hints)
        for wrong in exercise.wrongs:
            assert f"✗ {plain(wrong.name)}The check says “… {text(as_html(wrong.text))} …”" in part
        assert "When it is solved, the check says:" in part, f"{exercise.number}: run the solution"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_prediction_is_there_with_each_answer_its_why_and_what_was_measured(path, known, texts):
    asked = question.read(question.QUESTIONS / question.file_name(int(path.stem[:2])))
    told, shown = texts[path.stem], known[path.stem].predictions
    assert {each.name for each in shown} == set(asked)
    for name, each in asked.items():
        assert f"{name} {plain(each.question)}" in told
        assert all(f"{plain(one.answer)}: {plain(one.why)}" in told for one in each.answers)
    assert all(each.truths for each in shown), "the solution holds no verdict of a prediction"
    assert told.count("✓ so it was:") == sum(len(each.truths) for each in shown)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_minutes_of_the_sections_make_those_of_the_lab(path, known, texts):
    counted = known[path.stem].minutes
    core, further = minutes.rounded(counted.core), minutes.rounded(counted.further)
    assert f"{core} minutes, and {further} more" in texts[path.stem]
    whole = sum(section.load.minutes for section in counted.sections)
    assert whole == pytest.approx(counted.core + counted.further + counted.asked)
    assert all(f"{section.load.minutes:.1f}" in texts[path.stem] for section in counted.sections)


def test_the_first_page_has_every_lab_and_all_of_the_hand_written_text(texts):
    assert all(lessons.title(path) in texts["index"] for path in FILES)
    headings = re.findall(r"^##+ (.+)$", TEACHING, re.MULTILINE)
    assert len(headings) > 8
    assert [name for name in headings if name not in texts["index"]] == ["Check-list"]
    points = re.findall(r"^- (.+)$", TEACHING.partition("## Check-list")[2], re.MULTILINE)
    assert len(points) > 10
    assert all(plain(point) in texts["check-list"] for point in points)


def test_a_page_needs_nothing_from_outside_and_its_links_lead_somewhere(known, tmp_path):
    files = write.written(known.values(), TEACHING, tmp_path / "build" / "guide")
    assert len(files) == len(FILES) + 2
    for file in files:
        html = file.read_text("utf-8")
        assert not re.search(r"<script|<link|<img|@import|url\(", html)
        for address in re.findall(r'href="([^"#]+)', html):
            if not address.startswith("https://"):
                name = address.partition("#")[0]
                place = (
                    ROOT / name.removeprefix("../../") if name.startswith("../../") else file.parent / name
                )
                assert place.exists(), f"{file.name}: {address}"


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ("a = 1\nb = 3\nc = 4", f"{SAME}\nb = 3\n{SAME}"),
        ("a = 1\nb = 2\nd = 5", f"{SAME}\nd = 5"),
        ("a = 1\nb = 2", "a = 1\nb = 2"),  # something is missing
        ("x = 9", "x = 9"),
    ],
)
def test_of_a_wrong_answer_the_lines_are_shown_that_differ(wrong, shown):
    assert differing(wrong, "a = 1\nb = 2\nc = 4") == shown


def test_what_a_lesson_writes_stays_text(course):
    course.edit("# one copy |", "# <b>one copy</b> & more |")
    assert build(course.root) == []
    made = page.pages("# How\n\nA text.\n", chapters(course.root))
    assert [each.name for each in made] == ["index", "03_replication"]
    assert "✗ &lt;b&gt;one copy&lt;/b&gt; &amp; more" in made[1].body
