"""Where JupyterLab listens, and the address that a browser outside of a container needs."""

import ipaddress
import os
from collections.abc import Iterator

from threebrokers.cluster.ports import HOST
from threebrokers.errors import LabError

LISTEN = "THREEBROKERS_LISTEN"


def listen() -> str:
    """Return the address at which JupyterLab listens: 127.0.0.1, or what THREEBROKERS_LISTEN names.

    In a container it has to be another one, or nobody outside could reach it. Raises LabError.
    """
    asked = os.environ.get(LISTEN) or HOST
    try:
        return str(ipaddress.ip_address(asked))
    except ValueError:
        raise LabError(f"{LISTEN} names {asked!r}, which is no address", "0.0.0.0 means every one") from None


def reached(port: int) -> str:
    """Return the address and the port at which this machine reaches JupyterLab."""
    address = ipaddress.ip_address(listen())
    if address.is_unspecified:  # every address: this machine takes its own
        address = ipaddress.ip_address(HOST if address.version == 4 else "::1")
    return f"{address}:{port}" if address.version == 4 else f"[{address}]:{port}"


def base(port: int) -> str:
    """Return the beginning of the address that a browser needs."""
    return _codespace(port) or f"http://{reached(port)}"


def options(port: int) -> Iterator[str]:
    """Yield JupyterLab's options for it."""
    yield f"--ServerApp.ip={listen()}"
    outside = _codespace(port)
    if outside:  # its pages come from another machine's name
        yield f"--ServerApp.allow_origin={outside}"
        yield "--ServerApp.allow_remote_access=True"


def _codespace(port: int) -> str | None:
    """Return the address that GitHub's Codespaces gives to a port of this machine, if it is one of them."""
    name = os.environ.get("CODESPACE_NAME")
    domain = os.environ.get("GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN")
    return f"https://{name}-{port}.{domain}" if name and domain else None
