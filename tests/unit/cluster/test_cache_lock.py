"""Who may write into the cache: one process at a time, and the others wait with a word, not for ever."""

import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from threebrokers.cluster import cache_lock
from threebrokers.cluster.cache_lock import only_one
from threebrokers.errors import LabError


@pytest.fixture(autouse=True)
def shown(monkeypatch):
    """What a notebook shows; waits are short."""
    told = []

    @contextmanager
    def show(what, within):
        told.append((what, within))
        yield

    monkeypatch.setattr(cache_lock, "shown", show)
    monkeypatch.setattr(cache_lock, "QUIET_SECONDS", 0.1)
    monkeypatch.setattr(cache_lock, "WAIT_SECONDS", 0.2)
    return told


@pytest.mark.parametrize("notebook", [False, True])
def test_who_does_not_come_to_an_end_is_waited_for_with_a_word_and_then_named(
    tmp_path, monkeypatch, capsys, shown, notebook
):
    here = SimpleNamespace(kernel=object()) if notebook else None
    monkeypatch.setattr(cache_lock, "kernel_shell", lambda: here)
    with (
        only_one(tmp_path),
        pytest.raises(LabError, match=rf"Another command is still writing into {tmp_path}: end it, or let"),
        only_one(tmp_path),
    ):
        pass
    assert shown == [(f"another command that writes into {tmp_path}", 0.2)]
    said = "" if notebook else f"Waiting for another command that writes into {tmp_path} …\n"
    assert capsys.readouterr().err == said


def test_who_is_done_soon_is_waited_for_without_a_word(tmp_path, monkeypatch, capsys, shown):
    monkeypatch.setattr(cache_lock, "QUIET_SECONDS", 30)
    begun = threading.Event()

    def write():
        with only_one(tmp_path):
            begun.set()
            time.sleep(0.1)

    other = threading.Thread(target=write)
    other.start()
    assert begun.wait(10)
    with only_one(tmp_path):
        pass
    other.join()
    assert shown == []
    assert capsys.readouterr().err == ""


def test_who_is_not_to_wait_is_told_at_once(tmp_path, shown):
    with only_one(tmp_path), pytest.raises(LabError, match="still writing"), only_one(tmp_path, waits=False):
        pass
    assert shown == []
