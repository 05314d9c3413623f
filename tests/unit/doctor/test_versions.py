"""Versions that do not fit together: PySpark, the connector for Kafka, Scala and Java."""

import sys
from pathlib import Path

import pytest

from threebrokers.cluster import pyspark_files
from threebrokers.cluster.pyspark_files import Spark
from threebrokers.doctor import Finding, versions

COURSE = Spark("4.2.0", "2.13")


def trouble(finding: Finding) -> str:
    assert not finding.ok
    assert finding.cure
    return finding.what


def test_the_courses_own_fit() -> None:
    assert versions.look_at_versions(
        pyspark_files.installed(), versions.connector(), versions.java_release()
    ).ok


def test_a_patch_release_fits_too() -> None:
    assert versions.look_at_versions(Spark("4.2.1", "2.13"), COURSE, 17).ok


@pytest.mark.parametrize("other", [Spark("3.5.1", "2.12"), Spark("4.2.0", "2.12"), Spark("4.1.0", "2.13")])
def test_another_pyspark(other: Spark) -> None:
    assert "they do not fit together" in trouble(versions.look_at_versions(other, COURSE, 25))


def test_an_old_java() -> None:
    assert "Java is 11, and Spark 4.2.0 needs 17" in trouble(versions.look_at_versions(COURSE, COURSE, 11))
    assert "unknown release" in trouble(versions.look_at_versions(COURSE, COURSE, None))


def test_no_pyspark() -> None:
    assert "not installed" in trouble(versions.look_at_versions(None, COURSE, 25))


def test_the_pyspark_that_python_would_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another Spark's folder on the PYTHONPATH comes before the installed one."""
    jars = tmp_path / "pyspark" / "jars"
    jars.mkdir(parents=True)
    (tmp_path / "pyspark" / "__init__.py").touch()
    (jars / "spark-core_2.12-3.5.1.jar").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    assert pyspark_files.installed() == Spark("3.5.1", "2.12")
