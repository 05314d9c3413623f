"""What is imported by whom: commands and programs do without what takes long."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import threebrokers
from tests.commands import SLOW, imported
from threebrokers import cluster, errors
from threebrokers.lab import lab, opening


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))


@pytest.mark.parametrize("words", ["--version", "--help", "demo", "down", "progress"])
def test_a_command_does_without_what_takes_long(words: str) -> None:
    assert imported(words) & SLOW == set()


def test_grading_imports_nothing_before_it_grades() -> None:
    assert imported("grade", "--help") & SLOW == set()


def test_status_imports_only_what_asks_the_brokers() -> None:
    assert imported("status") & SLOW == {"kafka"}


@pytest.mark.parametrize("words", ["--version", "--help", "status"])
def test_whoever_only_looks_needs_no_client_and_no_lock(words: str) -> None:
    assert imported(words) & {"confluent_kafka", "filelock"} == set()


def imported_with(*modules: str) -> set[str]:
    """Return all modules that are there when a Python of its own has imported these."""
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(told.stdout.split())


def test_a_program_does_without_widgets() -> None:
    found = imported_with("threebrokers.lab.program_child")
    assert {name.partition(".")[0] for name in found} & SLOW == set()
    assert "threebrokers.panel" not in found


def test_a_lab_opens_without_its_checks() -> None:
    found = imported_with("threebrokers.lab.opening")
    assert {"pandas", "pyspark", "threebrokers.checks", "threebrokers.panel"} & found == set()


def test_the_public_names_are_there_when_they_are_asked_for() -> None:
    assert threebrokers.Cluster is cluster.Cluster
    assert threebrokers.LabError is errors.LabError
    assert (threebrokers.Lab, threebrokers.open_lab) == (lab.Lab, opening.open_lab)
    assert set(threebrokers.__all__) <= set(dir(threebrokers))
    with pytest.raises(AttributeError, match="no attribute 'Broker'"):
        threebrokers.Broker  # noqa: B018


@pytest.mark.parametrize("name", threebrokers.PUBLIC)
def test_a_public_module_offers_what_it_says_and_hides_none_of_its_modules(name: str) -> None:
    module = importlib.import_module(name)
    offered = {one: getattr(module, one) for one in getattr(module, "__all__", ())}
    inner = {found.name for found in pkgutil.iter_modules(getattr(module, "__path__", ()))}
    assert not {one for one in offered.keys() & inner if not isinstance(offered[one], ModuleType)}


def test_a_public_name_that_is_missing_cannot_be_imported() -> None:
    with pytest.raises(ImportError, match="Broker"):
        from threebrokers import Broker  # noqa: F401


@pytest.mark.parametrize("number", ["00", "01", "02", "03", "04"])
def test_a_lab_opens_without_tables(number: str) -> None:
    assert "pandas" not in imported_with("threebrokers.lab.opening", f"threebrokers.checks.lab{number}")
