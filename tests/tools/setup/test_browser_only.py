"""What gives a learner the course with nothing but a browser: its files agree with the rest.

No image can be fetched where these tests run: nothing here was built or opened but what is read below.
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from traitlets.config import PyFileConfigLoader

from threebrokers.app import jupyterlab, served
from threebrokers.cluster import spark_cluster
from threebrokers.errors import LabError
from threebrokers.waiting import quiet_wait
from tools import ROOT
from tools.publish import wheel
from tools.setup import packages

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
PYTHON = re.search(r"\(Python (\d+\.\d+), ", (ROOT / "requirements.txt").read_text("utf-8"))[1]
DOCKERFILE = (ROOT / "workbook" / "Dockerfile").read_text("utf-8")
INSTRUCTIONS = re.findall(r"^([A-Z]+) (.*)$", DOCKERFILE, re.MULTILINE)
# Of https://containers.dev/implementors/json_reference: the properties that are used here, and their types.
DEVCONTAINER = {
    "name": str,
    "image": str,
    "hostRequirements": dict,
    "onCreateCommand": str,
    "containerEnv": dict,
    "forwardPorts": list,
    "portsAttributes": dict,
    "customizations": dict,
}
PORT = 8888


def test_the_dev_container_is_well_formed() -> None:
    told = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    assert {name: type(value) for name, value in told.items()} == DEVCONTAINER
    assert told["image"] == f"python:{PYTHON}-bookworm"  # not the slim one: git is in it
    assert told["onCreateCommand"] == "python3 -m tools.setup runtime"
    assert told["forwardPorts"] == [PORT]
    assert told["portsAttributes"].keys() == {str(PORT)}
    assert told["containerEnv"] == {"BROWSER": "none", "PORT": str(PORT)}
    assert told["hostRequirements"]["cpus"] >= 2


def test_binder_has_the_same_python_and_installs_every_section_for_learners() -> None:
    assert (ROOT / "binder" / "runtime.txt").read_text() == f"python-{PYTHON}\n"
    script = (ROOT / "binder" / "postBuild").read_text("utf-8")
    parts = re.findall(r"^part (\w+)", script, re.MULTILINE)
    assert parts == ["build", "runtime", "source"]  # the order: what builds the last comes first
    assert packages.section(ROOT, *parts)
    assert "--require-hashes" in script
    for name in re.findall(r"-m ((?:tools|threebrokers)[\w.]*)", script):
        assert (ROOT / f"{name.replace('.', '/')}.py").is_file()


@pytest.mark.parametrize("name", ["postBuild", "start"])
def test_the_scripts_of_binder_can_be_run(name: str) -> None:
    path = ROOT / "binder" / name
    assert os.access(path, os.X_OK)
    subprocess.run(["bash", "-n", str(path)], check=True)


def test_binder_hands_the_labs_out_before_its_jupyterlab_starts() -> None:
    script = (ROOT / "binder" / "start").read_text("utf-8")
    assert script.endswith('exec "$@"\n')
    [program] = re.findall(r"^python3 -c '(.*)'$", script, re.MULTILINE)
    imported, _, called = program.partition("; ")
    found: dict[str, Any] = {}
    exec(imported, found)  # noqa: S102 - our own file; what it calls writes to work/, so that is not run here
    assert called == "hand_out()"
    assert callable(found["hand_out"])


def test_a_learner_of_a_hub_gets_labs_and_leaves_no_broker(tmp_path: Path) -> None:
    """Programs that write down what they are called with stand in for Python and the course."""
    told, course = tmp_path / "told", tmp_path / "course" / "bin"
    course.mkdir(parents=True)
    for name in ("python", "threebrokers"):
        lines = [
            "#!/bin/sh",
            f'echo "{name} $1 $2 $THREEBROKERS_HOME" >> {told}',
            '[ "$2" = jupyterhub.singleuser ] && exec sleep 60',
        ]
        (course / name).write_text("\n".join(lines))
        (course / name).chmod(0o755)
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "COURSE": str(course.parent)}
    start = ROOT / "workbook" / "jupyterhub" / "start-learner"
    hub = subprocess.Popen([str(start)], env=environment)
    assert quiet_wait(lambda: told.exists() and "singleuser" in told.read_text(), 20)
    hub.terminate()
    hub.wait(20)
    lines = told.read_text().splitlines()
    assert "hand_out()" in lines[0]
    assert lines[1:] == [
        f"python -m jupyterhub.singleuser {tmp_path}/.threebrokers",
        f"threebrokers down  {tmp_path}/.threebrokers",
    ]


def test_a_hub_is_told_of_limits_and_of_the_first_lab() -> None:
    folder = ROOT / "workbook" / "jupyterhub"
    config: Any = PyFileConfigLoader("jupyterhub_config.py", str(folder)).load_config()
    assert config.Spawner.cmd == ["/opt/threebrokers/start-learner"]
    assert config.Spawner.default_url.removeprefix("/lab/tree/work/") in {
        path.name for path in (ROOT / "labs").glob("*.ipynb")
    }
    assert config.Spawner.mem_limit
    assert config.Spawner.cpu_limit


def test_the_workbook_is_not_root_and_is_set_up_as_every_clone_is() -> None:
    names = [name for name, _ in INSTRUCTIONS]
    assert ("FROM", f"python:{PYTHON}-slim-bookworm") in INSTRUCTIONS
    assert [words for name, words in INSTRUCTIONS if name == "USER"] == ["learner"]
    assert names.index("USER") < names.index("COPY")
    assert any("python3 -m tools.setup runtime" in words for name, words in INSTRUCTIONS if name == "RUN")
    assert ("CMD", '[".venv/bin/threebrokers", "lab"]') in INSTRUCTIONS
    assert ("EXPOSE", str(PORT)) in INSTRUCTIONS
    assert not re.search(r"curl|wget|apt-get", "".join(words for _, words in INSTRUCTIONS))


def test_the_image_gets_what_a_set_up_needs_and_nothing_of_this_machine() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in lines
    kept = {line.removeprefix("!/") for line in lines if line.startswith("!")}
    assert {*packages.SOURCES, "hatch_build.py", "README.md", "LICENSE"} <= kept
    assert {"threebrokers", "tools/setup", "tools/__init__.py", "docker-compose.yml"} <= kept
    assert {"labs/*.ipynb", "solutions/*.ipynb", "docs/*.md", "slides"} <= kept
    for name in kept:
        assert list(ROOT.glob(name)), name


def test_only_the_brokers_start_unless_something_is_named() -> None:
    assert {name for name, of in SERVICES.items() if not of.get("profiles")} == {
        "kafka-1", "kafka-2", "kafka-3",
    }  # fmt: skip
    assert SERVICES["workbook"]["profiles"] == ["workbook", "spark"]
    assert {n for n, of in SERVICES.items() if of.get("profiles") == ["spark"]} == {
        f"spark-{name}" for name in spark_cluster.NAMES
    }


def test_the_workbook_is_reached_from_this_machine_only() -> None:
    workbook = SERVICES["workbook"]
    assert workbook["ports"] == [f"127.0.0.1:${{WORKBOOK_PORT:-{PORT}}}:${{WORKBOOK_PORT:-{PORT}}}"]
    assert workbook["environment"][served.LISTEN] == "0.0.0.0"
    assert workbook["environment"]["PORT"] == f"${{WORKBOOK_PORT:-{PORT}}}"
    assert workbook["build"] == {"context": ".", "dockerfile": "workbook/Dockerfile"}
    assert (ROOT / "workbook" / "Dockerfile").is_file()
    assert {text.partition(":")[0] for text in workbook["volumes"]} <= COMPOSE["volumes"].keys()


def test_the_image_has_the_version_of_the_course() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text("utf-8")
    version = re.search(r'^version = "(.*)"$', pyproject, re.MULTILINE)[1]
    assert SERVICES["workbook"]["image"] == f"threebrokers/workbook:{version}"
    assert len(wheel.HOLDS) > 5


@pytest.mark.parametrize("name", spark_cluster.NAMES)
def test_spark_in_containers_is_on_the_workbooks_network(name: str) -> None:
    service = SERVICES[f"spark-{name}"]
    assert service["network_mode"] == "service:workbook"
    assert service["image"] == SERVICES["workbook"]["image"]
    assert service["command"] == [".venv/bin/python", "-m", "threebrokers.cluster.spark_node", name]
    # Where the notebook's session puts a checkpoint, workers read and write it.
    [shared] = service["volumes"]
    assert shared in SERVICES["workbook"]["volumes"]
    text = (ROOT / "docker-compose.yml").read_text("utf-8")
    assert f'session("spark://127.0.0.1:{spark_cluster.FIXED[spark_cluster.MASTER][0]}")' in text
    assert f'session("sc://127.0.0.1:{spark_cluster.FIXED[spark_cluster.CONNECT][0]}")' in text


def test_their_ports_are_their_own() -> None:
    ports = [port for pair in spark_cluster.FIXED.values() for port in pair]
    assert len({*ports, PORT}) == 9


# Where JupyterLab listens.


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (served.LISTEN, "CODESPACE_NAME", "GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN"):
        monkeypatch.delenv(name, raising=False)


def test_jupyterlab_listens_on_this_machine_only() -> None:
    assert [*served.options(PORT)] == ["--ServerApp.ip=127.0.0.1"]
    assert served.base(PORT) == f"http://127.0.0.1:{PORT}"


def test_in_a_container_it_listens_to_all_and_tells_the_address_outside(monkeypatch) -> None:
    monkeypatch.setenv(served.LISTEN, "0.0.0.0")
    assert [*served.options(PORT)] == ["--ServerApp.ip=0.0.0.0"]
    assert served.base(PORT) == f"http://127.0.0.1:{PORT}"
    monkeypatch.setenv(served.LISTEN, "everywhere")
    with pytest.raises(LabError, match="names 'everywhere', which is no address"):
        served.listen()


def test_in_a_codespace_the_address_is_github_s_and_no_other_origin_is_let_in(monkeypatch) -> None:
    monkeypatch.setenv("CODESPACE_NAME", "a-b-c")
    monkeypatch.setenv("GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN", "app.github.dev")
    outside = f"https://a-b-c-{PORT}.app.github.dev"
    assert f"--ServerApp.allow_origin={outside}" in [*served.options(PORT)]
    assert "--ServerApp.ip=127.0.0.1" in [*served.options(PORT)]
    identity: Any = None
    assert jupyterlab._server(identity, PORT, "/lab", "t").address == f"{outside}/lab?token=t"
