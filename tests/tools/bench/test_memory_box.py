"""A box of memory ends what takes more than it has, and says how much was taken."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.bench.memory_box import memory_box

MB = 1_000_000
TAKE = """
import sys, time
taken = bytearray(int(sys.argv[1]))
taken[::4096] = b"x" * len(taken[::4096])
time.sleep(1)
"""


@pytest.fixture(autouse=True)
def may() -> None:
    """Not everybody may make a control group."""
    try:
        with memory_box(200 * MB):
            pass
    except SystemExit as told:
        pytest.skip(str(told))


def taken(size: int) -> tuple[int, int, int]:
    """Take so many bytes in a box of 200 MB; return the exit code, the most seen, how many were ended."""
    with memory_box(200 * MB) as box:
        command = [*box.before, sys.executable, "-c", TAKE, str(size)]
        done = subprocess.run(command, check=False, timeout=60)
        return done.returncode, box.most, box.killed


def test_memory_is_seen() -> None:
    code, most, killed = taken(100 * MB)
    assert (code, killed) == (0, 0)
    assert 100 * MB < most < 150 * MB


def test_who_takes_more_is_ended() -> None:
    code, _, killed = taken(400 * MB)
    assert code != 0
    assert killed == 1


def test_where_no_box_can_be_made_a_sentence_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.bench.memory_box.ROOT", tmp_path / "none")
    with pytest.raises(SystemExit, match="that takes root"), memory_box(MB):
        pass
