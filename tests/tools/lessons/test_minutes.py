"""The minutes of a lesson: counted from the page, from what its solution made wait, and nothing else."""

import nbformat
import pytest

from tools.lessons import lesson, minutes, notebooks
from tools.lessons.build import build
from tools.lessons.minutes import Load

HEAD = "*{minutes} minutes.*"


def sections(course, waits=None):
    counted = minutes.counted(lesson.read(course.path), waits or {}, course.root)
    return {section.title: section for section in counted.sections}


def taken(course):
    return minutes.of(course.path, course.root)


def waiting(course, seconds):
    """Let the first cell of the solution make wait."""
    path = course.notebook("solutions")
    notebook = notebooks.read(path)
    notebooks.codes(notebook)[0].metadata[notebooks.SECONDS] = seconds
    path.write_text(notebooks.text(notebook), "utf-8")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Three **short** words.", 3),
        ("# A heading – with a dash", 5),
        ("| a | b |\n|---|---|\n| `min.insync.replicas` | 2 |", 4),
        ("See [the log](https://kafka.apache.org/43/ab) here<br>.", 4),
        ("<details><summary>Hint</summary>Never counted.</details>Counted.", 1),
        ("<details><summary>Another hint</summary>\n\nNever counted.\n\n</details>", 0),
        ("<details><summary>Answer</summary>\nThree words here</details>", 4),
        ("", 0),
    ],
)
def test_words_are_what_is_read(text, count):
    assert minutes.words(text) == count


def test_each_thing_has_its_time():
    assert Load(words=300).minutes == 2
    assert Load(lines=24).minutes == 2
    assert Load(waits=120).minutes == 2
    assert Load(exercises=2).minutes == 10
    assert Load(predictions=2).minutes == 1
    assert Load(questions=4).minutes == 2
    assert (Load(1, 2, 3, 4, 5, 6) + Load(1, 1, 1, 1, 1, 1)) == Load(2, 3, 4, 5, 6, 7)


def test_a_lesson_is_counted_by_sections(course):
    course.predict()
    found = sections(course)
    assert list(found) == ["", "One topic, three copies", "What to remember", "Quiz"]
    heart = found["One topic, three copies"].load
    assert (heart.exercises, heart.predictions) == (2, 1)
    # what a learner sees: neither the answers nor the wrong ones
    assert heart.lines == 2 + 1 + 2 + 1 + 2 + 1
    assert found["Quiz"].load == Load(words=5, questions=3)


def test_waits_are_those_of_the_solution(course):
    assert build(course.root) == []
    before = taken(course)
    waiting(course, 120)
    assert taken(course).core == pytest.approx(before.core + 2)


def test_going_further_is_no_part_of_the_core_path(course):
    course.edit(
        "# ## What to remember",
        f"# {minutes.FURTHER}\n#\n# One two three.\n\n# %%\nx = 1\n\n# %% [markdown]\n# ## What to remember",
    )
    found = sections(course)
    assert [title for title, section in found.items() if section.further] == ["Going further"]
    assert found["Going further"].load == Load(words=5, lines=1)
    counted = minutes.counted(lesson.read(course.path), {}, course.root)
    assert counted.further == found["Going further"].load.minutes
    assert not found["Quiz"].further


def test_the_head_says_what_was_counted(course):
    assert build(course.root) == []
    assert "*15 minutes.*" in course.notebook("labs").read_text("utf-8")
    waiting(course, 900)
    assert len(build(course.root, check=True)) == 2
    assert build(course.root) == []
    for folder in ("labs", "solutions"):
        assert "*30 minutes.*" in course.notebook(folder).read_text("utf-8")


def test_the_head_says_what_going_further_takes(course):
    course.edit(HEAD, "*{minutes} minutes, and {further} more.*")
    course.edit("# Compare with", f"# {minutes.FURTHER}\n#\n# Words.\n#\n# %% [markdown]\n# Compare with")
    assert build(course.root) == []
    assert "*15 minutes, and 5 more.*" in course.notebook("labs").read_text("utf-8")


def test_the_readme_has_a_table_of_labs(course, capsys):
    readme = course.root / "README.md"
    readme.write_text(
        "# Course\n\n<!-- Built by `make build`. -->\nold\n<!-- Built until here. -->\nEnd.\n", "utf-8"
    )
    assert build(course.root, check=True)[-1] == (
        "README.md is not what lessons/ says; run `python -m tools build`."
    )
    assert build(course.root) == []
    assert "| 03 replication | What does a copy protect you from? | 15 | – |\n" in readme.read_text("utf-8")
    assert readme.read_text("utf-8").startswith("# Course\n\n<!-- Built")
    assert readme.read_text("utf-8").endswith("-->\nEnd.\n")
    assert build(course.root, check=True) == []


def test_minutes_are_rounded_up():
    assert [minutes.rounded(m) for m in (0, 0.1, 5, 5.1, 44.9)] == [0, 5, 5, 10, 45]


def test_the_table_is_printed_and_tells_what_is_too_long(course, capsys):
    assert minutes.main(["--check"], course.root) == 0
    assert build(course.root) == []
    waiting(course, 45 * 60)
    assert minutes.main([], course.root) == 0
    assert minutes.main(["03", "--check"], course.root) == 1
    told = capsys.readouterr()
    assert told.err == "Lab 03 takes too long: move a part under *Going further*.\n"
    assert "✗ too long" in told.out
    assert "One topic, three copies" in told.out


def test_each_lab_has_a_limit():
    assert [minutes.Minutes(number, ()).limit for number in ("00", "01", "03", "04", "17")] == [
        20,
        35,
        45,
        50,
        45,
    ]


def test_a_build_keeps_the_seconds_of_a_cell_that_is_as_it_was(course):
    assert build(course.root) == []
    waiting(course, 30)
    course.edit("copies = 3", "copies = 2 + 1")
    assert build(course.root) == []
    assert list(notebooks.waits(notebooks.read(course.notebook("solutions"))).values()) == [30]
    assert notebooks.waits(nbformat.v4.new_notebook()) == notebooks.waits(None) == {}
    assert notebooks.waits(notebooks.read(course.notebook("labs"))) == {}
