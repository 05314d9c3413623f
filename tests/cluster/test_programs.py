"""Programs: processes of their own, with the lab's names, whose output and end are seen; nothing is left."""

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pytest

from tests.commands import SLOW
from threebrokers.cluster import Cluster, topics
from threebrokers.cluster import programs as register
from threebrokers.cluster.process import identify
from threebrokers.errors import LabError
from threebrokers.grading.kernel import Kernel
from threebrokers.program import Programs
from threebrokers.waiting import quiet_wait

TICKS = """
import time
print("ready")
while True:
    print("tick", flush=True)
    time.sleep(0.05)
"""
# "ready" is one write, end of line and all: the signal comes as soon as it is read. print() makes two.
HEARS = """
import sys, time
try:
    sys.stdout.write("ready\\n")
    time.sleep(60)
except KeyboardInterrupt:
    print("heard")
"""
POLITE = """
import sys, time
try:
    sys.stdout.write("ready\\n")
    time.sleep(60)
finally:
    print("closed")
"""


@pytest.fixture
def programs(cluster: Cluster, home: Path) -> Iterator[Programs]:
    made = Programs(home, "01", "abc123")
    yield made
    made.close()
    assert register.running(home) == {}


def test_a_program_has_the_labs_names_and_ends_by_itself(programs):
    program = programs.run("names", 'print(lab.topic("helloworld"), lab.group("greeters"), __name__)')
    assert program.wait(within=30) == 0
    assert program.output == "helloworld greeters-abc123 __main__\n"
    assert program.state == "ended by itself"
    assert repr(program) == "✓ names: ended by itself"


def test_it_deletes_nothing_of_the_lab(programs, cluster):
    topics.create(cluster, "helloworld", 1, 1, {})
    assert programs.run("reader", 'print(len(lab.cluster.state(["helloworld"]).topics))').wait(within=30) == 0
    assert programs["reader"].output == "1\n"


@pytest.mark.parametrize("number", ["02", "12"])
def test_it_waits_for_nothing_that_only_a_notebook_or_a_check_needs(cluster, home, number):
    programs = Programs(home, number, "abc123")
    program = programs.run("modules", "import sys; print(*{name.partition('.')[0] for name in sys.modules})")
    assert program.wait(within=30) == 0
    assert set(program.output.split()) & SLOW == set()
    programs.close()


def test_its_lab_has_the_checks_all_the_same(programs):
    assert programs.run("checks", "print('topic_created' in dir(lab.check))").wait(within=30) == 0
    assert programs["checks"].output == "True\n"


def test_what_it_writes_is_read_as_it_comes(programs):
    program = programs.run("clock", TICKS)
    assert program.wait_for("tick", within=30) == "tick"
    assert program.state == "runs"
    before = len(program.output)
    assert quiet_wait(lambda: len(program.output) > before, 10)


def test_it_hears_ctrl_c(programs):
    program = programs.run("ctrl_c", HEARS)
    program.wait_for("ready", within=30)
    program.interrupt()
    assert program.wait() == 0
    assert program.output == "ready\nheard\n"
    with pytest.raises(LabError, match="runs no more"):
        program.interrupt()


def test_two_run_side_by_side_and_one_is_killed(programs, home):
    one, two = programs.run("one", TICKS), programs.run("two", TICKS)
    one.wait_for("tick", within=30)
    two.wait_for("tick", within=30)
    assert set(register.running(home).values()) == {"one", "two"}
    one.kill()
    assert (one.exit_code, one.state) == (-9, "killed on purpose (SIGKILL)")
    assert two.state == "runs"
    assert list(register.running(home).values()) == ["two"]


def test_stop_lets_it_close_what_is_open(programs):
    program = programs.run("polite", POLITE)
    program.wait_for("ready", within=30)
    program.stop()
    assert program.output == "ready\nclosed\n"
    assert (program.exit_code, program.state) == (143, "stopped on request (SIGTERM)")


def test_a_fault_is_told_with_the_line_of_the_cell(programs):
    program = programs.run("broken", "x = 1\nprint(x / 0)\n")  # lines 2 and 3 of the cell
    assert program.wait(within=30) == 1
    assert 'File "broken", line 3, in <module>\n    print(x / 0)' in program.output
    assert program.output.endswith("ZeroDivisionError: division by zero\n")
    assert "child.py" not in program.output
    assert program.state == "failed (exit code 1)"


