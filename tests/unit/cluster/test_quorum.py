"""What a quorum costs, and what is said of a tool that none answers."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.cluster import Cluster, java, quorum, tools
from threebrokers.cluster.link_faults import Fault
from threebrokers.cluster.process import BrokerProcess
from threebrokers.errors import LabError


def engine(*states: str, faults: list[Fault] | None = None) -> Any:
    """Stand in for an engine whose brokers are so; its links' process has died if `faults` is None."""

    def links() -> list[Fault]:
        if faults is None:
            raise LabError("The links have died")
        return faults

    processes = {n: BrokerProcess(n, state) for n, state in enumerate(states, 1)}
    return SimpleNamespace(processes=lambda: processes, faults=links)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.delenv("THREEBROKERS_CLUSTER", raising=False)
    return Cluster(tmp_path)


def test_who_is_up_and_reaches_another_voter_answers():
    assert quorum.answering(engine("up", "paused", "up", faults=[])) == [1, 3]
    assert quorum.answering(engine("up", "up", "up", faults=[Fault("cut", 2)])) == [1, 3]
    assert quorum.answering(engine("up", "up", "up")) == []


def test_a_cost_is_told_of_those_without_whom_there_is_no_quorum():
    assert set(quorum.impacts({1, 2, 3}).values()) == {""}
    assert set(quorum.impacts({1}).values()) == {""}, "it is gone already"
    told = quorum.impacts({1, 3})
    assert told[2] == ""
    assert told[1].endswith("only broker 3 would be left, so nothing can be elected until one returns")


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (tools.ToolTimeoutError("kafka-topics was too slow", "wait"), r"got no answer: .* only 1 is up"),
        (LabError("kafka-topics failed: it did not end well"), "failed: it did not end well"),
    ],
)
def test_a_tool_that_waits_for_a_quorum_says_so(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, fault: LabError, told: str
):
    def fails(*_: object) -> str:
        raise fault

    monkeypatch.setattr(quorum, "answering", lambda engine: [1])
    monkeypatch.setattr(cluster, "_addresses", lambda brokers: "")
    monkeypatch.setattr(tools, "run", fails)
    with pytest.raises(LabError, match=told):
        cluster.tool("kafka-topics")


def test_a_tool_that_does_not_end_is_told_from_one_that_fails(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tools, "TOOL_SECONDS", 0.1)
    monkeypatch.setattr(tools.prepare, "prepare", lambda say: SimpleNamespace(tool_flags=["60"]))
    monkeypatch.setattr(tools.jars, "kafka_jars", list)
    monkeypatch.setattr(tools, "java", lambda: "sleep")
    monkeypatch.setattr(tools, "run_java", lambda command, seconds, typed: java.run(command[:2], seconds))
    with pytest.raises(
        tools.ToolTimeoutError, match=r"kafka-topics did not end within 0\.1 s: give it a bound"
    ):
        tools.run("kafka-topics", [], "")
