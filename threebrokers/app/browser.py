"""Whether a browser can be opened on this machine."""

import os
import sys
import webbrowser
from collections.abc import Mapping


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
