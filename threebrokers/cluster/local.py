"""The local engine: three brokers as three JVM processes on this machine."""

import os
from collections.abc import Callable
from pathlib import Path

from threebrokers import clock
from threebrokers.cluster import jars, links, log_dirs, ports, prepare, process, state_file
from threebrokers.cluster.java import java
from threebrokers.cluster.link_faults import Fault
from threebrokers.cluster.process import BrokerProcess, Identity, Usage
from threebrokers.cluster.settings import BROKERS
from threebrokers.cluster.state_file import SavedState
from threebrokers.errors import LabError
from threebrokers.files import set_aside
from threebrokers.waiting import wait_until

STOP_SECONDS = 8.0
LAST_BYTES = 64_000  # of a log: some 400 lines


class LocalEngine:
    """Three broker processes of one home. Every change is made under the home's lock and remembered."""

    name = "local"

    def __init__(self, home: Path) -> None:
        self.home = home

    def addresses(self) -> dict[int, dict[str, str]]:
        """Return each broker's address on each listener; empty before the first start."""
        return state_file.load(self.home).addresses()

    def listening(self) -> dict[int, dict[str, str]]:
        """Return where each broker really listens, on each listener."""
        return state_file.load(self.home).listening()

    def has_links(self) -> bool:
        """Tell whether the brokers reach each other, and clients them, over links that can be cut."""
        return state_file.load(self.home).links is not None

    def faults(self) -> list[Fault]:
        """Return what is wrong with the links now. Raises LabError if nobody can tell."""
        here = state_file.load(self.home)
        return links.faults(here.ports) if here.links else []

    def change_links(self, change: Callable[[list[Fault]], list[Fault]]) -> float:
        """Make of the faults of the links what `change` returns. Raises LabError without links."""
        with state_file.locked(self.home):
            here = state_file.load(self.home)
            if not here.links:
                raise LabError(
                    "These brokers have no links that can be cut",
                    "`lab.cluster.up(links=True)` starts them again with links, and their data stays",
                )
            wanted = change(links.faults(here.ports))
            at = clock.now()
            links.put(here.ports, wanted)
        return at

    def processes(self) -> dict[int, BrokerProcess]:
        """Return how each broker's process is now."""
        known = state_file.load(self.home).brokers
        return {n: process.look(n, known.get(n)) for n in BROKERS}

    def usage(self) -> dict[int, Usage]:
        """Return how much the running brokers have worked since they were started."""
        known = state_file.load(self.home).brokers
        return {n: done for n, identity in known.items() if (done := process.usage(identity))}

    def up(self, say: Callable[[str], None], with_links: bool | None = None) -> dict[int, float]:
        """Start the brokers that are missing, resume those that are paused; return when each was started.

        Brokers that run, but not with or without links as asked for, are stopped and started again.
        """
        prepared = prepare.prepare(say)
        with state_file.locked(self.home):
            here = self._found()
            if with_links is None:
                with_links = here.links is not None
            if here.brokers and with_links != (here.links is not None):
                say(f"Starting the brokers again {'with' if with_links else 'without'} links; data stay …")
                self._end_all(here, STOP_SECONDS)
            missing = [n for n in BROKERS if n not in here.brokers]
            if len(missing) == len(BROKERS):
                self._end_all(here, 0)
                # A state file that was lost must not cost the data.
                here.cluster_id = here.cluster_id or log_dirs.laid_out(self.home)
                if not log_dirs.is_laid_out(self.home, here):
                    here.cluster_id = log_dirs.lay_out(self.home, prepared.template)
                here.ports = ports.claim(self.home)
                here.links = links.start(self.home, here.ports) if with_links else None
                log_dirs.configure(self.home, here)
                state_file.save(self.home, here)
            self._mend_links(here)
            for n in here.brokers:
                self._resume(here, n)
            if missing:
                say(f"Starting broker {', '.join(map(str, missing))} …")
            return {n: self._launch(here, n, prepared.broker_flags) for n in missing}

    def start(self, node: int) -> float:
        """Start one broker that is down. Raises LabError if its port is taken, or nothing is laid out."""
        prepared = prepare.prepare(_unheard)
        with state_file.locked(self.home):
            here = self._found()
            if not log_dirs.is_laid_out(self.home, here) or not here.ports:
                raise LabError("There is no cluster in this home yet", "make one with `threebrokers up`")
            self._mend_links(here)
            if node in here.brokers:
                return clock.now()
            return self._launch(here, node, prepared.broker_flags)

    def stop(self, node: int) -> float:
        """Shut one broker down cleanly: it hands its leaderships over first (killed after 8 s)."""
        return self._end(node, STOP_SECONDS)

    def kill(self, node: int) -> float:
        """End one broker with SIGKILL, as a power cut would."""
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
        """Return the last error line in a broker's log, or an empty text."""
        try:
            with self.log(node).open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - LAST_BYTES))
                lines = log.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        wrong = [line for line in lines if " ERROR " in line or " FATAL " in line or "Exception" in line]
        return wrong[-1] if wrong else ""

    def log(self, node: int) -> Path:
        """Return the path of one broker's log file."""
        return self.home / "logs" / f"broker-{node}.log"

    def configuration(self, node: int) -> Path:
        """Return the path of one broker's configuration file."""
        return log_dirs.configuration(self.home, node)

    def segments(self, topic: str, partition: int, node: int) -> list[Path]:
        """Return the segment files that one broker keeps of one partition, oldest first."""
        return sorted((log_dirs.folder(self.home, node) / f"{topic}-{partition}").glob("*.log"))

    def _found(self) -> SavedState:
        """Load the state, forget processes that are gone, and take in running ones that it does not know."""
        here = state_file.load(self.home)
        known = {n: i for n, i in here.brokers.items() if i.process()}
        here.brokers = {**process.find(self.home), **known}
        if here.brokers and not here.ports:
            # The state file is lost or damaged, its brokers run: their addresses cannot be trusted.
            self._end_all(here, 0)
            here = SavedState()
        state_file.save(self.home, here)
        return here

    def _launch(self, here: SavedState, node: int, flags: list[str]) -> float:
        ports.wait_free(node, here.listening_ports()[node])
        mark = f"{process.MARK}{self.home}"
        command = [
            str(java()),
            *flags,
            mark,
            f"{process.NODE}{node}",
            "-cp",
            os.pathsep.join(map(str, jars.kafka_jars())),
            "kafka.Kafka",
            str(log_dirs.configuration(self.home, node)),
        ]
        # More arenas of the C library's allocator only cost memory here.
        environment = {**os.environ, "MALLOC_ARENA_MAX": "2"}
        set_aside(self.log(node))
        at = clock.now()
        here.brokers[node] = process.launch(command, self.log(node), environment, mark)
        state_file.save(self.home, here)
        return at

    def _mend_links(self, here: SavedState) -> None:
        """Start the process that carries the links again, if it has died."""
        if here.links and not here.links.process():
            here.links = links.start(self.home, here.ports)
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

    def wait_for_ports(self, nodes: list[int], within: float) -> None:
        """Wait until these brokers accept connections. Raises LabError at once if one of them dies."""
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

    def _death(self, node: int) -> LabError:
        said = self.last_words(node) or "it wrote no error"
        return LabError(
            f"Broker {node} ended while it started ({said})",
            f"run `threebrokers doctor`, or read {self.log(node)}",
        )


def _unheard(text: str) -> None:
    """Drop a message: a restart of one broker needs no words."""
