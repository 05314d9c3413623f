"""Unclean elections, told only where the states of the cluster prove them.

A state is no film: between two of them a follower may have caught up, joined the ISR and been elected as
preferred leader. That is clean, and the second state looks just like an unclean election: the new leader was
not in sync before. So the ISR before and the leader after prove nothing by themselves. Three things do:

- **What consumers could read has gone back.** Whoever is elected from the ISR or the ELR has everything below
  the high watermark, and a new leader tells nobody of a high watermark that is lower than the first offset of
  its leader epoch (KIP-207). So a partition that is told in a later leader epoch to be readable up to a lower
  offset has lost records, and that takes an unclean election. Log ends prove less: what lies above the high
  watermark may be cut off by a clean election, too.
- **Nobody led, and then one that was neither in the ISR nor in the ELR.** Only a leader adds to the ISR, and
  each election raises the leader epoch by one. If the epochs say that nothing lies between, nobody added the
  new leader. (A last known leader may be elected when ISR and ELR are empty: that is another thing.)
- **The leader could not have let anybody in.** It was down, paused or cut off from all the others, and still
  is, while the brokers, asked twice with some time between, told of an ISR and an ELR without the new leader,
  which then led in the very next epoch.

What other brokers than the active controller tell may be old news, so the last two want its own view.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from threebrokers.kafka.state import ClusterState, PartitionState

# The ISR and the ELR that are told may be so much older (s): a broker tells of a decision a little later.
SETTLE_SECONDS = 0.25
UNABLE = ("down", "paused")


@dataclass(frozen=True)
class UncleanElection:
    """A leader was elected that was not in sync, as the state of `at` (s since 1970) proves.

    `leader` is the one that was elected; None if several elections came together. If records are lost,
    consumers could read up to the offset `readable_before` and then up to `readable_after`; else these are
    None. A loss that is seen later than its election is told as an election of its own, with `again`.
    """

    at: float
    topic: str
    partition: int
    leader: int | None
    leader_epoch: int
    readable_before: int | None = None
    readable_after: int | None = None
    again: bool = False


@dataclass
class _Known:
    """What earlier states told of a partition.

    `safe` are ISR and ELR. `high` is the highest offset up to which consumers could read, in the leader epoch
    `high_epoch`; `leaderless` holds the epochs since then in which nobody led. In the latest states in a row
    nobody could be let into the ISR: the brokers were asked for the first of these at `stuck_since` (None if
    there are none), for the last at `stuck_until`. In `told_epoch` an unclean election was told.
    """

    topic_id: str
    epoch: int
    leader: int | None
    last_leader: int | None
    safe: frozenset[int]
    high: int | None = None
    high_epoch: int = -1
    leaderless: set[int] = field(default_factory=set)
    stuck_since: float | None = None
    stuck_until: float = 0.0
    told_epoch: int = -1


class Elections:
    """Sees the states of a cluster, oldest first, and tells which of them prove an unclean election."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], _Known] = {}
        self._unable: frozenset[int] = frozenset()

    def see(self, state: ClusterState, apart: Mapping[int, float] | None = None) -> list[UncleanElection]:
        """Take the next state, and return what it proves.

        `apart` says of each broker that is cut off from all the others since when (s since 1970) it is.
        """
        if state.last_response_at != state.at:
            return []  # nobody answered: its topics are those of an earlier state
        unable = {b.id for b in state.brokers if b.state in UNABLE}
        unable |= {broker for broker, since in (apart or {}).items() if since <= _asked(state)}
        self._unable = frozenset(unable)
        found = [self._partition(state, topic.id, p) for topic in state.topics for p in topic.partitions]
        return [election for election in found if election]

    def _partition(self, state: ClusterState, topic_id: str, p: PartitionState) -> UncleanElection | None:
        known = self._known.get((p.topic, p.id))
        if known is None or p.leader_epoch < known.epoch or topic_id != known.topic_id:
            known = self._known[p.topic, p.id] = _Known(
                topic_id, p.leader_epoch, p.leader, p.leader, frozenset({*p.isr, *p.elr})
            )
        lost = _went_back(known, p)
        from_outside = p.leader_epoch > known.epoch and self._was_outside(known, p)
        # If only one election since that high watermark gave a leader, then it gave this one.
        only_one = p.leader_epoch - known.high_epoch - len(known.leaderless) == 1
        election = None
        if lost or from_outside:
            election = UncleanElection(
                at=state.at,
                topic=p.topic,
                partition=p.id,
                leader=p.leader if from_outside or only_one else None,
                leader_epoch=p.leader_epoch,
                readable_before=known.high if lost else None,
                readable_after=p.high_watermark if lost else None,
                again=p.leader_epoch == known.told_epoch,
            )
            known.told_epoch = p.leader_epoch
        self._remember(state, known, p, lost)
        return election

    def _was_outside(self, known: _Known, p: PartitionState) -> bool:
        """Tell whether the new leader of this state is proved to have been outside ISR and ELR till then."""
        if p.leader is None or p.leader in known.safe or not known.safe or p.leader_epoch != known.epoch + 1:
            return False
        if known.leader is None:
            return known.last_leader not in (None, p.leader) and known.stuck_since is not None
        settled = known.stuck_since is not None and known.stuck_until - known.stuck_since >= SETTLE_SECONDS
        return settled and known.leader in self._unable

    def _remember(self, state: ClusterState, known: _Known, p: PartitionState, lost: bool) -> None:
        if p.high_watermark is not None and (lost or known.high is None or p.high_watermark >= known.high):
            known.high, known.high_epoch = p.high_watermark, p.leader_epoch
            known.leaderless.clear()
        if p.leader is None:
            known.leaderless.add(p.leader_epoch)
        same = (p.leader_epoch, p.leader) == (known.epoch, known.leader)
        # An active controller that is apart itself does not know what the others decide.
        informed = state.informed and state.quorum_leader not in (None, *self._unable)
        if not informed or (p.leader is not None and p.leader not in self._unable):
            known.stuck_since = None
        elif known.stuck_since is None or not same:
            known.stuck_since = _asked(state)
        known.stuck_until = _asked(state)
        known.epoch, known.leader = p.leader_epoch, p.leader
        known.last_leader = p.leader if p.leader is not None else known.last_leader
        if informed:
            known.safe = frozenset({*p.isr, *p.elr})


def _went_back(known: _Known, p: PartitionState) -> bool:
    return (
        known.high is not None
        and p.high_watermark is not None
        and p.high_watermark < known.high
        and p.leader_epoch > known.high_epoch
    )


def _asked(state: ClusterState) -> float:
    return state.at if state.asked_at is None else state.asked_at
