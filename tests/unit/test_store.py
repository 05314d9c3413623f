"""A file of JSON that several processes use: whole, of one type, and nothing in it is lost."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import Timeout

from threebrokers.store import JsonFile


@dataclass(frozen=True)
class Place:
    """What the file holds in these tests, by number."""

    topic: str
    partition: int = 0


@pytest.fixture
def file(tmp_path: Path) -> JsonFile[dict[int, Place]]:
    return JsonFile(tmp_path / "new" / "places.json", dict[int, Place])


def test_what_is_changed_is_read_again(file: JsonFile[dict[int, Place]]) -> None:
    assert file.read() is None
    with file.changed(dict, 1) as places:
        places[2] = Place("orders", 3)
    assert file.read() == {2: Place("orders", 3)}


def test_what_nobody_changed_is_not_written(file: JsonFile[dict[int, Place]]) -> None:
    with file.changed(dict, 1):
        pass
    assert not file.path.exists()


def test_a_block_that_fails_changes_nothing(file: JsonFile[dict[int, Place]]) -> None:
    file.write({1: Place("a")})
    with pytest.raises(ZeroDivisionError), file.changed(dict, 1) as places:
        places[1 // 0] = Place("b")
    assert file.read() == {1: Place("a")}


@pytest.mark.parametrize("damage", [b"", b"\xff\x00", b"[1]", b'{"a": {}}', b'{"1": {"topic": 2}}'])
def test_only_who_changes_a_damaged_file_sets_it_aside(
    file: JsonFile[dict[int, Place]], damage: bytes
) -> None:
    file.write({})
    file.path.write_bytes(damage)
    assert file.read() is None
    assert file.path.read_bytes() == damage
    with file.changed(dict, 1) as places:
        places[1] = Place("a")
    assert file.read() == {1: Place("a")}
    assert file.path.with_name("places.damaged.json").read_bytes() == damage


def test_one_at_a_time(file: JsonFile[dict[int, Place]]) -> None:
    with file.locked(1), pytest.raises(Timeout), file.changed(dict, 0.1):
        pytest.fail("both were in")
