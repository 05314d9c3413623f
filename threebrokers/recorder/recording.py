"""A recording that can be asked, shown, kept and played again; no cluster is needed for any of it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from threebrokers.cluster.actions import Action
from threebrokers.errors import LabError
from threebrokers.files import write_whole
from threebrokers.kafka.elections import UncleanElection
from threebrokers.kafka.state import ClusterState
from threebrokers.recorder import file, timeline
from threebrokers.recorder.data import KINDS, Flow, RecordingData
from threebrokers.recorder.elections import unclean_elections
from threebrokers.recorder.gaps import MEMBER, Gap, after_harm, leaderless, silences, since, unusual
from threebrokers.recorder.members import idle
from threebrokers.recorder.timeline import TimeLine
from threebrokers.text import listed

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
    def begun(self) -> bool:
        """Whether there is anything to ask: a recording that is made may not have begun yet."""
        return True

    @property
    def actions(self) -> tuple[Action, ...]:
        """What was done to brokers, oldest first."""
        return self.data.actions

    def action(self, kind: str, broker: int | None = None) -> Action:
        """Return the one action of this kind ("kill", "cut", …), or the one on this broker.

        Raises LabError if there is none, or more than one: then it is not known which one is meant, for
        example because somebody pressed a button of a panel meanwhile.
        """
        found = [a for a in self.actions if a.kind == kind and broker in (None, a.broker)]
        if len(found) == 1:
            return found[0]
        where = "" if broker is None else f" of broker {broker}"
        began = self.data.began
        times = listed(f"{a.kind}({a.broker}) at {a.at - began:.1f} s" for a in found or self.actions)
        told = f"it has {times}" if found or self.actions else "nothing was done to any broker in it"
        count = "no" if not found else "more than one"
        raise LabError(
            f"This recording has {count} {kind}{where}: {told}",
            "run the cell that records again, and press no button of a panel meanwhile",
        )

    @property
    def states(self) -> tuple[ClusterState, ...]:
        """The states of the cluster, oldest first."""
        return self.data.states

    @property
    def flows(self) -> tuple[Flow, ...]:
        """When each client sent, acknowledged, failed, delivered or processed."""
        return self.data.flows

    def unclean_elections(self) -> list[UncleanElection]:
        """Return each election of a leader that was not in sync, as far as the states prove it."""
        return unclean_elections(self.data)

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
        two records of one client and partition. Or "leader" or "quorum": 0 s if there always was one. Or
        "member": a member of a group that had partitions held none; 0 s if it always held some.
        With `after`, one of `actions`: only silences that began after it and before the next action. A
        silence between two records that began before the action counts from the action on. Raises LabError
        if there is no such kind, or too little was recorded.
        """
        wanted = {"client": client, "topic": topic, "partition": partition}
        wanted = {name: value for name, value in wanted.items() if value is not None}
        others = {"leader": leaderless, "quorum": leaderless, MEMBER: idle}
        if kind not in (*KINDS, *others):
            raise LabError(f"A recording knows no {kind!r}", f"it knows {', '.join((*KINDS, *others))}")
        found = silences(self.data, [kind]) if kind in KINDS else others[kind](self.data)
        found = [
            gap
            for gap in found
            if gap.kind == kind and all(getattr(gap, name) == value for name, value in wanted.items())
        ]
        fitting = [gap for gap in found if after is None or gap.after == after]
        if after and kind in KINDS:
            fitting += [cut for gap in found if (cut := since(gap, after))]
        if not fitting and kind not in KINDS:
            return Gap(kind, after.at if after else self.data.began, 0.0, after)
        if not fitting:
            when = f" between {after.kind}({after.broker}) and the next action" if after else ""
            raise LabError(
                f"Fewer than two records were {kind}{when}, so there is nothing to measure",
                "see with recording.show() what the recording holds",
            )
        return max(fitting, key=lambda gap: gap.seconds)

    def show(self, partitions: str = "") -> TimeLine:
        """Return the whole recording as one picture, and the same in words.

        Each topic has one row; with `partitions`, the name of a topic, each of its partitions has one too.
        Raises LabError if the recording holds no such topic.
        """
        data, gaps = self.data, self.gaps()
        topics = {topic.name for state in data.states for topic in state.topics}
        if partitions and partitions not in topics:
            raise LabError(
                f"This recording holds no topic {partitions!r}", f"it holds {listed(sorted(topics))}"
            )
        gaps += [gap for gap in after_harm(data) if gap not in gaps]
        return timeline.draw(data, sorted(gaps, key=lambda gap: gap.start), partitions)

    def members(self) -> TimeLine:
        """Return one picture of the members of groups, and the same in words.

        For each: which partitions it held, as it was told itself, and the records that it got.
        """
        return timeline.draw_members(self.data)

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
            f"Recording of {data.ended - data.began:.1f} s: {len(data.states)} states, "
            f"{len(data.actions)} actions, {records} records seen by clients"
            + (f"; brokers not seen for {blind:.1f} s" if blind else "")
        )
