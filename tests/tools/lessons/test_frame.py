"""The line under a lab's title."""

from pathlib import Path

import pytest

from tools.lessons import lesson as lessons
from tools.lessons.frame import framed


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    (tmp_path / "lessons").mkdir()
    for stem, title in (("00_start", "Start here?"), ("01_hello", "Where is it?"), ("11_all", "All of it?")):
        text = f"# %% [markdown]\n# # {title}\n#\n# Text here.\n\n# %%\n1\n"
        (tmp_path / "lessons" / f"{stem}.py").write_text(text)
    return lessons.lessons(tmp_path)


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (0, "Three Brokers · lab 00 (1 of 3) · next: [Where is it?](01_hello.ipynb)"),
        (
            1,
            "Three Brokers · lab 01 (2 of 3) · before: [Start here?](00_start.ipynb) "
            "· next: [All of it?](11_all.ipynb)",
        ),
        (2, "Three Brokers · lab 11 (3 of 3) · before: [Where is it?](01_hello.ipynb)"),
    ],
)
def test_a_lab_knows_its_place_and_its_neighbours(paths: list[Path], place: int, line: str) -> None:
    whole = lessons.read(paths[place])
    head, *rest = framed(whole, paths).cells
    assert head.source.split("\n\n") == [f"# {lessons.title(paths[place])}", line, "Text here."]
    assert rest == list(whole.cells[1:])
