"""The local engine: three brokers as three JVM processes on this machine."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from threebrokers import clock
from threebrokers.cluster import (
    engine,
    jars,
    jvm_words,
    links,
    log_dirs,
    ports,
    prepare,
    process,
    settings,
    state_file,
)
from threebrokers.cluster.java import environment, java
from threebrokers.cluster.link_faults import Fault
from threebrokers.cluster.process import BrokerProcess, Identity, Usage
from threebrokers.cluster.settings import BROKERS
from threebrokers.cluster.state_file import SavedState
from threebrokers.errors import LabError
from threebrokers.files import set_aside
from threebrokers.waiting import wait_until

START_SECONDS, STOP_SECONDS = 60.0, 8.0
LAST_BYTES = 2_000_000  # of a log: a JVM that crashes writes much


@dataclass(frozen=True)
class _Start:
    """How this process has started a broker: where its log began (bytes), and what it was to advertise."""

    log_size: int = 0
    advertised: str = ""


class _DeathError(LabError):
    """A broker ended while it was waited for."""

    def __init__(self, node: int, what: str, next_step: str) -> None:
        super().__init__(what, next_step)
        self.node = node


class LocalEngine:
    """Three broker processes of one home. Every change is made under the home's lock and remembered."""

    name = "local"
    access, brokers = None, BROKERS
    start_seconds = START_SECONDS

    def __init__(self, home: Path) -> None:
        self.home = home
        self._starts: dict[int, _Start] = {}

    def addresses(self) -> dict[int, dict[str, str]]:
        """Return each broker's address on each listener; empty before the first start."""
        return state_file.load(self.home).addresses()

    def listening(self) -> dict[int, dict[str, str]]:
        """Return where each broker really listens, on each listener."""
        return state_file.load(self.home).listening()

    def faults(self) -> list[Fault]:
        """Return what is wrong with the links now. Raises LabError if nobody can tell."""
        here = state_file.load(self.home)
        return links.faults(self.home, here.ports) if here.links else []

    def change_links(self, change: Callable[[list[Fault]], list[Fault]]) -> float:
        """Make of the faults of the links what `change` returns. Raises LabError before the first start."""
        with state_file.locked(self.home):
            here = state_file.load(self.home)
            if not here.links:
                raise LabError("No broker runs, so there are no links", "start them with `threebrokers up`")
            wanted = change(links.faults(self.home, here.ports))
            at = clock.now()
            links.put(self.home, here.ports, wanted)
        return at

    def processes(self) -> dict[int, BrokerProcess]:
        """Return how each broker's process is now."""
        known = state_file.load(self.home).brokers
        return {n: process.look(n, known.get(n)) for n in BROKERS}

    def ended(self) -> list[int]:
        """Return the brokers whose process is gone although nobody stopped it, or the machine."""
        known = state_file.load(self.home).brokers
        return [n for n, i in sorted(known.items()) if i.of_this_boot and not i.process()]

    def usage(self) -> dict[int, Usage]:
        """Return how much the running brokers have worked since they were started."""
        known = state_file.load(self.home).brokers
        return {n: done for n, identity in known.items() if (done := process.usage(identity))}

    def up(self, say: Callable[[str], None]) -> dict[int, float]:
        """Start the brokers that are missing, resume those that are paused; return when each was started.

        One whose disk is new is left for `start`, when the others lead.
        """
        self._starts.clear()
        # Under no lock: this may take half a minute. A lab that is opened on brokers that run needs nothing.
        prepared = None if self._all_run() else prepare.prepare(say)
        with state_file.locked(self.home):
            here = self._found()
            missing = [n for n in BROKERS if n not in here.brokers]
            if len(missing) == len(BROKERS):
                self._end_all(here, 0)
                here.ports = ports.claim(self.home)
            engine.remember(self.home, self.name)  # first: what a start that breaks leaves is found again
            if not here.links:
                here.links = links.start(self.home, here.ports)
            self._mend_links(here)
            for n in here.brokers:
                self._resume(here, n)
            if not missing:
                return {}
            prepared = prepared or prepare.prepare(say)
            here.cluster_id = log_dirs.complete(self.home, prepared.template, missing)
            log_dirs.configure(self.home, here)
            state_file.save(self.home, here)
            say(f"Starting broker {', '.join(map(str, missing))} …")
            late = log_dirs.replaced(self.home)
            return {n: self._launch(here, n, prepared.broker_flags) for n in missing if n not in late}

    def renew_disks(self) -> set[int]:
        """Give brokers that are down and whose disk is lost an empty one; return those whose disk is new."""
        if self._all_run():
            return set()  # every lab asks when it is opened: no lock, no search for unknown processes
        prepared = prepare.prepare(print)
        with state_file.locked(self.home):
            here = self._found()
            down = set(BROKERS) - set(here.brokers)
            if here.ports and down:
                log_dirs.complete(self.home, prepared.template, down)
            return log_dirs.replaced(self.home) & down

    def start(self, node: int, advertised: str = "") -> float:
        """Start one broker that is down. Raises LabError if its port is taken, or nothing is laid out."""
        prepared = prepare.prepare(print)
        with state_file.locked(self.home):
            here = self._found()
            if not here.ports:
                raise LabError("There is no cluster in this home yet", "make one with `threebrokers up`")
            self._mend_links(here)
            if node in here.brokers:
                return clock.now()
            log_dirs.configure(self.home, here)
            return self._launch(here, node, prepared.broker_flags, advertised)

    def stop(self, node: int) -> float:
        """Shut one broker down cleanly: it hands its leaderships over first (killed after 8 s)."""
        return self._end(node, STOP_SECONDS)

    def kill(self, node: int) -> float:
        """End one broker with SIGKILL, as a crash of its process would."""
        return self._end(node, 0)

    def pause(self, node: int) -> float:
        """Freeze one broker with SIGSTOP: the process is there and answers nobody."""
        with state_file.locked(self.home):
            here, at = state_file.load(self.home), clock.now()
            if not (node in here.brokers and process.send(here.brokers[node], "suspend")):
                raise LabError(f"Broker {node} is not running, so it cannot be paused", "start it first")
            wait_until(
                lambda: self.processes()[node].state == "paused",
                what=f"broker {node} to stand still",
                within=5,
                otherwise=f"it did not obey the signal; kill it with `kill({node})` instead.",
            )
        return at

    def resume(self, node: int) -> float:
        """Let a paused broker go on."""
        with state_file.locked(self.home):
            here, at = state_file.load(self.home), clock.now()
            if not (node in here.brokers and self._resume(here, node)):
                raise LabError(f"Broker {node} is not running, so it cannot be resumed", "start it instead")
        return at

    def down(self) -> list[int]:
        """Stop all brokers together and return those that ran."""
        with state_file.locked(self.home):
            here = self._found()
            ended = sorted(here.brokers)
            self._end_all(here, STOP_SECONDS)
        return ended

    def erase(self) -> None:
        """Kill all brokers and delete their data, logs and configuration."""
        with state_file.locked(self.home):
            here = self._found()
            self._end_all(here, 0)
            log_dirs.remove(self.home)
            state_file.save(self.home, SavedState())

    def last_words(self, node: int) -> str:
        """Return what a broker's log says of its end since it was started, or an empty text."""
        began = self._starts.get(node, _Start()).log_size
        try:
            with self.log(node).open("rb") as log:
                log.seek(max(began, log.seek(0, os.SEEK_END) - LAST_BYTES))
                return jvm_words.last_words(log.read().decode(errors="replace"))
        except OSError:
            return ""

    def log(self, node: int) -> Path:
        """Return the path of one broker's log file."""
        return self.home / "logs" / f"broker-{node}.log"

    def configuration(self, node: int) -> Path:
        """Return the path of one broker's configuration file."""
        return log_dirs.configuration(self.home, node)

    def segments(self, topic: str, partition: int, node: int) -> list[Path]:
        """Return the segment files that one broker keeps of one partition, oldest first."""
        return sorted((log_dirs.folder(self.home, node) / f"{topic}-{partition}").glob("*.log"))

    def _all_run(self) -> bool:
        return all(process.state != "down" for process in self.processes().values())

    def _found(self) -> SavedState:
        """Load the state, forget processes that are gone, and take in running ones that it does not know."""
        here = state_file.load(self.home)
        known = {n: i for n, i in here.brokers.items() if i.process()}
        here.brokers = {**process.find(self.home), **known}
        if here.brokers and not (here.ports and here.links):
            # The state file is lost or damaged, or of a version whose brokers were reached without links.
            self._end_all(here, 0)
            here = SavedState()
        state_file.save(self.home, here)
        return here

    def _launch(self, here: SavedState, node: int, flags: list[str], advertised: str = "") -> float:
        ports.wait_free(node, here.listening_ports()[node])
        mark = f"{process.MARK}{self.home}"
        command = [
            str(java()),
            *flags,
            mark,
            f"{process.NODE}{node}",
            # Each killed broker would leave the native libraries of compression there that it unpacked.
            f"-Djava.io.tmpdir={log_dirs.scratch(self.home, node)}",
            "-cp",
            os.pathsep.join(map(str, jars.kafka_jars())),
            "kafka.Kafka",
            str(log_dirs.configuration(self.home, node)),
        ]
        if advertised:  # not in the file: whoever starts the broker again finds it right
            told = settings.advertised_listeners({**here.addresses()[node], "CLIENT": advertised})
            command += ["--override", f"advertised.listeners={told}"]
        # More arenas of the C library's allocator only cost memory here.
        log = self.log(node)
        set_aside(log)
        self._starts[node] = _Start(log.stat().st_size if log.exists() else 0, advertised)
        at = clock.now()
        here.brokers[node] = process.launch(command, log, environment() | {"MALLOC_ARENA_MAX": "2"}, mark)
        state_file.save(self.home, here)
        return at

    def _mend_links(self, here: SavedState) -> None:
        """Look whether the process that carries the links answers, and start another one if it does not."""
        if here.links:
            known, here.links = here.links, links.mended(self.home, here.ports, here.links)
            if here.links != known:
                state_file.save(self.home, here)

    def _end_all(self, here: SavedState, patience: float) -> None:
        """End the brokers, then the process that carries their links."""
        # The last one would wait for 5 s to hand over the quorum, and nobody is left who could take it.
        process.end(
            list(here.brokers.values()),
            patience,
            enough=lambda: all(log_dirs.is_saved(self.home, n) for n in here.brokers),
        )
        process.end(links.find(self.home), 0)
        here.brokers.clear()
        here.links = None
        state_file.save(self.home, here)

    def _resume(self, here: SavedState, node: int) -> bool:
        return process.send(here.brokers[node], "resume")

    def _end(self, node: int, patience: float) -> float:
        with state_file.locked(self.home):
            here = self._found()
            identity: Identity | None = here.brokers.pop(node, None)
            if identity is None:
                raise LabError(f"Broker {node} is already down", f"start it with `start({node})`")
            at = clock.now()
            process.end([identity], patience)
            state_file.save(self.home, here)
        return at

    def wait_for_ports(self, nodes: list[int], within: float) -> dict[int, float]:
        """Wait until these brokers accept connections. Raises LabError at once if one of them dies.

        Those that died are started once more if what makes starts quick is damaged, which is made anew, or
        if they were about to end when `up` saw them run: a killed JVM takes a moment. Returns when that was.
        """
        again: dict[int, float] = {}
        try:
            self._wait_for_ports(nodes, within)
        except _DeathError as death:
            if death.node in self._starts and not prepare.renew_damaged(print):
                raise
            again = self._start_again(nodes)
            self._wait_for_ports(nodes, within)
        return again

    def _start_again(self, nodes: list[int]) -> dict[int, float]:
        """Start those of these brokers that are down, as they were started before; return when."""
        prepared = prepare.prepare(print)
        with state_file.locked(self.home):
            here = self._found()
            return {
                n: self._launch(here, n, prepared.broker_flags, self._starts.get(n, _Start()).advertised)
                for n in sorted(set(nodes) - set(here.brokers))
            }

    def _wait_for_ports(self, nodes: list[int], within: float) -> None:
        addresses = state_file.load(self.home).listening_ports()

        def listening() -> bool:
            for n, told in self.processes().items():
                if n in nodes and told.state == "down":
                    raise self._death(n)
            return all(ports.answers(addresses[n]["CLIENT"]) for n in nodes)

        wait_until(
            listening,
            what="the brokers' ports to open",
            within=within,
            otherwise=f"read the end of {self.log(nodes[0])}, or run `threebrokers doctor`.",
        )

    def _death(self, node: int) -> _DeathError:
        said = self.last_words(node) or "it wrote no error"
        return _DeathError(
            node,
            f"Broker {node} ended while it started ({said})",
            f"run `threebrokers doctor`, or read {self.log(node)}",
        )
