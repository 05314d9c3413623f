"""What a terminal brings along must not reach the course."""

import os
import subprocess
import sys

from tools import ROOT


def test_what_python_compiles_is_kept_also_if_the_terminal_says_otherwise():
    program = """if True:
        import os, subprocess, sys
        from threebrokers.app import surroundings
        print(sys.dont_write_bytecode)
        surroundings.leave_behind()
        print(sys.dont_write_bytecode)
        subprocess.run([sys.executable, "-c", "import sys; print(sys.dont_write_bytecode)"])
    """
    done = subprocess.run(
        [sys.executable, "-u", "-c", program],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "False", "False"]
