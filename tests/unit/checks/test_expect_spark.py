"""What checks ask of Spark, for learners whose session is one of Spark Connect, too."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql.connect.proto import ExecutePlanRequest
from pyspark.sql.connect.session import SparkSession as Connected
from pyspark.sql.connect.streaming.query import StreamingQuery as ConnectedQuery
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks import expect_spark
from threebrokers.checks.lab12 import stream
from threebrokers.checks.lab13 import queries
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.values import fitted
from threebrokers.spark import connect


class Session:
    """A session of Spark Connect that knows one table, and which thread asked with which tags."""

    is_stopped = False

    def __init__(self) -> None:
        self.client = SimpleNamespace(thread_local=threading.local())

    def table(self, name: str) -> Any:
        return Table(name)

    def addTag(self, tag: str) -> None:  # noqa: N802  # Spark's name
        self.client.thread_local.tags.add(tag)


class Table:
    """A table of Spark Connect: whether it exists is asked only for its columns."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def columns(self) -> list[str]:
        if self.name != "there":
            raise AnalysisException(message="[TABLE_OR_VIEW_NOT_FOUND] it is not there")
        return ["count"]


@pytest.fixture
def session(monkeypatch) -> Session:
    made = Session()
    monkeypatch.setattr(Connected, "_default_session", made)
    monkeypatch.setenv(connect.MODE, "1")
    monkeypatch.setenv(connect.URL, "sc://127.0.0.1:1")
    return made


@pytest.fixture
def query(tmp_path) -> ConnectedQuery:
    (tmp_path / "metadata").write_text('{"id": "one"}', encoding="utf-8")
    return ConnectedQuery(None, "one", "run", "there")  # type: ignore[arg-type]  # asks no server here


def start(session: Session, checkpoint: object, **asked: Any) -> None:
    """Let the session see a request that starts a query, as PySpark's client sends it."""
    request = ExecutePlanRequest()
    begin = request.plan.command.write_stream_operation_start
    begin.options["checkpointLocation"] = str(checkpoint)
    for name, value in asked.items():
        setattr(begin, name, value)
    made: Any = session
    assert connect._noting(made).on_execute_plan(request) is request


def test_a_query_of_spark_connect_is_a_query_too(query):
    assert fitted("query", query, StreamingQuery) is query
    with pytest.raises(NotYet, match="it should be a StreamingQuery of Spark"):
        fitted("query", SimpleNamespace(), StreamingQuery)


def test_a_memory_table_is_asked_of_the_session_of_spark_connect(session, query):
    assert expect_spark.memory_table(query).columns == ["count"]
    query._name = "gone"
    with pytest.raises(NotYet, match="the query has left no table in memory"):
        expect_spark.memory_table(query)


def test_a_memory_table_is_asked_of_the_other_session_where_there_is_no_connect(monkeypatch):
    classic = Session()
    builder = SimpleNamespace(getOrCreate=lambda: classic)
    monkeypatch.delenv(connect.MODE, raising=False)
    monkeypatch.setattr(connect, "SparkSession", SimpleNamespace(builder=builder))
    there: Any = SimpleNamespace(name="there")
    assert expect_spark.memory_table(there).columns == ["count"]


def test_what_a_check_computes_has_a_tag_of_its_own_in_spark_connect(session):
    def compute() -> tuple[str, list[str]]:
        return threading.current_thread().name, [tag[:6] for tag in session.client.thread_local.tags]

    thread, tags = expect_spark.computed(compute)
    assert (thread != threading.current_thread().name, tags) == (True, ["check-"])


def test_trigger_and_mode_of_a_query_of_spark_connect(session, query, tmp_path):
    start(session, tmp_path, available_now=True, output_mode="append")
    assert (stream._trigger(query), queries.output_mode(query)) == ("AvailableNow", "append")
    start(session, tmp_path, once=True, output_mode="Update")
    assert (stream._trigger(query), queries.output_mode(query)) == ("OneTime", "update")
    start(session, tmp_path, processing_time_interval="1 second", output_mode="complete")
    assert not stream._trigger(query).startswith(stream.ENDING)
    start(session, tmp_path / "elsewhere", available_now=True)
    assert (stream._trigger(query), queries.output_mode(query)) == ("another", "unknown")


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("Project [till#1]\n+- LogicalRDD [till#1], false", "the rows of `t` went through Python first"),
        ("LocalRelation [till#1]", "or an RDD); Spark should make the table from the topic itself: then"),
        (
            "Relation [till#1] parquet",
            "the rows of `t` do not come from a topic; Spark should make the table",
        ),
    ],
)
def test_where_rows_come_from_is_what_the_plan_says(monkeypatch, plan, words):
    frame: Any = SimpleNamespace()
    monkeypatch.setattr(expect_spark, "plan_of", lambda *asked: plan)
    with pytest.raises(NotYet) as caught:
        expect_spark.expect_read_by_spark("t", frame, "the query")
    assert words in str(caught.value)
    monkeypatch.setattr(expect_spark, "plan_of", lambda *asked: f"{plan}\n+- Relation [k#1] KafkaRelation(…)")
    expect_spark.expect_read_by_spark("t", frame, "the query")


WANTED = {"tail": ("string",), "delay": ("int", "bigint"), "mean": ("double", "decimal")}
RIGHT = {"tail": "string", "delay": "bigint", "mean": "decimal(38,16)"}


def columns(types: dict[str, str]) -> Any:
    return SimpleNamespace(dtypes=list(types.items()))


def test_a_decimal_of_any_size_may_be_right():
    for mean in ("decimal(38,16)", "decimal(10,0)", "double"):
        expect_spark.expect_columns("t", columns({**RIGHT, "mean": mean}), WANTED, "the query")


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ({"delay": "double"}, "`delay` is of the type double; it should be: delay int. Look at: the query"),
        ({"delay": "decimal(38,16)"}, "`delay` is of the type decimal(38,16); it should be: delay int."),
        ({"mean": "bigint"}, "`mean` is of the type bigint; it should be: mean double."),
        ({"tail": "int"}, "`tail` is of the type int; it should be: tail string."),
        (
            {"delay": "string", "mean": "string"},
            "`delay`, `mean` are of the type string; it should be a type to compute with: delay int, mean d",
        ),
        ({"delay": "binary"}, "is of the type binary; it should be a type to compute with: delay int."),
        ({"mean": "array<int>"}, "is of the type array<int>; it should be a type to compute with: mean do"),
        ({"tail": "binary", "delay": "binary"}, "of the type binary; it should be: tail string, delay int."),
    ],
)
def test_a_column_of_another_type(held, words):
    with pytest.raises(NotYet) as caught:
        expect_spark.expect_columns("t", columns(RIGHT | held), WANTED, "the query")
    assert words in str(caught.value)


def test_the_plan_of_a_query_is_what_it_explains():
    shown: Any = SimpleNamespace(explain=lambda: print("== Physical Plan =="))
    assert expect_spark.plan_of_query(shown) == "== Physical Plan ==\n"


class Thrown:
    """What py4j gives of Java's error, with its cause."""

    def __init__(self, said, cause=None):
        self.toString, self.getCause = (lambda: said), (lambda: cause)


def test_of_what_another_thread_has_met_the_last_cause_is_told():
    lost = Thrown("Spark: no file", Thrown("File: 1.changelog"))
    fault = type("Py4JJavaError", (Exception,), {"java_exception": lost})()
    assert expect_spark.first_line(fault) == "Spark: no file"
    fault.java_exception = Thrown("Spark: Exception thrown in awaitResult:", lost)
    assert expect_spark.first_line(fault) == "File: 1.changelog"
