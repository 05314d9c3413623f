"""The courses in docs/teaching.md: labs that exist, and minutes that are those of the labs' heads."""

import json
import re
from itertools import chain

import pytest

from tools import ROOT
from tools.lessons import courses
from tools.lessons.lesson import lessons

LABS = {path.stem[:2]: path for path in lessons(ROOT)}
PAGE = (ROOT / "docs" / "teaching.md").read_text("utf-8")


def promised(number):
    """Return what the head of the learner's notebook says: minutes, and those of going further."""
    notebook = json.loads((ROOT / "labs" / f"{LABS[number].stem}.ipynb").read_text("utf-8"))
    head = "".join(notebook["cells"][0]["source"])
    core, further = re.search(r"\*(\d+) minutes(?:, and (\d+) more)?", head).groups()
    return int(core), int(further or 0)


def table(name):
    """Return the cells of each row of a table in the page, without the first two lines."""
    part = PAGE.partition(courses.BEGIN.format(name=name))[2].partition(courses.END)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()[2:]]


def test_the_page_is_what_the_lessons_say():
    assert courses.built(ROOT) == {ROOT / "docs" / "teaching.md": PAGE}


@pytest.mark.parametrize("name", courses.COURSES)
def test_a_course_has_labs_that_exist_each_once_and_their_sums(name):
    labs = list(chain.from_iterable(part.labs for part in courses.COURSES[name]))
    assert len(set(labs)) == len(labs)
    assert set(labs) <= set(LABS)
    *parts, whole = table(name)
    for row, part in zip(parts, courses.COURSES[name], strict=True):
        each = [promised(number) for number in part.labs]
        assert row == [
            part.name,
            ", ".join(part.labs),
            *(str(sum(column)) for column in zip(*each, strict=True)),
        ]
    sums = [str(sum(int(row[place]) for row in parts)) for place in (2, 3)]
    assert whole == ["**in all**", f"{len(labs)} labs", *sums]


def test_a_part_fits_between_two_long_breaks():
    limit = 195  # minutes: three hours and a quarter
    for parts in courses.COURSES.values():
        for part in parts:
            assert sum(promised(number)[0] for number in part.labs) <= limit


def test_a_term_has_every_lab_and_no_week_takes_more_than_ninety_minutes():
    *weeks, whole = table(courses.TERM)
    assert list(dict.fromkeys(row[1][:2] for row in weeks)) == list(LABS)
    assert [row[0] for row in weeks] == [str(number) for number in range(1, len(weeks) + 1)]
    for number in LABS:
        core, further = promised(number)
        rows = [row[2:] for row in weeks if row[1].startswith(number)]
        if core + further <= 90:
            assert rows == [[str(core), str(further), str(core + further)]]
        else:
            assert rows == [[str(core), "0", str(core)], ["0", str(further), str(further)]]
    assert all(int(row[4]) <= 90 for row in weeks)
    assert whole[2:] == [str(sum(int(row[place]) for row in weeks)) for place in (2, 3, 4)]


def test_every_table_has_its_place():
    assert all(table(name) for name in (*courses.COURSES, courses.TERM))


def test_a_course_without_the_page_needs_none(course):
    assert courses.built(course.root) == {}
