"""How latencies are told: by percentile, in words and in a picture that holds them all."""

from xml.etree import ElementTree as ET

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
