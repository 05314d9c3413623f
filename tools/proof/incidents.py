"""What the brokers of a home went through without being asked: told by their logs and by the home's diary."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from threebrokers.cluster import Cluster, action_log
from threebrokers.cluster.actions import Action, action_kind

TIME = r"^(\d\d):(\d\d):(\d\d)\.(\d\d\d) "
FENCED = re.compile(TIME + r".*Fencing broker (\d+) at epoch \d+ because its session has timed out", re.M)
ELECTED = re.compile(TIME + r".*Completed transition to Leader\(", re.M)
# An action's consequences come late: a session and an election, each of up to 3 s on a busy machine, and
# those of a broker that was paused or cut off when it is back.
CONSEQUENCE_SECONDS = 10
DAY = 86_400


@dataclass(frozen=True)
class Unrest:
    """How often a broker was fenced for its silence, and how often a controller was elected."""

    fencings: int
    elections: int

    def since(self, before: "Unrest") -> "Unrest":
        """Return what came after `before`."""
        return Unrest(self.fencings - before.fencings, self.elections - before.elections)

    def __str__(self) -> str:
        return f"{self.fencings} fencings, {self.elections} elections"


def unasked(home: Path) -> Unrest:
    """Return what the logs tell so far and no action explains: one on that broker a fencing, a cut all."""
    actions, cluster = action_log.read(home), Cluster(home)
    fencings = elections = 0
    for path in filter(Path.exists, map(cluster.log, cluster.brokers)):
        text = path.read_text("utf-8", errors="replace")
        fencings += sum(not _asked(m, _of(actions, int(m[5]))) for m in FENCED.finditer(text))
        elections += sum(not _asked(m, actions) for m in ELECTED.finditer(text))
    return Unrest(fencings, elections)


def _of(actions: Iterable[Action], broker: int) -> list[Action]:
    return [action for action in actions if action.broker == broker or action_kind(action.kind).on_links]


def _asked(line: re.Match[str], actions: Iterable[Action]) -> bool:
    """Tell whether one of the actions came shortly before a line of a log, which has no date."""
    hour, minute, second, ms = map(int, line.groups()[:4])
    at = 3600 * hour + 60 * minute + second + ms / 1000
    return any((at - _of_day(action.at)) % DAY < CONSEQUENCE_SECONDS for action in actions)


def _of_day(at: float) -> float:
    when = datetime.fromtimestamp(at)
    return 3600 * when.hour + 60 * when.minute + when.second + when.microsecond / 1e6
