"""Starting and ending JupyterLab on this machine, the same for every learner."""

import json
import os
import secrets
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from threebrokers.app.browser import can_open_browser
from threebrokers.cluster import ports
from threebrokers.cluster.process import Identity, launch, send
from threebrokers.errors import LabError
from threebrokers.files import write_whole
from threebrokers.paths import home, repo
from threebrokers.waiting import wait_until

MARK = "threebrokers.jupyterlab="  # of its command line, with the home
START_SECONDS = 60
END_SECONDS = 10
FIRST_PORT, PORTS = 8888, 100
# Without this JupyterLab asks each new user whether it may fetch news.
SETTINGS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}


@dataclass(frozen=True)
class Server:
    """A JupyterLab that runs: its process, and the address that opens the lab in a browser."""

    identity: Identity
    address: str


def start(notebook: Path, port: int) -> Server:
    """Start JupyterLab at a notebook inside the repo and open it in a browser, if there is one.

    Raises LabError if JupyterLab does not answer within 60 s.
    """
    folder, token = home() / "jupyter", secrets.token_hex(24)
    write_whole(folder / "settings" / "overrides.json", json.dumps(SETTINGS).encode())
    page = f"/lab/tree/{notebook.relative_to(repo()).as_posix()}"
    log = folder / "jupyterlab.log"
    log.unlink(missing_ok=True)
    mark = f"{MARK}{home()}"
    # In a session of its own, so that Ctrl-C reaches this command alone, which ends it in good order.
    identity = launch(
        [sys.executable, "-X", mark, "-m", "jupyterlab", *_options(port, page, folder)],
        log,
        {**os.environ, **_environment(folder, token)},
        mark,
    )
    server = Server(
        identity,
        f"http://{ports.HOST}:{port}{page}?token={token}",
    )
    try:
        _trust([*repo().glob("labs/*.ipynb"), *repo().glob("solutions/*.ipynb")], folder / "data")
        _wait(server, port, log)
    except BaseException:
        end(server.identity)
        raise
    return server


def choose_port(wanted: int | None) -> int:
    """Return the wanted port, or a free one if none is wanted. Raises LabError if it cannot be used."""
    if wanted is None:
        for port in range(FIRST_PORT, FIRST_PORT + PORTS):
            if ports.is_free(port):
                return port
        raise LabError(
            f"Every port from {FIRST_PORT} to {FIRST_PORT + PORTS - 1} is in use: "
            "name a free one with `make lab PORT=…`."
        )
    if not 1024 <= wanted <= 65535:
        raise LabError(f"PORT={wanted} cannot be used: choose a number from 1024 to 65535, such as 8890.")
    if not ports.is_free(wanted):
        raise LabError(
            f"Port {wanted} is used by another program: choose another, for example "
            f"`make lab PORT={choose_port(None)}`, or leave PORT out."
        )
    return wanted


def end(identity: Identity) -> None:
    """End a JupyterLab and its kernels: asked first, killed if that takes more than 10 s."""
    process = identity.process()
    if process is None:
        return
    family = [process, *process.children(recursive=True)]
    if not send(identity, "terminate"):
        return
    _, left = psutil.wait_procs(family, timeout=END_SECONDS)
    for survivor in left:
        survivor.kill()
    psutil.wait_procs(left, timeout=END_SECONDS)


def _options(port: int, page: str, folder: Path) -> Iterator[str]:
    yield f"--ServerApp.ip={ports.HOST}"
    yield f"--ServerApp.port={port}"
    yield "--ServerApp.port_retries=0"
    yield f"--ServerApp.root_dir={repo()}"
    yield f"--ServerApp.open_browser={can_open_browser()}"
    yield f"--LabApp.default_url={page}"
    yield f"--LabApp.app_settings_dir={folder / 'settings'}"
    if os.geteuid() == 0:  # a container's only user; the server listens on this machine alone
        yield "--ServerApp.allow_root=True"


def _environment(folder: Path, token: str) -> dict[str, str]:
    return {
        # Not among the options, which every user of the machine can list.
        "JUPYTER_TOKEN": token,
        # A learner's own Jupyter settings and kernels neither help nor disturb.
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }


def _trust(notebooks: list[Path], data: Path) -> None:
    """Sign the course's own notebooks: JupyterLab shows no picture of one that is not signed.

    A signature belongs to the content, so an untouched copy in work/ is signed with its lab.
    """
    import nbformat  # it takes a second, in which JupyterLab starts
    from nbformat.sign import NotebookNotary

    data.mkdir(parents=True, exist_ok=True)
    notary = NotebookNotary(data_dir=str(data))  # type: ignore[no-untyped-call]
    for path in notebooks:
        notary.sign(nbformat.read(path, as_version=4))  # type: ignore[no-untyped-call]
    notary.store.close()


def _wait(server: Server, port: int, log: Path) -> None:
    # A proxy is for other machines: through one, this machine's own address leads nowhere.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def answers() -> bool:
        if server.identity.process() is None:
            raise LabError(f"JupyterLab ended while it started: the reason stands at the end of {log}.")
        try:
            with direct.open(f"http://{ports.HOST}:{port}/api", timeout=2):
                return True
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            return False

    wait_until(
        answers, what="JupyterLab to answer", within=START_SECONDS, otherwise=f"read the end of {log}."
    )
