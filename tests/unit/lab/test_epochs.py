"""The cluster's feature is changed for a program, and is the newest again in the end; without brokers."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from threebrokers.errors import LabError
from threebrokers.lab.scenarios import epochs


class Cluster:
    """A cluster with a feature, whose program ends in an error if it should."""

    def __init__(self, version: int = 2, *, fails: bool = False) -> None:
        self.version, self.fails, self.ran = version, fails, list[int]()

    def expect_own(self, what: str) -> None:
        """It is the learner's own."""

    def tool(self, name: str, *words: str) -> str:
        if name == "kafka-producer-perf-test":
            self.ran.append(self.version)
            if self.fails:
                raise LabError("it failed", "run the cell again")
        elif words[0] == "describe":
            line = "Feature: {}  SupportedMinVersion: 0 FinalizedVersionLevel: {} Epoch: 7"
            return "\n".join([line.format("group.version", 1), line.format(epochs.FEATURE, self.version)])
        else:
            wanted = int(words[-1].partition("=")[2])
            assert words[0] == ("upgrade" if wanted > self.version else "downgrade")
            self.version = wanted
        return ""


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))


def lab_of(cluster: Cluster) -> Any:
    return SimpleNamespace(
        cluster=cluster, topic=lambda name: name, fresh_topic=lambda name, replication_factor: name
    )


@pytest.mark.parametrize("version", [1, 2])
def test_the_program_runs_under_both_versions(monkeypatch: pytest.MonkeyPatch, version: int):
    log = pd.DataFrame({"what": ["1 record", "mark: COMMIT"] * 2, "epoch": [0, 0, 1, 1]})
    monkeypatch.setattr(epochs, "in_the_log", lambda lab, topic: log)
    cluster = Cluster(version)
    found = epochs.epochs_by_version(lab_of(cluster))
    assert cluster.ran == [1, 2]
    assert cluster.version == 2
    assert found.to_numpy().tolist() == [[2, 2]] * 2


def test_the_newest_comes_back_when_the_program_fails():
    cluster = Cluster(fails=True)
    with pytest.raises(LabError, match="it failed"):
        epochs.epochs_by_version(lab_of(cluster))
    assert (cluster.ran, cluster.version) == ([1], 2)
