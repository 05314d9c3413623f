"""The compose engine: three brokers in three containers of docker-compose.yml."""

import base64
import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from threebrokers import clock
from threebrokers.cluster import docker, engine, ports, state_file
from threebrokers.cluster.containers import Container, Containers
from threebrokers.cluster.link_faults import Fault
from threebrokers.cluster.process import BrokerProcess, Usage
from threebrokers.cluster.settings import BROKERS
from threebrokers.cluster.state_file import SavedState
from threebrokers.errors import LabError
from threebrokers.files import faults_told
from threebrokers.paths import course, lab_command
from threebrokers.waiting import quiet_wait, shown, wait_until

FILE = course() / "docker-compose.yml"
STOP_SECONDS = 8
PULL_SECONDS = 900.0  # the image is 200 MB
# A container's start waits for what others write to the disk: beside three programs that wrote as fast as
# they could, three brokers took 60 s before their first line.
START_SECONDS = 180.0
# Memory changes slowly, and Docker takes some ms to count it.
MEMORY_SECONDS = 1.0
# What is added to the file for a broker that is to send its clients to another address.
ADVERTISED = """services:
  kafka-{node}:
    environment:
      KAFKA_ADVERTISED_LISTENERS: CLIENT://{address},REPL://broker-{node}:9093,CONTROLLER://controller-{node}:9094
"""
_ENDED = "is already down", "start it with `start({0})`"


