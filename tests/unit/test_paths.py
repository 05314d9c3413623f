"""The state of a cluster from metadata written by hand, and the names of a lab."""

import inspect
from types import SimpleNamespace as Told

import pytest

from threebrokers.errors import LabError
from threebrokers.kafka.state import MetadataBroker, MetadataPartition, MetadataTopic, read_state
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Checks
from threebrokers.lab.opening import open_lab
from threebrokers.ledger import Ledger
from threebrokers.paths import home, repo


class Admin:
    def list_topics(self, timeout):
        assert timeout <= 2
        partition = Told(id=0, leader=2, replicas=[2, 3, 1], isrs=[3, 2])
        orphan = Told(id=1, leader=-1, replicas=[1], isrs=[])
        return Told(
            brokers={3: Told(id=3, host="h", port=30), 1: Told(id=1, host="h", port=10)},
            topics={
                "b": Told(error=None, partitions={1: orphan, 0: partition}),
                "a": Told(error="unknown", partitions={}),
            },
        )


def test_state_is_a_plain_sorted_value():
    state = read_state(Admin())
    assert state.brokers == (MetadataBroker(1, "h", 10), MetadataBroker(3, "h", 30))
    led, orphan = MetadataPartition("b", 0, 2, (2, 3, 1), (2, 3)), MetadataPartition("b", 1, None, (1,), ())
    assert state.topics == (MetadataTopic("b", (led, orphan)),)
    assert state == read_state(Admin())
    assert hash(state) == hash(read_state(Admin()))


def test_a_topic_that_does_not_exist_is_left_out():
    state = read_state(Admin(), ["a", "b", "zz"])
    assert [topic.name for topic in state.topics] == ["b"]
    assert state.topic("zz") is None


@pytest.mark.parametrize("number", [1, "1", "../01", "", None, "001"])
def test_a_lab_is_named_by_two_digits(number):
    with pytest.raises(LabError, match="two digits"):
        open_lab(number)


def test_a_lab_that_is_not_written_yet_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    with pytest.raises(LabError, match="no lab 99 yet"):
        open_lab("99")


def test_checks_are_called_with_the_lab_first(tmp_path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    seen = []

    @exercise("9.1", "Count")
    def counted(lab: object, number: int) -> str:
        """Count."""
        seen.append((lab, number))
        return "counting matters."

    lab = Told(number="09")
    # A ledger has a number too, and is imported by a lab's checks.
    checks = Checks(lab, lambda: Told(counted=counted, helper=len, Ledger=Ledger))
    assert checks.counted(5).number == "9.1"
    assert seen == [(lab, 5)]
    assert dir(checks) == ["counted"]
    for name in ("helper", "Ledger"):
        with pytest.raises(AttributeError, match=f"lab 09 has no check '{name}': it has counted$"):
            getattr(checks, name)


def test_a_check_tells_jupyter_what_it_takes():
    @exercise("9.1", "Count")
    def counted(lab: object, number: int) -> str:
        """Count the records."""
        return ""

    checks = Checks(Told(number="09"), lambda: Told(counted=counted))
    assert str(inspect.signature(checks.counted)) == "(number: int) -> str"
    assert inspect.getdoc(counted) == "Count the records."


def test_checks_are_loaded_when_one_is_asked_for():
    def fail():
        raise ZeroDivisionError

    checks = Checks(Told(number="09"), fail)
    with pytest.raises(ZeroDivisionError):
        dir(checks)


def test_each_clone_has_a_home_of_its_own(tmp_path, monkeypatch):
    monkeypatch.delenv("THREEBROKERS_HOME", raising=False)
    monkeypatch.setenv("THREEBROKERS_CACHE", str(tmp_path))
    monkeypatch.setattr("threebrokers.paths.repo", lambda: tmp_path / "one" / "course")
    one = home()
    monkeypatch.setattr("threebrokers.paths.repo", lambda: tmp_path / "two" / "course")
    assert home() != one
    assert one.is_relative_to(tmp_path)


def test_a_home_that_cannot_be_made_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(LabError, match="set THREEBROKERS_HOME to a folder"):
        home()
    assert (repo() / "pyproject.toml").is_file()
