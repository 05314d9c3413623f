"""Opening a browser on this machine, where there is one."""

import html
import os
import sys
import webbrowser
from collections.abc import Mapping
from contextlib import suppress

from threebrokers.files import write_whole
from threebrokers.paths import home

LEADS_ON = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={0}"><title>Three Brokers</title>
</head>
<body><p>This page opens <a href="{0}">another one</a>.</p></body>
</html>
"""


def can_open_browser(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether a browser with windows can be opened here; `BROWSER=none` says no."""
    if environment.get("BROWSER", "").lower() == "none":
        return False
    screen = any(environment.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
    if sys.platform.startswith("linux") and not screen:
        return False  # a text browser would take the terminal over
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def open_with_token(address: str, name: str) -> None:
    """Open an address that holds a token, by a page of this name in the home that leads there.

    Every user of the machine can read a browser's command line, and its owner alone this page: Jupyter
    does the same. Where it cannot be written, or a browser cannot read it, the learner still has the address.
    """
    page = home() / f"{name}.html"
    with suppress(OSError):  # a full disk ends neither a demo nor a JupyterLab that runs
        write_whole(page, LEADS_ON.format(html.escape(address)).encode(), mode=0o600)
        webbrowser.open(page.as_uri())
