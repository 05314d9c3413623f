"""Three Brokers: an interactive Kafka course on a real cluster."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threebrokers.cluster import Cluster
    from threebrokers.errors import LabError
    from threebrokers.lab.lab import Lab
    from threebrokers.lab.opening import open_lab

__all__ = ["PUBLIC", "Cluster", "Lab", "LabError", "open_lab"]

# The modules that a lesson may import from. Their names stay; all others may change without notice.
PUBLIC = (
    "threebrokers",
    "threebrokers.cluster.settings",
    "threebrokers.data",
    "threebrokers.diagrams",
    "threebrokers.kafka.log_reader",
    "threebrokers.lab.orders",
    "threebrokers.lab.scenarios",
    "threebrokers.lab.transfers",
    "threebrokers.ledger",
    "threebrokers.spark",
)

_MODULES = {"LabError": "errors", "Cluster": "cluster", "Lab": "lab.lab", "open_lab": "lab.opening"}


# Every command and every program imports this package, and few of them need a lab.
def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