class ComposeEngine:
    """Three containers of one home; what it keeps is in a folder of its own, beside the local engine's."""

    name = "compose"
    access, brokers = None, BROKERS
    start_seconds = START_SECONDS

    def __init__(self, home: Path) -> None:
        self.home, self._kept = home, home / "compose"
        self._digest = hashlib.sha256(str(home.resolve()).encode()).digest()
        self.containers = Containers(f"threebrokers-{self._digest.hex()[:8]}")
        self._copies = Copies(self._kept, self.containers)
        self._memory: dict[str, tuple[float, int]] = {}

    def addresses(self) -> dict[int, dict[str, str]]:
        """Return each broker's published addresses; empty before the first start."""
        told = state_file.load(self._kept).addresses()
        return {n: {name: of[name] for name in ("CLIENT", "CONTROLLER")} for n, of in told.items()}

    def listening(self) -> dict[int, dict[str, str]]:
        """Return the same: a cut leaves the published ports alone."""
        return self.addresses()

    def faults(self) -> list[Fault]:
        """Return what the networks are without: containers that were taken out of them."""
        return faults(self.containers.look())

    def change_links(self, change: Callable[[list[Fault]], list[Fault]]) -> float:
        """Take containers out of networks and put them back. Raises LabError for all other faults."""
        with self._locked():
            found = self.containers.look()
            wanted = change(faults(found))
            at = clock.now()
            put(self.containers, found, wanted)
        return at

    def processes(self) -> dict[int, BrokerProcess]:
        """Return how each broker's container is now; one that was removed is down."""
        found = self.containers.look() if self.addresses() else {}
        return {n: self._process(n, found.get(n)) for n in BROKERS}

    def ended(self) -> list[int]:
        """Return the brokers whose containers are there and do not run."""
        return [n for n, one in sorted(self.containers.look().items()) if one.state == "down"]

    def usage(self) -> dict[int, Usage]:
        """Return how much the running brokers have worked since they were started."""
        found = self.containers.look()
        return {n: self.containers.usage(one) for n, one in found.items() if one.state != "down"}

    def up(self, say: Callable[[str], None]) -> dict[int, float]:
        """Start the brokers that are missing, resume those that are paused; return when each was started."""
        self._fetch_image(say)  # over a slow line that takes longer than others wait for the lock
        with self._locked():
            found = self.containers.look()
            if found and not self.addresses():
                # The state file is lost or damaged: at which ports they were published is not known.
                self._compose("down", "--timeout", "0")
                found = {}
            missing = [n for n in BROKERS if n not in found or found[n].state == "down"]
            engine.remember(self.home, self.name)  # first: what a start that breaks leaves is found again
            for one in found.values():
                if one.state == "paused":
                    self.containers.resume(one)
            if len(missing) == len(BROKERS):
                state_file.save(self._kept, SavedState(ports=ports.claim(self._kept)))
                say("Starting three containers …")
                at = clock.now()
                self._compose("up", "--detach", "--pull", "never")
                return dict.fromkeys(missing, at)
            if missing:
                say(f"Starting broker {', '.join(map(str, missing))} …")
            return {n: self._launch(n, found.get(n)) for n in missing}

    def renew_disks(self) -> set[int]:
        """Return nobody: a volume that is lost is made and formatted by the container's own command."""
        return set()

    def start(self, node: int, advertised: str = "") -> float:
        """Start one broker that is down. Raises LabError if its port is taken, or nothing was laid out."""
        with self._locked():
            if not self.addresses():
                raise LabError("There is no cluster in this home yet", "make one with `threebrokers up`")
            found = self.containers.look().get(node)
            if found is None or found.state == "down":
                return self._launch(node, found, advertised)
            return clock.now()

    def stop(self, node: int) -> float:
        """Shut one broker down cleanly: it hands its leaderships over first (killed after 8 s)."""
        with self._locked():
            found, at = self._running(node, *_ENDED), clock.now()
            self.containers.stop(found, STOP_SECONDS)
            self._wait_gone(node)
        return at

    def kill(self, node: int) -> float:
        """End one broker with SIGKILL, as a crash of its process would."""
        with self._locked():
            found, at = self._running(node, *_ENDED), clock.now()
            self.containers.kill(found)
            self._wait_gone(node)
        return at

    def pause(self, node: int) -> float:
        """Freeze one broker: the container is there and answers nobody."""
        with self._locked():
            found = self._running(node, "is not running, so it cannot be paused", "start it first")
            at = clock.now()
            if found.state == "up":
                self.containers.pause(found)
        return at

    def resume(self, node: int) -> float:
        """Let a paused broker go on."""
        with self._locked():
            found = self._running(node, "is not running, so it cannot be resumed", "start it instead")
            at = clock.now()
            if found.state == "paused":
                self.containers.resume(found)
        return at

    def down(self) -> list[int]:
        """Remove all containers and return the brokers that ran; data stay in volumes, logs are kept."""
        if not self._kept.is_dir():
            return []
        with self._locked():
            found = self.containers.look()
            for n in found:
                self.log(n)
            self._compose("down", "--timeout", str(STOP_SECONDS))
            return sorted(n for n, one in found.items() if one.state != "down")

    def erase(self) -> None:
        """Kill all brokers and delete containers, networks, volumes and what is kept of them here."""
        if not self._kept.is_dir():
            return
        with self._locked():
            self._compose("down", "--volumes", "--timeout", "0")
            self._copies.remove()
            state_file.save(self._kept, SavedState())

    def log(self, node: int) -> Path:
        """Return the path of a copy of what one broker has written so far."""
        return self._copies.log(node)

    def configuration(self, node: int) -> Path:
        """Return the path of a copy of the settings that the image made of the compose file."""
        return self._copies.configuration(node)

    def segments(self, topic: str, partition: int, node: int) -> list[Path]:
        """Return copies of the segment files that one broker keeps of one partition, oldest first."""
        return self._copies.segments(topic, partition, node)

    def wait_for_ports(self, nodes: list[int], within: float) -> dict[int, float]:
        """Wait until these brokers answer. Raises LabError at once if one of them dies; starts none again.

        Docker takes connections for a container before anybody listens in it, so an open port says nothing.
        """
        from threebrokers.kafka.poller import answering  # kafka-python, which takes 0.2 s to import

        addresses = self.addresses()
        silent = set(nodes)

        def all_answer() -> bool:
            for n, told in self.processes().items():
                if n in nodes and told.state == "down":
                    raise LabError(
                        f"Broker {n} ended while it started",
                        f"run `threebrokers doctor`, or read {self.log(n)}",
                    )
            silent.clear()
            silent.update(set(nodes) - answering({n: addresses[n]["CLIENT"] for n in nodes}))
            return not silent

        with shown("the brokers to answer", within):
            if quiet_wait(all_answer, within):
                return {}
        raise LabError(
            f"Waited {within:g} s for an answer of broker {', '.join(map(str, sorted(silent)))}",
            f"read the end of {self.log(min(silent))}, or run `threebrokers doctor`.",
        )

    def _process(self, node: int, container: Container | None) -> BrokerProcess:
        if container is None or container.state == "down":
            return BrokerProcess(node, "down")
        return BrokerProcess(node, container.state, None, self._used(container), container.name)

    def _used(self, container: Container) -> int:
        at, used = self._memory.get(container.id, (0.0, 0))
        if time.monotonic() - at > MEMORY_SECONDS:
            used = self.containers.memory(container)
            self._memory[container.id] = time.monotonic(), used
        return used

    def _running(self, node: int, otherwise: str, next_step: str) -> Container:
        found = self.containers.look().get(node)
        if found is None or found.state == "down":
            raise LabError(f"Broker {node} {otherwise}", next_step.format(node))
        return found

    def _wait_gone(self, node: int) -> None:
        """Wait until Docker's list says it too: it is a little behind what was done."""
        wait_until(
            lambda: (one := self.containers.look().get(node)) is None or one.state == "down",
            what=f"broker {node} to end",
            within=STOP_SECONDS,
            otherwise="see with `docker ps` whether its container still runs.",
        )

    def _launch(self, node: int, container: Container | None, advertised: str = "") -> float:
        ports.wait_free(node, state_file.load(self._kept).ports[node])
        at = clock.now()
        up, service = ("up", "--detach", "--no-deps", "--pull", "never"), f"kafka-{node}"
        changed = self._kept / f"advertised-{node}.yml"
        if advertised:
            changed.write_text(ADVERTISED.format(node=node, address=advertised))
            self._compose("--file", str(changed), *up, service)
        elif changed.exists():  # made with another address: compose sees the difference and makes it again
            changed.unlink()
            self._compose(*up, service)
        elif container is None:
            self._compose(*up, "--no-recreate", service)
        else:
            self.containers.start(container)
        return at

    def _fetch_image(self, say: Callable[[str], None]) -> None:
        image = next(
            line.split()[-1] for line in FILE.read_text().splitlines() if line.strip().startswith("image:")
        )
        if not self.containers.has_image(image):
            say(f"Fetching the image {image}: once, about 200 MB …")
            try:
                self._compose("pull", "--quiet", within=PULL_SECONDS)
            except LabError as fault:
                raise LabError(
                    f"The image {image} could not be fetched: {fault.what}",
                    "look at your network or proxy and try again, or do without Docker: "
                    "`threebrokers up --engine local`",
                ) from fault

    def _compose(self, *arguments: str, within: float | None = None) -> None:
        # The id is made of the home: a volume never belongs to another cluster than its containers.
        values = {"KAFKA_CLUSTER_ID": base64.urlsafe_b64encode(self._digest[:16]).decode().rstrip("=")}
        # A container that is paused while Docker starts a health check in it can never be resumed again
        # (`runc exec` is frozen with it, and holds its lock). Nobody asks for the health of these containers.
        values |= {"KAFKA_HEALTH_INTERVAL": "24h"}
        for n, of in state_file.load(self._kept).ports.items():
            values |= {f"KAFKA_PORT_{n}": str(of["CLIENT"])}
            values |= {f"KAFKA_CONTROLLER_PORT_{n}": str(of["CONTROLLER"])}
        docker.compose(FILE, self.containers.project, list(arguments), values, within)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with faults_told(self._kept):
            self._kept.mkdir(parents=True, exist_ok=True)
        with state_file.locked(self._kept):
            yield


