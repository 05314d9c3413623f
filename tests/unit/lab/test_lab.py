"""What a lab makes ends with it."""

from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from threebrokers import panel
from threebrokers.lab.lab import Lab


class Panels:
    """Notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []

    def watch(self, *asked: object) -> str:
        self.asked.append(asked)
        return f"panel {len(self.asked)}"

    def end(self) -> None:
        self.asked.append(("end",))


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    return Lab("03", SimpleNamespace(bootstrap="127.0.0.1:1", access=None), lambda: ModuleType("lab03"), "a1")


def test_the_panels_of_a_lab_end_with_it(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    panels = Panels()
    monkeypatch.setattr(panel, "Panels", lambda: panels)
    assert str(lab.watch("failsafe", group="alerts")) == "panel 1"
    assert str(lab.watch(group=["alerts", "audit"])) == "panel 2"
    assert str(lab.watch(big=True)) == "panel 3"
    lab.close()
    assert panels.asked == [
        (lab.cluster, ("failsafe",), ("alerts",), False),
        (lab.cluster, None, ("alerts", "audit"), False),
        (lab.cluster, None, (), True),
        ("end",),
    ]


def test_a_lab_without_a_panel_closes(lab: Lab) -> None:
    lab.close()
