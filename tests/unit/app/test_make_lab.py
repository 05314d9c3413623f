"""`make lab` from start to Ctrl-C: all that was started ends; and a real JupyterLab is what it should be."""

import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import nbformat
import psutil
import pytest
from filelock import Timeout
from nbformat.v4 import new_code_cell, new_notebook, new_output

from threebrokers import workspace
from threebrokers.app import endings, jupyterlab, make_lab
from threebrokers.cluster import sessions
from threebrokers.cluster.process import BrokerProcess, Identity, identify, launch
from threebrokers.errors import LabError
from threebrokers.waiting import quiet_wait


@pytest.fixture(autouse=True)
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BROWSER", "none")
    picture = new_output("display_data", data={"image/svg+xml": "<svg/>", "text/plain": "a picture"})
    for folder, outputs in (("labs", []), ("solutions", [picture])):
        (tmp_path / folder).mkdir()
        cells = [new_code_cell("1", id="one", outputs=outputs)]
        nbformat.write(new_notebook(cells=cells), tmp_path / folder / "01_hello_kafka.ipynb")
    monkeypatch.setattr(workspace, "root", lambda: tmp_path)
    monkeypatch.setattr(workspace, "course", lambda: tmp_path)
    monkeypatch.setattr(jupyterlab, "root", lambda: tmp_path)
    monkeypatch.setattr(jupyterlab, "course", lambda: tmp_path)
    return tmp_path


class Bench:
    """Stands in for brokers and JupyterLab, and notes what is done to them."""

    engine, access = "local", None

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[str] = []
        self.in_up: Callable[[], None] = lambda: None
        self.in_start: Callable[[], None] = lambda: None
        self.in_stay: Callable[[], None] = lambda: None
        monkeypatch.setattr(make_lab, "Cluster", lambda: self)
        monkeypatch.setattr(make_lab.jupyterlab, "start", self.start)
        monkeypatch.setattr(make_lab.jupyterlab, "end", lambda identity: self.done.append("JupyterLab ended"))
        monkeypatch.setattr(make_lab, "_stay", lambda server, say: self.in_stay())

    def processes(self) -> dict[int, BrokerProcess]:
        return {}

    def up(self, say: Any) -> None:
        self.done.append("brokers up")
        self.in_up()

    def down(self) -> None:
        self.done.append("brokers down")

    def start(self, notebook: Path, port: int | None) -> jupyterlab.Server:
        self.done.append(f"JupyterLab at {notebook.parent.name}/{notebook.name}")
        self.in_start()
        return jupyterlab.Server(identify(os.getpid()), "http://x")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


ALL = ["brokers up", "JupyterLab at work/01_hello_kafka.ipynb", "JupyterLab ended", "brokers down"]


@pytest.mark.parametrize("ending", endings.ENDINGS)
def test_one_request_to_end_ends_everything(bench: Bench, ending: signal.Signals) -> None:
    bench.in_stay = lambda: os.kill(os.getpid(), ending)
    before = signal.getsignal(ending)
    make_lab.sit(None, None, lambda text: None)
    assert bench.done == ALL
    assert signal.getsignal(ending) == before


