"""What the first start needs is made before it, while the set-up still goes on."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from threebrokers.cluster import jars, prefetch, prepare
from threebrokers.errors import LabError


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What was fetched and prepared."""
    done: list[str] = []
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.delenv("THREEBROKERS_CLUSTER", raising=False)
    monkeypatch.setattr(jars, "kafka_jars", lambda: done.append("jars"))
    monkeypatch.setattr(jars, "spark_jars", lambda: done.append("Spark"))
    monkeypatch.setattr(prepare, "prepare", lambda say: done.append("quick starts"))
    before = signal.getsignal(signal.SIGTERM)
    yield done
    signal.signal(signal.SIGTERM, before)


def test_jars_come_before_the_quick_starts(done: list[str]):
    assert prefetch.main() == 0
    assert done == ["jars", "quick starts", "Spark"]


def test_brokers_in_containers_need_nothing_and_spark_its_jars(
    done: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("THREEBROKERS_CLUSTER", "compose")
    assert prefetch.main() == 0
    assert done == ["Spark"]


def test_for_all_of_a_server_everybody_may_read_but_no_home(
    done: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cache = tmp_path / "cache"
    java, jar, own = (
        cache / "java-homes" / "bin" / "java",
        cache / "jars" / "a.jar",
        cache / "benches" / "mine",
    )
    for path in (java, jar, own):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for path, mode in {java: 0o700, jar: 0o600, own: 0o600, jar.parent: 0o700, own.parent: 0o700}.items():
        path.chmod(mode)
    cache.chmod(0o700)
    monkeypatch.setenv("THREEBROKERS_CACHE", str(cache))
    monkeypatch.setattr("sys.argv", ["prefetch", "--for-all"])
    assert prefetch.main() == 0
    assert done == ["jars", "quick starts", "Spark"]
    modes = {path: path.stat().st_mode & 0o777 for path in (cache, jar.parent, jar, java, own.parent, own)}
    assert modes == {
        cache: 0o755, jar.parent: 0o755, jar: 0o644, java: 0o755, own.parent: 0o700, own: 0o600,
    }  # fmt: skip


def test_a_fault_is_one_sentence(done: list[str], monkeypatch: pytest.MonkeyPatch):
    def fail() -> None:
        raise LabError("No jar: try again.")

    monkeypatch.setattr(jars, "kafka_jars", fail)
    assert prefetch.main() == "✗ No jar: try again."


def test_a_polite_end_goes_through_the_blocks_that_end_brokers(
    done: list[str], monkeypatch: pytest.MonkeyPatch
):
    def prepare() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            done.append("ended")

    monkeypatch.setattr(jars, "kafka_jars", prepare)
    assert prefetch.main() == 130
    assert done == ["ended"]
