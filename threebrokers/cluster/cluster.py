"""Three brokers, whoever runs them."""

from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from threebrokers import clock
from threebrokers import paths as places
from threebrokers.cluster import (
    action_log,
    engine,
    link_faults,
    programs,
    quorum,
    recovery,
    registration,
    tools,
)
from threebrokers.cluster.action_log import ActionReader
from threebrokers.cluster.actions import Action, action_kind, hindered
from threebrokers.cluster.link_faults import Fault, Peers
from threebrokers.cluster.process import BrokerProcess, Usage
from threebrokers.cluster.remote import not_yours
from threebrokers.cluster.settings import BROKERS
from threebrokers.errors import LabError
from threebrokers.kafka import admin
from threebrokers.kafka.access import Access
from threebrokers.kafka.patience import patient_state, patient_views
from threebrokers.kafka.state import ClusterState
from threebrokers.waiting import poll

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

    from threebrokers.kafka.poller import ClusterPoller

LEADER_SECONDS = 10  # until a partition has a leader again, or has none because its brokers are down


class Cluster:
    """A real Kafka cluster of three brokers, with buttons to break it.

    The cluster belongs to a home, not to this object: another notebook, or this one after a restart,
    finds the same brokers.
    """

    def __init__(self, home: Path | None = None, engine_name: str = "") -> None:
        self._engine = engine.chosen(home or places.home(), engine_name)

    @property
    def engine(self) -> str:
        """What runs the brokers: "local" (this machine's processes), "compose" (containers) or "remote"."""
        return self._engine.name

    @property
    def access(self) -> Access | None:
        """How to get into a cluster that is not the learner's; None for brokers of one's own."""
        return self._engine.access

    @property
    def brokers(self) -> tuple[int, ...]:
        """The numbers of the brokers. Raises LabError if a cluster elsewhere is not reached."""
        return self._engine.brokers

    @property
    def bootstrap(self) -> str:
        """All three addresses, as clients want them. Raises LabError before the first start."""
        return self._addresses(BROKERS)

    def expect_own(self, what: str) -> None:
        """Raise NotYoursError, with `what` is not done, if the cluster is not the learner's."""
        if self.access:
            raise not_yours(self.access, what)

    def address(self, broker: int) -> str:
        """Return the address ("host:port") at which one broker serves clients."""
        self._known(broker)
        found = self._engine.addresses()
        if broker not in found:
            raise LabError(f"There is no broker {broker} now", "`threebrokers status` shows which there are")
        return found[broker]["CLIENT"]

    def up(self, say: Callable[[str], None] = lambda text: None) -> list[int]:
        """Start the brokers that are missing and wait until all three are registered; return those.

        A broker that sends clients to another address than its own is started again. Links are healed.
        Raises LabError with the next step if a broker cannot start.
        """
        self.expect_own("no broker of it is started here")
        engine.refuse_second(self._engine)
        paused = [n for n, process in self._engine.processes().items() if process.state == "paused"]
        started = self._engine.up(say)
        action_log.trim(self._engine.home)
        at = min(started.values(), default=clock.now())  # who was paused goes on first
        self._report(*(Action(at, "resume", n) for n in paused))
        self._report(*(Action(at, "start", n) for n, at in started.items()))
        self._heal_all()  # as a paused broker goes on: else who is cut off could not register
        late = sorted(self._engine.renew_disks())
        again = self._engine.wait_for_ports([n for n in BROKERS if n not in late], self._engine.start_seconds)
        self._report(*(Action(at, "start", n) for n, at in again.items() if n not in started))
        for n in late:
            self._start(n, late)
        own = {n: self.address(n) for n in BROKERS}
        misleading = registration.misleading(self, own, self._engine.start_seconds)
        for n in misleading:
            say(f"Broker {n} sends clients to another address than its own: starting it again …")
            self.stop(n)
            self.start(n)
        return sorted({*started, *again, *late, *misleading})

    def ended_unasked(self) -> list[int]:
        """Return the brokers that have ended although nobody stopped or killed them through the course."""
        ended = self._engine.ended()
        last = {action.broker: action_kind(action.kind) for action in (self.actions() if ended else ())}
        return [n for n in ended if not (n in last and last[n].leaves == "down")]

    def down(self) -> list[int]:
        """End the notebooks' programs, stop all brokers and return those that ran. Their data stays."""
        self.expect_own("no broker of it is stopped here")
        programs.end_all(self._engine.home)
        return self._engine.down()

    def reset(self, say: Callable[[str], None] = lambda text: None) -> None:
        """Kill the brokers, delete all topics, records and groups, and start a fresh cluster."""
        self.expect_own("nothing of it is deleted here")
        say("Deleting all topics, records, groups and broker logs …")
        self.erase()
        self.up(say)

    def erase(self) -> None:
        """Kill the brokers and delete their data, logs and configuration; nothing is started again."""
        self.expect_own("nothing of it is deleted here")
        programs.end_all(self._engine.home)
        self._engine.erase()

    def start(self, broker: int, *, advertised: str = "") -> None:
        """Start one broker that is down and wait until it is registered.

        With `advertised` ("host:port") it sends its clients to this address instead of its own, until it is
        started again; `up()` does that.
        """
        self._known(broker)
        self._start(broker, self._engine.renew_disks(), advertised)
        self._tell_healed()
        self._engine.wait_for_ports([broker], self._engine.start_seconds)
        others = [n for n, p in self._engine.processes().items() if n != broker and p.state == "up"]
        if others:  # alone it has no quorum, so nothing can register it
            registration.wait_registered(self, {broker}, self._engine.start_seconds)
        if others and advertised:
            registration.wait_told(self, broker, advertised, self._engine.start_seconds)

    def stop(self, broker: int, *, force: bool = False) -> None:
        """Shut one broker down cleanly: it hands its leaderships over first."""
        self._action("stop", broker, force, self._engine.stop)

    def kill(self, broker: int, *, force: bool = False) -> None:
        """Kill one broker (SIGKILL): it has no time to say anything to anybody."""
        self._action("kill", broker, force, self._engine.kill)

    def pause(self, broker: int, *, force: bool = False) -> None:
        """Freeze one broker (SIGSTOP): it is there and answers nobody."""
        self._action("pause", broker, force, self._engine.pause)

    def resume(self, broker: int) -> None:
        """Let a paused broker go on."""
        self._known(broker)
        self._do("resume", broker, self._engine.resume)

    def cut(self, broker: int, from_: Peers = None, *, force: bool = False) -> None:
        """Break the links of a broker, both ways: new connections fail.

        What is connected ends at once (local engine) or falls silent, as when a cable is pulled (compose).
        `from_` is "clients", "brokers" (the copying of records), "quorum" (metadata and heartbeats), the
        number of another broker, or a list of these; unless told the broker loses the others and the
        quorum, and clients still reach it.
        """
        self._hinder(Fault("cut", broker, link_faults.chosen(broker, from_)), force)

    def stall(self, broker: int, from_: Peers = None, *, force: bool = False) -> None:
        """Let nothing pass on the links of a broker, as `cut` does, but let the connections stand."""
        self._hinder(Fault("stall", broker, link_faults.chosen(broker, from_)), force)

    def slow(self, broker: int, ms: float, from_: Peers = None, *, answers: bool = False) -> None:
        """Delay what passes on the links of a broker by so many ms: each way, or only `answers`."""
        peers = link_faults.chosen(broker, from_)
        self._hinder(link_faults.slowness(broker, peers, ms, answers=answers), force=True)

    def heal(self, broker: int | None = None) -> None:
        """Mend the links of a broker, or of all; what a stalled link held back arrives now."""
        if broker is not None:
            self._known(broker)
        were = self.faults()
        at = self._engine.change_links(lambda faults: link_faults.healed(faults, broker))
        left = self.faults()
        # Who reads the actions takes a broker that was healed for whole: what is left of its faults is told
        # once more.
        for n in sorted({fault.broker for fault in were if fault not in left}):
            again = [Action(at, f.effect, n, f.words) for f in left if f.broker == n]
            self._report(Action(at, "heal", n), *again)

    def recover(self) -> None:
        """Undo every fault: start and resume brokers, heal links, and wait for full ISRs and first leaders.

        A first leader is the preferred one, the first replica of its partition. Raises LabError after 40 s.
        """
        recovery.recover(self)

    def wait_in_sync(self, topics: Collection[str] = ()) -> None:
        """Start or resume the brokers that are missing, and wait until all replicas are in sync.

        All replicas, or those of the topics that are named. Raises LabError after 40 s.
        """
        recovery.wait_in_sync(self, topics)

    def faults(self) -> list[Fault]:
        """Return what is wrong with the links now. Raises LabError if their process has died."""
        return self._engine.faults()

    def quorum_impact(self, broker: int) -> str:
        """Say what it would cost to stop, kill or pause this broker now; empty if two others stay up."""
        return self.quorum_impacts().get(broker, "")

    def quorum_impacts(self) -> dict[int, str]:
        """Say that for each broker, of one look at all of them; nothing of brokers that are not yours."""
        if self.access:
            return {}
        return quorum.impacts(set(quorum.answering(self._engine)))

    def actions(self, since: float = 0.0) -> list[Action]:
        """Return what was done to the brokers since then (s since 1970), by any program; oldest first.

        Raises NotYoursError if nothing can be done to them: what looks for it is not to wait for it.
        """
        self.expect_own("nothing is done to its brokers here")
        return [action for action in action_log.read(self._engine.home) if action.at >= since]

    def action_reader(self) -> ActionReader:
        """Return what tells, each time it is asked, what has been done to the brokers meanwhile."""
        return ActionReader(self._engine.home)

    def processes(self) -> dict[int, BrokerProcess]:
        """Return how each broker's process is now: its state, process id and memory (bytes)."""
        return self._engine.processes()

    def usage(self) -> dict[int, Usage]:
        """Return for each running broker its processor time (s) and what it read from the disk (bytes)."""
        return self._engine.usage()

    def admin(self) -> "AdminClient":
        """Return a fresh AdminClient: one that has lived through a broker's death can hold old news.

        It is given the brokers that are up and not cut off: another takes a question and never answers.
        """
        return admin.admin(self._addresses(quorum.answering(self._engine) or BROKERS))

    def poller(self) -> "ClusterPoller":
        """Return what asks every broker by itself, past any links, also while some of them are gone."""
        from threebrokers.kafka.poller import ClusterPoller  # kafka-python, which takes 0.2 s to import

        if self.access is None:
            return ClusterPoller(self.processes, self._engine.listening)
        from threebrokers.kafka.entrance import connector

        return ClusterPoller(self.processes, self._engine.listening, connector(self.access))

    def state(self, topics: Sequence[str] | None = None, groups: Sequence[str] = ()) -> ClusterState:
        """Return the state now: brokers, quorum, these topics (all if None) and these groups.

        Every broker is asked by itself, and one that runs and does not answer is asked again, for 1.5 s. As
        long as the others count it, or none of them answers, it may be busy: then that goes on for 6 s. If
        nobody has answered, `last_response_at` is None and there are no topics.
        """
        with closing(self.poller()) as poller:
            return patient_state(poller, topics, groups)

    def views(self, topics: Sequence[str] | None = None) -> dict[int, ClusterState]:
        """Return what each running broker says by itself: they need not agree at every moment.

        It tells offsets of its own copies only, and who leads the quorum only if it does so itself. A broker
        that does not answer in the time that `state` gives it is left out.
        """
        with closing(self.poller()) as poller:
            return patient_views(poller, topics)

    def wait_for_markers(self) -> None:
        """Wait, for 3 s at most, until readers can see what transactions have committed just before."""
        with closing(self.poller()) as poller:
            poller.wait_for_markers()

    def tool(self, name: str, *arguments: str, typed: str = "") -> str:
        """Run one of Kafka's own command-line tools, for example "kafka-topics", and return its output.

        `typed` is what you would type into it. It is given the addresses that `admin` is given.
        """
        up = quorum.answering(self._engine)
        try:
            return tools.run(name, list(arguments), self._addresses(up or BROKERS), typed, self.access)
        except tools.ToolTimeoutError as fault:
            if self.access or len(up) >= quorum.QUORUM:
                raise
            raise quorum.unanswered(name, up) from fault

    def segments(self, topic: str, partition: int, broker: int | None = None) -> list[Path]:
        """Return the files of one partition on one broker, the leader unless told, oldest first."""
        if broker is None:
            broker = self._leader(topic, partition)
        self._known(broker)
        return self._engine.segments(topic, partition, broker)

    def _leader(self, topic: str, partition: int) -> int:
        # On a busy machine a broker may lose its session; a moment later somebody leads again.
        for state in poll(lambda: self.state([topic]), LEADER_SECONDS):
            found, heard = state.topic(topic), state.last_response_at is not None
            if not heard and any(broker.state == "unknown" for broker in state.brokers):
                continue  # it runs, and may be busy
            if not heard:
                break
            if found is None or partition >= len(found.partitions):
                raise LabError(
                    f"There is no partition {partition} of a topic '{topic}'", "see kafka-topics --list"
                )
            leader = found.partitions[partition].leader
            if leader is not None:
                return leader
        if not heard:
            raise LabError("No broker answers, so nobody tells who leads: run `threebrokers up`.")
        raise LabError(
            f"Partition {partition} of '{topic}' has had no leader for {LEADER_SECONDS} s",
            "start its brokers, with `lab.cluster.up()`",
        )

    def log(self, broker: int) -> Path:
        """Return the path of one broker's own log file, in which it tells what it does."""
        self._known(broker)
        return self._engine.log(broker)

    def configuration(self, broker: int) -> Path:
        """Return the path of the file from which one broker reads its settings."""
        self._known(broker)
        return self._engine.configuration(broker)

    def _start(self, broker: int, new_disks: Collection[int], advertised: str = "") -> None:
        if broker in new_disks:
            recovery.lead_without(self, broker)
        runs = not self.access and self._engine.processes()[broker].state != "down"
        at = self._engine.start(broker, advertised)
        if not runs:  # who starts a broker that runs has done nothing to it
            self._report(Action(at, "start", broker))

    def _heal_all(self) -> None:
        if self.faults():
            self.heal()
        self._tell_healed()

    def _tell_healed(self) -> None:
        """Report links as mended that were broken when the process that carries them was started again."""
        at, actions = clock.now(), self.actions()
        if lost := [n for n in BROKERS if hindered(actions, n, at)]:
            still = {fault.broker for fault in self.faults()}
            self._report(*(Action(at, "heal", n) for n in lost if n not in still))

    def _addresses(self, brokers: Sequence[int]) -> str:
        if self.access:
            return self.access.bootstrap
        addresses = self._engine.addresses()
        if not addresses:
            raise LabError("No cluster has been started in this home yet", "run `threebrokers up`")
        return ",".join(addresses[n]["CLIENT"] for n in brokers)

    def _action(self, kind: str, broker: int, force: bool, action: Callable[[int], float]) -> None:
        self._known(broker)
        if not force and (cost := self.quorum_impact(broker)):
            raise LabError(f"{cost}; if you want to see that, say {kind}({broker}, force=True).")
        self._do(kind, broker, action)

    def _do(self, kind: str, broker: int, action: Callable[[int], float]) -> None:
        self._report(Action(action(broker), kind, broker))

    def _report(self, *actions: Action) -> None:
        for action in actions:
            action_log.write(self._engine.home, action)

    def _hinder(self, fault: Fault, force: bool) -> None:
        self._known(fault.broker)
        if not force and "quorum" in fault.peers and (cost := self.quorum_impact(fault.broker)):
            raise LabError(
                f"{cost}; if you want to see that, say {fault.effect}({fault.broker}, force=True)."
            )
        at = self._engine.change_links(lambda faults: [*faults, fault])
        self._report(Action(at, fault.effect, fault.broker, fault.words))

    def _known(self, broker: int) -> None:
        if self.access is None and (broker not in BROKERS or isinstance(broker, bool)):
            raise LabError(f"There is no broker {broker!r} here", "the brokers are 1, 2 and 3")
