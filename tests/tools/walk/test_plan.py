"""What a walk types: each cell once, an exercise once for each answer."""

from tools import ROOT
from tools.lessons import lesson, notebooks
from tools.walk import plan

LESSON = """# %%
lab = open_lab("99")

# %% [markdown]
# ### Exercise 99.1: Count

# %%
# TODO: count
# BEGIN SOLUTION
count = 3
# END SOLUTION

# %% tags=["wrong"]
# too many | 4 is too many
count = 4

# %% tags=["wrong"]
# too few | 2 is too few
count = 2

# %% tags=["wrong", "raises-exception"]
# a failed cell | failed
count = 1 / 0

# %%
print(count)

# %%
lab.check.count(count)

# %% tags=["raises-exception"]
after()
"""


def acts(tmp_path, wrongs):
    path = tmp_path / "99_counting.py"
    path.write_text(LESSON)
    return list(plan.acts(lesson.read(path), wrongs))


def test_an_exercise_is_tried_with_each_wrong_answer_and_then_the_right_one(tmp_path):
    tried = acts(tmp_path, 2)
    assert [(act.place, act.answer) for act in tried] == [
        (0, ""),
        *[(place, name) for name in ("too many", "too few", "the right answer") for place in (2, 3, 4)],
        (5, ""),
    ]
    assert [act.typed for act in tried if act.place == 2] == [
        "# TODO: count\ncount = 4",
        "# TODO: count\ncount = 2",
        "count = 3",
    ]
    assert [act.place for act in tried if act.judges] == [4, 4, 4]
    assert [act.wanted for act in tried if act.judges] == [False, False, True]


def test_an_error_is_announced_for_the_cell_that_has_the_tag_alone(tmp_path):
    assert [(act.place, act.answer) for act in acts(tmp_path, 3) if act.fails] == [
        (2, "a failed cell"),
        (5, ""),
    ]


def test_every_place_is_the_one_in_the_built_lab():
    for path in lesson.lessons(ROOT):
        read = lesson.read(path)
        names = [name for _, name in notebooks.ids(read)]
        assert all(names[act.place] == act.name for act in plan.acts(read))
        assert {act.exercise for act in plan.acts(read)} - {""} == {one.number for one in read.exercises}
