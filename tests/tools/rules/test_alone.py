"""Sections of *Going further* that are said to stand alone: a learner may open the lab and begin with any."""

import pytest

from tools import ROOT
from tools.lessons import lesson
from tools.lessons.minutes import FURTHER
from tools.rules import alone

LESSONS = {path.stem[:2]: lesson.read(path) for path in lesson.lessons(ROOT)}
LAST = "# %% [markdown]\n# Compare with [the solution]"
FIRST, SECOND = ("# %% [markdown]\n# ### " + title for title in ("The first", "The second"))
SAYS = "Each section stands by itself and needs only the first cell."
ABOVE = "Each section stands alone, after the first cell of *One topic, three copies*."
EXERCISE = "# %% [markdown]\n# ### Exercise 3.9: more"
USES, PRINTS = "it uses 'shown'", "# %%\nprint(shown)"

# where the name that a section uses stands
NEEDY = {
    "an earlier part of the lesson": (FIRST, PRINTS),
    "the section before": (FIRST, "# %%\nshown = 1", SECOND, PRINTS),
    "its own next cell": (FIRST, PRINTS, "# %%\nshown = 1"),
    "read by a function": (FIRST, "# %%\ndef f():\n    return shown"),
    "read by the answer": (
        FIRST,
        EXERCISE,
        "# %%\n# TODO: x\n# BEGIN SOLUTION\nx = shown\n# END SOLUTION",
    ),
    "no heading of its own": (PRINTS,),
}


def going_further(course, says, *cells):
    """Let the sample go further, say this of its sections, and hold these cells there."""
    course.edit("minutes.*", "minutes, and {further} more.*")
    course.edit(LAST, "\n\n".join((f"# %% [markdown]\n# {FURTHER}\n#\n# {says}", *cells, LAST)))
    return list(alone.faults(lesson.read(course.path)))


@pytest.mark.parametrize("cells", NEEDY.values(), ids=NEEDY.keys())
def test_a_section_that_needs_another_cell_is_named(course, cells):
    assert [wrong.partition(" of ")[0] for _, wrong, _ in going_further(course, SAYS, *cells)] == [USES]


@pytest.mark.parametrize(
    "cells",
    [
        (FIRST, "# %%\nprint(lab)"),
        (FIRST, "# %%\nfrom os import path as shown", PRINTS),
        (FIRST, "# %%\nshown = 1", EXERCISE, PRINTS),
        (FIRST, '# %% tags=["wrong"]\n# a | b\nprint(shown)'),
        (FIRST, "# %%\n# %%program w\nprint(shown)"),
    ],
)
def test_what_it_makes_imports_or_gets_from_the_set_up_is_its_own(course, cells):
    assert going_further(course, SAYS, *cells) == []


def test_the_first_cell_of_a_section_that_is_named_has_run(course):
    assert going_further(course, ABOVE, FIRST, PRINTS) == []


def test_a_lesson_that_does_not_say_so_need_not_keep_to_it(course):
    assert going_further(course, "Run its cells in order.", FIRST, PRINTS) == []


def test_it_is_told_with_the_other_rules(course):
    going_further(course, SAYS, FIRST, PRINTS)
    assert any(
        f"the section '### The first': {USES} of an earlier cell" in text for text in course.problems()
    )


def test_lessons_say_so_in_words_that_are_found():
    assert {number for number, held in LESSONS.items() if alone.promised(held)} >= {"05", "06", "07"}


@pytest.mark.parametrize("number", sorted(LESSONS))
def test_sections_that_are_said_to_stand_alone_do(number):
    assert list(alone.faults(LESSONS[number])) == []
