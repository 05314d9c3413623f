"""What JupyterLab is given before it starts, and where it is asked."""

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_notebook

from threebrokers.app import browser, jupyterlab, make_lab, served
from threebrokers.cluster.process import identify


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"cells": 1}', "\x00\xff", None])
def test_a_damaged_notebook_is_not_signed_and_the_others_are(tmp_path: Path, damage: str | None) -> None:
    damaged, good = tmp_path / "01.ipynb", tmp_path / "02.ipynb"
    if damage is not None:
        damaged.write_bytes(damage.encode("latin-1"))
    nbformat.write(new_notebook(cells=[new_code_cell("1", id="one")]), good)
    jupyterlab._trust([damaged, good], tmp_path / "data")
    notary = NotebookNotary(data_dir=str(tmp_path / "data"))
    signed = notary.check_signature(nbformat.read(good, as_version=4))
    notary.store.close()
    assert signed


def test_kernels_and_settings_of_somebody_else_do_not_reach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, str] = {}

    def launch(command: object, log: object, environment: dict[str, str], mark: object) -> Any:
        given.update(environment)
        return identify(os.getpid())

    monkeypatch.setattr(jupyterlab, "launch", launch)
    for name in ("JUPYTER_PATH", "JUPYTER_CONFIG_PATH", "JUPYTERLAB_SETTINGS_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, "/site")
    monkeypatch.setenv("OTHER", "stays")
    jupyterlab._launch(tmp_path, "/lab", 8888)
    assert "/site" not in given.values()
    assert given["OTHER"] == "stays"
    assert given["JUPYTER_TOKEN"]


@pytest.mark.parametrize(
    ("listen", "base"),
    [
        ("", "http://127.0.0.1:8888"),
        ("0.0.0.0", "http://127.0.0.1:8888"),
        ("127.0.0.2", "http://127.0.0.2:8888"),
        ("::", "http://[::1]:8888"),
        ("fd00::7", "http://[fd00::7]:8888"),
    ],
)
def test_it_is_asked_where_it_listens(monkeypatch: pytest.MonkeyPatch, listen: str, base: str) -> None:
    asked: list[str] = []

    class Opener:
        def open(self, request: Any, timeout: float) -> Any:
            asked.append(request.full_url)
            raise OSError

    monkeypatch.delenv("CODESPACE_NAME", raising=False)
    monkeypatch.setenv(served.LISTEN, listen)
    monkeypatch.setattr(jupyterlab.urllib.request, "build_opener", lambda handler: Opener())
    monkeypatch.setattr(jupyterlab, "_listening", lambda identity: {8888})
    server = jupyterlab.Server(identify(os.getpid()), served.base(8888), "secret")
    assert server.address == base
    assert not jupyterlab._answers(server, 8888)
    assert asked == [f"{base}/api/status"]


def test_a_log_that_another_lab_deletes_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = [tmp_path / f"jupyterlab-{n}.log" for n in range(jupyterlab.KEPT_LOGS + 2)]
    for n, log in enumerate(logs):
        log.touch()
        os.utime(log, (n, n))
    real = Path.stat

    def stat(path: Path, **more: Any) -> os.stat_result:
        if path == logs[3]:
            path.unlink(missing_ok=True)
        return real(path, **more)

    monkeypatch.setattr(Path, "stat", stat)
    jupyterlab._forget_old(tmp_path)
    assert sorted(tmp_path.iterdir()) == [*logs[1:3], *logs[4:]]


def test_the_token_of_one_that_is_taken_over_stands_in_no_list_of_processes(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Sitting:
        def adopt(self) -> Any:
            return identify(os.getpid())

    opened: list[str] = []
    taken = jupyterlab.Server(identify(os.getpid()), "http://127.0.0.1:8888/lab?token=secret&x=1")
    monkeypatch.setattr(browser.webbrowser, "open", opened.append)
    monkeypatch.setattr(make_lab, "can_open_browser", lambda: True)
    monkeypatch.setattr(make_lab, "end_orphans", lambda say: None)
    monkeypatch.setattr(make_lab.jupyterlab, "running", lambda orphan, notebook: taken)
    assert make_lab._taken_over(Sitting(), home / "x.ipynb", lambda text: None) == taken  # type: ignore[arg-type]
    page = home / "lab.html"
    assert opened == [page.as_uri()]
    assert 'url=http://127.0.0.1:8888/lab?token=secret&amp;x=1"' in page.read_text("utf-8")
    assert page.stat().st_mode & 0o777 == 0o600
