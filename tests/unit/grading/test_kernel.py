"""A kernel of the course's own: how it is reached."""

import tempfile
from pathlib import Path

import psutil
import pytest

from threebrokers.grading import kernel as kernels
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


def test_a_folder_s_name_is_measured_in_bytes_as_the_system_does(tmp_path, monkeypatch):
    folder = tmp_path / "für mich"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    for longest, taken in ((len(str(folder)), False), (len(str(folder)) + 1, True)):
        monkeypatch.setattr(kernels, "LONGEST", longest)
        with kernels._folder() as found:
            assert Path(found).is_relative_to(folder) is taken


@pytest.mark.programs
@pytest.mark.parametrize("before", ["false", "/no/such/command"])
def test_a_kernel_that_does_not_start_leaves_no_file_and_no_process(tmp_path, monkeypatch, before):
    files, folder = tmp_path / "files", tmp_path / "folder"
    files.mkdir()
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(files))
    others = set(psutil.Process().children())
    with pytest.raises((RuntimeError, FileNotFoundError)):
        Kernel(folder, before=(before,))
    assert not [*files.iterdir()]
    assert set(psutil.Process().children()) <= others
