"""Of the cells between exercises those are found on which an exercise relies."""

from pathlib import Path

import pytest

from tools.lessons import lesson as lessons
from tools.lessons.build import ROOT
from tools.proof.needed import needed

BEFORE = """# %%
from threebrokers import open_lab

lab = open_lab("03")

# %%
import json
from collections import Counter

counted = Counter()
print("seen", counted)

# %%
def copies_of(number):
    return number

# %%
print(copies_of(1), json)

# %%
base = 1

# %%
wanted = [base, 2]

# %%
wanted.append(3)

# %%
lab.review()

# %%
%%program worker
wanted = 4

"""
EXERCISE = """# %% [markdown]
# ### Exercise 3.1: Count

# %%
# TODO: count
# BEGIN SOLUTION
topic = copies_of(len(wanted))
# END SOLUTION

# %% tags=["wrong"]
# another | is another
topic = json.loads("1")

# %%
lab.check.count(topic)

# %%
print(topic, wanted)
"""


def what_is_needed(path: Path, text: str, answers: int | None = None) -> list[str]:
    path.write_text(text, "utf-8")
    found = needed(lessons.read(path), answers)
    return [text for _, text in sorted(found.items()) if text]


def test_what_binds_or_changes_a_name_of_an_exercise_is_needed(tmp_path):
    assert what_is_needed(tmp_path / "03_count.py", BEFORE + EXERCISE) == [
        "from threebrokers import open_lab\nlab = open_lab('03')",
        "import json\nfrom collections import Counter",
        "def copies_of(number):\n    return number",
        "base = 1",
        "wanted = [base, 2]",
        "wanted.append(3)",
        "%%program worker\nwanted = 4",
    ]


def test_what_only_a_wrong_answer_uses_is_needed_too(tmp_path):
    other = EXERCISE.replace('json.loads("1")', "counted")
    found = what_is_needed(tmp_path / "03_count.py", BEFORE + other)
    assert "import json\nfrom collections import Counter\ncounted = Counter()" in found
    without = what_is_needed(tmp_path / "03_count.py", BEFORE + other, answers=0)
    assert "import json\nfrom collections import Counter" in without


def test_a_cell_that_changes_a_value_is_needed_as_it_is_and_one_that_shows_it_is_not(tmp_path):
    sends = """# %%
for number in range(3):
    producer.produce(wanted, number)
left = producer.flush()

"""
    shows = """# %%
picture(counted(wanted))
print(wanted)

# %%
shown = sum(wanted)

"""
    found = what_is_needed(tmp_path / "03_count.py", BEFORE + sends + shows + EXERCISE)
    assert "for number in range(3):\n    producer.produce(wanted, number)\nleft = producer.flush()" in found
    assert not any("picture" in text or "shown" in text for text in found)


def test_what_a_loop_binds_itself_is_needed_from_nobody(tmp_path):
    loop = "# %%\nfor each in range(3):\n    print(each)\n\n"
    own = EXERCISE.replace("topic = copies_of(len(wanted))", "for each in wanted:\n    topic = each")
    assert not any("range(3)" in text for text in what_is_needed(tmp_path / "03_a.py", BEFORE + loop + own))
    its_end = own.replace("for each in wanted", "for each in [each, *wanted]")
    assert loop[5:].strip() in what_is_needed(tmp_path / "03_b.py", BEFORE + loop + its_end)


def test_what_no_name_shows_is_needed_if_it_says_so(tmp_path):
    sets = '# %%\nspark.conf.set("state", "rocks")\n\n'
    assert not any("rocks" in text for text in what_is_needed(tmp_path / "03_a.py", BEFORE + sets + EXERCISE))
    tagged = sets.replace("# %%", '# %% tags=["needed"]')
    assert 'spark.conf.set("state", "rocks")' in what_is_needed(
        tmp_path / "03_b.py", BEFORE + tagged + EXERCISE
    )


def test_a_value_that_is_bound_again_is_not_needed_before(tmp_path):
    again = "# %%\nwanted = [5]\n\n"
    found = what_is_needed(tmp_path / "03_count.py", BEFORE + again + EXERCISE)
    assert "wanted = [5]" in found
    assert not {"base = 1", "wanted = [base, 2]", "wanted.append(3)"} & set(found)


@pytest.mark.parametrize("path", lessons.lessons(ROOT), ids=lambda path: path.stem)
def test_every_lab_is_opened_and_not_all_of_it_is_needed(path):
    found = needed(lessons.read(path))
    assert any("open_lab(" in text for text in found.values())
    assert any(not text for text in found.values())
