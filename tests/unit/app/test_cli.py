"""The command line: what it prints, and that every fault is one sentence."""

import os
import re
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import nbformat
import pytest
from confluent_kafka import KafkaError, KafkaException
from filelock import Timeout
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from rich.console import Console

import threebrokers
from tests.commands import run
from threebrokers import doctor, progress, workspace
from threebrokers.app import browser, endings, jupyterlab, make_lab, tables
from threebrokers.cluster import spark_cluster
from threebrokers.cluster.process import BrokerProcess
from threebrokers.doctor import Finding
from threebrokers.errors import LabError
from threebrokers.grading.grader import Grader
from threebrokers.kafka.state import BrokerState, ClusterState, PartitionState, TopicState
from threebrokers.restore import Outline

PARTITIONS = tuple(PartitionState("orders", n, 1 if n < 2 else None, 3, (1, 2), (1,)) for n in range(3))
STATE = ClusterState(
    at=100.0,
    brokers=(
        BrokerState(1, "up", 90.0, True, "127.0.0.1:11092", 201_000_000),
        BrokerState(2, "paused", 95.0, False, "127.0.0.1:12092", 190_000_000),
        BrokerState(3, "down", 95.0),
    ),
    quorum_leader=1,
    topics=(TopicState("orders", PARTITIONS), TopicState("__x", ())),
    last_response_at=100.0,
)


class FakeCluster:
    """Broker 1 leads, broker 2 is paused, broker 3 is down."""

    bootstrap = "127.0.0.1:11092,127.0.0.1:12092,127.0.0.1:13092"
    access = None

    def __init__(self, engine_name: str = "") -> None:
        self.engine = engine_name or "local"

    def processes(self) -> dict[int, BrokerProcess]:
        return {
            1: BrokerProcess(1, "up", 4711, 201_000_000),
            2: BrokerProcess(2, "paused", 4712, 190_000_000),
            3: BrokerProcess(3, "down"),
        }

    def expect_own(self, what: str) -> None:
        return None

    def state(self) -> ClusterState:
        return STATE

    def up(self, say: Any) -> list[int]:
        return []

    def down(self) -> list[int]:
        return []

    def reset(self, say: Any) -> None:
        say("resetting")


@pytest.fixture(autouse=True)
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(threebrokers, "Cluster", FakeCluster)
    return tmp_path


def sentence(result: Any) -> str:
    """Return the one line of a command that failed as it should."""
    assert result.exit_code == 1
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, lines
    assert lines[0].startswith("✗ ")
    return str(lines[0])


def test_every_command_of_the_course_is_there() -> None:
    said = run("--help").output
    for command in ("up", "down", "status", "reset", "lab", "restore", "progress", "doctor", "why-empty"):
        assert f"\n    {command}" in said


@pytest.mark.parametrize("words", [["nonsense"], ["status", "--verbose"], ["restore"]])
def test_what_is_no_command_is_refused(words: list[str]) -> None:
    result = run(*words)
    assert (result.exit_code, result.output) == (2, "")
    assert result.stderr.startswith("usage: threebrokers")


def test_without_a_command_it_lists_them() -> None:
    result = run()
    assert result.exit_code == 2
    assert result.output == run("--help").output


def test_the_version_is_that_of_the_package() -> None:
    result = run("--version")
    assert (result.exit_code, result.output) == (0, f"threebrokers {metadata.version('threebrokers')}\n")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (LabError("The disk is full [really]: free some space."), "The disk is full [really]: free some"),
        (KafkaException(KafkaError(KafkaError._TRANSPORT, "no route")), "threebrokers doctor"),
        (Timeout("/tmp/bench.lock"), "/tmp/bench.lock"),
        (PermissionError(13, "Permission denied", "/etc/x"), "/etc/x cannot be used (Permission denied)"),
        (OSError("no certificates at /etc/x"), "A file cannot be used (no certificates at /etc/x)"),
    ],
)
def test_every_foreseeable_fault_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, words: str
) -> None:
    def fail(self: FakeCluster, say: Any) -> list[int]:
        raise fault

    monkeypatch.setattr(FakeCluster, "up", fail)
    assert words in sentence(run("up"))


def test_a_fault_of_our_own_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: FakeCluster, say: Any) -> list[int]:
        raise ZeroDivisionError

    monkeypatch.setattr(FakeCluster, "up", fail)
    with pytest.raises(ZeroDivisionError):
        run("up")


def test_an_interrupt_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: FakeCluster, say: Any) -> list[int]:
        raise KeyboardInterrupt

    monkeypatch.setattr(FakeCluster, "up", interrupt)
    assert sentence(run("up")).startswith("✗ Interrupted: `threebrokers status`")


def test_after_an_interrupt_of_spark_its_own_status_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(home: Path, say: Any) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(spark_cluster, "up", interrupt)
    assert sentence(run("spark", "up")).startswith("✗ Interrupted: `threebrokers spark status`")


