"""Starting and ending JupyterLab on this machine, the same for every learner."""

import json
import os
import secrets
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from threebrokers.app import served
from threebrokers.app.browser import can_open_browser
from threebrokers.cluster import ports, sessions
from threebrokers.cluster.process import Identity, forks_allowed, identify, launch, send
from threebrokers.errors import LabError
from threebrokers.files import write_whole
from threebrokers.paths import ROOT, course, home, lab_command, root
from threebrokers.waiting import poll, quiet_wait, wait_until

FILES = "threebrokers.app.contents.CourseFiles"  # to import it would take as long as JupyterLab's own start
CSS = Path(__file__).with_name("jupyterlab.css")
EXTENSIONS = Path(__file__).with_name("labextensions")
START_SECONDS = 180  # 2 s on a calm machine; one that does other work first has taken more than 60
END_SECONDS, ASK_SECONDS = 10.0, 2.0
FIRST_PORT, PORTS, ATTEMPTS = 8888, 100, 10
# Variables that bring kernels and settings of somebody else's before those of the course.
FOREIGN = (
    "JUPYTERLAB_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
    "JUPYTER_CONFIG_PATH",
    "JUPYTER_DEFAULT_PROVISIONER_NAME",
    "JUPYTER_GATEWAY_URL",
    "JUPYTER_NO_CONFIG",
    "JUPYTER_PATH",
)
PORT_TAKEN = "could not be started because"  # of a port, in the words of jupyter_server
KEPT_LOGS = 5
AUTOSAVE_SECONDS = 5
SAVE_SECONDS = AUTOSAVE_SECONDS + 1  # until what was typed last is in its file
ANSWER_SECONDS = 10  # whoever is given up loses its kernels: a busy machine has time
SETTINGS = {
    # Without this JupyterLab asks each new user whether it may fetch news.
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # JupyterLab's own two minutes of typing would be gone at Ctrl-C, which waits for this long.
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": AUTOSAVE_SECONDS},
    # In a window of 1280 px, beside the file browser, a line of 110 letters loses its last ones.
    "@jupyterlab/notebook-extension:tracker": {"codeCellConfig": {"lineNumbers": False, "lineWrap": True}},
    # In 250 px a file's name can be read if nothing stands beside it.
    "@jupyterlab/filebrowser-extension:browser": {"showLastModifiedColumn": False},
}
# What no lab needs is out of a learner's way. (The property inspector stays: where the right side bar has
# nothing at all, JupyterLab leaves 250 px empty for it.)
LEFT_OUT = (
    "@jupyterlab/debugger-extension",
    "@jupyterlab/extensionmanager-extension",
)


@dataclass(frozen=True)
class Server:
    """A JupyterLab that runs: its process, and the address that opens the lab in a browser."""

    identity: Identity
    address: str
    token: str = ""


def start(notebook: Path, port: int | None = None) -> Server:
    """Start JupyterLab at a notebook inside the root folder and open it in a browser, if there is one.

    Unless told, it takes the first free port from 8888 on, and the next one if another program is quicker.
    Raises LabError if it does not answer within three minutes.
    """
    folder = _folder()
    write_whole(folder / "settings" / "overrides.json", json.dumps(SETTINGS).encode())
    off = {"disabledExtensions": dict.fromkeys(LEFT_OUT, True)}
    write_whole(folder / "settings" / "page_config.json", json.dumps(off).encode())
    write_whole(folder / "config" / "custom" / "custom.css", CSS.read_bytes())
    page = _page(notebook)
    for _ in range(ATTEMPTS):
        number = choose_port(port)
        server, log = _launch(folder, page, number)
        try:
            _trust([*course().glob("labs/*.ipynb"), *course().glob("solutions/*.ipynb")], folder / "data")
            if _is_ready(server, number, log):
                return server
        except BaseException:
            end(server.identity)
            raise
        end(server.identity)
    raise LabError(f"Other programs took the ports from {FIRST_PORT} on {ATTEMPTS} times: run it again.")


