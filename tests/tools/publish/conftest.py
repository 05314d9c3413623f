"""What tests of repeated faults share."""

from types import SimpleNamespace
from typing import Any

import pytest


@pytest.fixture
def lab() -> Any:
    """Return a lab whose programs end at once; `started` has the text of each by its name.

    `closed` counts how often its clients were closed, and `healed` how often links were mended.
    """
    started = dict[str, str]()
    made = SimpleNamespace(started=started, closed=0, healed=0)

    def run(name: str, text: str) -> Any:
        started[name] = text
        return SimpleNamespace(wait=lambda within: 0)

    def close() -> None:
        made.closed += 1

    def heal() -> None:
        made.healed += 1

    made.programs, made.close, made.cluster = SimpleNamespace(run=run), close, SimpleNamespace(heal=heal)
    return made
