"""The Docker engine of this machine, as far as three brokers need it. Every fault is one sentence."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from threebrokers.errors import LabError

# Statistics in one shot came with this engine; an older compose was never tried.
ENGINE, COMPOSE = (20, 10), (2, 20)
FIRST_API = "1.41"  # that engine's; asked for its version, a newer one answers too
CALL_SECONDS, COMMAND_SECONDS = 20, 180
LOCAL = "or take the engine that needs no Docker: THREEBROKERS_CLUSTER=local"
LOOPBACK = ("", "localhost", "127.0.0.1", "::1")


def client() -> Any:
    """Return a client (docker.APIClient) of the Docker engine that the `docker` program uses.

    Raises LabError if there is no Docker, or an old one, or if it does not answer.
    """
    version = _compose_version()
    if version < COMPOSE:
        raise LabError(
            f"docker compose is {_dotted(version)}, and the course needs {_dotted(COMPOSE)} or newer",
            f"install the present package `docker-compose-plugin`, {LOCAL}",
        )
    address = _address()
    where = urlsplit(address)
    if where.scheme in ("tcp", "http", "https", "ssh") and (where.hostname or "") not in LOOPBACK:
        raise LabError(
            f"Docker runs on another machine ({address}), and brokers there listen for that machine only",
            f"choose the Docker of this one (`docker context use default`, unset DOCKER_HOST), {LOCAL}",
        )
    with faults_told(address):
        told = _connected(address, FIRST_API).version(api_version=False)
        made = _connected(address, str(told["ApiVersion"]))
    if _numbers(told["Version"]) < ENGINE:
        raise LabError(
            f"The Docker engine is {told['Version']}, and the course needs {_dotted(ENGINE)} or newer",
            f"update it, {LOCAL}",
        )
    return made


@contextmanager
def faults_told(address: str = "") -> Iterator[None]:
    """Turn what Docker answers, or that it does not answer, into a LabError."""
    from docker.errors import APIError, DockerException, NotFound
    from requests import RequestException

    try:
        yield
    except NotFound as fault:
        raise LabError(
            f"Docker does not know that any more ({fault.explanation})", "`threebrokers up` makes it again"
        ) from fault
    except APIError as fault:
        raise LabError(
            f"Docker refused ({fault.explanation or fault})", "see `threebrokers doctor`"
        ) from fault
    except (DockerException, RequestException, OSError) as fault:
        raise _silence(address, fault) from fault


def compose(
    file: Path,
    project: str,
    arguments: list[str],
    values: Mapping[str, str],
    within: float | None = None,
) -> str:
    """Run `docker compose` for a project and return what it prints; `values` fill the file's ${…}.

    Raises LabError with Docker's own last words if it fails, or takes more than `within` seconds (three
    minutes unless told).
    """
    within = COMMAND_SECONDS if within is None else within
    command = [_program(), "compose", "--file", str(file), "--project-name", project, *arguments]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COMPOSE_", "KAFKA_"))}
    try:
        done = subprocess.run(
            command,
            env=kept | dict(values),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=within,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LabError(
            f"docker compose {arguments[0]} did not end within {within:g} s",
            "run `threebrokers doctor`, then the same command again",
        ) from None
    if done.returncode != 0:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise LabError(
            f"docker compose {arguments[0]} failed ({said[-1] if said else 'it wrote nothing'})",
            "run `threebrokers doctor`, it looks for the cause",
        )
    return done.stdout


def _connected(address: str, version: str) -> Any:
    from docker import APIClient  # the local engine does without

    made = APIClient(base_url=address, version=version, timeout=CALL_SECONDS)
    made.trust_env = False  # a proxy is for other machines
    return made


def _program() -> str:
    found = shutil.which("docker")
    if found is None:
        raise LabError(
            "Docker was not found",
            "install Docker Desktop (macOS, Windows) or Docker Engine with its compose "
            f"plugin (Linux), {LOCAL}",
        )
    return found


def _compose_version() -> tuple[int, ...]:
    told = _asked("compose", "version", "--short")
    if told is None:
        raise LabError(
            "Docker is here and its `compose` plugin is not",
            f"install the package `docker-compose-plugin` (Debian: `docker-compose`), {LOCAL}",
        )
    return _numbers(told)


def _address() -> str:
    """Return where the `docker` program finds its engine: Docker Desktop and others choose it by context."""
    if given := os.environ.get("DOCKER_HOST"):
        return given
    told = _asked("context", "inspect", "--format", "{{json .Endpoints.docker.Host}}")
    try:
        return str(json.loads(told or "")) or "unix:///var/run/docker.sock"
    except ValueError:
        return "unix:///var/run/docker.sock"


def _asked(*arguments: str) -> str | None:
    """Return what the `docker` program prints, None if it fails."""
    try:
        done = subprocess.run(
            [_program(), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=CALL_SECONDS,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _silence(address: str, fault: BaseException) -> LabError:
    at = f" at {address}" if address else ""
    if "PermissionError" in repr(fault) or "Permission denied" in str(fault):
        return LabError(
            f"You may not use Docker{at}", f"`sudo usermod -aG docker $USER`, log in again, {LOCAL}"
        )
    how = "open Docker Desktop, or `sudo systemctl start docker`"
    return LabError(f"Docker does not answer{at}", f"start it ({how}), {LOCAL}")


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.strip().lstrip("v").split(".")[:2]
    digits = ["".join(letter for letter in part if letter.isdigit()) for part in parts]
    return tuple(int(part or 0) for part in digits)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
