"""Three brokers, whoever runs them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from threebrokers import clock
from threebrokers import home as places
from threebrokers.cluster import tools
from threebrokers.cluster.local import LocalEngine
from threebrokers.cluster.process import BrokerProcess
from threebrokers.cluster.settings import BROKERS
from threebrokers.errors import BenchError
from threebrokers.records import SILENCE
from threebrokers.sight import Act, Sight
from threebrokers.state import METADATA_SECONDS, ClusterState, read_state, state_of
from threebrokers.waiting import wait_until
from threebrokers.watching import Looker

__all__ = ["Cluster"]

START_SECONDS = 60.0
VIEW_TRIES = 20
QUORUM = len(BROKERS) // 2 + 1


class Cluster:
    """A real Kafka cluster of three brokers, with buttons to break it.

    The cluster belongs to a home, not to this object: another notebook, or this one after a restart,
    finds the same brokers.
    """

    brokers = BROKERS

    def __init__(self, home: Path | None = None) -> None:
        self._engine = LocalEngine(home or places.home())
        self._hearers: list[Callable[[Act], None]] = []

    @property
    def bootstrap(self) -> str:
        """All three addresses, as clients want them. Raises BenchError before the first start."""
        addresses = self._engine.addresses()
        if not addresses:
            raise BenchError("No cluster has been started in this home yet: run `threebrokers up`.")
        return ",".join(addresses[n]["CLIENT"] for n in BROKERS)

    def address(self, broker: int) -> str:
        """Return the address ("host:port") at which one broker serves clients."""
        self._known(broker)
        return self._engine.addresses()[broker]["CLIENT"]

    def up(self, say: Callable[[str], None] = lambda text: None) -> list[int]:
        """Start the brokers that are missing and wait until all three are registered; return those.

        Raises BenchError with the next step if a broker cannot start.
        """
        started = self._engine.up(say)
        self._engine.wait_for_ports(list(BROKERS), START_SECONDS)
        self._wait_registered(set(BROKERS))
        return started

    def down(self) -> list[int]:
        """Stop all brokers and return those that ran. Their data stays."""
        return self._engine.down()

    def reset(self, say: Callable[[str], None] = lambda text: None) -> None:
        """Kill the brokers, delete all topics, records and groups, and start a fresh cluster."""
        say("Deleting all topics, records, groups and broker logs …")
        self._engine.erase()
        self.up(say)

    def start(self, broker: int) -> None:
        """Start one broker that is down and wait until it is registered."""
        self._known(broker)
        self._do("start", broker, self._engine.start)
        self._engine.wait_for_ports([broker], START_SECONDS)
        others = [n for n, p in self._engine.processes().items() if n != broker and p.state == "up"]
        if others:  # alone it has no quorum, so nothing can register it
            self._wait_registered({broker})

    def stop(self, broker: int, *, anyway: bool = False) -> None:
        """Shut one broker down cleanly: it hands its leaderships over first."""
        self._act("stop", broker, anyway, self._engine.stop)

    def kill(self, broker: int, *, anyway: bool = False) -> None:
        """Kill one broker (SIGKILL): it has no time to say anything to anybody."""
        self._act("kill", broker, anyway, self._engine.kill)

    def pause(self, broker: int, *, anyway: bool = False) -> None:
        """Freeze one broker (SIGSTOP): it is there and answers nobody."""
        self._act("pause", broker, anyway, self._engine.pause)

    def resume(self, broker: int) -> None:
        """Let a paused broker go on."""
        self._known(broker)
        self._do("resume", broker, self._engine.resume)

    def cost(self, broker: int) -> str:
        """Say what it would cost to stop, kill or pause this broker now; empty if two others stay up."""
        up = {n for n, p in self._engine.processes().items() if p.state == "up"}
        rest = sorted(up - {broker})
        if broker not in up or len(up) < QUORUM or len(rest) >= QUORUM:
            return ""
        return (
            f"This takes the quorum away: only broker {rest[0]} of {len(BROKERS)} voters would be left, "
            "so nothing can be elected until one returns"
        )

    def on_act(self, hear: Callable[[Act], None]) -> Callable[[], None]:
        """Call `hear` for everything that is done to a broker through this object; return how to end that."""
        self._hearers.append(hear)
        return lambda: self._hearers.remove(hear) if hear in self._hearers else None

    def processes(self) -> dict[int, BrokerProcess]:
        """Return how each broker's process is now: its state, process id and memory (bytes)."""
        return self._engine.processes()

    def admin(self) -> AdminClient:
        """Return a fresh AdminClient: one that has lived through a broker's death can hold old news."""
        return _admin(self.bootstrap)

    def state(self, topics: list[str] | None = None) -> ClusterState:
        """Return brokers and topics as one of the brokers sees them now."""
        return read_state(self.admin(), topics)

    def looker(self) -> Looker:
        """Return what asks every broker by itself, also while some of them are gone."""
        return Looker(self.processes, self._engine.listening)

    def sight(self, topics: list[str] | None = None, groups: list[str] | None = None) -> Sight:
        """Return what one look shows now: brokers, quorum, these topics (all if None) and groups."""
        looker = self.looker()
        try:
            return looker.look(topics, groups or [])
        finally:
            looker.close()

    def views(self, topics: list[str] | None = None) -> dict[int, ClusterState]:
        """Return what each running broker says by itself: they need not agree at every moment.

        A broker that does not answer within 2 s is left out.
        """
        running = [n for n, process in self._engine.processes().items() if process.state == "up"]
        said = {n: _view(self.address(n), topics) for n in running}
        return {n: view for n, view in said.items() if view is not None}

    def tool(self, name: str, *arguments: str, typed: str = "") -> str:
        """Run one of Kafka's own command-line tools, for example "kafka-topics", and return its output.

        `typed` is what you would type into it.
        """
        return tools.run(name, list(arguments), self.bootstrap, typed)

    def segments(self, topic: str, partition: int, broker: int | None = None) -> list[Path]:
        """Return the files of one partition on one broker, the leader unless told, oldest first."""
        if broker is None:
            found = self.state([topic]).topic(topic)
            if found is None or partition >= len(found.partitions):
                raise BenchError(
                    f"There is no partition {partition} of a topic '{topic}': see kafka-topics --list."
                )
            broker = found.partitions[partition].leader
            if broker is None:
                raise BenchError(f"Partition {partition} of '{topic}' has no leader now: start its brokers.")
        self._known(broker)
        return self._engine.segments(topic, partition, broker)

    def log(self, broker: int) -> Path:
        """Return the path of one broker's own log file, in which it tells what it does."""
        self._known(broker)
        return self._engine.log(broker)

    def _act(self, verb: str, broker: int, anyway: bool, act: Callable[[int], None]) -> None:
        self._known(broker)
        if not anyway and (cost := self.cost(broker)):
            raise BenchError(f"{cost}; if you want to see that, say {verb}({broker}, anyway=True).")
        self._do(verb, broker, act)

    def _do(self, verb: str, broker: int, act: Callable[[int], None]) -> None:
        before = clock.now()
        act(broker)
        for hear in list(self._hearers):
            hear(Act(before, verb, broker))

    def _known(self, broker: int) -> None:
        if broker not in BROKERS or isinstance(broker, bool):
            raise BenchError(f"There is no broker {broker!r} here: the brokers are 1, 2 and 3.")

    def _wait_registered(self, wanted: set[int]) -> None:
        def registered() -> bool:
            try:
                return wanted <= {b.id for b in self.state([]).brokers}
            except KafkaException:
                return False

        wait_until(
            registered,
            what=f"broker {', '.join(map(str, sorted(wanted)))} to register with the cluster",
            within=START_SECONDS,
            otherwise="run `threebrokers doctor`, it names the cause.",
        )


def _view(address: str, topics: list[str] | None) -> ClusterState | None:
    """Ask the broker at this address and no other; None if it does not answer."""
    for _ in range(VIEW_TRIES):
        try:
            told = _admin(address).list_topics(timeout=METADATA_SECONDS)
        except KafkaException:
            return None
        # A client that knows one broker soon learns of the others and may have asked one of those.
        if str(told.orig_broker_name).partition("/")[0] == address:
            return state_of(told, topics)
    return None


def _admin(bootstrap: str) -> AdminClient:
    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "broker.address.family": "v4",
        "reconnect.backoff.ms": 20,
        "reconnect.backoff.max.ms": 200,
        "socket.timeout.ms": 5000,
        "logger": SILENCE,
    }
    return AdminClient(settings)
