"""Which engine runs the brokers, and what the compose engine does: without Docker, without brokers."""

import io
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from docker.errors import APIError, NotFound

from threebrokers.cluster import Cluster, docker, engine, state_file
from threebrokers.cluster.compose import ComposeEngine
from threebrokers.cluster.containers import PROJECT, SERVICE, Containers
from threebrokers.cluster.process import BrokerProcess, Usage
from threebrokers.cluster.state_file import SavedState
from threebrokers.errors import LabError

PORTS = {n: {"CLIENT": 9000 + n, "REPL": 9010 + n, "CONTROLLER": 9020 + n} for n in (1, 2, 3)}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.delenv("THREEBROKERS_CLUSTER", raising=False)
    return tmp_path


class TestChoice:
    def test_processes_of_this_machine_unless_told(self):
        assert Cluster().engine == "local"

    def test_the_engine_of_the_last_start_is_kept_for_later_commands_and_notebooks(self, home):
        engine.remember(home, "compose")
        assert Cluster().engine == "compose"

    def test_what_is_asked_for_wins_over_the_environment_and_that_over_the_last_start(
        self, home, monkeypatch
    ):
        engine.remember(home, "local")
        monkeypatch.setenv("THREEBROKERS_CLUSTER", "compose")
        assert Cluster().engine == "compose"
        assert Cluster(engine_name="local").engine == "local"

    @pytest.mark.parametrize("way", ["environment", "argument"])
    def test_another_name_is_one_sentence(self, home, monkeypatch, way):
        name = ""
        if way == "environment":
            monkeypatch.setenv("THREEBROKERS_CLUSTER", "nonsense")
        else:
            name = "nonsense"
        with pytest.raises(LabError, match=r"no engine 'nonsense': choose local or compose"):
            Cluster(engine_name=name)

    def test_an_empty_file_is_no_choice(self, home):
        (home / "engine").write_text("\n")
        assert Cluster().engine == "local"

    def test_the_local_engine_does_without_dockers_library(self):
        program = "import sys; from threebrokers import Cluster; print(Cluster().processes()[1].state, "
        program += "[name for name in ('docker', 'requests') if name in sys.modules])"
        told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert told.stdout == "down []\n"


class TestSecond:
    """A home has one cluster at a time."""

    @pytest.fixture
    def other(self, home, monkeypatch):
        """Let the home's brokers run on the engine 'compose', as told by the function that is returned."""

        def runs(processes):
            monkeypatch.setattr(engine, "made", lambda name, home: SimpleNamespace(processes=processes))

        engine.remember(home, "compose")
        return runs

    @pytest.mark.parametrize("state", ["up", "paused"])
    def test_one_that_runs_elsewhere_is_refused(self, home, other, state):
        other(lambda: {1: BrokerProcess(1, "down"), 2: BrokerProcess(2, state)})
        with pytest.raises(LabError, match=r"'compose': end them with `THREEBROKERS_CLUSTER=compose thr"):
            engine.refuse_second(SimpleNamespace(home=home, name="local"))

    def test_one_that_is_down_or_cannot_run_is_none(self, home, other):
        def missing():
            raise LabError("Docker was not found")

        here = SimpleNamespace(home=home, name="local")
        for processes in (lambda: {1: BrokerProcess(1, "down")}, missing):
            other(processes)
            engine.refuse_second(here)

    def test_the_same_engine_is_no_other(self, home, other):
        other(lambda: {1: BrokerProcess(1, "up")})
        engine.refuse_second(SimpleNamespace(home=home, name="compose"))


class Daemon:
    """Stands for Docker's client: knows three containers, and keeps what was asked."""

    def __init__(self, project, states=("running", "running", "running")):
        self.asked = []
        self.statistics = {}
        self.lines = b""
        self.here = [
            {
                "Id": f"id{n}",
                "Names": [f"/{project}-kafka-{n}-1"],
                "State": state,
                "Labels": {PROJECT: project, SERVICE: f"kafka-{n}"},
                "NetworkSettings": {"Networks": {f"{project}_{name}": {} for name in ("brokers", "quorum")}},
            }
            for n, state in enumerate(states, 1)
        ]

    def containers(self, all, filters):  # noqa: A002
        assert all
        wanted = filters["label"].partition("=")[2]
        return [one for one in self.here if one["Labels"][PROJECT] == wanted]

    def stats(self, container, **_):
        return self.statistics

    def logs(self, container, timestamps):
        assert timestamps
        return self.lines

    def get_archive(self, container, path):
        if path == "/nowhere":
            raise NotFound("Could not find the file")
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            entry = tarfile.TarInfo(Path(path).name)
            entry.size = 3
            archive.addfile(entry, io.BytesIO(b"a=b"))
        return [packed.getvalue()], {}

    def images(self, name):
        return ["sha256:1"] if name in self.asked else []

    def __getattr__(self, verb):
        return lambda *words, **more: self.asked.append((verb, *words, *more.values()))


