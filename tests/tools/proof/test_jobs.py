"""Tests side by side: a job's output in one piece, the longest first, and nothing goes on after the end."""

import io
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from threebrokers.waiting import quiet_wait
from tools import ROOT
from tools.lessons.lesson import lessons
from tools.proof import jobs, report, test
from tools.proof.jobs import Ended, Job, Pool

LONG = "long " * 400
XML = f"""<testsuites><testsuite tests="5" failures="1" errors="1" skipped="1" time="20">
<testcase classname="tests.cluster.test_brokers" name="a" time="11.5"><failure message="assert False">
    def test_a():
>       assert quiet_wait(seen, 5)
E       assert False [why]</failure></testcase>
<testcase classname="tests.cluster.test_contract.TestLocal" name="b" time="30"><error>{LONG}its end
</error></testcase>
<testcase classname="tests.cluster.test_contract.TestLocal" name="c" time="2"/></testsuite></testsuites>"""


def job(name: str, program: str, **more: object) -> Job:
    return Job("part", name, (sys.executable, "-c", program), **more)  # type: ignore[arg-type]


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def pool(tmp_path: Path, said: list[str]) -> Pool:
    return Pool(2, tmp_path, said.append)


def test_what_a_job_writes_comes_in_one_piece_with_how_it_ended(pool, said):
    talk = "import sys; print('one'); print('two', file=sys.stderr); sys.exit(3)"
    ended = pool.run([job("good", "print('fine')"), job("bad", talk)])
    assert {one.job.name: one.code for one in ended} == {"good": 0, "bad": 3}
    told = next(text for text in said if "bad: FAILED (exit code 3)" in text)
    assert {"one", "two"} < set(told.splitlines())
    assert any("good: passed" in text and "fine" in text for text in said)


def test_gates_begin_first_and_then_the_longest(tmp_path, said):
    wanted = [
        job("short", "", expected=1),
        job("long", "", expected=9),
        job("gate", "", expected=0, gate=True),
    ]
    Pool(1, tmp_path, said.append).run(wanted)
    assert [text for text in said if text.endswith("begins")] == [
        "part: gate: begins",
        "part: long: begins",
        "part: short: begins",
    ]


def test_jobs_of_one_resource_wait_for_each_other_and_others_do_not(pool, tmp_path):
    used, beside = tmp_path / "used", tmp_path / "beside"
    # Whoever uses the resource goes on until the other job has run: so that runs beside the first of them.
    uses = f"""
import pathlib, time
used, beside = pathlib.Path({str(used)!r}), pathlib.Path({str(beside)!r})
used.touch(exist_ok=False)
ends = time.monotonic() + 60
while not beside.exists():
    assert time.monotonic() < ends
    time.sleep(0.01)
used.unlink()
"""
    wanted = [
        job("first", uses, expected=3, resource="engine"),
        job("second", uses, expected=2, resource="engine"),
        job("other", f"open({str(beside)!r}, 'w').close()", expected=1),
    ]
    assert {one.job.name: one.code for one in pool.run(wanted)} == {"first": 0, "second": 0, "other": 0}


def test_what_needs_containers_or_a_browser_is_of_one_resource():
    wanted = test.plan([], without_labs=False, docker="yes")
    alone = [one for one in wanted if one.part in (test.CONTAINERS, test.BROWSER)]
    assert len({one.part for one in alone}) == 2
    assert {one.resource for one in alone} == {test.CONTAINERS}
    assert {one.resource for one in wanted if one not in alone} == {""}


def test_jobs_of_one_resource_count_as_one_long_job(tmp_path, said):
    wanted = [
        job("long", "", expected=5),
        job("one", "", expected=3, resource="engine"),
        job("other", "", expected=3, resource="engine"),
    ]
    Pool(1, tmp_path, said.append).run(wanted)
    begun = [text.removeprefix("part: ") for text in said if text.endswith("begins")]
    assert begun == ["one: begins", "other: begins", "long: begins"]


def sleeper(begun: Path) -> Job:
    """Return a job that says when it has begun, and sleeps until it is interrupted."""
    program = f"""
import time
try:
    open({str(begun)!r}, "w").close()
    time.sleep(600)
except KeyboardInterrupt:
    print("ended in good order")
"""
    return job("sleeper", program, expected=99)


def until(begun: Path) -> str:
    return f"import os\nwhile not os.path.exists({str(begun)!r}): pass\n"


