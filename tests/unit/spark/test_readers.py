"""The stream of the board is waited for with a bound, and told in one sentence if it fails."""

from types import SimpleNamespace

import pandas as pd
import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.errors import StreamingQueryException

from threebrokers.errors import LabError
from threebrokers.spark import readers

TABLE = pd.DataFrame({"origin": ["EWR"], "count": [2]})


@pytest.fixture
def board(monkeypatch):
    """Read the board of a query that ends as it is told; the words beside it are what was done to it."""
    done = []
    spark = SimpleNamespace(table=lambda name: SimpleNamespace(toPandas=lambda: TABLE))

    def read(end, fault=None):
        def wait(seconds=None):
            done.append(f"waited {seconds} s")
            return end()

        query = SimpleNamespace(
            awaitTermination=wait,
            stop=lambda: done.append("stopped"),
            exception=lambda: fault,
            recentProgress=[{"numInputRows": 2}, {"numInputRows": 1}],
        )
        monkeypatch.setattr(readers, "start_board", lambda *_: query)
        return readers.board(spark, "", "flights")

    return read, done


def test_it_is_what_the_query_has_read_when_it_ends(board):
    read, done = board
    assert read(lambda: True) == (3, TABLE)
    assert done == [f"waited {readers.SECONDS} s", "stopped"]


def test_a_query_without_an_end_is_stopped_and_told(board):
    read, done = board
    with pytest.raises(LabError, match=r"`board` did not end within 120 s: run the cell again"):
        read(lambda: False)
    assert done[-1] == "stopped"


def test_a_query_that_fails_is_one_sentence(board):
    read, done = board
    fault = StreamingQueryException("[X.Y] The topic is gone. SQLSTATE: 1")

    def fail():
        raise fault

    with pytest.raises(LabError, match=r"^The query `board` failed \(The topic is gone\.\): look at the"):
        read(fail, fault)
    assert done[-1] == "stopped"


def test_a_java_that_has_ended_is_one_sentence(board):
    read, _ = board

    def gone():
        raise Py4JNetworkError("x")

    with pytest.raises(LabError, match="Spark's Java process has ended"):
        read(gone)
