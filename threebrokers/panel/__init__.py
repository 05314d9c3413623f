"""The live panel: what the cluster does now, on one page that goes on when a broker is gone."""

from threebrokers.panel.live import Panels
from threebrokers.panel.widget import Panel

__all__ = ["Panel", "Panels"]
