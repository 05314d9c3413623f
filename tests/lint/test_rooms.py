"""docs/architecture.md names the rooms that exist, in the order of their floors."""

import re
import tomllib
from itertools import chain

import pytest

from tools import ROOT

TEXT = (ROOT / "docs" / "architecture.md").read_text("utf-8")
LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
FLOORS = [
    [name.strip("() ") for name in re.split(r"[|:]", floor)]
    for contract in LINTER["contracts"]
    if contract["type"] == "layers"
    for floor in contract["layers"]
]


def named(parent: str) -> list[str]:
    """Return the rooms that the tables have, in their order."""
    return re.findall(rf"^\| `{parent}/(\w+)/` \|", TEXT, re.MULTILINE)


@pytest.mark.parametrize("parent", ["threebrokers", "tools", "tests"])
def test_the_page_has_every_room_and_no_other(parent: str) -> None:
    rooms = {path.parent.name for path in (ROOT / parent).glob("*/*") if path.suffix in (".py", ".md")}
    rooms |= {path.parents[1].name for path in (ROOT / parent).glob("*/*/*.py")}
    assert sorted(named(parent)) == sorted(rooms)


def test_the_table_has_the_floors_of_the_linter_and_the_picture_every_room() -> None:
    rooms = named("threebrokers")
    height = {name: number for number, floor in enumerate(FLOORS) for name in floor}
    assert [height[room] for room in rooms] == sorted(height[room] for room in rooms)
    pictures = " ".join(re.findall(r"```mermaid\n(.*?)```", TEXT, re.DOTALL))
    ground = next(line for line in TEXT.splitlines() if line.startswith("| ground floor"))
    assert {*chain(*FLOORS)} == {*rooms, *re.findall(r"\w+", ground.split("`")[1])}
    assert {*chain(*FLOORS)} <= {*re.findall(r"\w+", pictures)}


@pytest.mark.parametrize(
    "page", ["docs/architecture.md", "docs/decisions.md", "CONTRIBUTING.md", "README.md"]
)
def test_every_command_that_a_page_names_is_there(page: str) -> None:
    targets = re.findall(r"^([a-z-]+)[a-z -]*:.*", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    called = re.findall(r"\bmake ([a-z]+(?:-[a-z]+)*)[` ]", "".join(code((ROOT / page).read_text("utf-8"))))
    assert {*called} <= {*targets, "authors"}


def code(text: str) -> list[str]:
    """Return what stands between backticks, each with one after it."""
    return [f"{span}`" for span in re.findall(r"`([^`\n]+)`", text)]