DATA, CONFIGURATION = "/var/lib/kafka/data", "/opt/kafka/config/server.properties"


class Copies:
    """Copies in a folder, made anew each time. Every method raises LabError if Docker does not answer."""

    def __init__(self, folder: Path, containers: Containers) -> None:
        self._folder, self._containers = folder, containers

    def log(self, node: int) -> Path:
        """Return the path of a copy of what one broker has written so far; an old one if it is removed."""
        path = self._folder / "logs" / f"broker-{node}.log"
        container = self._containers.look().get(node)
        with faults_told(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            if container:
                path.write_text(self._containers.log(container))
        return path

    def configuration(self, node: int) -> Path:
        """Return the path of a copy of the settings that the image made of the compose file."""
        container, folder = self._container(node, "settings"), self._of(node)
        with faults_told(folder):
            made = self._containers.copy(container, CONFIGURATION, folder)
        if not made:
            raise LabError(f"Broker {node} has not made its settings yet", "look again in a second")
        return folder / Path(CONFIGURATION).name

    def segments(self, topic: str, partition: int, node: int) -> list[Path]:
        """Return copies of the segment files that one broker keeps of one partition, oldest first."""
        container = self._container(node, "files")
        folder = self._of(node) / f"{topic}-{partition}"
        shutil.rmtree(folder, ignore_errors=True)
        with faults_told(folder):
            self._containers.copy(container, f"{DATA}/{folder.name}", folder.parent)
        return sorted(folder.glob("*.log"))

    def remove(self) -> None:
        """Delete all copies."""
        for name in ("logs", "copies"):
            shutil.rmtree(self._folder / name, ignore_errors=True)

    def _container(self, node: int, what: str) -> Container:
        if container := self._containers.look().get(node):
            return container
        raise LabError(f"Broker {node} has no container, so its {what} cannot be read", "start it first")

    def _of(self, node: int) -> Path:
        folder = self._folder / "copies" / f"broker-{node}"
        with faults_told(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return folder


# Which of the file's networks carries what, and a broker's name there.
NETWORKS = {"brokers": "broker", "quorum": "controller"}


def faults(found: dict[int, Container]) -> list[Fault]:
    """Return what the networks are without: containers that were taken out of them."""
    missing = {n: tuple(name for name in NETWORKS if name not in one.networks) for n, one in found.items()}
    return [Fault("cut", n, peers) for n, peers in sorted(missing.items()) if peers]


def put(containers: Containers, found: dict[int, Container], wanted: Sequence[Fault]) -> None:
    """Take containers out of networks and put them back, so that these faults are what is wrong.

    Raises LabError, before anything is changed, for a fault that networks cannot cause.
    """
    for fault in wanted:
        _check_possible(fault)
        if fault.broker not in found:
            raise LabError(f"Broker {fault.broker} has no container", "start it first")
    for n, container in found.items():
        away = {peer for fault in wanted if fault.broker == n for peer in fault.peers}
        for network, name in NETWORKS.items():
            if network in away and network in container.networks:
                containers.disconnect(container, network)
            elif network not in away and network not in container.networks:
                containers.connect(container, network, f"{name}-{n}")


def _check_possible(fault: Fault) -> None:
    if fault.effect == "cut" and set(fault.peers) <= set(NETWORKS):
        return
    raise LabError(
        f"Containers cannot {fault.effect} broker {fault.broker} {fault.words}, only cut it off from "
        "'brokers', 'quorum' or both; the local engine can",
        f"`threebrokers down`, then THREEBROKERS_CLUSTER=local {lab_command()}",
    )