def _launch(folder: Path, page: str, port: int) -> tuple[Server, Path]:
    token, mark = secrets.token_hex(24), sessions.mark(home())
    log = folder / "logs" / f"jupyterlab-{os.getpid()}.log"  # another `make lab` of this home has its own
    log.unlink(missing_ok=True)
    _forget_old(log.parent)
    # In a session of its own, so that Ctrl-C reaches this command alone, which ends it in good order.
    # -P: else a file jupyterlab.py in the current folder, whosever it is, would be run.
    identity = launch(
        [sys.executable, "-P", "-X", mark, "-m", "jupyterlab", *_options(port, page, folder)],
        log,
        _environment(folder, token),
        mark,
    )
    return _server(identity, port, page, token), log


def _server(identity: Identity, port: int, page: str, token: str) -> Server:
    return Server(identity, f"{served.base(port)}{page}?token={token}", token)


def _page(notebook: Path) -> str:
    return f"/lab/tree/{notebook.relative_to(root()).as_posix()}"


def _folder() -> Path:
    return home() / "jupyter"


def running(identity: Identity, notebook: Path) -> Server | None:
    """Return a JupyterLab that runs already, with the address of a notebook in it; None if it is silent.

    Its port and its token stand in the file that Jupyter itself keeps, which only its user may read.
    """
    file = _folder() / "data" / "runtime" / f"jpserver-{identity.pid}.json"
    try:
        known = json.loads(file.read_bytes())
        port, token = int(known["port"]), str(known["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    server = _server(identity, port, _page(notebook), token)
    return server if quiet_wait(lambda: _answers(server, port), ANSWER_SECONDS) else None


def let_save(identity: Identity) -> None:
    """Wait until the pages of a JupyterLab have saved what was typed, which each does every 5 s.

    The server cannot ask a page to save. No page is open, or none any more: then nothing is waited for.
    """
    quiet_wait(lambda: not _has_pages(identity), SAVE_SECONDS)


def _forget_old(logs: Path) -> None:
    found = []
    for path in logs.glob("jupyterlab-*.log"):
        with suppress(FileNotFoundError):  # another `make lab` has just deleted it
            found.append((path.stat().st_mtime, path))
    for _, path in sorted(found)[:-KEPT_LOGS]:
        path.unlink(missing_ok=True)


def choose_port(wanted: int | None) -> int:
    """Return the wanted port, or a free one if none is wanted. Raises LabError if it cannot be used."""
    if wanted is None:
        for port in range(FIRST_PORT, FIRST_PORT + PORTS):
            if ports.is_free(port):
                return port
        raise LabError(
            f"Every port from {FIRST_PORT} to {FIRST_PORT + PORTS - 1} is in use: "
            f"name a free one with `{lab_command(port='…')}`."
        )
    if not 1024 <= wanted <= 65535:
        raise LabError(f"PORT={wanted} cannot be used: choose a number from 1024 to 65535, such as 8890.")
    if not ports.is_free(wanted):
        raise LabError(
            f"Port {wanted} is used by another program: choose another, for example "
            f"`{lab_command(port=str(choose_port(None)))}`, or name none."
        )
    return wanted


def end(identity: Identity) -> None:
    """End a JupyterLab and its kernels: asked first, killed if that takes more than 10 s.

    What a kernel has started ends with it, or is to outlive it, as brokers are: nobody waits for those.
    Where a kernel starts just then, jupyter_server gives its own end up (404 in `shutdown_all`) and starts
    the kernel: so it is asked again, and kernels are looked for until it is gone.
    """
    server = identity.process()
    if server is None:
        return
    family = {identity, *_kernels(server)}
    if not send(identity, "terminate"):
        return
    asked = time.monotonic()
    for _ in poll(lambda: family.update(_kernels(server)), END_SECONDS):
        if not any(one.process() for one in family):
            break
        if time.monotonic() > asked + ASK_SECONDS:
            send(identity, "terminate")
            asked = time.monotonic()
    if send(identity, "suspend"):  # so that it starts no more of them
        family.update(_kernels(server))
    for survivor in filter(None, [one.process() for one in family]):
        with suppress(psutil.NoSuchProcess):  # it ended just now
            survivor.kill()
    quiet_wait(lambda: not any(one.process() for one in family), END_SECONDS)
    identity.reap()


def _kernels(server: psutil.Process) -> Iterator[Identity]:
    with suppress(psutil.NoSuchProcess):  # it has ended
        for child in server.children():
            with suppress(psutil.NoSuchProcess):
                yield identify(child.pid)


def _options(port: int, page: str, folder: Path) -> Iterator[str]:
    yield from served.options(port)
    yield f"--ServerApp.port={port}"
    yield "--ServerApp.port_retries=0"
    yield f"--ServerApp.root_dir={root()}"
    yield f"--ServerApp.open_browser={can_open_browser()}"
    yield f"--ServerApp.contents_manager_class={FILES}"
    yield f"--LabApp.default_url={page}"
    yield "--LabApp.custom_css=True"
    yield "--LabApp.expose_app_in_browser=True"  # so that a panel can ask for a view beside the notebook
    yield f"--LabApp.app_settings_dir={folder / 'settings'}"
    yield f"--LabApp.extra_labextensions_path={EXTENSIONS}"
    if os.geteuid() == 0:  # a container's only user; the server listens on this machine alone
        yield "--ServerApp.allow_root=True"


def _environment(folder: Path, token: str) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if name not in FOREIGN},
        # Not among the options, which every user of the machine can list.
        "JUPYTER_TOKEN": token,
        ROOT: str(root()),  # for kernels and terminals, wherever they go
        # A learner's own Jupyter settings and kernels neither help nor disturb.
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "data" / "runtime"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        **forks_allowed(),  # for the programs of notebooks
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
        # One that is damaged has no pictures to show, and must not be in the way of the others.
        with suppress(OSError, ValueError, LookupError, AttributeError, TypeError, nbformat.ValidationError):
            notary.sign(nbformat.read(path, as_version=4))  # type: ignore[no-untyped-call]
    notary.store.close()


def _is_ready(server: Server, port: int, log: Path) -> bool:
    """Wait until this JupyterLab answers at its port; False if another program was quicker to take that.

    Another server may answer there too: only one at which our process listens, and that knows our token,
    is believed. Raises LabError if it ended for another reason, or after three minutes.
    """

    def answers() -> str:
        if server.identity.process() is None:
            if PORT_TAKEN in log.read_text("utf-8", "replace"):
                return "port taken"
            raise LabError(f"JupyterLab ended while it started: the reason stands at the end of {log}.")
        return "ready" if _answers(server, port) else ""

    found = wait_until(
        answers, what="JupyterLab to answer", within=START_SECONDS, otherwise=f"read the end of {log}."
    )
    return found == "ready"


def _answers(server: Server, port: int) -> bool:
    # A proxy is for other machines: through one, this machine's own address leads nowhere.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    ask = urllib.request.Request(
        f"http://{served.reached(port)}/api/status", headers={"Authorization": f"token {server.token}"}
    )
    if port not in _listening(server.identity):
        return False
    try:
        direct.open(ask, timeout=2).close()
    except OSError:  # what urllib raises for "not yet", too
        return False
    return True


def _has_pages(identity: Identity) -> bool:
    """Tell whether a browser is connected: each page of JupyterLab holds a connection while it is open."""
    listening = _listening(identity)
    return any(
        one.status == psutil.CONN_ESTABLISHED and one.laddr.port in listening
        for one in _connections(identity)
    )


def _listening(identity: Identity) -> set[int]:
    return {one.laddr.port for one in _connections(identity) if one.status == psutil.CONN_LISTEN}


def _connections(identity: Identity) -> list[Any]:
    process = identity.process()
    try:
        return list(process.net_connections("tcp")) if process else []
    except psutil.Error:
        return []
