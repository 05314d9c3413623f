"""The history of a notebook's cells: what each assigned, and how it ended."""

import pytest

from threebrokers.cells import INTERRUPTED, CellRun, Fault, History, fault_of, said


class Info:
    def __init__(self, cell: str, source: str, silent: bool = False) -> None:
        self.cell_id, self.raw_cell, self.silent = cell, source, silent


class Result:
    def __init__(self, info: Info, error: BaseException | None = None) -> None:
        self.info, self.error_before_exec, self.error_in_exec = info, None, error


def run(history: History, source: str, error: BaseException | None = None, cell: str = "a") -> CellRun:
    info = Info(cell, source)
    history.began(info)
    history.ended(Result(info, error))
    return history.runs[-1]


# As Spark tells it: py4j gives Java the whole traceback of a sink.
SINK_FAILED = """[STREAM_FAILED] Query [id = cabb-56, runId = a188-90] terminated with exception: \
[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred in the user provided function in foreach batch sink. \
Reason: An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):
  File "/venv/py4j/clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
  File "<cell>", line 4, in save
    db.executemany("INSERT INTO trips VALUES (?, ?, ?)", rows_of(batch))
    ~~~~~~~~~~~~~~^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
sqlite3.IntegrityError: UNIQUE constraint failed: trips.part, trips.place
 SQLSTATE: 39000 SQLSTATE: XXKST
=== Streaming Query ===
Identifier: [id = cabb-56, runId = a188-90]
Current State: ACTIVE
"""
KEY_IS_THERE = "sqlite3.IntegrityError: UNIQUE constraint failed: trips.part, trips.place"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("topic = 1", {"topic"}),
        ("a, (b, *c) = 1, (2, 3)", {"a", "b", "c"}),
        ("for n in range(3):\n    found = [x for x in 'ab']", {"n", "found"}),
        ("with open('x') as file:\n    text: str = file.read()", {"file", "text"}),
        ("def read_new(topic, seen):\n    inner = 1", {"read_new"}),
        ("class Reader:\n    kept = {}", {"Reader"}),
        ("import json as j\nfrom os import path", {"j", "path"}),
        ("if (n := 3) > 2: m = lambda k: (i := k)", {"n", "m"}),
        ("page.append(1)", set()),
        ("errors = [\nproducer.flush(", {"errors"}),  # it cannot be read by Python
    ],
)
def test_what_a_cell_assigns(source: str, names: set[str]) -> None:
    assert CellRun("a", source, 0.0).assigned == names


def test_blanks_are_what_is_set_to_dots() -> None:
    assert CellRun("a", "x = ...\ny = z = ...\nw = 1", 0.0).blanks == {"x", "y", "z"}


def test_a_cell_ends_well_or_in_an_error() -> None:
    history = History()
    assert run(history, "x = 1").fault is None
    assert run(history, "y = 1", ValueError("first\nsecond")).fault == Fault("ValueError", "first")
    assert [bool(one.ended) for one in history.runs] == [True, True]
    assert history.running is None


def test_the_cell_that_runs_is_known_and_silent_ones_are_not_noted() -> None:
    history = History()
    history.began(Info("a", "x = 1"))
    silent = Info("", "", silent=True)
    history.began(silent)
    history.ended(Result(silent))
    assert history.running is history.runs[-1]
    assert len(history.runs) == 1


def test_a_cell_whose_end_nobody_told_was_interrupted() -> None:
    history = History()
    history.began(Info("a", "while True: pass"))
    run(history, "x = 1")
    history.began(Info("b", "await forever()"))
    history.ended(None)
    assert [one.fault for one in history.runs] == [INTERRUPTED, None, INTERRUPTED]


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (KeyboardInterrupt("x"), INTERRUPTED),
        (ValueError(), Fault("ValueError", "")),
        (KeyError("k" * 300), Fault("KeyError", "'" + "k" * 238 + "…")),
        (
            SyntaxError("invalid syntax", ("cell", 4, 1, "x =", 4, 3)),
            Fault("SyntaxError", "invalid syntax (cell, line 4)", 4),
        ),
        (
            RuntimeError("An error occurred while calling o12.save.\n: org.Spark: no key"),
            Fault("RuntimeError", "org.Spark: no key"),
        ),
        (
            RuntimeError(
                "An error occurred while calling o12.save.\n: org.SparkException: Job aborted due to stage "
                "failure: Task 0 in stage 2.0 failed 1 times, most recent failure: Lost task 0.0 in stage "
                "2.0 (TID 4) (localhost executor driver): org.Kafka: no key\n\tat org.Spark.run"
            ),
            Fault("RuntimeError", "org.Kafka: no key"),
        ),
        (
            RuntimeError(
                "[STREAM_FAILED] Query hours [id = cabb-56, runId = a188-90] terminated with exception: Some "
                "data may have been lost\nmore"
            ),
            Fault("RuntimeError", "Some data may have been lost"),
        ),
        (
            RuntimeError(
                "[STREAM_FAILED] Query [id = cabb-56, runId = a188-90] terminated with exception: "
                "[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred in the user provided function in "
                "foreach batch sink. "
                "Reason: UNIQUE constraint failed: trips.part"
            ),
            Fault("RuntimeError", "UNIQUE constraint failed: trips.part"),
        ),
        (RuntimeError(SINK_FAILED), Fault("RuntimeError", KEY_IS_THERE)),
        (
            RuntimeError(
                "An error occurred while calling o9.load.\n"
                ": org.Spark: Exception thrown in awaitResult:\n\tat org.Spark.run\n"
                "Caused by: org.Store: cannot read\nCaused by: java.io.File: 1.changelog does not exist"
            ),
            Fault("RuntimeError", "java.io.File: 1.changelog does not exist"),
        ),
        (
            RuntimeError(
                "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `in_new_york` cannot be resolved. "
                "Did you mean one of the following? [`origin`, `flight`]. SQLSTATE: 42703;\n'Project"
            ),
            Fault(
                "RuntimeError",
                "A column with name `in_new_york` cannot be resolved. "
                "Did you mean one of the following? [`origin`, `flight`]. SQLSTATE: 42703;",
            ),
        ),
    ],
)
def test_what_is_kept_of_an_error(error: BaseException, fault: Fault) -> None:
    assert fault_of(error) == fault


def test_the_error_of_a_function_that_java_has_called_stands_behind_its_traceback() -> None:
    assert said(SINK_FAILED) == KEY_IS_THERE
    assert said(SINK_FAILED.replace("\n SQLSTATE", "; SQLSTATE")) == KEY_IS_THERE
    chained = "Traceback (most recent call last):\n  File x\nKeyError: 3\n\nDuring handling of the above:\n\n"
    assert said(chained + "Traceback (most recent call last):\n  File y\nStop\n=== Query ===") == "Stop"
    assert said("Reason: Traceback (most recent call last):\n  cut off").startswith("Reason: ")
    assert said("no traceback\nand more") == "no traceback"
    assert said("") == ""
