"""A recording that can be asked, shown, kept and played again; no cluster is needed for any of it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from threebrokers.cluster.actions import Action
from threebrokers.errors import LabError
from threebrokers.files import write_whole
from threebrokers.kafka.state import ClusterState
from threebrokers.recorder import file, timeline
from threebrokers.recorder.data import KINDS, Flow, RecordingData
from threebrokers.recorder.gaps import Gap, leaderless, silences, unusual
from threebrokers.recorder.timeline import TimeLine

if TYPE_CHECKING:
    from threebrokers.panel import Panel

LONG_SECONDS = 0.5


class Recording:
    """One recording. Its states, actions, marks and flows were seen; its gaps are concluded from them."""

    def __init__(self, data: RecordingData) -> None:
        self._data = data

    @property
    def data(self) -> RecordingData:
        """Everything that was recorded, as one plain value."""
        return self._data

    @property
    def actions(self) -> tuple[Action, ...]:
        """What was done to brokers, oldest first."""
        return self.data.actions

    @property
    def states(self) -> tuple[ClusterState, ...]:
        """The states of the cluster, oldest first."""
        return self.data.states

    @property
    def flows(self) -> tuple[Flow, ...]:
        """When each client sent, acknowledged, failed, delivered or processed."""
        return self.data.flows

    def gaps(self, longer_than: float = LONG_SECONDS) -> list[Gap]:
        """Return what stands out, in order of time: `longer_than` s or more without something.

        A pause between records counts if it is also ten times as long as that client's usual one.
        """
        data = self.data
        pauses = [gap for gap in silences(data) if gap.seconds >= longer_than and unusual(data, gap)]
        found = [gap for gap in leaderless(data) if gap.seconds >= longer_than]
        return sorted(found + pauses, key=lambda gap: gap.start)

    def longest_gap(
        self,
        kind: str,
        after: Action | None = None,
        *,
        client: str | None = None,
        topic: str | None = None,
        partition: int | None = None,
    ) -> Gap:
        """Return the longest time without one kind of thing, also if it is short.

        `kind` is "sent", "acknowledged", "failed", "delivered" or "processed": the longest time between
        two records of one client and partition. Or "leader" or "quorum": 0 s if there always was one.
        With `after`, one of `actions`: only what came after it and before the next action. Raises LabError
        if there is no such kind, or too little was recorded of it.
        """
        wanted = {"client": client, "topic": topic, "partition": partition}
        wanted = {name: value for name, value in wanted.items() if value is not None}
        if kind not in (*KINDS, "leader", "quorum"):
            raise LabError(f"A recording knows no {kind!r}", f"it knows {', '.join(KINDS)}, leader, quorum")
        found = silences(self.data, [kind]) if kind in KINDS else leaderless(self.data)
        fitting = [
            gap
            for gap in found
            if gap.kind == kind
            and (after is None or gap.after == after)
            and all(getattr(gap, name) == value for name, value in wanted.items())
        ]
        if not fitting and kind not in KINDS:
            return Gap(kind, after.at if after else self.data.began, 0.0, after)
        if not fitting:
            when = f" between {after.kind}({after.broker}) and the next action" if after else ""
            raise LabError(
                f"Fewer than two records were {kind}{when}, so there is nothing to measure",
                "see with recording.show() what the recording holds",
            )
        return max(fitting, key=lambda gap: gap.seconds)

    def show(self) -> TimeLine:
        """Return the whole recording as one picture, and the same in words."""
        return timeline.draw(self.data, self.gaps())

    def replay(self) -> "Panel":
        """Play the recording again in the live panel; it needs no brokers."""
        from threebrokers.panel.replay import replay  # widgets only where one is shown

        return replay(self.states, self.actions)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the recording to a file, for example `kill.json.gz`, and return its path. Raises LabError."""
        target = Path(path)
        try:
            write_whole(target, file.dumps(self.data, self.gaps()))
        except OSError as fault:
            raise LabError(
                f"The recording cannot be written to {target} ({fault.strerror})", "choose another file"
            ) from fault
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Recording":
        """Read a recording that was saved. Raises LabError if the file is not there, or is no recording."""
        try:
            data = file.loads(Path(path).read_bytes())
        except OSError as fault:
            raise LabError(f"The recording {path} cannot be read ({fault.strerror}).") from fault
        except ValueError as fault:
            raise LabError(
                f"The file {path} is no recording of this course ({fault})",
                "choose one that recording.save() wrote",
            ) from fault
        return cls(data)

    def __repr__(self) -> str:
        data = self.data
        blind = sum(missed.end - missed.start for missed in data.missed)
        records = sum(flow.records for flow in data.flows)
        return (
            f"Recorder of {data.ended - data.began:.1f} s: {len(data.states)} states, "
            f"{len(data.actions)} actions, {records} records seen by clients"
            + (f"; brokers not seen for {blind:.1f} s" if blind else "")
        )
