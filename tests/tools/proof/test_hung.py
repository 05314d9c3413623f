"""A test that hangs in C: its run says where it is, and ends; what it had started is ended, too."""

import sys

import psutil
import pytest

from tools.proof import report
from tools.proof.jobs import Ended, Job, Pool

# A lock that is taken twice waits for ever, and no signal ends the wait.
HANGING = """
import ctypes, subprocess, sys
import pytest
import tests.hung

tests.hung.GRACE_SECONDS = tests.hung.END_SECONDS = 5.0

def hang():
    lock, mutex = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(128)
    lock(mutex)
    lock(mutex)

@pytest.fixture
def hanging():
    yield
    hang()

@pytest.mark.timeout(5)
def test_that_hangs():
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    open({pid!r}, "w").write(str(started.pid))
    hang()

def test_that_fails_and_hangs_as_it_tidies_up(hanging):
    assert False

class HangsAtTheEnd:
    def __init__(self):
        self.lock, self.mutex = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(128)

    def __del__(self):
        self.lock(self.mutex)
        self.lock(self.mutex)

def test_that_leaves_what_hangs_at_the_end_of_python():
    sys.hangs = HangsAtTheEnd()
"""


@pytest.fixture
def run(tmp_path):
    """Run one of the tests as a job of its own."""
    test = tmp_path / "test_hanging.py"
    test.write_text(HANGING.format(pid=str(tmp_path / "pid")))

    def run(name: str) -> Ended:
        options = ("-q", "-p", "tests.hung", "-o", "timeout=60", f"--rootdir={tmp_path}", f"{test}::{name}")
        [one] = Pool(1, tmp_path, lambda _: None).run(
            [Job("part", "one", (sys.executable, "-m", "pytest", *options))]
        )
        assert one.code == 1
        return one

    return run


@pytest.mark.programs
def test_a_test_that_hangs_in_c_ends_its_run_which_says_where(run, tmp_path):
    one = run("test_that_hangs")
    [why] = report.why_red(one)
    assert why.startswith("part: one, hung: ")
    assert "in test_that_hangs" in why
    pid = (tmp_path / "pid").read_text()
    assert f"killed now:\n{pid} " in one.output
    assert not psutil.pid_exists(int(pid))


@pytest.mark.programs
def test_so_does_one_that_has_failed_and_hangs_as_it_tidies_up(run):
    [why] = report.why_red(run("test_that_fails_and_hangs_as_it_tidies_up"))
    assert why.startswith("part: one, hung: ")
    assert "in hanging" in why


@pytest.mark.programs
def test_a_run_that_hangs_when_its_last_test_has_passed_ends_too(run):
    one = run("test_that_leaves_what_hangs_at_the_end_of_python")
    assert "1 passed" in one.output
    [why] = report.why_red(one)
    assert why.startswith("part: one, ")
    assert "Timeout" in why or "hung" in why
