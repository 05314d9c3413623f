"""What makes Spark's start quick: noted by one session, stored by the next, used by all later ones."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from threebrokers.cluster import cache_lock, cds, spark_java
from threebrokers.errors import LabError

# A Java that can only store classes.
FAKE = """#!/bin/sh
for word in "$@"; do
    case "$word" in -XX:SharedArchiveFile=*) file=${word#*=} ;; -Xshare:dump) dump=yes ;; esac
done
[ -z "$dump" ] || { STORES; }
"""


@pytest.fixture
def spark(tmp_path, monkeypatch):
    """Two jars of Spark, one of Kafka, a Java and an empty cache."""
    jars = tmp_path / "pyspark" / "jars"
    jars.mkdir(parents=True)
    for name in ("a.jar", "slf4j-api-2.jar"):
        (jars / name).write_text(name)
    kafka = tmp_path / "kafka.jar"
    kafka.touch()
    monkeypatch.setenv("THREEBROKERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(spark_java.pyspark_files, "folder", lambda: tmp_path / "pyspark")
    monkeypatch.setattr(spark_java, "spark_jars", lambda: [kafka])
    monkeypatch.setattr(spark_java, "java", lambda: tmp_path / "java")
    java_that(tmp_path, 'echo classes > "$file"')
    return jars


def java_that(tmp_path, stores):
    (tmp_path / "java").write_text(FAKE.replace("STORES", stores))
    (tmp_path / "java").chmod(0o755)
    os.utime(tmp_path / "java", (1, 1))


def command(tmp_path):
    return spark_java.command(tmp_path / "scratch")


def flag(words, begin):
    return next((word.removeprefix(begin) for word in words if word.startswith(begin)), None)


def noted(words, text, process=None):
    """Write what a session would have noted, as a process that has ended unless one is given."""
    path = Path(flag(words, "-XX:DumpLoadedClassList="))
    if process is None:
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        process = process.pid
    path.with_name(f"{process}{spark_java.LIST}").write_text(text)


WHOLE = "java/lang/Object id: 1\norg/apache/spark/sql/kafka010/KafkaOffsetReader id: 2\n"


def test_all_jars_are_named_in_one_order(spark, tmp_path):
    words = command(tmp_path)
    assert words[-1] == spark_java.MAIN
    assert words[words.index("-cp") + 1].split(os.pathsep) == [
        str(spark / "slf4j-api-2.jar"), str(spark / "a.jar"), str(tmp_path / "kafka.jar"),
    ]  # fmt: skip
    assert f"-Djava.io.tmpdir={tmp_path / 'scratch'}" in words


def test_the_first_session_notes_the_next_stores_and_the_others_use(spark, tmp_path):
    first = command(tmp_path)
    assert flag(first, "-XX:SharedArchiveFile=") is None
    noted(first, WHOLE)
    for _ in range(2):
        later = command(tmp_path)
        assert Path(flag(later, "-XX:SharedArchiveFile=")).read_text() == "classes\n"
        assert flag(later, "-XX:DumpLoadedClassList=") is None


def test_who_is_no_session_uses_what_is_stored_and_notes_nothing(spark, tmp_path):
    assert spark_java.stored() is None
    noted(command(tmp_path), WHOLE)
    assert spark_java.stored() is None
    session = command(tmp_path)
    path, flags = spark_java.stored()
    assert path == session[session.index("-cp") + 1]
    assert flag(flags, "-XX:SharedArchiveFile=") == flag(session, "-XX:SharedArchiveFile=")
    Path(flag(flags, "-XX:SharedArchiveFile=")).write_text("half")
    assert spark_java.stored() is None


def test_a_session_that_read_no_topic_or_that_runs_is_not_enough(spark, tmp_path):
    first = command(tmp_path)
    noted(first, "java/lang/Object id: 1\n")
    noted(first, WHOLE, process=os.getppid())
    again = command(tmp_path)
    assert flag(again, "-XX:SharedArchiveFile=") is None
    folder = Path(flag(again, "-XX:DumpLoadedClassList=")).parent
    assert [path.name for path in folder.iterdir()] == [f"{os.getppid()}{spark_java.LIST}"]


def test_a_session_that_still_notes_does_not_spoil_what_is_stored(spark, tmp_path):
    first = command(tmp_path)
    noted(first, "java/lang/Object id: 1\n", process=os.getppid())
    noted(first, WHOLE)
    assert flag(command(tmp_path), "-XX:SharedArchiveFile=")
    noted(first, WHOLE, process=os.getppid())
    assert flag(command(tmp_path), "-XX:SharedArchiveFile=")


def test_what_cannot_be_stored_is_not_tried_again(spark, tmp_path):
    java_that(tmp_path, "exit 1")
    noted(command(tmp_path), WHOLE)
    for _ in range(2):
        words = command(tmp_path)
        assert flag(words, "-XX:SharedArchiveFile=") is flag(words, "-XX:DumpLoadedClassList=") is None


def test_what_took_too_long_is_tried_once_more(spark, tmp_path, monkeypatch):
    begun = []

    def stores(*asked):
        begun.append(asked)
        raise subprocess.TimeoutExpired("java", 120)

    monkeypatch.setattr(spark_java.cds, "store", stores)
    for _ in range(2):
        noted(command(tmp_path), WHOLE)  # it starts without, and notes
        assert flag(command(tmp_path), "-XX:SharedArchiveFile=") is None
    words = command(tmp_path)
    assert flag(words, "-XX:SharedArchiveFile=") is flag(words, "-XX:DumpLoadedClassList=") is None
    assert len(begun) == 2


def test_another_jar_is_noted_anew_and_old_classes_are_forgotten(spark, tmp_path):
    for number in range(4):
        (spark / "a.jar").write_text("x" * number)
        noted(command(tmp_path), WHOLE)
        command(tmp_path)
    assert len(list((tmp_path / "cache" / "spark").glob("*/"))) == spark_java.KEPT


def test_a_damaged_archive_is_not_used(spark, tmp_path):
    noted(command(tmp_path), WHOLE)
    archive = Path(flag(command(tmp_path), "-XX:SharedArchiveFile="))
    archive.write_text("half")
    assert flag(command(tmp_path), "-XX:SharedArchiveFile=") is None


def test_a_cache_that_cannot_be_written_only_costs_time(spark, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "spark").write_text("no folder")
    assert command(tmp_path)[-1] == spark_java.MAIN


def test_while_another_session_stores_this_one_starts_without(spark, tmp_path):
    noted(command(tmp_path), WHOLE)
    with cache_lock.only_one(tmp_path / "cache" / "spark"):
        words = command(tmp_path)
        assert flag(words, "-XX:SharedArchiveFile=") is flag(words, "-XX:DumpLoadedClassList=") is None
    assert flag(command(tmp_path), "-XX:SharedArchiveFile=")


def test_without_spark_it_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(spark_java.pyspark_files, "folder", lambda: None)
    with pytest.raises(LabError, match="PySpark is not installed"):
        command(tmp_path)


def test_kafka_s_and_spark_s_archives_are_tried_with_programs_that_end():
    assert cds.TRY[1] == spark_java.TRY[1] == "--version"
