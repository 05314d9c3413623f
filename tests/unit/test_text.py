"""How a message becomes HTML: what is code is set as code, and nothing else."""

import pytest

from threebrokers.text import as_html


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`a < b` holds", "<code>a &lt; b</code> holds"),
        ("look at retention.ms, which is 1 day", "look at <code>retention.ms</code>, which is 1 day"),
        (
            "min.insync.replicas=2 and acks=all",
            "<code>min.insync.replicas=2</code> and <code>acks=all</code>",
        ),
        ("the argument key=… of produce()", "the argument <code>key=…</code> of <code>produce()</code>"),
        ("produce(topic, json.dumps(price)) once", "<code>produce(topic, json.dumps(price))</code> once"),
        ("Look at: F.window(…), not window", "Look at: <code>F.window(…)</code>, not window"),
        ("`flush()` and work.py", "<code>flush()</code> and <code>work.py</code>"),
    ],
)
def test_code_is_set_as_code(text: str, shown: str):
    assert as_html(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "10 record(s), e.g. of broker 1 (the leader). Next",
        "3.5 s at 127.0.0.1:9092, JDK 17.0.2",
        "offset == 3, 2 >= 1",
        "https://kafka.apache.org/documentation",
    ],
)
def test_what_is_no_code_stays_as_it_is(text: str):
    assert "<code>" not in as_html(text)
