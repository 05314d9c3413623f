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


@pytest.fixture
def of_another(tmp_path: Path, done: list[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that another administrator has made: nobody else may change what all may do with it."""

    def refused(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    cache = tmp_path / "cache"
    (cache / "jars").mkdir(parents=True)
    for path in (cache, cache / "jars"):
        path.chmod(0o755)
    monkeypatch.setattr(Path, "chmod", refused)
    monkeypatch.setenv("THREEBROKERS_CACHE", str(cache))
    monkeypatch.setattr("sys.argv", ["prefetch", "--for-all"])
    return cache


def test_what_everybody_may_read_is_left_as_it_is(of_another: Path):
    assert prefetch.main() == 0


def test_a_cache_of_another_administrator_is_one_sentence(of_another: Path):
    jar = of_another / "jars" / "a.jar"
    jar.touch()
    os.chmod(jar, 0o600)  # noqa: PTH101
    assert prefetch.main() == (
        f"✗ {jar} belongs to {jar.owner()} (the cache: to {of_another.owner()}), and not every user may read "
        f"it: run this command as {jar.owner()}, or with sudo."
    )


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