def test_more_ctrl_c_does_not_break_the_ending_off(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(identity: Identity) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        bench.done.append("JupyterLab ended")

    monkeypatch.setattr(make_lab.jupyterlab, "end", end)
    bench.in_stay = lambda: os.kill(os.getpid(), signal.SIGINT)
    make_lab.sit("1", None, lambda text: None)
    assert bench.done == ALL


@pytest.mark.parametrize(("ignored", "ended"), [(signal.SIGHUP, 0), (signal.SIGTERM, 0), (signal.SIGINT, 1)])
def test_a_request_that_is_ignored_on_purpose_ends_nothing_but_ctrl_c_does(
    bench: Bench, ignored: signal.Signals, ended: int
) -> None:
    """`nohup make lab` is to outlive its terminal; a shell script ignores Ctrl-C for its `make lab &`."""
    went_on: list[int] = []

    def stay() -> None:
        os.kill(os.getpid(), ignored)
        went_on.append(ignored)

    bench.in_stay = stay
    before = signal.signal(ignored, signal.SIG_IGN)
    try:
        make_lab.sit(None, None, lambda text: None)
        assert signal.getsignal(ignored) == signal.SIG_IGN
    finally:
        signal.signal(ignored, before)
    assert len(went_on) == 1 - ended
    assert bench.done == ALL


def test_what_starts_during_the_ending_hears_a_polite_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the brokers do that a demo brings back: Java never hears what was ignored when it started."""
    started: list[int] = []

    def end(identity: Identity) -> None:
        os.kill(os.getpid(), signal.SIGTERM)  # once more, which does not break the ending off
        started.append(subprocess.run(["sh", "-c", "kill -TERM $$"], check=False).returncode)
        bench.done.append("JupyterLab ended")

    monkeypatch.setattr(make_lab.jupyterlab, "end", end)
    bench.in_stay = lambda: os.kill(os.getpid(), signal.SIGTERM)
    make_lab.sit(None, None, lambda text: None)
    assert bench.done == ALL
    assert started == [-signal.SIGTERM]


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), Timeout("labs.json.lock")])
def test_a_jupyterlab_that_cannot_be_noted_is_ended_too(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    real = sessions._register

    def start() -> None:
        monkeypatch.setattr(sessions, "_register", refuse)

    def refuse() -> NoReturn:
        monkeypatch.setattr(sessions, "_register", real)
        raise fault

    bench.in_start = start
    with suppress(Timeout):
        make_lab.sit(None, None, lambda text: None)
    assert bench.done == ALL


def test_ctrl_c_while_the_brokers_start_ends_them(bench: Bench) -> None:
    bench.in_up = lambda: os.kill(os.getpid(), signal.SIGINT)
    make_lab.sit(None, None, lambda text: None)
    assert bench.done == ["brokers up", "brokers down"]


def test_a_jupyterlab_that_does_not_start_takes_the_brokers_along(bench: Bench) -> None:
    def fail() -> None:
        raise LabError("JupyterLab ended while it started: …")

    bench.in_start = fail
    with pytest.raises(LabError, match="while it started"):
        make_lab.sit(None, None, lambda text: None)
    assert bench.done[-1] == "brokers down"


def test_the_brokers_go_on_while_another_lab_is_open(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = identify(os.getppid())

    def another_opens() -> None:
        with sessions._register() as labs:
            labs.append(sessions.OpenLab(parent))

    bench.in_stay = another_opens
    said: list[str] = []
    make_lab.sit(None, None, said.append)
    assert bench.done == ALL[:-1]
    assert "The brokers go on for 1 other `make lab` of this home." in said


def test_the_learner_is_told_of_an_updated_lab(bench: Bench, clone: Path) -> None:
    make_lab.sit(None, None, lambda text: None)
    for folder, text in (("work", "mine"), ("labs", "newer")):
        nbformat.write(
            new_notebook(cells=[new_code_cell(text, id="one")]), clone / folder / "01_hello_kafka.ipynb"
        )
    said: list[str] = []
    make_lab.sit(None, None, said.append)
    assert [line for line in said if "01_hello_kafka.new.ipynb" in line]


def test_too_little_memory_is_said_before_the_start(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        available = 300_000_000

    monkeypatch.setattr(make_lab.psutil, "virtual_memory", Full)
    said: list[str] = []
    bench.in_up = lambda: said.append("starting")
    make_lab.sit(None, None, said.append)
    assert said[0].startswith("Little memory: 0.3 GB free")
    assert said[1] == "starting"


@pytest.mark.programs
def test_a_real_jupyterlab_asks_for_its_token_and_for_nothing_else(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.hand_out()
    # The network's proxy, which nobody answers: JupyterLab is on this machine.
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    server = jupyterlab.start(clone / "work" / "01_hello_kafka.ipynb")
    try:
        base, token = server.address.partition("/lab")[0], server.token
        port = int(base.rpartition(":")[2])

        def get(path: str, key: str = token) -> Any:
            request = urllib.request.Request(base + path, headers={"Authorization": f"token {key}"})
            with direct.open(request, timeout=10) as answer:
                return json.load(answer)

        with pytest.raises(urllib.error.HTTPError) as refused:
            get("/api/contents", key="guess")
        refused.value.close()
        assert refused.value.code == 403
        news = get("/lab/api/settings/@jupyterlab/apputils-extension:notification")["schema"]["properties"]
        assert news["fetchNews"]["default"] == "false"
        cells = get("/lab/api/settings/@jupyterlab/notebook-extension:tracker")["schema"]["properties"]
        assert cells["codeCellConfig"]["default"]["lineWrap"] is True
        for folder in ("solutions", "work"):
            cells = get(f"/api/contents/{folder}/01_hello_kafka.ipynb")["content"]["cells"]
            assert cells[0]["metadata"]["trusted"] is True
        with socket.socket() as probe:
            probe.settimeout(1)
            address = next((a for a in _own_addresses() if not a.startswith("127.")), None)
            assert address is None or probe.connect_ex((address, port)) != 0
    finally:
        jupyterlab.end(server.identity)
    assert server.identity.process() is None


def test_a_jupyterlab_that_cannot_start_names_its_log(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jupyterlab.sys, "executable", shutil.which("false"))
    with pytest.raises(LabError, match=r"JupyterLab ended while it started: .*jupyterlab-\d+\.log"):
        jupyterlab.start(clone / "work" / "01_hello_kafka.ipynb")


BROKER = "import time; time.sleep(600)"
KERNEL = f"""
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
broker = subprocess.Popen([sys.executable, "-c", {BROKER!r}], start_new_session=True)
print(broker.pid, flush=True)
time.sleep(600)
"""
SERVER = f"""
import subprocess, sys, time
kernel = subprocess.Popen([sys.executable, "-c", {KERNEL!r}], start_new_session=True, stdout=subprocess.PIPE)
print(kernel.pid, int(kernel.stdout.readline()), flush=True)
time.sleep(600)
"""


@pytest.mark.programs
def test_the_end_kills_a_kernel_that_does_not_hear_and_no_broker_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jupyterlab, "END_SECONDS", 1)
    mark, log = sessions.mark(tmp_path), tmp_path / "log"
    server = launch([sys.executable, "-X", mark, "-c", SERVER], log, dict(os.environ), mark)
    assert quiet_wait(lambda: log.exists() and log.read_text().endswith("\n"), 60)
    kernel, broker = (identify(int(pid)) for pid in log.read_text().split())
    try:
        jupyterlab.end(server)
        assert server.process() is None
        assert kernel.process() is None
        assert broker.process()
    finally:
        os.kill(broker.pid, signal.SIGKILL)


LATE = f"""
import signal, subprocess, sys, time
def begin(*_):
    kernel = subprocess.Popen([sys.executable, "-c", {BROKER!r}], start_new_session=True)
    print(kernel.pid, flush=True)
    signal.signal(signal.SIGTERM, {{then}})
def go(*_):
    print("in good order", flush=True)
    sys.exit()
signal.signal(signal.SIGTERM, begin)
print("ready", flush=True)
while True:
    time.sleep(0.1)
"""


@pytest.mark.programs
@pytest.mark.parametrize("then", ["go", "signal.SIG_IGN", "begin"])
def test_the_end_finds_a_kernel_that_starts_just_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    """As jupyter_server starts one that was asked for before, and forgets that it was to end."""
    # Who goes in good order needs a moment for it.
    monkeypatch.setattr(jupyterlab, "END_SECONDS", 20.0 if then == "go" else 2.0)
    monkeypatch.setattr(jupyterlab, "ASK_SECONDS", 0.2)
    mark, log = sessions.mark(tmp_path), tmp_path / "log"
    server = launch([sys.executable, "-X", mark, "-c", LATE.format(then=then)], log, dict(os.environ), mark)
    assert quiet_wait(lambda: log.exists() and log.read_text() == "ready\n", 60)
    jupyterlab.end(server)
    lines = log.read_text().splitlines()
    kernels = [int(line) for line in lines if line.isdigit()]
    assert kernels
    assert ("in good order" in lines) == (then == "go")
    assert [pid for pid in kernels if _runs(pid)] == []
    assert server.process() is None


@pytest.mark.programs
def test_a_port_that_another_server_takes_first_is_left_to_it(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one says yes to everything, as a JupyterLab without a token does."""

    class Yes(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Stay silent."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Yes) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        taken, free = other.server_address[1], jupyterlab.choose_port
        first = iter([taken])
        # Whoever runs beside this test may take any other port, too: then one more is chosen.
        monkeypatch.setattr(jupyterlab, "choose_port", lambda wanted: next(first, None) or free(wanted))
        server = jupyterlab.start(clone / "labs" / "01_hello_kafka.ipynb")
        try:
            assert next(first, None) is None
            assert not server.address.startswith(f"http://127.0.0.1:{taken}/")
            assert server.identity.process()
        finally:
            jupyterlab.end(server.identity)
            other.shutdown()


def _runs(pid: int) -> bool:
    try:
        return identify(pid).process() is not None
    except psutil.NoSuchProcess:
        return False


def _own_addresses() -> list[str]:
    found = jupyterlab.psutil.net_if_addrs().values()
    return [a.address for addresses in found for a in addresses if a.family == socket.AF_INET]


def test_an_ending_waits_for_the_pages_that_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    me = identify(os.getpid())
    waited: list[float] = []

    def wait(look: Callable[[], bool], within: float) -> bool:
        waited.append(within)
        return look()

    monkeypatch.setattr(jupyterlab, "quiet_wait", wait)
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not jupyterlab._has_pages(me)
        with socket.create_connection(server.getsockname()) as page:
            accepted, _ = server.accept()
            with accepted:
                assert jupyterlab._has_pages(me)
                jupyterlab.let_save(me)
            assert page
    assert waited == [jupyterlab.SAVE_SECONDS]
    assert jupyterlab.SAVE_SECONDS > jupyterlab.AUTOSAVE_SECONDS
