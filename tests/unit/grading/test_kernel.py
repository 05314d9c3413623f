"""A kernel of the course's own: how it is reached."""

import tempfile
from pathlib import Path

import psutil
import pytest

from threebrokers.grading.kernel import Kernel


@pytest.mark.programs
def test_a_kernel_takes_no_port_that_was_found_before_and_leaves_no_file(tmp_path):
    with Kernel(tmp_path) as kernel:
        taken = {one.laddr.port for one in psutil.Process(kernel.pid).net_connections(kind="tcp")}
        assert not taken & set(kernel.manager.ports)
        folder = Path(kernel.manager.ip).parent
        assert [*folder.iterdir()]
        assert not folder.stat().st_mode & 0o077
    assert not folder.exists()


@pytest.mark.programs
def test_a_kernel_starts_where_the_folder_for_temporary_files_has_a_long_name(tmp_path, monkeypatch):
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with Kernel(tmp_path) as kernel:
        assert kernel.run("1 + 1", "cell").result == "2"
