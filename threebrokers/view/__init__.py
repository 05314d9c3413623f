"""The live panel: what the cluster does now, on one page that goes on when a broker is gone."""

from threebrokers.view.event import Event
from threebrokers.view.events import events
from threebrokers.view.frame import frame
from threebrokers.view.panel import Panel
from threebrokers.view.panels import Panels
from threebrokers.view.replay import replay
from threebrokers.view.words import words

__all__ = ["Event", "Panel", "Panels", "events", "frame", "replay", "words"]