def test_a_foreseen_fault_is_one_sentence(programs):
    program = programs.run("wrong", "lab.cluster.stop(7)")
    assert program.wait(within=30) == 1
    assert program.output == "✗ There is no broker 7 here: the brokers are 1, 2 and 3.\n"


def test_text_that_is_no_python_is_told(programs):
    program = programs.run("odd", "for x in\n")
    assert program.wait(within=30) == 1
    assert program.output.endswith("SyntaxError: invalid syntax\n")


def test_it_reads_nothing_from_the_keyboard(programs):
    assert programs.run("asker", "input('name? ')").wait(within=30) == 1
    assert "EOFError" in programs["asker"].output


def test_running_its_cell_again_ends_the_old_one_first(programs):
    old = programs.run("clock", TICKS)
    old.wait_for("tick", within=30)
    new = programs.run("clock", TICKS)
    assert old.exit_code == 143
    assert new.pid != old.pid
    assert programs["clock"] is new


def test_it_can_be_started_again_from_its_beginning(programs):
    old = programs.run("short", "print('bye', flush=True)")
    old.wait(within=30)
    new = programs.restart("short")
    assert new.pid != old.pid
    assert programs["short"] is new
    assert new.wait_for("bye", within=30) == "bye"


def test_a_program_that_ends_before_it_says_what_is_awaited_is_told_at_once(programs):
    program = programs.run("short", "print('bye')")
    with pytest.raises(LabError, match=r"did not write “ready” before its end \(ended by itself\)"):
        program.wait_for("ready", within=60)


def test_what_cannot_be_done_is_one_sentence(programs):
    with pytest.raises(LabError, match=r"There is no program 'nobody' yet: run the cell that begins with"):
        programs["nobody"]
    with pytest.raises(LabError, match=r"A program's name is one plain word, not ''"):
        programs.run("", "print()")
    program = programs.run("short", "print('bye')")
    program.wait(within=30)
    with pytest.raises(LabError, match=r"The program short runs no more \(ended by itself\): run its"):
        program.kill()


def test_down_ends_programs_of_notebooks_that_nobody_holds(programs, home, monkeypatch):
    # On a busy machine one that was resumed may need more than 3 s to end as it was asked to.
    monkeypatch.setattr(register, "PATIENCE_SECONDS", 30)
    program = programs.run("clock", TICKS)
    program.wait_for("tick", within=30)
    os.kill(program.pid, signal.SIGSTOP)
    register.end_all(home)
    assert quiet_wait(lambda: program.exit_code == 143, 10)
    assert register.running(home) == {}


def test_a_record_of_another_process_with_this_number_ends_nothing(home):
    home.joinpath("programs").mkdir(exist_ok=True)
    me = psutil.Process()
    path = home / "programs" / f"{me.pid}.json"
    mine = identify(me.pid, f"{register.MARK}{home}")
    for told in (mine, replace(mine, mark=me.cmdline()[0], start="1 ticks after boot unknown")):
        path.write_text(json.dumps({"name": "me", "identity": asdict(told)}))
        register.end_all(home)
        assert not path.exists()


@pytest.mark.programs
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_ends_with_its_kernel(cluster, home, tmp_path, number):
    with Kernel(tmp_path) as kernel:
        opened = "from threebrokers import open_lab\nlab = open_lab('01')"
        assert not kernel.run(opened, "a").error
        # It ignores what asks it to end, and writes nothing that would tell it that nobody reads.
        deaf = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nprint('tick')\ntime.sleep(999)"
        assert not kernel.run(f"%%program clock\n{deaf}", "b").error
        reply = kernel.run("lab.program('clock').wait_for('tick', within=30)\nlab.program('clock').pid", "c")
        clock = psutil.Process(int(reply.result))
        psutil.Process(kernel.manager.provisioner.pid).send_signal(number)
        clock.wait(timeout=20)


@pytest.mark.programs
def test_opening_the_lab_again_ends_its_programs(cluster, home, tmp_path):
    with Kernel(tmp_path) as kernel:
        opened = "from threebrokers import open_lab\nlab = open_lab('01')"
        for text in (opened, f"%%program clock\n{TICKS}", "lab.program('clock').wait_for('tick', within=30)"):
            assert not kernel.run(text, "a").error
        assert list(register.running(home).values()) == ["clock"]
        assert not kernel.run(opened, "a").error
        assert register.running(home) == {}
        reply = kernel.run("lab.program('clock')", "b")
        assert reply.message.startswith("There is no program 'clock' yet")