def test_a_gate_that_fails_ends_what_runs_in_good_order_and_begins_nothing_more(pool, tmp_path, said):
    begun = tmp_path / "begun"
    gate = job("gate", until(begun) + "raise SystemExit(1)", gate=True)
    ended = pool.run([gate, sleeper(begun), job("later", "", expected=1)])
    assert {one.job.name for one in ended} == {"gate", "sleeper"}
    assert any("ended in good order" in one.output for one in ended)
    assert {one.job.name: one.interrupted for one in ended} == {"gate": False, "sleeper": True}
    assert any("sleeper: was ended, because another one failed, after" in text for text in said)


def test_a_job_that_fails_and_is_no_gate_ends_nothing(pool):
    ended = pool.run([job("bad", "raise SystemExit(1)", expected=99), job("good", ""), job("other", "")])
    assert len(ended) == 3


def test_ctrl_c_ends_the_jobs_in_good_order(pool, tmp_path, said, monkeypatch):
    begun, waits = tmp_path / "begun", threading.Event()
    main, wait = threading.main_thread().ident, jobs.wait
    assert main is not None

    def waiting(*futures, **more):
        waits.set()
        return wait(*futures, **more)

    monkeypatch.setattr(jobs, "wait", waiting)

    def interrupt() -> None:
        assert quiet_wait(begun.exists, 60)
        assert waits.wait(60)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        pool.run([sleeper(begun), job("other", until(begun))])
    assert running_with(begun) == []
    assert any("was ended after" in text for text in said), said


def test_ctrl_c_ends_the_jobs_in_good_order_also_while_they_are_handed_over(pool, tmp_path, monkeypatch):
    begun = tmp_path / "begun"
    submit = ThreadPoolExecutor.submit

    def interrupted(threads, call):
        if not begun.exists():
            future = submit(threads, call)
            assert quiet_wait(begun.exists, 60)
            return future
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pool.run([sleeper(begun), job("other", until(begun))])
    assert running_with(begun) == []


