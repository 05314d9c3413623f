"""What is read out of a streaming query's progress, and how it is drawn and said."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from threebrokers.spark.progress_view import ProgressView
from threebrokers.spark.steps import offsets, rows_read, steps, watermark_delay


def told(batch: int, rows: int, *, newest: str = "", mark: str = "", **more: Any) -> dict[str, Any]:
    """Return one entry of a query's recentProgress, as Spark writes it."""
    times = {"max": newest, "min": newest, "avg": newest} if newest else {}
    times |= {"watermark": mark} if mark else {}
    place, end = more.get("place", 10), more.get("end", 10)
    return {
        "batchId": batch,
        "numInputRows": rows,
        "durationMs": {"triggerExecution": more.get("ms", 500)},
        "eventTime": times,
        "stateOperators": [
            {"numRowsTotal": more.get("state", 0), "numRowsDroppedByWatermark": more.get("dropped", 0)}
        ],
        "sources": [
            {
                "startOffset": "null",
                "endOffset": json.dumps({"t": {"0": place, "1": 4}}),
                "latestOffset": json.dumps({"t": {"0": end, "1": 4}}),
            }
        ],
    }


EPOCH = "1970-01-01T00:00:00.000Z"
THREE = [
    told(0, 60, newest="2013-06-24T12:00:00.000Z", mark=EPOCH, state=5, place=60, end=150),
    told(1, 60, newest="2013-06-24T11:00:00.000Z", mark="2013-06-24T09:00:00.000Z", place=120, end=150),
    told(
        2,
        30,
        newest="2013-06-24T14:00:00.000Z",
        mark="2013-06-24T09:00:00.000Z",
        dropped=2,
        end=150,
        place=150,
    ),
]


def test_a_step_tells_rows_state_and_what_is_left():
    first, second, third = steps(THREE)
    assert (first.rows, first.rate, first.state, first.behind) == (60, 120.0, 5, 90)
    assert (second.behind, third.behind, third.dropped) == (30, 0, 2)
    assert third.newest == datetime(2013, 6, 24, 14, tzinfo=UTC)


def test_an_idle_look_hides_no_batch():
    idle = told(2, 0, place=150, end=150)
    assert [step.rows for step in steps([*THREE, idle])] == [60, 60, 30]
    assert [step.rows for step in steps([idle, *THREE])] == [30, 60, 60]


def test_a_query_without_state_and_time_has_steps():
    plain = {"batchId": 0, "numInputRows": 3, "sources": [{"endOffset": None, "latestOffset": None}]}
    [step] = steps([plain])
    assert (step.state, step.watermark, step.newest, step.behind, step.rate) == (0, None, None, 0, 0.0)


@pytest.mark.parametrize("taken", [[], steps(THREE[:1]), steps([told(0, 5), told(1, 5)])])
def test_no_watermark_has_no_delay(taken):
    assert watermark_delay(taken) is None


def test_the_delay_is_newest_minus_watermark():
    assert watermark_delay(steps(THREE)) == timedelta(hours=3)


def test_offsets_come_as_text_or_not():
    right = {"t": {0: 5, 1: 7}}
    assert offsets('{"t": {"0": 5, "1": 7}}') == offsets({"t": {"0": 5, "1": 7}}) == right
    assert offsets("null") == offsets(None) == {}


def test_the_picture_has_every_number_in_words():
    view = ProgressView("Query hours", steps(THREE))
    assert "3 batches: 150 rows read, 2 dropped as too late." in view.words
    assert "offsets behind (in all partitions): 0 in the last batch, 90 at most." in view.words
    assert "watermark (event time, UTC): 24 Jun 09:00 in the last batch" in view.words
    assert "1970" not in view.words
    bundle = view._repr_mimebundle_()
    assert bundle["text/plain"].startswith("Query hours\n3 batches")
    assert "The same in words" in bundle["text/html"]


def test_the_picture_is_svg_with_a_curve_for_each_row():
    drawing = ET.fromstring(ProgressView("a < b", steps(THREE)).svg())
    texts = [element.text for element in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {"input rate", "rows per second", "state", "watermark", "24 Jun 09:00", "a < b"} <= set(texts)
    assert len(list(drawing.iter("{http://www.w3.org/2000/svg}polyline"))) == 5


@pytest.mark.parametrize(
    ("taken", "told"), [([], "No batch has ended yet"), (steps(THREE[:1]), "batch 0")], ids=["none", "one"]
)
def test_one_batch_is_numbers_and_no_curve(taken, told):
    view = ProgressView("Query", taken)
    drawing = ET.fromstring(view.svg())
    texts = {element.text for element in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert {"input rate", told} <= texts
    assert list(drawing.iter("{http://www.w3.org/2000/svg}polyline")) == []
    assert (f"{taken[0].rate:,.0f}" in texts) if taken else ("none" not in texts)
    assert view.words


def test_spark_connect_tells_rows_of_each_source_alone() -> None:
    entry = told(0, 0) | {"numInputRows": None, "sources": [{"numInputRows": 3}, {"numInputRows": 4}]}
    assert rows_read(entry) == 7
    assert steps([entry])[0].rows == 7
