"""What tests of killed programs share."""

from types import SimpleNamespace
from typing import Any

import pytest


@pytest.fixture
def lab() -> Any:
    """Return a lab whose programs end at once; `started` has the text of each by its name."""
    started = dict[str, str]()

    def run(name: str, text: str) -> Any:
        started[name] = text
        return SimpleNamespace(wait=lambda within: 0)

    return SimpleNamespace(programs=SimpleNamespace(run=run), started=started, close=lambda: None)
