"""What was handed in is read without believing it: which lab, whose cells, and what is no hand-in."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.handed_in import NAME
from threebrokers.grading import course, handins
from threebrokers.grading.course import Cell, Course
from tools import ROOT


@pytest.fixture(scope="module")
def lab() -> Course:
    return course.read(ROOT / "labs" / NAME)


def notebook() -> dict[str, Any]:
    return json.loads((ROOT / "labs" / NAME).read_text("utf-8"))


def cells_of(changed: dict[str, Any]) -> tuple[Cell, ...]:
    return tuple(course.code_cells(changed))


def answered(text: str, **more: Any) -> dict[str, Any]:
    found = notebook()
    for cell in found["cells"]:
        if cell["id"] == "exercise-1-1":
            cell |= {"source": text, **more}
    return found


def test_every_lab_of_the_course_is_read_with_its_exercises_and_checks() -> None:
    for path in sorted((ROOT / "labs").glob("*.ipynb")):
        found = course.read(path)
        known = course.checks(found.lab)
        assert found.tasks
        for task in found.tasks:
            assert task.title
            assert known[task.function].number == task.number


def test_an_untouched_lab_has_nothing_to_run(lab: Course) -> None:
    plan = handins.plan(lab, cells_of(notebook()))
    assert (plan.parts, plan.untouched) == ([], {"1.1", "1.2", "1.3", "1.4"})


def test_the_learners_cell_takes_the_place_of_the_exercise_and_all_ends_with_its_check(lab: Course) -> None:
    plan = handins.plan(lab, cells_of(answered("reports = [1]")))
    assert [(part.text, part.own) for part in plan.parts if part.exercise] == [("reports = [1]", True)]
    assert plan.parts[-1].id == "check-1-1"
    assert plan.untouched == {"1.2", "1.3", "1.4"}


def test_checks_and_the_courses_own_cells_are_the_courses(lab: Course) -> None:
    changed = answered("reports = [1]")
    for cell in changed["cells"]:
        if cell["id"].startswith(("check-", "code-")):
            cell["source"] = "lab = 'mine'"
    assert not any("mine" in part.text for part in handins.plan(lab, cells_of(changed)).parts)


def test_without_ids_exercises_are_known_by_their_headings(lab: Course) -> None:
    changed = answered("reports = [1]")
    for cell in changed["cells"]:
        del cell["id"]
    plan = handins.plan(lab, cells_of(changed))
    assert [part.text for part in plan.parts if part.own] == ["reports = [1]"]
    assert [part.id for part in plan.parts if part.own] == ["exercise-1-1"]


def test_without_ids_a_cell_that_only_looks_is_not_taken_for_the_exercises(lab: Course) -> None:
    changed = inserted("exercise-1-1", "len(reports)", answered("reports = [1]"))
    for cell in changed["cells"]:
        del cell["id"]
    own = [part for part in handins.plan(lab, cells_of(changed)).parts if part.own]
    assert [(part.id, part.text) for part in own] == [
        ("exercise-1-1", "reports = [1]"),
        ("", "len(reports)"),
    ]


def inserted(after: str, text: str, base: dict[str, Any]) -> dict[str, Any]:
    place = next(n for n, cell in enumerate(base["cells"]) if cell["id"] == after)
    base["cells"].insert(place + 1, {"cell_type": "code", "id": "own", "source": text, "metadata": {}})
    return base


def test_a_cell_of_their_own_before_the_check_belongs_to_the_exercise(lab: Course) -> None:
    plan = handins.plan(lab, cells_of(inserted("exercise-1-1", "more = 1", answered("reports = [1]"))))
    assert [part.text for part in plan.parts if part.exercise == "1.1"] == ["reports = [1]", "more = 1"]


def test_a_cell_after_the_check_is_of_another_thought(lab: Course) -> None:
    plan = handins.plan(lab, cells_of(inserted("check-1-1", "sender = None", answered("reports = [1]"))))
    assert [part.text for part in plan.parts if part.exercise == "1.1"] == ["reports = [1]"]


def test_a_cell_after_the_check_is_the_answer_if_there_is_no_other(lab: Course) -> None:
    plan = handins.plan(lab, cells_of(inserted("check-1-1", "reports = [2]", notebook())))
    assert [part.text for part in plan.parts if part.exercise == "1.1"][-1] == "reports = [2]"
    assert "1.1" not in plan.untouched


def test_a_cell_after_the_check_is_of_another_thought_also_if_it_is_the_same_again(lab: Course) -> None:
    changed = inserted("exercise-1-1", "reports += [2]", answered("reports = [1]"))
    plan = handins.plan(lab, cells_of(inserted("check-1-1", "reports += [2]", changed)))
    assert [part.text for part in plan.parts if part.exercise == "1.1"] == ["reports = [1]", "reports += [2]"]


class Counted(str):
    """A text that counts how often its words are looked for."""

    splits = 0

    def split(self, *how: Any) -> list[str]:  # type: ignore[override]
        self.splits += 1
        return super().split(*how)


def test_a_cells_words_are_looked_for_once(lab: Course) -> None:
    texts = [Counted(f"x = {number}") for number in range(3)]
    cells = [Cell("", text, exercise) for text, exercise in zip(texts, ["", "1.1", "1.1"], strict=True)]
    assert len(handins.plan(lab, tuple(cells)).parts) > len(cells)
    assert [text.splits for text in texts] == [1, 1, 1]


def test_checks_of_plain_values_are_told_from_those_of_live_objects() -> None:
    every = {number: course.checks(number) for number in ("01", "03", "06", "09", "10")}
    plain = {check.number for checks in every.values() for check in checks.values() if course.is_plain(check)}
    assert plain == {"1.3", "3.1", "3.2", "3.4", "3.5", "9.1", "9.2", "9.5"}
    assert {*course.OF_TEXT} <= {name for checks in every.values() for name in checks}


def test_an_answer_that_names_a_check_is_still_the_answer(lab: Course) -> None:
    plan = handins.plan(lab, cells_of(answered("lab.check.greetings_sent = print")))
    assert [part.text for part in plan.parts if part.own] == ["lab.check.greetings_sent = print"]


def test_a_helper_outside_of_exercises_runs_where_it_stands(lab: Course) -> None:
    plan = handins.plan(lab, cells_of(inserted("code-462c0562", "import math", answered("reports = [1]"))))
    [place] = [n for n, part in enumerate(plan.parts) if part.text == "import math"]
    assert plan.parts[place - 1].id == "code-462c0562"


def test_a_helper_above_all_cells_of_the_course_runs_after_the_lab_is_opened(lab: Course) -> None:
    changed = answered("reports = [1]")
    changed["cells"].insert(0, {"cell_type": "code", "id": "own", "source": "import math", "metadata": {}})
    parts = handins.plan(lab, cells_of(changed)).parts
    assert [part.text for part in parts[1:2]] == ["import math"]
    assert "open_lab" in parts[0].text


@pytest.mark.parametrize(
    ("after", "follows"), [("code-462c0562", "code-462c0562"), ("code-c52b756e", "code-c52b756e")]
)
def test_without_ids_a_helper_runs_where_it_stands(lab: Course, after: str, follows: str) -> None:
    changed = inserted(after, "import math", answered("reports = [1]"))
    for cell in changed["cells"]:
        del cell["id"]
    parts = handins.plan(lab, cells_of(changed)).parts
    [place] = [n for n, part in enumerate(parts) if part.text == "import math"]
    assert parts[place - 1].id == follows


def test_without_ids_a_helper_below_an_exercise_runs_after_its_check(lab: Course) -> None:
    changed = answered("reports = [1]")
    [place] = [n for n, cell in enumerate(changed["cells"]) if cell["id"] == "check-1-1"]
    section = {"cell_type": "markdown", "source": "## More", "metadata": {}}
    helper = {"cell_type": "code", "source": "import math", "metadata": {}}
    changed["cells"][place + 1 : place + 1] = [section, helper]
    for cell in changed["cells"]:
        cell.pop("id", "")
    assert handins.plan(lab, cells_of(changed)).parts[-2].id == "check-1-1"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "It is no notebook, or it is damaged."),
        (b"\xff\xfe\x00", "It is no notebook, or it is damaged."),
        (b"[" * 100_000, "It is no notebook, or it is damaged."),
        (b'{"cells": [{"cell_type": "code", "source": "\\ud800"}]}', "It is no notebook, or it is damaged."),
        (b'{"cells": 3}', "It is no notebook, or it is damaged."),
        (b'{"cells": [{"cell_type": "code", "source": [1]}]}', "It is no notebook, or it is damaged."),
        (b'{"cells": []}', "It is a notebook, but of no lab of this course."),
        (
            b'{"cells": [{"cell_type": "code", "source": "open_lab(\'99\')"}]}',
            "It says that it is of lab 99, and there is none; the labs are 01.",
        ),
    ],
)
def test_what_is_no_hand_in_is_said_in_a_sentence(
    tmp_path: Path, lab: Course, content: bytes, said: str
) -> None:
    (tmp_path / "one.ipynb").write_bytes(content)
    [found] = handins.find(tmp_path, {"01": lab})
    assert found.fault == said


def test_learners_are_the_folders_or_else_the_names_of_files(tmp_path: Path, lab: Course) -> None:
    for name in (
        "anna/week 1/01.ipynb",
        "bao.ipynb",
        "bao/.ipynb_checkpoints/01.ipynb",
        "__MACOSX/._x.ipynb",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(notebook()))
    found = handins.find(tmp_path, {"01": lab})
    assert [(one.learner, one.lab, one.fault) for one in found] == [("anna", "01", ""), ("bao", "01", "")]


def test_a_link_and_a_large_file_are_not_read(
    tmp_path: Path, lab: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handins, "MOST_BYTES", 10)
    (tmp_path / "large.ipynb").write_bytes(b" " * 11)
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "large.ipynb")
    large, link = handins.find(tmp_path, {"01": lab})
    assert "a hand-in has 0 MB at most" in large.fault
    assert link.fault == "It is no file of its own but a link or a folder."


def test_a_hand_in_whose_cells_have_too_much_text_is_not_run(tmp_path: Path, lab: Course) -> None:
    (tmp_path / "anna.ipynb").write_text(json.dumps(answered("x = 1\n" * 200_000)))
    [found] = handins.find(tmp_path, {"01": lab})
    assert found.fault == "Its code cells have 1.2 MB of text; 1 MB is the most."
    assert found.cells == ()