def test_after_an_interrupt_of_a_grading_it_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupt(self: Grader) -> list[Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr(Grader, "grade", interrupt)
    said = sentence(run("grade", str(tmp_path)))
    then = "what was graded is kept, and the same command, without `--again`, goes on from there."
    assert said == f"✗ Interrupted: {then}"


@pytest.mark.parametrize("ending", endings.ENDINGS)
def test_every_command_ends_in_good_order_when_it_is_asked_to(
    monkeypatch: pytest.MonkeyPatch, ending: signal.Signals
) -> None:
    """A terminal that is closed sends SIGHUP, a system that shuts down SIGTERM."""
    done: list[str] = []

    def up(self: FakeCluster, say: Any) -> list[int]:
        try:
            os.kill(os.getpid(), ending)
        finally:
            done.append("tidied up")
        return []

    monkeypatch.setattr(FakeCluster, "up", up)
    before = signal.getsignal(ending)
    assert sentence(run("up")).startswith("✗ Interrupted")
    assert done == ["tidied up"]
    assert signal.getsignal(ending) == before


def test_a_command_may_run_beside_the_first_thread() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run, "down").result().exit_code == 0


def test_status_is_a_row_for_each_broker() -> None:
    lines = run("status").output.splitlines()
    rows = {line.split()[0]: " ".join(line.split()) for line in lines if line.split()[:1] > ["0"]}
    assert rows["1"] == "1 ● up process 4711 127.0.0.1:11092 201 MB 2 of 3 partitions"
    assert rows["2"] == "2 ❚❚ paused process 4712 127.0.0.1:12092 190 MB 0 of 3 partitions"
    assert rows["3"] == "3 ✕ down – – – –"


def test_status_names_the_leader_of_the_quorum(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "The active controller is broker 1." in run("status").output
    monkeypatch.setattr(FakeCluster, "state", lambda self: replace(STATE, quorum_leader=None))
    assert "There is no active controller now." in run("status").output


def test_status_does_not_guess_when_no_broker_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = replace(STATE.brokers[0], state="unknown", registered=False)
    brokers = (silent, *STATE.brokers[1:])
    monkeypatch.setattr(FakeCluster, "state", lambda self: ClusterState(100.0, brokers))
    said = run("status").output
    assert "? silent" in said
    assert "not known: no broker answers" in said


def test_reset_says_first_what_it_deletes(bench: Path) -> None:
    data = bench / "home" / "data"
    data.mkdir(parents=True)
    (data / "log").write_bytes(b"x" * 3_000_000)
    said = run("reset").output
    assert "1 topic (orders)" in said
    assert "3 MB" in said
    assert "progress stay" in said
    assert said.index("This deletes") < said.index("resetting")


def test_down_with_nothing_running_says_so() -> None:
    assert run("down").output == "No broker was running.\n"


def test_a_port_that_is_no_number_is_one_sentence() -> None:
    assert "PORT=abc" in sentence(run("lab", "--port", "abc"))


@pytest.mark.parametrize("port", ["80", "70000"])
def test_a_port_out_of_range_is_one_sentence(labs: Path, port: str) -> None:
    assert f"PORT={port}" in sentence(run("lab", "--port", port))


def test_a_port_in_use_names_a_free_one(labs: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        said = sentence(run("lab", "--port", str(taken)))
    assert f"Port {taken} is used" in said
    assert "make lab PORT=" in said


def test_an_unknown_lab_starts_nothing(labs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(FakeCluster, "up")
    assert "There is no lab 77: the labs are 01, 02." in sentence(run("lab", "77"))


def test_the_lab_can_come_from_make(labs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str | None, int | None]] = []
    monkeypatch.setattr(make_lab, "sit", lambda number, port, say: asked.append((number, port)))
    for number, port in (("02", "8899"), ("", "")):
        monkeypatch.setenv("LAB", number)
        monkeypatch.setenv("PORT", port)
        assert run("lab").exit_code == 0
    assert asked == [("02", 8899), (None, None)]


def test_progress_answers_first_and_names_the_next_exercise(labs: Path) -> None:
    progress.record("1.1", solved=True)
    progress.record("1.2", solved=False)
    progress.record("9.9", solved=True)
    said = run("progress").output
    assert said.startswith("1 of 3 exercises are solved.\n")
    assert re.search(r"01 +01_hello_kafka +✓ ✗ +1 of 2", said)
    assert re.search(r"02 +02_the_log +○ +0 of 1", said)
    assert "Next: exercise 1.2, do it (`make lab LAB=01`)." in said
    progress.record("1.2", solved=True)
    assert "Next: exercise 2.1" in run("progress").output
    progress.record("2.1", solved=True)
    assert "Next" not in run("progress").output


def test_progress_in_one_lab_names_its_exercises(labs: Path) -> None:
    progress.record("1.2", solved=False)
    said = run("progress", "1").output
    assert "0 of 2 exercises are solved." in said
    assert re.search(r"✗ +1.2 +do it +not yet", said)
    assert "2.1" not in said
    assert "There is no lab 77: the labs are 01, 02." in sentence(run("progress", "77"))


def test_progress_shows_the_day_in_local_time_and_counts_predictions() -> None:
    console = Console(record=True, width=100, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    solved = {"1.1": datetime(2026, 1, 2, 12, tzinfo=UTC)}
    guesses = {"1.a": progress.Guess("two", "two"), "1.b": progress.Guess("one", "two")}
    outline = Outline("Why?", {"1.1": "A"})
    console.print(tables.progress_of(outline, solved, []))
    console.print(tables.progress({"01": outline}, solved, [], guesses))
    console.file.close()
    text = console.export_text()
    assert "solved, 02 Jan 2026" in text
    assert "1 of 2 predictions were right at once." in text


def test_restore_says_where_the_old_one_is(labs: Path) -> None:
    workspace.hand_out()
    mine = labs / "work" / "01_hello_kafka.ipynb"
    mine.write_text(mine.read_text().replace("...", "12"))
    assert "01_hello_kafka.old.ipynb" in run("restore", "1").output
    assert "Exercise 1.1" in run("restore", "1", "--exercise", "1").output


def test_the_doctor_fails_if_there_is_a_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Finding("Java", True, "fine"), Finding("disk", False, "full", "free some")]
    monkeypatch.setattr(doctor, "examine", lambda: found)
    result = run("doctor")
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "✗ Look at disk: 1 of 2 looks found a trouble.",
        "✓ Java: fine",
        "✗ disk: full",
        "    → free some",
    ]
    monkeypatch.setattr(doctor, "examine", lambda: found[:1])
    assert run("doctor").exit_code == 0
    assert run("doctor").output.startswith("✓ No trouble was found in 1 look.")


def test_signs_have_colours_only_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "examine", lambda: [Finding("disk", False, "full", "free some")])
    assert "\x1b[" not in run("doctor").output
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[31m✗" in run("doctor").output


@pytest.mark.parametrize(
    ("environment", "can"),
    [
        ({"BROWSER": "none", "DISPLAY": ":0"}, False),
        ({"BROWSER": "NONE"}, False),
        ({"DISPLAY": ":0"}, True),
        ({"BROWSER": "firefox"}, True),
    ],
)
def test_whether_a_browser_can_be_opened(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], can: bool
) -> None:
    monkeypatch.setattr(browser.webbrowser, "get", lambda: object())
    assert browser.can_open_browser(environment) is can


