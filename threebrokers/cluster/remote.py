"""The engine of a cluster that is not the learner's: its brokers are found and used, and never touched."""

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn

from threebrokers.cluster.link_faults import Fault
from threebrokers.cluster.process import BrokerProcess, Usage
from threebrokers.errors import LabError, NotYoursError
from threebrokers.kafka.access import Access

LOOK_SECONDS = 10.0
FRESH_SECONDS = 2.0  # so long it is believed which brokers there are


def not_yours(access: Access, what: str, kind: str = "") -> NotYoursError:
    """Return what to say when `what` is not done on this cluster; `kind` is the action's, if it is one."""
    return NotYoursError(
        f"The cluster at {access.bootstrap} is not yours, so {what}",
        "without THREEBROKERS_BOOTSTRAP the course uses three brokers of your own",
        kind,
    )


class RemoteEngine:
    """The brokers of a cluster elsewhere, as they tell of themselves."""

    name = "remote"
    start_seconds = 60.0

    def __init__(self, home: Path, access: Access) -> None:
        self.home, self.access = home, access
        self._addresses: dict[int, str] = {}
        self._known: set[int] = set()  # also those that the others no longer count
        self._looked = 0.0  # by time.monotonic()
        self._looking = threading.Lock()

    @property
    def brokers(self) -> tuple[int, ...]:
        """The numbers of the brokers. Raises LabError if none is reached."""
        self._look()
        return tuple(sorted(self._known))

    def addresses(self) -> dict[int, dict[str, str]]:
        """Return the address that each broker advertises. Raises LabError if none is reached."""
        self._look()
        return {n: {"CLIENT": address} for n, address in sorted(self._addresses.items())}

    def listening(self) -> dict[int, dict[str, str]]:
        """Return the same: nobody sees more from here."""
        return self.addresses()

    def faults(self) -> list[Fault]:
        """Return nothing: no link of this cluster is the course's."""
        return []

    def processes(self) -> dict[int, BrokerProcess]:
        """Return each broker: up, or down if it has been there and the others no longer count it."""
        self._look()
        there = self._addresses
        return {n: BrokerProcess(n, "up" if n in there else "down", elsewhere=True) for n in self.brokers}

    def ended(self) -> list[int]:
        """Return nothing: whoever runs that cluster sees to it."""
        return []

    def usage(self) -> dict[int, Usage]:
        """Return nothing: nobody sees the processes from here."""
        return {}

    def wait_for_ports(self, nodes: list[int], within: float) -> dict[int, float]:
        """Return nothing: nothing was started."""
        return {}

    def renew_disks(self) -> set[int]:
        """Return nothing: no disk of this cluster is the course's."""
        return set()

    def change_links(self, change: Callable[[list[Fault]], list[Fault]]) -> NoReturn:
        """Raise NotYoursError."""
        self.refuse("no link of its brokers can be broken or mended here", "cut")

    def up(self, say: Callable[[str], None]) -> NoReturn:
        """Raise NotYoursError."""
        self.refuse("no broker of it is started here")

    def start(self, node: int, advertised: str = "") -> NoReturn:
        """Raise NotYoursError."""
        self.refuse(f"broker {node} cannot be started here", "start")

    def stop(self, node: int) -> NoReturn:
        """Raise NotYoursError."""
        self.refuse(f"broker {node} cannot be stopped here", "stop")

    def kill(self, node: int) -> NoReturn:
        """Raise NotYoursError."""
        self.refuse(f"broker {node} cannot be killed here", "kill")

    def pause(self, node: int) -> NoReturn:
        """Raise NotYoursError."""
        self.refuse(f"broker {node} cannot be paused here", "pause")

    def resume(self, node: int) -> NoReturn:
        """Raise NotYoursError."""
        self.refuse(f"broker {node} cannot be resumed here", "resume")

    def down(self) -> NoReturn:
        """Raise NotYoursError."""
        self.refuse("no broker of it is stopped here")

    def erase(self) -> NoReturn:
        """Raise NotYoursError."""
        self.refuse("nothing of it is deleted here")

    def log(self, node: int) -> NoReturn:
        """Raise NotYoursError."""
        self.refuse(f"the log of broker {node} cannot be read here")

    def configuration(self, node: int) -> NoReturn:
        """Raise NotYoursError."""
        self.refuse(f"the settings file of broker {node} cannot be read here")

    def segments(self, topic: str, partition: int, node: int) -> NoReturn:
        """Raise NotYoursError."""
        self.refuse(f"the files of broker {node} cannot be read here")

    def refuse(self, what: str, kind: str = "") -> NoReturn:
        """Raise NotYoursError: `what` is not done; `kind` is the action's, if it was to be one."""
        raise not_yours(self.access, what, kind)

    def enter_all(self) -> None:
        """Enter each of the addresses that were given. Raises NoEntranceError for the first that refuses."""
        from threebrokers.kafka.entrance import connector  # kafka-python, which takes 0.2 s to import

        for address in self.access.bootstrap.split(","):
            connector(self.access)(address).close()

    def _look(self) -> None:
        """Ask which brokers there are, if nobody has for some seconds."""
        with self._looking:
            if monotonic() - self._looked < FRESH_SECONDS:
                return
            found = self._asked()
            if found is None:  # say why, by the first address that is tried again
                self.enter_all()
                raise LabError(
                    f"The brokers at {self.access.bootstrap} let you in and do not answer",
                    "try again in a moment, or ask who runs that cluster",
                )
            self._addresses, self._looked = found, monotonic()
            self._known |= found.keys()

    def _asked(self) -> dict[int, str] | None:
        """Return the address of each broker, by the first one that tells it; None if nobody does."""
        from threebrokers.kafka import entrance, requests  # kafka-python, which takes 0.2 s to import
        from threebrokers.kafka.connection import Connections

        known = [*self._addresses.values(), *self.access.bootstrap.split(",")]
        with closing(Connections(entrance.connector(self.access))) as connections:
            for address in dict.fromkeys(known):
                told: dict[str, list[Any]] = connections.ask({address: [requests.metadata([])]}, LOOK_SECONDS)
                for [metadata] in told.values():
                    return {b.node_id: f"{b.host}:{b.port}" for b in metadata.brokers}
        return None
