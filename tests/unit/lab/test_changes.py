"""What is changed of the whole cluster is put back, also if the kernel was killed; without brokers."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.cluster.process import identify
from threebrokers.errors import LabError
from threebrokers.lab import changes
from threebrokers.lab.scenarios import by_hand, epochs

LAB: Any = SimpleNamespace()


@pytest.fixture
def done(tmp_path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was put back, in a home of its own."""
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    done: list[str] = []
    for name, module in (("version", epochs), ("verification", by_hand)):
        monkeypatch.setattr(module, "put_back", lambda lab, name=name: done.append(name))
    return done


def left_by(pid: int, what: str) -> None:
    with changes._file().changed(dict, 1) as noted:
        noted[what] = identify(pid)


def left_by_the_dead(what: str) -> None:
    """Note a change in the name of a process, and kill it."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    left_by(process.pid, what)
    process.kill()
    process.communicate()


def test_each_change_has_a_scenario_that_puts_it_back():
    assert changes.SCENARIOS == {epochs.FEATURE: "epochs", by_hand.VERIFICATION: "by_hand"}


def experiment() -> None:
    with changes.for_a_while(LAB, epochs.FEATURE):
        assert list(changes._file().read() or ()) == [epochs.FEATURE]
        raise LabError("it failed")


def test_a_block_that_comes_to_its_end_has_put_it_back_itself(done):
    with changes.for_a_while(LAB, epochs.FEATURE):
        assert list(changes._file().read() or ()) == [epochs.FEATURE]
    assert changes.put_back(LAB) == ""
    assert not done


def test_a_block_that_fails_has_it_put_back(done):
    with pytest.raises(LabError, match="it failed"):
        experiment()
    assert done == ["version"]
    assert changes.put_back(LAB) == ""
    assert done == ["version"]


def test_what_a_killed_kernel_has_left_is_put_back_once(done):
    left_by_the_dead(epochs.FEATURE)
    told = changes.put_back(LAB)
    assert told == " transaction.version had been changed for an experiment, and is as before."
    assert changes.put_back(LAB) == ""
    assert done == ["version"]


def test_what_another_notebook_does_just_now_is_left_alone(done):
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    left_by(process.pid, by_hand.VERIFICATION)
    assert changes.put_back(LAB) == ""
    assert not done
    process.kill()
    process.communicate()


def test_what_could_not_be_put_back_is_tried_again(done, monkeypatch):
    def fails(lab: Any) -> None:
        raise LabError("no broker answers")

    with monkeypatch.context() as away:
        away.setattr(epochs, "put_back", fails)
        with pytest.raises(LabError, match="no broker answers"):
            experiment()
    assert epochs.FEATURE in changes.put_back(LAB)
    assert done == ["version"]


def test_a_damaged_note_and_an_unknown_change_stop_nobody(done):
    changes._file().path.write_text("[")
    assert changes.put_back(LAB) == ""
    changes._file().path.unlink()
    left_by_the_dead("something that a newer version changes")
    assert changes.put_back(LAB) == ""
    assert not done
