"""A stand-in for a cluster that keeps a log of what is done to it, as a real one does."""

from pathlib import Path
from typing import Self

from threebrokers.cluster.action_log import ActionReader


class LoggedBench:
    """Stands in for a cluster and its poller: `readers` are all that were made of its log, in this order."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.readers: list[ActionReader] = []

    def poller(self) -> Self:
        return self

    def action_reader(self) -> ActionReader:
        self.readers.append(ActionReader(self.home))
        return self.readers[-1]
