"""Every command of `make lint` finds nothing."""

import subprocess

import pytest

from tools import ROOT
from tools.proof.lint import COMMANDS


@pytest.mark.timeout(1200)  # on a clean checkout no tool remembers anything
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_wrong(name: str) -> None:
    done = subprocess.run(COMMANDS[name], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
