"""Versions that stand in several files are the same everywhere."""

import json
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution, metadata
from pathlib import Path
from typing import Any

import pyspark
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from threebrokers.cluster.lockfile import locked
from threebrokers.cluster.settings import TABLE
from tools import ROOT as REPO
from tools.publish import jars_lock, requirements
from tools.setup import conda_file, packages

PROJECT: dict[str, Any] = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"]
NEEDED = [Requirement(text) for text in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"])]
PINS = packages.versions(REPO)
CONDA_TEXT = (REPO / "environment.yml").read_text("utf-8")
BY_CONDA, BY_PIP = conda_file.listed(CONDA_TEXT)
CONDA = yaml.safe_load(CONDA_TEXT)
# Without a version: conda's own, which requirements.txt does not know.
CONDA_ONLY = ["pip", "make"]
SOURCES = ("*.md", "*.yml", "*.toml", "lessons/*.py", "docs/*.md", "labs/*.ipynb", "solutions/*.ipynb")
CODE = ("threebrokers/**/*.py", "tools/**/*.py", "tools/**/*.tsv", "tests/**/*.py")


def jar_version(group: str, name: str) -> str:
    (version,) = {
        jar.coordinates.split(":")[2] for jar in locked(group) if jar.coordinates.split(":")[1] == name
    }
    return version


KAFKA = jar_version("kafka", "kafka-server")


def test_the_seconds_in_the_decisions_are_those_of_the_table_of_settings():
    text = (REPO / "docs" / "decisions.md").read_text("utf-8")
    told = re.findall(r"`([a-z.]+\.ms)` is ([\d.]+) s\b", text)
    here = {setting.name: int(setting.here) / 1000 for setting in TABLE if setting.name.endswith(".ms")}
    assert told
    assert {name: float(seconds) for name, seconds in told} == {name: here[name] for name, _ in told}


# Python packages: pyproject.toml, requirements.txt, environment.yml.


def closure(texts: Iterable[str]) -> dict[str, str]:
    """Return name and installed version of these packages and of all that they need."""
    todo = [Requirement(text) for text in texts]
    seen: set[tuple[str, frozenset[str]]] = set()
    versions: dict[str, str] = {}
    while todo:
        wanted = todo.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key in seen:
            continue
        seen.add(key)
        found = distribution(wanted.name)
        versions[key[0]] = found.version
        for text in found.requires or []:
            further = Requirement(text)
            extras = ("", *wanted.extras)
            if further.marker is None or any(further.marker.evaluate({"extra": name}) for name in extras):
                todo.append(further)
    return versions


def installed_by(*sections: str) -> dict[str, str]:
    """Return what these sections of requirements.txt install on this machine, with its version."""
    wanted = [
        Requirement(block.partition(" \\")[0]) for block in packages.blocks(packages.section(REPO, *sections))
    ]
    return {
        one.name: str(one.specifier).removeprefix("==")
        for one in wanted
        if one.marker is None or one.marker.evaluate()
    }


@pytest.mark.parametrize(
    ("sections", "asked"),
    [
        (["build"], ["setuptools", "editables", "hatchling"]),
        (["build", "source", "runtime"], PROJECT["dependencies"]),
        (["build", "source", "runtime", "test"], [str(requirement) for requirement in NEEDED]),
    ],
    ids=["build", "runtime", "test"],
)
def test_each_part_of_requirements_txt_has_all_that_it_needs(sections: list[str], asked: list[str]):
    assert closure(asked).items() <= installed_by(*sections).items()


def test_requirements_txt_has_nothing_that_nobody_needs():
    everything = installed_by("uv", "build", "source", "runtime", "test")
    build = ["uv", *requirements.BUILD, "hatchling"]
    assert everything == closure([*map(str, NEEDED), *build])


def test_no_package_asks_for_a_newer_python_than_the_oldest():
    asks = {
        name: metadata(name).json.get("requires_python", "")
        for name in installed_by("build", "source", "runtime", "test")
    }
    assert {
        n: asked for n, asked in asks.items() if not SpecifierSet(str(asked)).contains(requirements.OLDEST)
    } == {}


@pytest.mark.parametrize("requirement", NEEDED, ids=lambda requirement: requirement.name)
def test_every_dependency_is_pinned_within_its_bounds_and_in_environment_yml(requirement: Requirement):
    name = requirement.name
    assert requirement.specifier.contains(PINS[name])
    assert {**BY_CONDA, **BY_PIP}.get(name) == PINS[name]


def test_environment_yml_has_the_versions_of_requirements_txt_and_nothing_that_it_does_not_know():
    assert {**BY_CONDA, **BY_PIP}.items() <= PINS.items()


def test_environment_yml_is_what_conda_reads():
    assert CONDA.keys() == {"name", "channels", "variables", "dependencies"}
    assert CONDA["channels"] == ["conda-forge", "nodefaults"]
    *by_conda, by_pip = CONDA["dependencies"]
    names = {pip: conda for conda, pip in conda_file.NAMES.items()}
    assert by_conda == [
        f"python={proved_python()}",
        *CONDA_ONLY,
        *(f"{names.get(name, name)}=={version}" for name, version in BY_CONDA.items()),
    ]
    assert by_pip == {
        "pip": [
            f"--only-binary {conda_file.WHEELS_ONLY}",
            *(f"{name}=={version}" for name, version in BY_PIP.items()),
            "-e .[test]",
        ]
    }


def test_pip_is_left_no_choice_in_the_conda_environment():
    texts = [str(requirement) for requirement in NEEDED]
    brought_by_conda = closure([text for text in texts if Requirement(text).name in BY_CONDA])
    brought_by_pip = closure([text for text in texts if Requirement(text).name in BY_PIP])
    assert brought_by_pip.keys() - brought_by_conda.keys() - BY_CONDA.keys() == BY_PIP.keys()


def test_the_makefile_knows_the_conda_environment_by_its_name():
    assert f"ifeq ($(CONDA_DEFAULT_ENV),{CONDA['name']})\n" in (REPO / "Makefile").read_text("utf-8")


# Python.


def proved_python() -> str:
    found = re.search(r"\(Python (\d+\.\d+), ", (REPO / "requirements.txt").read_text("utf-8"))
    assert found
    return found[1]


def test_the_python_that_was_proved_is_the_oldest_one_and_the_one_of_ci_and_conda():
    assert SpecifierSet(PROJECT["requires-python"]).contains(proved_python())
    assert PROJECT["requires-python"] == f">={proved_python()}"
    steps = yaml.safe_load((REPO / ".github/set-up/action.yml").read_text("utf-8"))["runs"]["steps"]
    assert [step["with"]["python-version"] for step in steps if "python" in step.get("uses", "")] == [
        proved_python()
    ]


# Kafka, Spark and Scala: jars.lock, the image, and what is said about them.


def test_kafka_has_one_version():
    assert jar_version("kafka", "kafka_2.13") == jar_version("kafka", "kafka-clients") == KAFKA
    assert jars_lock.KAFKA == KAFKA


def test_the_image_is_the_kafka_of_the_jars():
    services = yaml.safe_load((REPO / "docker-compose.yml").read_text("utf-8"))["services"]
    brokers = [service for name, service in services.items() if name.startswith("kafka-")]
    assert len(brokers) == 3
    assert {service["image"] for service in brokers} == {f"apache/kafka:{KAFKA}"}


def texts() -> Iterator[tuple[str, str]]:
    for pattern in (*SOURCES, *CODE, ".github/*/*.yml", ".ci/run"):
        for path in sorted(REPO.glob(pattern)):
            if path != Path(__file__):
                yield str(path.relative_to(REPO)), path.read_text("utf-8")


def test_whatever_names_a_version_of_kafka_names_this_one():
    said = {
        (path, version)
        for path, text in texts()
        for version in re.findall(r"(?:Kafka |apache/kafka:|:kafka_2\.\d+:)(\d+\.\d+\.\d+)", text)
    }
    assert {path for path, _ in said} >= {"docker-compose.yml", "threebrokers/cluster/settings.py"}
    assert {(path, version) for path, version in said if version != KAFKA} == set()


def test_the_lessons_name_kafkas_minor_version():
    said = [
        (path, version)
        for path, text in texts()
        for version in re.findall(r"Apache Kafka itself, version (\d+\.\d+)", text)
    ]
    assert len(said) == 3  # the lesson, the lab and the solution
    assert {version for _, version in said} == {KAFKA.rpartition(".")[0]}


def test_pyspark_is_the_spark_of_the_connector():
    assert jar_version("spark", "spark-sql-kafka-0-10_2.13") == PINS["pyspark"]
    for name, versions in jars_lock.SPARK:
        if name.startswith("org.apache.spark:"):
            assert versions[0] == PINS["pyspark"]


def test_there_is_one_scala_also_in_pyspark():
    suffixes = {
        found[1]
        for group in ("kafka", "spark")
        for jar in locked(group)
        if (found := re.search(r":[\w-]+_(2\.\d+):", jar.coordinates))
    }
    assert suffixes == {"2.13"}
    core = Path(pyspark.__file__).parent / "jars" / f"spark-core_2.13-{PINS['pyspark']}.jar"
    assert core.exists()


# What runs in CI.


def test_every_job_of_the_workflow_is_set_up_in_one_way_and_runs_what_a_contributor_runs():
    jobs = yaml.safe_load((REPO / ".github/workflows/ci.yml").read_text("utf-8"))["jobs"]
    steps = {name: job["steps"] for name, job in jobs.items() if name != "lessons"}
    assert all({"uses": "./.github/set-up"} in own for own in steps.values())
    targets = set(re.findall(r"^([a-z-]+):.*##", (REPO / "Makefile").read_text("utf-8"), re.MULTILINE))
    called = [step["run"] for own in steps.values() for step in own if "run" in step]
    assert {call.split()[1] for call in called if call.startswith("make ")} <= targets
    assert "bash .ci/run" in called


def test_the_workflow_finds_the_labs():
    listing = yaml.safe_load((REPO / ".github/workflows/ci.yml").read_text("utf-8"))["jobs"]["lessons"]
    command = listing["steps"][-1]["run"].replace('"$GITHUB_OUTPUT"', "/dev/stdout")
    told = subprocess.run(
        ["bash", "-c", command], cwd=REPO, capture_output=True, text=True, check=True
    ).stdout
    numbers = sorted(path.name[:2] for path in (REPO / "lessons").glob("*.py"))
    assert json.loads(told.removeprefix("labs=")) == numbers
