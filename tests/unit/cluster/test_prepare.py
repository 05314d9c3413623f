"""What is prepared once for quick starts: made whole or not at all, by one, and used by all."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from threebrokers.cluster import cds, prepare, process
from threebrokers.errors import LabError

# A Java that only knows how to format a folder.
FAKE = """#!/bin/sh
case "$*" in
*kafka.tools.StorageTool*)
    for last in "$@"; do :; done
    data=$(sed -n s/^log.dirs=//p "$last")
    mkdir "$data" && echo version=1 > "$data/meta.properties" ;;
*) echo "some warning" >&2; echo "Unrecognized VM option" >&2; exit 1 ;;
esac
"""


@pytest.fixture(autouse=True)
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fake Java 25 for `archive`, an empty cache, and no jars."""
    path = tmp_path / "jdk" / "bin" / "java"
    path.parent.mkdir(parents=True)
    path.write_text(FAKE)
    path.chmod(0o755)
    (tmp_path / "jdk" / "release").write_text('JAVA_VERSION="25.0.2"\n')
    monkeypatch.setenv("THREEBROKERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(prepare, "java", lambda: path)
    monkeypatch.setattr(cds, "kafka_jars", lambda: [])
    return path


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each call of `training.make`, which makes an archive without a JVM."""
    calls: list[str] = []

    def make(java: Path, broker: list[str], tool: list[str], work: Path, say: object) -> Path:
        calls.append(str(work))
        (work / "made" / cds.TEMPLATE).mkdir(parents=True)
        (work / "made" / cds.CLASSES).touch()
        return work / "made"

    monkeypatch.setattr(cds, "make", make)
    return calls


def unheard(text: str) -> None:
    pytest.fail(f"said {text}")


def prepared_in(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache" / "prepared").iterdir() if path.name != ".lock")


def test_it_is_made_once_and_found_again(made: list[str], tmp_path: Path):
    first, second = prepare.prepare(unheard), prepare.prepare(unheard)
    assert first == second
    assert len(made) == 1
    assert first.template.is_dir()
    use = f"-XX:SharedArchiveFile={first.template.parent / cds.CLASSES}"
    assert use in first.broker_flags
    assert use in first.tool_flags
    assert prepared_in(tmp_path) == [first.template.parent.name]


def test_two_at_once_make_it_once(made: list[str], monkeypatch: pytest.MonkeyPatch):
    both, make, only_one = threading.Semaphore(0), cds.make, prepare.only_one

    def make_when_the_other_waits(*arguments: Any) -> Path:
        assert both.acquire(timeout=10)
        assert both.acquire(timeout=10)
        return make(*arguments)

    def counted(folder: Path) -> Any:
        both.release()
        return only_one(folder)

    monkeypatch.setattr(cds, "make", make_when_the_other_waits)
    monkeypatch.setattr(prepare, "only_one", counted)
    with ThreadPoolExecutor() as pool:
        first, second = [run.result() for run in [pool.submit(prepare.prepare, unheard) for _ in range(2)]]
    assert first == second
    assert len(made) == 1


def test_another_java_gets_its_own_and_the_oldest_is_forgotten(made: list[str], java: Path, tmp_path: Path):
    release = java.parent.parent / "release"
    folders = []
    for minor in range(prepare.KEPT + 1):
        release.write_text(f'JAVA_VERSION="25.0.{minor}"\n')
        folders.append(prepare.prepare(unheard).template.parent)
        os.utime(folders[-1], (minor, minor))
    assert len(made) == prepare.KEPT + 1
    assert prepared_in(tmp_path) == sorted(folder.name for folder in folders[1:])


def test_flags_that_only_new_javas_know_are_theirs_alone(made: list[str], java: Path):
    new = prepare.prepare(unheard)
    (java.parent.parent / "release").write_text('JAVA_VERSION="17.0.15"\n')
    old = prepare.prepare(unheard)
    assert set(prepare.SINCE_24) <= set(new.tool_flags)
    assert not set(prepare.SINCE_24) & set(old.tool_flags)


def test_without_stored_classes_everything_works_and_it_is_tried_twice(tmp_path: Path):
    said: list[str] = []
    prepared = prepare.prepare(said.append)
    assert len(said) == 2
    assert said[1] == (
        "The classes of Kafka could not be stored, so starts take longer (Unrecognized VM option)."
    )
    assert not [flag for flag in prepared.broker_flags if "SharedArchiveFile" in flag]
    assert (prepared.template / "meta.properties").read_text() == "version=1\n"
    assert prepare.prepare(said.append) == prepared
    assert said == [*said[:2], *said[:2]]
    assert prepare.prepare(unheard) == prepared


def test_a_folder_that_cannot_be_formatted_is_told_and_nothing_stays(java: Path, tmp_path: Path):
    java.write_text("#!/bin/sh\necho 'Error occurred during initialization of VM'\nexit 1\n")
    with pytest.raises(LabError, match=r"\(Error occurred during initialization of VM\): run `threebrokers"):
        prepare.prepare(lambda text: None)
    assert prepared_in(tmp_path) == []


def test_an_interrupted_training_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cds._Training, "work_through", interrupted)
    with pytest.raises(KeyboardInterrupt):
        prepare.prepare(lambda text: None)
    assert prepared_in(tmp_path) == []


def test_the_broker_of_a_killed_training_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    work = tmp_path / "cache" / "prepared" / ".training"
    mark = [f"{process.MARK}{work}", f"{process.NODE}1"]
    left = process.launch(
        [sys.executable, "-c", "import signal; signal.pause()", *mark],
        tmp_path / "log",
        dict(os.environ),
        mark[0],
    )
    prepare.prepare(lambda text: None)
    assert left.process() is None


def test_lists_of_classes_are_merged_without_the_numbers_of_one_run(tmp_path: Path):
    lists = [tmp_path / "a", tmp_path / "b"]
    lists[0].write_text("# note\njava/lang/Object id: 0\n@lambda-proxy x y\nkafka/A id: 7\n")
    lists[1].write_text("# note\njava/lang/Object id: 0\nkafka/B id: 1\nkafka/A id: 2\n")
    assert cds.merged(lists) == "java/lang/Object\n@lambda-proxy x y\nkafka/A\nkafka/B\n"
