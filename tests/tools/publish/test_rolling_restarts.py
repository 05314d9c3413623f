"""A rolling restart under three values of min.insync.replicas, for docs/guarantees.md."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.lab.scenarios import rolling
from threebrokers.ledger import Balance
from tools.publish import rolling_restarts
from tools.publish.verdicts import Repeated, Verdict

ROWS = [
    f"{least}, `{of}`"
    for least in (1, 2, 3)
    for of in ("acks=all, retries=0", "acks=all", "acks=all, enable.idempotence")
]


def test_each_broker_is_stopped_and_started_while_all_topics_get_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done, made = list[Any](), dict[str, Any]()

    def note(name: str) -> Any:
        return lambda *words: done.append((name, *words[:1]))

    @contextmanager
    def steady(lab: Any, topics: Any, producer_for: Any) -> Iterator[None]:
        made.update({topic: producer_for(topic) for topic in topics})
        done.append("begin")
        yield
        done.append("end")

    def fresh(lab: Any, name: str, partitions: int, replicas: int, least: int) -> str:
        return f"{name}: {partitions}, {replicas}, {least}"

    def ledger(name: str) -> Any:
        return SimpleNamespace(producer=lambda settings: settings, balance=lambda topic: Balance(topic))

    monkeypatch.setattr(rolling_restarts, "steady_writes", steady)
    monkeypatch.setattr(rolling_restarts, "fresh", fresh)
    monkeypatch.setattr(rolling_restarts, "wait_for_more", lambda lab, topics: done.append("more"))
    words = ("recover", "stop", "start")
    cluster = SimpleNamespace(brokers=(1, 2), **{name: note(name) for name in words})
    cluster.wait_in_sync = lambda topics: done.append("in sync")
    run = rolling_restarts.restarted(SimpleNamespace(cluster=cluster, ledger=ledger))
    each = [[("stop", n), ("start", n), "in sync", "more"] for n in (1, 2)]
    assert done == [("recover",), "begin", *each[0], *each[1], "end"]
    assert run == dict.fromkeys(ROWS, Verdict(0, 0, 0, 0, 0, 0))
    assert list(made) == [f"rolled-{n}: 1, 3, {1 + n // 3}" for n in range(9)]
    once, again, idempotent = list(made.values())[:3]
    assert once == {**rolling.ONCE, "acks": "all", "retries": 0}
    assert again == {**rolling.PATIENT, "acks": "all"}
    assert idempotent == {**rolling.PATIENT, "acks": "all", "enable.idempotence": True}


def test_the_section_has_a_row_for_each_value_and_set_up() -> None:
    runs = [dict.fromkeys(ROWS, Verdict(n, n, 0, n, 0, 0)) for n in (510, 480)]
    (section,) = rolling_restarts.written(Repeated(runs))
    assert section.startswith(f"## {rolling_restarts.HEADING}\n")
    assert [line for line in section.splitlines() if "480" in line] == [
        f"| {row} | 480–510 | 480–510 | 0 | 480–510 | 0 | 0 |" for row in ROWS
    ]