@pytest.fixture
def compose(home, monkeypatch):
    """The compose engine of a home whose three brokers are up, as far as a stand-in for Docker tells."""
    made = ComposeEngine(home)
    made.daemon = Daemon(made.containers.project)  # type: ignore[attr-defined]
    monkeypatch.setattr(docker, "client", lambda: made.daemon)  # type: ignore[attr-defined]
    (home / "compose").mkdir()
    state_file.save(home / "compose", SavedState(ports=PORTS))
    return made


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Put a `docker` program on the PATH that writes down how it was called, and ends as it is told."""

    def put(script=""):
        file = tmp_path / "bin" / "docker"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\nenv > {tmp_path}/env\n{script}\n')
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{file.parent}:/usr/bin:/bin")

    def called():
        return (tmp_path / "called").read_text().splitlines()

    return SimpleNamespace(put=put, called=called, env=lambda: (tmp_path / "env").read_text().splitlines())


class TestContainers:
    def test_states_and_networks_are_read_and_other_services_are_not_brokers(self, compose):
        states = ("running", "paused", "exited")
        compose.daemon = Daemon(compose.containers.project, states)
        compose.daemon.here[0]["NetworkSettings"]["Networks"].popitem()
        compose.daemon.here.append({"Labels": {PROJECT: compose.containers.project, SERVICE: "spark"}})
        found = compose.containers.look()
        assert {n: one.state for n, one in found.items()} == {1: "up", 2: "paused", 3: "down"}
        assert found[1].networks == {"brokers"}
        assert found[2].name == f"{compose.containers.project}-kafka-2-1"

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            (
                "2026-01-31T12:00:01.023456789Z [2026-01-31 11:59:59,999] INFO Kafka started (kafka.Server)",
                "17:30:01.023 INFO Kafka started (kafka.Server)",
            ),
            ("2026-01-31T18:59:59.999999999Z \tat java.lang.X.y", "00:29:59.999 \tat java.lang.X.y"),
            ("2026-01-31T12:00:01.5Z ===> User", "17:30:01.500 ===> User"),
            ("2026-01-31T12:00:01.000Z [0.5s][warning][cds] x] y", "17:30:01.000 [0.5s][warning][cds] x] y"),
            ("2026-01-31T12:00:01.000Z", "17:30:01.000 "),
            ("no time here", "no time here"),
        ],
    )  # fmt: skip
    def test_lines_of_a_log_get_this_machines_time_of_day(self, compose, monkeypatch, line, told):
        monkeypatch.setenv("TZ", "Asia/Kolkata")
        time.tzset()
        try:
            compose.daemon.lines = f"{line}\n".encode()
            assert compose.log(1).read_text() == f"{told}\n"
        finally:
            monkeypatch.undo()
            time.tzset()

    def test_what_only_caches_files_is_no_memory_of_a_broker(self, compose):
        for name in ("inactive_file", "total_inactive_file"):
            compose.daemon.statistics = {"memory_stats": {"usage": 300, "stats": {name: 100}}}
            assert compose.containers.memory(compose.containers.look()[1]) == 200
        compose.daemon.statistics = {}
        assert compose.containers.memory(compose.containers.look()[1]) == 0

    def test_work_is_in_seconds_and_what_is_not_counted_is_told(self, compose):
        counted = [{"op": "Read", "value": 3}, {"op": "write", "value": 50}, {"op": "read", "value": 4}]
        compose.daemon.statistics = {
            "cpu_stats": {"cpu_usage": {"total_usage": 2_500_000_000}},
            "blkio_stats": {"io_service_bytes_recursive": counted},
        }
        assert compose.usage() == dict.fromkeys((1, 2, 3), Usage(2.5, 7))
        compose.daemon.statistics["blkio_stats"] = {"io_service_bytes_recursive": None}
        assert compose.usage()[1] == Usage(2.5, None)

    def test_files_are_copied_and_one_that_is_not_there_is_told(self, compose, tmp_path):
        one = compose.containers.look()[1]
        assert compose.containers.copy(one, "/opt/kafka/x.properties", tmp_path)
        assert (tmp_path / "x.properties").read_text() == "a=b"
        assert not compose.containers.copy(one, "/nowhere", tmp_path)

    @pytest.mark.parametrize(
        ("fault", "sentence"),
        [
            (NotFound("gone", explanation="No such container"), r"\(No such container\): `threebrokers up`"),
            (APIError("x", explanation="port is in use"), r"Docker refused \(port is in use\): see `three"),
            (ConnectionResetError("reset"), r"Docker does not answer: start it \(open Docker Desktop"),
            (PermissionError(13, "Permission denied"), r"You may not use Docker: `sudo usermod -aG docker"),
        ],
    )
    def test_what_docker_answers_becomes_a_sentence(self, compose, monkeypatch, fault, sentence):
        def refuse(*_, **__):
            raise fault

        monkeypatch.setattr(compose.daemon, "containers", refuse)
        with pytest.raises(LabError, match=sentence):
            Containers(compose.containers.project).look()


class TestCompose:
    def test_two_homes_are_two_projects_and_one_is_always_the_same(self, home, tmp_path):
        names = {ComposeEngine(folder).containers.project for folder in (home, tmp_path / "b", home)}
        assert len(names) == 2
        assert all(name.startswith("threebrokers-") for name in names)

    def test_before_the_first_start_nothing_asks_docker(self, home, monkeypatch):
        monkeypatch.setenv("PATH", str(home))
        cluster = Cluster(engine_name="compose")
        assert {told.state for told in cluster.processes().values()} == {"down"}
        assert cluster.down() == []
        cluster.erase()
        assert not (home / "compose").exists()
        with pytest.raises(LabError, match="No cluster has been started in this home yet"):
            _ = cluster.bootstrap
        with pytest.raises(LabError, match="no cluster in this home yet: make one with `threebrokers up`"):
            cluster.start(1)

    def test_without_docker_a_start_is_one_sentence_and_nothing_is_remembered(self, home, monkeypatch):
        monkeypatch.setenv("PATH", str(home))
        with pytest.raises(LabError, match=r"Docker was not found: .*THREEBROKERS_CLUSTER=local"):
            Cluster(engine_name="compose").up()
        assert not (home / "engine").exists()

    @pytest.mark.parametrize(("step", "remembered"), [("pull", "local"), ("up", "compose")])
    def test_a_start_that_breaks_is_remembered_once_containers_may_run(
        self, compose, program, home, monkeypatch, step, remembered
    ):
        monkeypatch.setattr("tempfile.tempdir", str(home))
        engine.remember(home, "local")
        compose.daemon.here = []
        program.put(f'case "$*" in *" {step} "*) exit 1;; esac')
        with pytest.raises(LabError, match=f"docker compose {step} failed"):
            Cluster(engine_name="compose").up()
        assert Cluster().engine == remembered

    def test_dockers_engine_is_where_the_program_says(self, program, monkeypatch):
        monkeypatch.delenv("DOCKER_HOST", raising=False)
        program.put('[ "$1" = compose ] && echo 2.40 || echo \'"tcp://127.0.0.1:1"\'')
        with pytest.raises(LabError, match=r"Docker does not answer at tcp://127\.0\.0\.1:1: start it"):
            docker.client()
        assert program.called()[-1].startswith("context inspect")

    def test_a_start_gives_compose_the_ports_and_nothing_of_the_environment(
        self, compose, program, home, monkeypatch
    ):
        monkeypatch.setattr("tempfile.tempdir", str(home))
        monkeypatch.setenv("COMPOSE_PROFILES", "mine")
        monkeypatch.setenv("KAFKA_HEAP_OPTS", "-Xmx9g")
        compose.daemon.here, said = [], []
        program.put()
        assert list(compose.up(said.append)) == [1, 2, 3]
        begin = f"--project-name {compose.containers.project}"
        pulled, started = program.called()
        assert pulled.endswith(f"{begin} pull --quiet")
        assert started.endswith(f"{begin} up --detach --pull never")
        assert said == [
            "Fetching the image apache/kafka:4.3.1: once, about 200 MB …",
            "Starting three containers …",
        ]
        values = dict(line.split("=", 1) for line in program.env() if line.startswith(("KAFKA_", "COMPOSE_")))
        told = compose.addresses()
        for n in (1, 2, 3):
            assert told[n]["CLIENT"] == f"127.0.0.1:{values.pop(f'KAFKA_PORT_{n}')}"
            assert told[n]["CONTROLLER"] == f"127.0.0.1:{values.pop(f'KAFKA_CONTROLLER_PORT_{n}')}"
        assert len(values.pop("KAFKA_CLUSTER_ID")) == 22
        assert values == {"KAFKA_HEALTH_INTERVAL": "24h"}, "a check that meets a pause holds the container up"

    def test_the_image_is_fetched_before_the_home_is_locked_and_may_take_longer(
        self, compose, program, home, monkeypatch
    ):
        monkeypatch.setattr(docker, "COMMAND_SECONDS", 0.2)
        compose.daemon.here, said = [], []
        program.put('case "$*" in *" pull "*) sleep 0.4; exit 1;; esac')

        def locked(folder):
            raise AssertionError("it holds the lock while it fetches")

        monkeypatch.setattr(state_file, "locked", locked)
        with pytest.raises(LabError, match=r"could not be fetched: docker compose pull failed"):
            compose.up(said.append)

    def test_an_image_that_does_not_come_is_told_with_its_own_bound(self, compose, program, monkeypatch):
        monkeypatch.setattr("threebrokers.cluster.compose.PULL_SECONDS", 0.2)
        compose.daemon.here = []
        program.put("exec tail -f /dev/null")
        with pytest.raises(LabError, match=r"docker compose pull did not end within 0\.2 s"):
            compose.up(lambda text: None)

    def test_a_home_that_may_only_be_read_is_one_sentence(self, compose, home, monkeypatch):
        def refused(path, *_, **__):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(Path, "mkdir", refused)
        monkeypatch.setattr(Path, "write_text", refused)
        for act in (compose.log, compose.configuration, compose.stop):
            with pytest.raises(LabError, match=rf"^Cannot write to {home}/.*THREEBROKERS_HOME"):
                act(1)

    def test_a_command_that_fails_is_told_in_its_last_words(self, compose, program):
        program.put("echo first >&2; echo 'port is already allocated' >&2; exit 1")
        with pytest.raises(LabError, match=r"compose down failed \(port is already allocated\): run `t"):
            compose.down()

    def test_a_command_that_does_not_end_is_ended(self, compose, program, monkeypatch):
        monkeypatch.setattr(docker, "COMMAND_SECONDS", 0.2)
        program.put("exec tail -f /dev/null")
        with pytest.raises(LabError, match=r"docker compose down did not end within 0\.2 s"):
            compose.down()

    def test_what_is_asked_of_a_broker_that_is_down_is_refused(self, compose):
        compose.daemon = Daemon(compose.containers.project, ("exited", "running", "running"))
        for verb, words in [
            (compose.kill, r"already down: start it with `start\(1\)`"),
            (compose.stop, r"already down: start it with `start\(1\)`"),
            (compose.pause, "cannot be paused: start it first"),
            (compose.resume, "cannot be resumed: start it instead"),
        ]:
            with pytest.raises(LabError, match=words):
                verb(1)
        assert compose.daemon.asked == []

    def test_what_needs_a_container_says_so(self, compose):
        compose.daemon.here.pop(0)
        with pytest.raises(LabError, match="no container, so its settings cannot be read"):
            compose.configuration(1)
        with pytest.raises(LabError, match="no container, so its files cannot be read"):
            compose.segments("orders", 0, 1)
        with pytest.raises(LabError, match="Broker 1 has no container: start it first"):
            Cluster(engine_name="compose").cut(1, force=True)
        compose.log(1)

    def test_a_cut_takes_a_container_out_of_networks_and_healing_puts_it_back(self, compose, home):
        cluster = Cluster(engine_name="compose")
        project = compose.containers.project
        cluster.cut(2, from_="quorum")
        assert compose.daemon.asked == [
            ("disconnect_container_from_network", "id2", f"{project}_quorum"),
        ]
        del compose.daemon.here[1]["NetworkSettings"]["Networks"][f"{project}_quorum"]
        [fault] = cluster.faults()
        assert (fault.effect, fault.broker, fault.peers) == ("cut", 2, ("quorum",))
        cluster.heal()
        assert compose.daemon.asked[1:] == [
            ("connect_container_to_network", "id2", f"{project}_quorum", ["controller-2"]),
        ]

    def test_a_paused_container_is_thawed_before_it_is_asked_to_end(self, compose):
        compose.daemon = Daemon(compose.containers.project, ("paused", "exited", "running"))
        one = compose.containers.look()[1]
        compose.containers.stop(one, 8)
        assert compose.daemon.asked == [("unpause", "id1"), ("stop", "id1", 8)]

    def test_a_paused_container_is_thawed_before_it_is_killed(self, compose):
        """A health probe that is frozen with the broker can hold up Docker, which then cannot kill it."""
        compose.daemon = Daemon(compose.containers.project, ("paused", "exited", "running"))
        found = compose.containers.look()
        compose.containers.kill(found[1])
        compose.containers.kill(found[3])
        assert compose.daemon.asked == [("unpause", "id1"), ("kill", "id1"), ("kill", "id3")]


def test_the_environment_of_other_programs_is_kept(program, tmp_path, monkeypatch):
    monkeypatch.setenv("KEPT", "yes")
    program.put("echo told")
    assert docker.compose(tmp_path / "file.yml", "p", ["ps"], {"KAFKA_PORT_1": "1"}) == "told\n"
    assert {"KEPT=yes", "KAFKA_PORT_1=1", f"HOME={os.environ.get('HOME')}"} <= set(program.env())
