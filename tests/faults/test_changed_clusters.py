"""A kernel is killed (-9) while an experiment has changed the whole cluster: the next lab puts it back."""

from pathlib import Path

import pytest
from confluent_kafka.admin import ConfigResource

from threebrokers.cluster import Cluster
from threebrokers.grading.kernel import Kernel
from threebrokers.lab.scenarios.by_hand import VERIFICATION
from threebrokers.lab.scenarios.epochs import FEATURE, NEWEST

OPEN = "from threebrokers import open_lab\nlab = open_lab('{}')"
# Each kills the kernel when the change is made, and before the experiment has come to its end.
DIES = "    os.kill(os.getpid(), 9)"
KILLED = {
    FEATURE: f"""
import os
from threebrokers.lab.scenarios import epochs
def _run(lab):
{DIES}
epochs._run = _run
epochs.epochs_by_version(lab)
""",
    VERIFICATION: f"""
import os
from threebrokers.lab.scenarios import by_hand
def begin(self):
{DIES}
by_hand.HandMade.begin = begin
by_hand.hanging_transaction(lab)
""",
}
HAPPENS = "the next lab that is opened puts it back, and says so"


def is_changed(cluster: Cluster) -> dict[str, bool]:
    """Tell which of the two has another value than Kafka's own, on any broker."""
    told = cluster.tool("kafka-features", "describe").splitlines()
    words = next(line.split() for line in told if FEATURE in line)
    brokers, admin = [ConfigResource("broker", str(broker)) for broker in cluster.brokers], cluster.admin()
    found = [admin.describe_configs([one])[one].result(10) for one in brokers]
    return {
        FEATURE: int(words[words.index("FinalizedVersionLevel:") + 1]) != NEWEST,
        VERIFICATION: {entries[VERIFICATION].value for entries in found} != {"true"},
    }


@pytest.mark.slow_fault
@pytest.mark.fault(
    "Kernels", "the kernel is killed (kill -9) while an experiment of lab 11 has changed the whole cluster"
)
def test_a_changed_cluster_is_put_back(cluster: Cluster, tmp_path: Path, behaviour) -> None:
    said = ""
    for what, experiment in KILLED.items():
        with Kernel(tmp_path) as kernel:
            assert not kernel.run(OPEN.format("11"), "cell-0").error
            with pytest.raises(RuntimeError, match="the kernel"):
                kernel.run(experiment, "cell-1")
        assert is_changed(cluster)[what], what
        with Kernel(tmp_path) as kernel:
            opened = kernel.run(OPEN.format("04"), "cell-0")
        assert not opened.error, opened
        assert not is_changed(cluster)[what], what
        said = said or next(
            sentence for sentence in opened.shown.replace("\n", " ").split(". ") if what in sentence
        )
    behaviour(HAPPENS, says=f"{said}.")
