"""The first of two runs of a query: how it ends, without starting Java."""

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from threebrokers.errors import LabError
from threebrokers.spark import runs


@pytest.fixture
def sent(monkeypatch) -> list[int]:
    """Return how many messages were sent each time."""
    sent: list[int] = []
    monkeypatch.setattr(runs, "empty_replay", lambda lab, topic, partitions: topic)
    monkeypatch.setattr(runs, "fresh_folder", lambda name: name)
    monkeypatch.setattr(runs, "send", lambda lab, topic, messages: sent.append(len(list(messages))))
    return sent


def first_run(fault: BaseException | None = None, ends: bool = True) -> SimpleNamespace:
    """Return the query of a first run that was stopped; raise what ends the run otherwise."""
    stopped: list[bool] = []

    def wait(_seconds: float) -> bool:
        if fault is not None:
            raise fault
        return ends

    query = SimpleNamespace(awaitTermination=wait, exception=lambda: fault, stop=lambda: stopped.append(True))
    lab: Any = None
    start: Any = lambda topic, folder: query  # noqa: E731 - a query of no Spark
    try:
        runs.first_run(lab, "trips", start, checkpoint="noon")
    finally:
        assert stopped
    return query


def test_the_afternoon_follows_the_first_run(sent):
    first_run()
    assert len(sent) == 2
    assert all(sent)


def test_a_first_run_is_stopped_however_it_ends(sent):
    with pytest.raises(KeyboardInterrupt):
        first_run(KeyboardInterrupt())
    with pytest.raises(LabError, match="did not end within 90 s"):
        first_run(ends=False)
    with pytest.raises(LabError, match=r"The first run failed \(Offsets are gone\.\)"):
        first_run(StreamingQueryException("[X] Offsets are gone."))
    assert len(sent) == 3, "the afternoon followed a run that did not end well"