def running_with(path: Path) -> list[str]:
    """Return the commands that run and name the path."""
    commands = [" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])]
    return [words for words in commands if str(path) in words]


@pytest.mark.programs
def test_sigterm_ends_the_jobs_in_good_order_also_if_ctrl_c_was_ignored(tmp_path):
    """So it is under nohup: what a script starts with & ignores Ctrl-C, and so does what that starts."""
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    told = f"open({str(ended)!r}, 'w').close()"
    sleeping = f"""
import time
try:
    open({str(begun)!r}, "w").close()
    time.sleep(600)
except KeyboardInterrupt:
    {told}
"""
    program = f"""
import signal, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
signal.signal(signal.SIGINT, signal.SIG_IGN)
from tools.__main__ import end
from tools.proof.jobs import Job, Pool
signal.signal(signal.SIGTERM, end)
one = Job("part", "one", (sys.executable, "-c", {sleeping!r}))
Pool(1, Path({str(tmp_path)!r}), lambda text: None).run([one])
"""
    with subprocess.Popen([sys.executable, "-c", program]) as started:
        assert quiet_wait(begun.exists, 60)
        started.terminate()
        assert started.wait(60) == 128 + signal.SIGTERM
    assert ended.exists()


def test_the_table_tells_parts_files_and_labs_and_the_closing_line_counts_all(tmp_path):
    (tmp_path / "0.xml").write_text(XML)
    (tmp_path / "1.xml").write_text('<testsuite tests="4" failures="0" errors="0" skipped="0"/>')
    case = '<testcase classname="tests.cluster.test_exercises" time="41"/>'
    (tmp_path / "1.exercises.xml").write_text(f'<testsuite tests="3">{case}</testsuite>')
    (tmp_path / "broken-off.xml").write_text("<testsuite")
    ended = [
        Ended(job("all", ""), 1, 44.0, "", tmp_path / "0.xml"),
        Ended(Job("lab", "04", (), lab="04"), 0, 60.0, "", tmp_path / "1.xml"),
        Ended(Job("containers", "04", (), lab="04"), 2, 30.0, "no space left", tmp_path / "broken-off.xml"),
    ]
    console = Console(file=io.StringIO(), width=110)
    report.show(ended, 67.0, 2, console)
    told = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert told[-1] == "1 failed, 9 passed, 1 skipped, 1 error in 67.00s (0:01:07)"
    row = "✗ part all 1 failed, 2 passed, 1 skipped, 1 error 44 test_contract 32, test_brokers 12"
    assert row.split() in [line.split() for line in told]
    assert any(line.split() == ["04", "60", "30", "41", "90", "45"] for line in told)
    assert "Failed: part: all; containers: 04" in told
    assert "✗ a: E       assert False [why]" in told
    [long] = [line for line in told if line.startswith("✗ b: long")]
    assert long.endswith("its end")
    assert len(long) < 2 * report.WORDS
    assert "✗ containers: 04, at its end: no space left" in told, "what tells of no test tells how it ended"


def test_a_job_that_a_gate_ended_is_told_and_not_as_failed(tmp_path):
    (tmp_path / "red.xml").write_text(XML)
    ended = [
        Ended(job("gate", "", gate=True), 1, 1.0, "bad style", tmp_path / "0.xml"),
        Ended(job("cut", ""), 2, 1.0, "KeyboardInterrupt", tmp_path / "1.xml", interrupted=True),
        Ended(job("red before", ""), 2, 1.0, "", tmp_path / "red.xml", interrupted=True),
    ]
    console = Console(file=io.StringIO(), width=110)
    report.show(ended, 2.0, 2, console)
    told = console.file.getvalue()  # type: ignore[attr-defined]
    assert "Ended before their time: part: cut; part: red before\n" in told
    assert "Failed: part: gate; part: red before\n" in told
    assert "KeyboardInterrupt" not in told
    assert "✗ a: E       assert False [why]" in told, "what it had found is told"


FEW = f"--answers={test.FEW_ANSWERS}"


def command_of(lab: str, labs: list[str], docker: str) -> tuple[str, ...]:
    return next(job.command for job in test.plan(labs, False, docker) if (job.part, job.name) == ("lab", lab))


@pytest.mark.parametrize(
    ("gigabytes", "cores", "expected"), [(24, 2, 3), (5, 16, 2), (1, 2, 1), (60, 16, 17)]
)
def test_so_many_jobs_run_side_by_side_as_cores_and_memory_allow(monkeypatch, gigabytes, cores, expected):
    monkeypatch.setattr(jobs, "_cores", lambda: cores)
    free = psutil.virtual_memory()._replace(available=int(gigabytes * 1e9))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    assert jobs.lanes() == expected


def test_what_is_chosen():
    def names(*chosen: object) -> set[tuple[str, str]]:
        return {(job.part, job.name) for job in test.plan(*chosen)}

    everything = names([], False, "no")
    assert {("quick tests", "without brokers"), ("brokers", "1 of 4"), ("lab", "12")} <= everything
    assert not any(part == "containers" for part, _ in everything)
    assert {name for part, name in everything if part == "faults"} == {"without brokers", "on brokers"}
    assert ("faults", "slow") in names([], False, "all")
    shares = {("lab", f"04, exercises {n}/3") for n in (1, 2, 3)}
    assert names(["04"], False, "no") == {("checks", "04"), ("lab", "04"), *shares}
    two = {("lab", f"00, exercises {n}/3") for n in (1, 3)}
    assert names(["00"], False, "no") >= two, "with two exercises one share has none"
    assert ("lab", "00, exercises 2/3") not in names(["00"], False, "no")
    assert names(["03", "04"], False, "no") >= {("lab", "03"), ("lab", "04")}
    assert ("checks", "03") in names(["03"], False, "no")
    only = names([], False, "only")
    assert {part for part, _ in only} == {"containers"}
    assert {"contract", "00", "03", "04"} <= {name for _, name in only}
    assert ("containers", "02") not in only, "it breaks no broker"
    assert ("containers", "12") not in only, "it is about Spark"
    weekly = {name for part, name in names([], False, "all") if part == "containers" and name.isdigit()}
    assert weekly == {lesson.stem[:2] for lesson in lessons(ROOT)} - test.ONLY_LOCAL
    assert names([], True, "yes") == {pair for pair in everything | only if not pair[1].isdigit()}
    assert FEW in command_of("03", [], "yes")
    assert FEW not in command_of("03", ["03", "04"], "yes"), "whoever asks for a lab gets all of it"
    assert FEW not in command_of("03", [], "all")
    for docker, left_out in (("yes", True), ("all", False)):
        of_brokers = [job.command for job in test.plan([], True, docker) if job.part == "brokers"]
        assert ["not weekly" in command for command in of_brokers] == [left_out] * test.BROKER_RUNS
    with pytest.raises(SystemExit, match="There is no lab 99: the labs are 00, 01"):
        names(["99"], False, "no")
