"""How latencies are measured, and told: by percentile, in words and in a picture that holds them all."""

from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from pyspark.errors import PySparkException

from threebrokers.errors import LabError
from threebrokers.spark import latency
from threebrokers.spark.latency_picture import Latencies

MEASURED = Latencies(
    {
        "no trigger": [float(200 + n) for n in range(100)],
        "1 second": [float(10 * (n + 1)) for n in range(100)],
        "real time, 5 seconds": [*[12.0] * 98, 40.0, 1_400.0],
    }
)


def test_percentiles_are_times_that_were_measured():
    assert [MEASURED.at("1 second", percentile) for percentile in (50, 95, 99)] == [500, 950, 990]
    assert MEASURED.at("real time, 5 seconds", 99) == 40
    assert Latencies({"one": [3.0]}).at("one", 99) == 3


def test_the_quickest_is_where_half_of_the_records_came_first():
    assert MEASURED.quickest == "real time, 5 seconds"


def test_the_words_say_all_that_the_picture_shows():
    lines = MEASURED.words.splitlines()
    assert lines[0] == (
        "no trigger: 50 % of the records within 249 ms, 95 % of the records within 294 ms, "
        "99 % of the records within 298 ms."
    )
    assert len(lines) == 3
    shown = MEASURED._repr_mimebundle_()
    assert all(line in shown["text/html"] and line in shown["text/plain"] for line in lines)


def test_the_picture_is_whole_and_inside_its_frame():
    for measured in (MEASURED, Latencies({"one": [3.0]}), Latencies({"one": [10.0, 10.0]})):
        drawn = ET.fromstring(measured.svg())
        width = float(drawn.attrib["width"])
        texts = [node for node in drawn.iter() if node.tag.endswith("text")]
        assert all(0 <= float(node.attrib["x"]) <= width for node in texts)
        assert sum(node.text in ("●", "◆", "■") for node in texts) == 3 * len(measured.times)
        assert "milliseconds" in measured.svg()


class Wire:
    """Producer and consumer of a query that loses some of the first records, and hands the others on."""

    def __init__(self, lost: int) -> None:
        self.lost, self.closed = lost, False
        self.sent: list[tuple[bytes, bytes]] = []
        self.on_way: list[bytes] = []

    def produce(self, topic: str, value: bytes, key: bytes, partition: int) -> None:
        self.sent.append((key, value))
        if len(self.sent) > self.lost:
            self.on_way.append(key)

    def poll(self, seconds: float) -> SimpleNamespace | None:
        # The producer polls with 0, for reports; there are none.
        if not seconds or not self.on_way:
            return None
        key = self.on_way.pop(0)
        return SimpleNamespace(error=lambda: None, key=lambda: key)

    def assign(self, places: object) -> None:
        pass

    def flush(self, seconds: float) -> None:
        pass

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def wires(monkeypatch) -> list[Wire]:
    """Return the wires of the queries that are measured, each of which loses more records than the last."""
    wires: list[Wire] = []

    def new(settings: object) -> Wire:
        wires.append(Wire(lost=3 * len(wires)))
        return wires[-1]

    monkeypatch.setattr(latency, "Producer", new)
    monkeypatch.setattr(latency, "Consumer", lambda settings: wires[-1])
    monkeypatch.setattr(latency, "end_offsets", lambda bootstrap, topic: {0: 0})
    monkeypatch.setattr(latency, "fresh_folder", lambda name: name)
    monkeypatch.setattr(latency.client_settings, "shared", lambda *_: {})
    monkeypatch.setattr(latency.client_settings, "reader", lambda *_: {})
    monkeypatch.setattr(latency, "EVERY_SECONDS", 0)
    monkeypatch.setattr(latency, "WARM_EVERY_SECONDS", 0)
    return wires


LAB: Any = SimpleNamespace(bootstrap="")


def test_each_query_gets_the_same_departures_however_long_its_warm_up_was(wires):
    query: Any = SimpleNamespace(isActive=True, stop=lambda: None)
    start: Any = lambda trigger, folder: query  # noqa: E731 - a query of no Spark
    measured = latency.measure_latency(LAB, ("in", "out"), start, {"one": {}, "other": {}})
    assert [len(times) for times in measured.times.values()] == [latency.RECORDS] * 2
    one, other = wires
    assert len(one.sent) < len(other.sent)
    last = [[value for _, value in wire.sent[-latency.RECORDS :]] for wire in wires]
    assert last[0] == last[1]
    assert all(len({key for key, _ in wire.sent}) == len(wire.sent) for wire in wires)
    assert one.closed
    assert other.closed


def test_a_query_that_spark_refuses_leaves_no_clients(wires):
    def refused(trigger: object, folder: str) -> Any:
        raise PySparkException(message="No such trigger.")

    with pytest.raises(LabError, match=r"Spark refuses the query \(No such trigger\.\)"):
        latency.measure_latency(LAB, ("in", "out"), refused, {"one": {}})
    assert wires[0].closed
