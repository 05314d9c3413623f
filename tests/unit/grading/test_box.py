"""A box for a hand-in: limits, what may be seen, what has happened; and what is said where there is none."""

import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import psutil
import pytest

from threebrokers.errors import LabError
from threebrokers.grading import confine, namespaces, sights, warden
from threebrokers.grading.grader import Grader, Wish
from threebrokers.grading.orders import Limits, Order, Step
from threebrokers.grading.sights import Sight
from threebrokers.grading.watch import SHOWN_BYTES, Theirs, Watch, end_all, taken
from threebrokers.paths import course
from threebrokers.waiting import quiet_wait
from tools import ROOT

MARK = "a-mark-of-this-test"
WITH_MARK = {**os.environ, "THREEBROKERS_GRADING": MARK}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path / "home"))


def watched(tmp_path: Path, limits: Limits) -> str:
    theirs = Theirs(False, tmp_path, Path("/no/java"), MARK)
    watch = Watch(limits, tmp_path, theirs)
    watch.start()
    try:
        end = time.monotonic() + 60
        while not watch.reason and time.monotonic() < end:
            time.sleep(0.05)
        while theirs() and time.monotonic() < end:
            time.sleep(0.05)
    finally:
        watch.stop()
        end_all(theirs)
    assert theirs() == []
    return watch.reason


def test_what_is_being_started_is_theirs_too(tmp_path: Path) -> None:
    theirs = Theirs(False, tmp_path, Path("/no/java"), MARK)
    # For a moment a program has no variables: seen in 1 of 150 looks, and in 1 of 3 on a busy machine.
    for _ in range(50):
        with psutil.Popen([sys.executable, "-c", "input()"], env=WITH_MARK, stdin=subprocess.PIPE) as one:
            try:
                assert theirs._is_theirs(one)
            finally:
                one.kill()


def test_only_what_carries_the_mark_is_theirs(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "import time; time.sleep(60)"]
    with psutil.Popen(words) as other, psutil.Popen(words, env=WITH_MARK) as one:
        theirs = Theirs(False, tmp_path, Path("/no/java"), MARK)
        try:
            assert [found.pid for found in theirs()] == [one.pid]
            end_all(theirs)
            assert theirs() == []
            assert other.is_running()
        finally:
            other.kill()
            end_all(theirs)


@pytest.mark.parametrize(
    ("code", "limits", "said"),
    [
        ("x = b'x' * 300_000_000; input()", Limits(memory=100), "the memory limit: 100 MB"),
        ("import time; time.sleep(60)", Limits(seconds=0.5), "the time limit: 0 s for the whole notebook"),
        ("import time; time.sleep(60)", Limits(processes=0), "the limit of 0 processes"),
    ],
)
def test_whoever_takes_too_much_is_ended(tmp_path: Path, code: str, limits: Limits, said: str) -> None:
    with psutil.Popen([sys.executable, "-c", code], env=WITH_MARK, stdin=subprocess.PIPE) as one:
        assert watched(tmp_path, limits) == said
        assert one.wait(10) != 0


def test_a_program_that_is_being_started_has_no_memory_of_its_own_yet(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # The new process waits for the gate before it becomes /bin/true, and has its starter's memory so long.
    code = f"import os; x = b'x' * 200_000_000; opens = (os.POSIX_SPAWN_OPEN, 0, {str(gate)!r}, 0, 0)\n"
    code += "os.posix_spawn('/bin/true', ['true'], {}, file_actions=[opens])"
    with psutil.Popen([sys.executable, "-c", code], env=WITH_MARK) as starter:
        theirs = Theirs(False, tmp_path, Path("/no/java"), MARK)
        try:
            quiet_wait(lambda: len(theirs()) == 2, 60)
            found = theirs()
            assert [one.memory_info().rss > 200_000_000 for one in found] == [True, True]
            assert 200_000_000 < taken(found) < 300_000_000
            gate.write_bytes(b"")
            assert starter.wait(10) == 0
        finally:
            end_all(theirs)


def test_of_those_that_say_they_are_one_broker_only_one_is_spared(tmp_path: Path) -> None:
    home, java = tmp_path / "home", Path(psutil.Process().exe())
    theirs = Theirs(False, home, java, MARK)
    words = [sys.executable, "-c", "print(flush=True); input()", f"-Dthreebrokers.home={home}"]
    pipe = subprocess.PIPE

    def started(node: str, environment: dict[str, str]) -> psutil.Popen:
        one = psutil.Popen([*words, f"-Dthreebrokers.node={node}"], env=environment, stdin=pipe, stdout=pipe)
        one.stdout.readline()
        return one

    # The first is the warden's own: with it nobody else is broker 3.
    every = [started("3", {**os.environ}), *(started(node, WITH_MARK) for node in ("1", "2", "1", "3", "4"))]
    try:
        assert {one.pid for one in theirs()} == {one.pid for one in every[3:]}
        every[1].kill()
        every[1].wait()
        assert {one.pid for one in theirs()} == {one.pid for one in every[4:]}
    finally:
        for one in every:
            one.communicate()  # its input ends, and so does it


def test_who_shows_more_than_can_be_read_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = [700_000_000]
    monkeypatch.setattr("threebrokers.grading.watch._memory", lambda one: own[0])
    looking = Watch(Limits(), tmp_path, Theirs(False, tmp_path, Path("/no/java"), MARK))
    monkeypatch.setattr(looking, "_run", lambda: None)
    looking.start()
    for grown, said in ((SHOWN_BYTES, ""), (SHOWN_BYTES + 1, "the limit of what it may show at once")):
        own[0] = 700_000_000 + grown
        assert looking._broken() == said
    looking.stop()


def test_a_full_folder_is_seen(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 3_000_000)
    assert watched(tmp_path, Limits(disk=2)) == "the disk limit: 2 MB"


def test_a_process_has_no_privileges_and_its_limits(tmp_path: Path) -> None:
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_DATA)[0]); "
    code += "print(*[w for w in open('/proc/self/status') if w.startswith(('CapEff', 'NoNewPrivs'))])"
    words = [
        sys.executable,
        "-I",
        str(confine.__file__),
        "900000000",
        "5000000",
        "--",
        sys.executable,
        "-c",
        code,
    ]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert said == ["900000000", "CapEff:", "0000000000000000", "NoNewPrivs:", "1"]


