"""Three brokers, whoever runs them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from threebrokers import paths as places
from threebrokers.cluster import action_log, engine, programs, tools
from threebrokers.cluster.acts import Acts
from threebrokers.cluster.process import BrokerProcess, Work
from threebrokers.cluster.settings import BROKERS
from threebrokers.errors import BenchError
from threebrokers.kafka import admin
from threebrokers.kafka.state import Act, ClusterState, Sight, read_state
from threebrokers.waiting import poll, wait_until

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

    from threebrokers.kafka.poller import Looker
    from threebrokers.view import Panel, Panels

__all__ = ["Cluster"]

START_SECONDS = 60.0
VIEW_SECONDS = 2.0
LOOK_SECONDS = 1.5  # a broker that was silent once is asked again after 0.7 s


class Cluster(Acts):
    """A real Kafka cluster of three brokers, with buttons to break it.

    The cluster belongs to a home, not to this object: another notebook, or this one after a restart,
    finds the same brokers.
    """

    brokers = BROKERS

    def __init__(self, home: Path | None = None, engine_name: str = "") -> None:
        super().__init__(engine.chosen(home or places.home(), engine_name))
        self._panels: Panels | None = None

    @property
    def engine(self) -> str:
        """What runs the brokers: "local" (processes of this machine) or "compose" (containers)."""
        return self._engine.name

    @property
    def bootstrap(self) -> str:
        """All three addresses, as clients want them. Raises BenchError before the first start."""
        return self._addresses(BROKERS)

    def address(self, broker: int) -> str:
        """Return the address ("host:port") at which one broker serves clients."""
        self._known(broker)
        return self._engine.addresses()[broker]["CLIENT"]

    def up(self, say: Callable[[str], None] = lambda text: None, links: bool | None = None) -> list[int]:
        """Start the brokers that are missing and wait until all three are registered; return those.

        Brokers that run with links although `links` is False, or without although it is True, are started
        again, and their data stays; links are healed. Raises BenchError with the next step if a broker
        cannot start.
        """
        engine.refuse_second(self._engine)
        started = self._engine.up(say, links)
        engine.remember(self._engine.home, self.engine)
        action_log.trim(self._engine.home)
        self._report(*(Act(at, "start", n) for n, at in started.items()))
        if self.faults():
            self.heal()  # as a paused broker goes on: else who is cut off could not register
        self._engine.wait_for_ports(list(BROKERS), START_SECONDS)
        self._wait_registered(set(BROKERS))
        return list(started)

    def down(self) -> list[int]:
        """End the notebooks' programs, stop all brokers and return those that ran. Their data stays."""
        programs.end_all(self._engine.home)
        return self._engine.down()

    def reset(self, say: Callable[[str], None] = lambda text: None) -> None:
        """Kill the brokers, delete all topics, records and groups, and start a fresh cluster."""
        say("Deleting all topics, records, groups and broker logs …")
        had_links = self.links
        self.erase()
        self.up(say, had_links)

    def erase(self) -> None:
        """Kill the brokers and delete their data, logs and configuration; nothing is started again."""
        programs.end_all(self._engine.home)
        self._engine.erase()

    def start(self, broker: int) -> None:
        """Start one broker that is down and wait until it is registered."""
        self._known(broker)
        self._do("start", broker, self._engine.start)
        self._engine.wait_for_ports([broker], START_SECONDS)
        others = [n for n, p in self._engine.processes().items() if n != broker and p.state == "up"]
        if others:  # alone it has no quorum, so nothing can register it
            self._wait_registered({broker})

    def processes(self) -> dict[int, BrokerProcess]:
        """Return how each broker's process is now: its state, process id and memory (bytes)."""
        return self._engine.processes()

    def work(self) -> dict[int, Work]:
        """Return for each running broker its processor time (s) and what it read from the disk (bytes)."""
        return self._engine.work()

    def admin(self) -> "AdminClient":
        """Return a fresh AdminClient: one that has lived through a broker's death can hold old news.

        It is given the brokers that are up and not cut off: another takes a question and never answers.
        """
        return admin.admin(self._addresses(self._answering() or BROKERS))

    def state(self, topics: list[str] | None = None) -> ClusterState:
        """Return brokers and topics as one of the brokers sees them now."""
        return read_state(self.admin(), topics)

    def looker(self) -> "Looker":
        """Return what asks every broker by itself, also while some of them are gone."""
        from threebrokers.kafka.poller import Looker  # kafka-python, which takes 0.2 s to import

        return Looker(self.processes, self._engine.listening)

    def sight(self, topics: list[str] | None = None, groups: list[str] | None = None) -> Sight:
        """Return what one look shows now: brokers, quorum, these topics (all if None) and groups.

        It looks again, for 1.5 s at most, while a running broker leaves questions open.
        """
        looker = self.looker()
        try:
            for seen in poll(lambda: looker.look(topics, groups or []), LOOK_SECONDS):
                if not looker.silent:
                    return seen
            return seen
        finally:
            looker.close()

    def watch(self, *topics: str, group: str | Sequence[str] = ()) -> "Panel":
        """Return a live panel of these topics (all but Kafka's own if none is named) and groups.

        It shows brokers, leaders, copies, logs and groups twice a second, and has buttons to break them.
        A panel that the same cell made in an earlier run is closed first.
        """
        from threebrokers.view import Panels  # widgets only where one is shown

        self._panels = self._panels or Panels()
        return self._panels.watch(self, topics or None, (group,) if isinstance(group, str) else tuple(group))

    def end_panels(self) -> None:
        """Stop the panels that this object has made; their last pictures stay."""
        if self._panels:
            self._panels.end()

    def views(self, topics: list[str] | None = None) -> dict[int, ClusterState]:
        """Return what each running broker says by itself: they need not agree at every moment.

        A broker that does not answer within 2 s is left out.
        """
        from threebrokers.kafka.poller import views  # kafka-python, as for a look

        running = [n for n, process in self._engine.processes().items() if process.state == "up"]
        return views({n: self.address(n) for n in running}, topics, VIEW_SECONDS)

    def tool(self, name: str, *arguments: str, typed: str = "") -> str:
        """Run one of Kafka's own command-line tools, for example "kafka-topics", and return its output.

        `typed` is what you would type into it. It is given the addresses that `admin` is given.
        """
        return tools.run(name, list(arguments), self._addresses(self._answering() or BROKERS), typed)

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

    def configuration(self, broker: int) -> Path:
        """Return the path of the file from which one broker reads its settings."""
        self._known(broker)
        return self._engine.configuration(broker)

    def _addresses(self, brokers: Sequence[int]) -> str:
        addresses = self._engine.addresses()
        if not addresses:
            raise BenchError("No cluster has been started in this home yet: run `threebrokers up`.")
        return ",".join(addresses[n]["CLIENT"] for n in brokers)

    def _wait_registered(self, wanted: set[int]) -> None:
        wait_until(
            lambda: wanted <= admin.registered(self.admin()),
            what=f"broker {', '.join(map(str, sorted(wanted)))} to register with the cluster",
            within=START_SECONDS,
            otherwise="run `threebrokers doctor`, it names the cause.",
        )