def test_no_screen_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser.webbrowser, "get", lambda: object())
    assert browser.can_open_browser({}) is not sys.platform.startswith("linux")


def test_no_browser_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise browser.webbrowser.Error

    monkeypatch.setattr(browser.webbrowser, "get", none)
    assert not browser.can_open_browser({"DISPLAY": ":0"})


@pytest.mark.parametrize("before", [0, 1])
def test_a_file_that_a_broker_deletes_meanwhile_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    """It goes after it was listed, or after so many looks at it."""
    (tmp_path / "inner").mkdir()
    for name in ("gone", "left", "inner/left"):
        (tmp_path / name).write_bytes(b"x" * 100_000)
    left, one = (
        sum((tmp_path / name).stat().st_blocks * 512 for name in names)
        for names in (("left", "inner/left"), ("gone",))
    )
    real, looks = Path.stat, []

    def stat(path: Path, **more: Any) -> os.stat_result:
        if path.name == "gone":
            if len(looks) == before:
                path.unlink()
            looks.append(path)
        return real(path, **more)

    monkeypatch.setattr(Path, "stat", stat)
    assert tables._size(tmp_path) == left + one * before
    assert tables._size(tmp_path / "not there") == 0


def test_jupyterlabs_token_is_not_among_its_options(tmp_path: Path) -> None:
    assert not [word for word in jupyterlab._options(8888, "/lab", Path("/home")) if "token" in word.lower()]
    assert jupyterlab._environment(tmp_path, "secret")["JUPYTER_TOKEN"] == "secret"
    assert "--ServerApp.ip=127.0.0.1" in jupyterlab._options(8888, "/lab", tmp_path)


@pytest.fixture
def labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "labs").mkdir()
    for name, exercises in (("01_hello_kafka", ["1.1", "1.2"]), ("02_the_log", ["2.1"])):
        cells = [
            cell
            for number in exercises
            for cell in (
                new_markdown_cell(f"### Exercise {number}: do it", id=f"task-{number[2]}"),
                new_code_cell("x = ...", id=f"exercise-{number[2]}"),
            )
        ]
        nbformat.write(new_notebook(cells=cells), tmp_path / "labs" / f"{name}.ipynb")
    monkeypatch.setattr(workspace, "root", lambda: tmp_path)
    monkeypatch.setattr(workspace, "course", lambda: tmp_path)
    return tmp_path
