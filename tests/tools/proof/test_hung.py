"""A test that hangs in C: its run says where it is, and ends; what it had started is ended, too."""

import sys

import psutil
import pytest

from tools.proof import report
from tools.proof.jobs import Job, Pool

# A lock that is taken twice waits for ever, and no signal ends the wait.
HANGING = """
import ctypes, subprocess, sys
import pytest
import tests.hung

tests.hung.GRACE_SECONDS = 1.0

@pytest.mark.timeout(1)
def test_that_hangs():
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    open({pid!r}, "w").write(str(started.pid))
    lock, mutex = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(128)
    lock(mutex)
    lock(mutex)
"""


@pytest.mark.programs
def test_a_test_that_hangs_in_c_ends_its_run_which_says_where(tmp_path):
    pid, test = tmp_path / "pid", tmp_path / "test_hanging.py"
    test.write_text(HANGING.format(pid=str(pid)))
    lines = test.read_text().splitlines()
    command = (sys.executable, "-m", "pytest", "-q", "-p", "tests.hung", f"--rootdir={tmp_path}", str(test))
    said: list[str] = []
    [one] = Pool(1, tmp_path, said.append).run([Job("part", "one", command)])
    assert one.code == 1
    [why] = report.why_red(one)
    assert why.startswith("part: one, hung: ")
    assert f'"{test}", line {lines.index("    lock(mutex)") + 2} in test_that_hangs' in why
    assert f"killed now:\n{pid.read_text()} " in one.output
    assert not psutil.pid_exists(int(pid.read_text()))
