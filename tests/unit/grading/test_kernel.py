"""A kernel of the course's own: how it is reached, and how much of what it shows is kept."""

import tempfile
from pathlib import Path

import psutil
import pytest

from threebrokers.grading import kernel as kernels
from threebrokers.grading.kernel import Kernel, Reply


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


LARGE = "A" * 4_000_000


def noted(*messages: tuple[str, dict[str, object]]) -> Reply:
    reply = Reply()
    for kind, content in messages:
        assert kernels._noted(kind, content, reply)
    return reply


def test_what_is_displayed_is_kept_in_all_its_forms_up_to_a_bound():
    small = {"text/plain": "a", "application/json": {"truth": [1]}}
    shown = [("display_data", {"data": small})] + [("display_data", {"data": {"image/png": LARGE}})] * 9
    reply = noted(*shown, ("stream", {"text": "b"}), ("display_data", {"data": small}))
    assert (reply.displayed[0], reply.displayed[-1], len(reply.displayed)) == (small, small, 4)
    assert reply.shown == f"a\n{9 * chr(10)}ba\n"
    assert len(noted(*[("display_data", {"data": {}})] * 20_000).displayed) < 10_000


def test_of_text_and_of_an_error_no_more_than_a_bound_is_kept():
    reply = noted(
        ("stream", {"text": LARGE}),
        ("display_data", {"data": {"text/plain": LARGE}}),
        ("execute_result", {"data": {"text/plain": LARGE}}),
        ("error", {"ename": LARGE, "evalue": LARGE, "traceback": [LARGE] * 5}),
    )
    told = (reply.shown, reply.result, reply.error, reply.message)
    assert [len(text) for text in told] == [kernels.MOST_SHOWN] * 4
    assert reply.traceback == []
    assert noted(("error", {"ename": "A", "evalue": "b", "traceback": ["c"]})).traceback == ["c"]


@pytest.mark.programs
@pytest.mark.parametrize("quiet", [False, True])
def test_a_quiet_kernel_has_nothing_of_our_own_output(tmp_path, capfd, quiet):
    with Kernel(tmp_path, quiet=quiet) as kernel:
        # Under pytest ipykernel leaves this file as it was given to the kernel.
        assert kernel.run("import os\nos.write(2, b'written')", "cell").result == "7"
        assert kernel.client.iopub_channel.socket.maxmsgsize == kernels.MOST_SENT
    assert ("written" in capfd.readouterr().err) is not quiet
