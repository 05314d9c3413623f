"""What a lab says of streaming queries, without starting Java."""

from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.core.context import SparkContext
from pyspark.errors import AnalysisException, StreamingQueryException

from threebrokers.errors import LabError
from threebrokers.spark import delivering, queries


def test_what_spark_says_in_one_line():
    said = (
        "[STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION] Invalid streaming output mode: append. "
        "This output mode is not supported for no watermark. SQLSTATE: 42KDE;\nAggregate [window#1]"
    )
    assert queries.reason(ValueError(said)) == (
        "Invalid streaming output mode: append. This output mode is not supported for no watermark."
    )
    assert queries.reason(ValueError("no class in front")) == "no class in front."
    assert queries.reason(ValueError()) == "ValueError."
    failed = "[STREAM_FAILED] Query q [id = 1, runId = 2] terminated with exception: "
    assert queries.reason(ValueError(f"{failed}[X.Y] It is gone. SQLSTATE: 1 SQLSTATE: 2")) == "It is gone."
    trace = (
        "Traceback (most recent call last):\n  File x\nsqlite3.Error: no table\n SQLSTATE: 1\n=== Query ==="
    )
    told = f"{failed}[FOREACH] A fault in the function. Reason: An exception was raised. Message: {trace}"
    assert queries.reason(ValueError(told)) == "sqlite3.Error: no table."


def gateway(ended: int | None) -> SimpleNamespace:
    return SimpleNamespace(proc=SimpleNamespace(poll=lambda: ended))


@pytest.mark.parametrize("fault", [Py4JNetworkError("x"), ConnectionRefusedError(), AttributeError("_jvm")])
def test_a_dead_java_is_one_sentence(monkeypatch, fault):
    monkeypatch.setattr(SparkContext, "_gateway", gateway(-9))
    with (
        pytest.raises(
            LabError, match=r"Spark's Java process has ended: run the cell with `spark = session\(\)`"
        ),
        queries.java_there(),
    ):
        raise fault


def test_a_fault_of_ours_is_not_blamed_on_java(monkeypatch):
    monkeypatch.setattr(SparkContext, "_gateway", gateway(None))
    with pytest.raises(AttributeError), queries.java_there():
        raise AttributeError("a misspelt name")


def test_what_starts_is_stopped_and_what_spark_refuses_is_told():
    stopped = []
    assert queries.refusal(lambda: SimpleNamespace(stop=lambda: stopped.append(True))) == ""
    assert stopped == [True]

    def refused():
        raise AnalysisException("Append is not supported.\nMore of it.")

    assert queries.refusal(refused) == "Append is not supported."


def query(progress, *, fault=None, ends_after=1):
    """Return a query that ends by itself after so many looks."""
    one = SimpleNamespace(name="q", recentProgress=progress, stopped=0, looks=0)

    def wait(_seconds):
        one.looks += 1
        one.isActive = one.looks < ends_after
        if fault is not None and not one.isActive:
            raise fault  # as Spark does
        return not one.isActive

    def stop():
        one.stopped += 1
        one.isActive = False

    one.isActive, one.awaitTermination, one.stop, one.exception = True, wait, stop, lambda: fault
    return one


@pytest.fixture
def _java(monkeypatch):
    monkeypatch.setattr(SparkContext, "_gateway", gateway(None))


BATCH = {"batchId": 0, "numInputRows": 1}


@pytest.mark.usefixtures("_java")
def test_a_watched_query_does_not_run_on():
    ends, goes_on = query([BATCH], ends_after=3), query([BATCH], ends_after=10**9)
    queries.watch_query(ends)
    queries.watch_query(goes_on, batches=1)
    assert ends.looks == 3
    assert not goes_on.isActive


@pytest.mark.usefixtures("_java")
def test_a_query_that_takes_too_long_is_stopped_and_told():
    slow = query([], ends_after=10**9)
    with pytest.raises(LabError, match="did not end within 0 s, and was stopped"):
        queries.watch_query(slow, within=0)
    assert not slow.isActive


@pytest.mark.usefixtures("_java")
def test_a_query_that_reads_nothing_any_more_is_stopped_and_told_why():
    empty = [{"batchId": number, "numInputRows": 0} for number in range(1, queries.EMPTY_BATCHES + 1)]
    works = query([BATCH, *empty], ends_after=10**9)
    with pytest.raises(LabError, match=r"its last 20 batches read no record.*`ProcessingTime`"):
        queries.watch_query(works)
    assert not works.isActive

    for ends, batches in ((query([BATCH, *empty[1:]], ends_after=3), 0), (query(empty, ends_after=3), 50)):
        queries.watch_query(ends, batches=batches)
        assert ends.looks == 3


@pytest.mark.usefixtures("_java")
def test_an_interrupted_cell_stops_its_query():
    one = query([BATCH], ends_after=10**9)

    def interrupt(_seconds):
        raise KeyboardInterrupt

    one.awaitTermination = interrupt
    with pytest.raises(KeyboardInterrupt):
        queries.watch_query(one)
    assert not one.isActive


@pytest.mark.usefixtures("_java")
def test_why_a_query_failed_is_one_sentence():
    failed = query([BATCH], fault=StreamingQueryException("[X] Offsets are gone.\nAnd more."))
    with pytest.raises(LabError, match=r"The query failed \(Offsets are gone\.\)"):
        queries.watch_query(failed)
    failed = query([], fault=StreamingQueryException("[X] Offsets are gone.\nAnd more."))
    with pytest.raises(LabError, match=r"The query ended \(Offsets are gone\.\)"):
        queries.until_caught_up(failed)


@pytest.mark.usefixtures("_java")
def test_a_table_whose_query_failed_is_not_delivered(monkeypatch):
    failed = query([BATCH], fault=StreamingQueryException("[X] Offsets are gone."))
    monkeypatch.setattr(delivering, "start_query", lambda *_: failed)
    with pytest.raises(LabError, match=r"The query of `board` failed \(Offsets are gone\.\)"):
        delivering.deliver({"board": None}, {"board": "append"})
    assert failed.stopped


def test_each_table_needs_a_mode():
    with pytest.raises(LabError, match="`board` has no output mode"):
        delivering.deliver({"board": None}, {})