def test_a_watch_that_never_began_can_be_stopped(tmp_path: Path) -> None:
    """As where the kernel does not start: what has started is ended still."""
    Watch(Limits(), tmp_path, Theirs(False, tmp_path, Path("/no/java"), MARK)).stop()


WARDEN = """
import sys, time
from threebrokers.grading import brokers, warden

def work(self):
    self.tell(warden.Told(at="ready"))
    while True:
        time.sleep(60)

warden.Warden.work = work
brokers.end = lambda home: print("ended", home, file=sys.stderr)
sys.exit(warden.main())
"""


@pytest.mark.parametrize("how", ["its grader is gone", "SIGTERM"])
def test_a_warden_without_a_box_ends_its_brokers_with_its_grader(tmp_path: Path, how: str) -> None:
    order = msgspec.json.encode(Order("01", str(tmp_path), False, Limits()))
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", WARDEN]
    with subprocess.Popen(words, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe) as one:
        one.stdin.write(order + b"\n")
        one.stdin.flush()
        assert b"ready" in one.stdout.readline()
        if how == "SIGTERM":
            one.terminate()
            assert one.wait(60) == 1
        said = one.communicate()[1].decode()
    assert (one.returncode, said) == (1, f"ended {tmp_path / 'rw' / 'cluster'}\n")


def test_what_may_be_seen_holds_no_solution_no_lesson_and_nobodys_home() -> None:
    seen = [Path(name) for name in namespaces.visible()]
    for secret in ("solutions", "lessons", "labs", "work", "tests", "tools"):
        assert not any((course() / secret).is_relative_to(one) for one in seen)
    assert Path(course() / "threebrokers") in seen


def test_what_a_wheel_has_of_the_course_is_hidden_under_every_name_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "real" / "site-packages"
    wheel = packages / "threebrokers" / "course"
    wheel.mkdir(parents=True)
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    under = [packages, packages.parent, packages / "threebrokers", tmp_path / "linked" / "site-packages"]
    monkeypatch.setattr(namespaces, "visible", lambda: ["/usr", *map(str, under)])
    monkeypatch.setattr(namespaces, "IN_WHEEL", wheel)
    other = tmp_path / "linked" / "site-packages" / "threebrokers" / "course"
    assert namespaces.hidden()[1:] == sorted([str(wheel), str(other)])


def test_a_home_is_hidden_wherever_it_lies_but_nothing_that_must_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(namespaces, "visible", lambda: [str(tmp_path)])
    assert namespaces.hidden()[1:] == [str(tmp_path / "home")]
    monkeypatch.setattr(namespaces, "visible", lambda: [str(tmp_path), str(tmp_path / "home" / "python")])
    assert namespaces.hidden()[1:] == []


def test_the_environment_has_nothing_of_the_teachers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "of the teacher")
    found = warden.environment(Path("/box"), "/cache")
    assert "A_SECRET" not in found
    assert found["HOME"] == "/box/home"


def test_without_unshare_it_is_said_and_nothing_is_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(namespaces.shutil, "which", lambda name: None)
    monkeypatch.setattr("threebrokers.cluster.prepare.prepare", lambda say: None)
    fetched: list[str] = []
    monkeypatch.setattr("threebrokers.cluster.jars.kafka_jars", lambda: fetched.append("Kafka"))
    monkeypatch.setattr("threebrokers.cluster.jars.spark_jars", lambda: fetched.append("Spark"))
    grader = Grader(Wish(tmp_path, Limits()), {}, print)
    with pytest.raises(LabError, match=r"This system has no `unshare`.*--without-isolation"):
        grader._prepare()
    assert fetched == ["Kafka", "Spark"]  # a box can fetch nothing


def test_a_folder_without_notebooks_is_said(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="No notebook lies in"):
        Grader(Wish(tmp_path, Limits()), {}, print).grade()
    with pytest.raises(LabError, match="is no folder"):
        Grader(Wish(tmp_path / "none", Limits()), {}, print).grade()


UP = {1: "up", 2: "up", 3: "up"}
STEP = Step("check-1-1", "", check="1.1", blank='made = lab.fresh_topic("made")')


def test_deleted_topics_are_told_but_for_the_exercises_own() -> None:
    before = Sight(frozenset({"hello", "made", "cards"}), UP)
    [told] = sights.news(before, Sight(frozenset({"cards"}), UP), STEP, 0.0)
    assert told == "Exercise 1.1 deleted topics: hello."


def test_brokers_that_ended_are_told() -> None:
    before, now = Sight(frozenset(), UP), Sight(None, UP, ended=(1, 3))
    assert list(sights.news(before, now, STEP, 0.0)) == [
        "Exercise 1.1: brokers 1 and 3 were ended from outside the course."
    ]
