"""One lab, opened: its brokers, its names, its clients and its checks."""

import importlib
import os
import re
import secrets
from collections.abc import Callable, Mapping
from functools import cached_property
from types import ModuleType
from typing import Any, TypeVar

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from IPython import get_ipython

from threebrokers import home, topics, waiting
from threebrokers.clients import Clients, LabConsumer, LabProducer
from threebrokers.cluster import Cluster
from threebrokers.errors import BenchError

T = TypeVar("T")


class Checks:
    """The checks of one lab's exercises, each with the lab as its first argument."""

    def __init__(self, lab: "Lab", module: ModuleType) -> None:
        self._lab, self._checks = lab, {n: f for n, f in vars(module).items() if hasattr(f, "number")}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in self._checks:
            raise AttributeError(
                f"lab {self._lab.number} has no check '{name}': it has {', '.join(self._checks)}"
            )
        check = self._checks[name]
        return lambda *answers, **named: check(self._lab, *answers, **named)

    def __dir__(self) -> list[str]:
        return list(self._checks)


class Lab:
    """What a notebook of the course works with. `opened` tells this opening of the lab from every other."""

    def __init__(self, number: str, cluster: Cluster, module: ModuleType, opened: str) -> None:
        self.number = number
        self.cluster = cluster
        self.check = Checks(self, module)
        self.opened = opened
        self._prefix = os.environ.get("THREEBROKERS_PREFIX", "")
        self._clients = Clients(cluster.bootstrap, home.home())

    @property
    def bootstrap(self) -> str:
        """The addresses of all three brokers, separated by commas."""
        return self.cluster.bootstrap

    @cached_property
    def admin(self) -> AdminClient:
        """An AdminClient, kept as long as the lab: one that is let go takes its open calls with it."""
        return self.cluster.admin()

    def topic(self, name: str) -> str:
        """Return the full name of a topic: on a cluster that is shared, your prefix comes first."""
        return f"{self._prefix}{name}"

    def group(self, name: str) -> str:
        """Return the full name of a consumer group: a new group each time the lab is opened."""
        return f"{self._prefix}{name}-{self.opened}"

    def fresh_topic(
        self,
        name: str,
        *,
        partitions: int = 1,
        replication_factor: int = 1,
        config: Mapping[str, str] | None = None,
    ) -> str:
        """Create a topic, after deleting the one of this name if there is one; return its full name.

        Waits until every broker knows the leaders of all its partitions. Raises BenchError with the
        brokers' own words if they refuse.
        """
        full = self.topic(name)
        topics.delete(self.cluster, [full])
        topics.create(self.cluster, full, partitions, replication_factor, config or {})
        return full

    def producer(self, config: Mapping[str, Any] | None = None) -> LabProducer:
        """Make a confluent-kafka Producer that knows the brokers; `config` is added to that.

        A producer that the same cell made in an earlier run is thrown away first.
        """
        return self._clients.producer(config)

    def consumer(self, config: Mapping[str, Any]) -> LabConsumer:
        """Make a confluent-kafka Consumer that knows the brokers; `config` is added to that.

        A consumer that the same cell made in an earlier run leaves its group first.
        """
        return self._clients.consumer(config)

    def consumers(self) -> list[LabConsumer]:
        """Return the consumers that this notebook has made and not replaced, oldest first."""
        return self._clients.made(LabConsumer)

    def producers(self) -> list[LabProducer]:
        """Return the producers that this notebook has made and not replaced, oldest first."""
        return self._clients.made(LabProducer)

    def wait_until(self, look: Callable[[], T | None], *, what: str, within: float = 10) -> T:
        """Return the first true value of `look()`, which is asked again and again for `within` seconds."""
        return waiting.wait_until(
            look, what=what, within=within, otherwise="run the cell again, or see with `threebrokers status`."
        )

    def close(self) -> None:
        """Close the clients that this lab made."""
        self._clients.close()

    def _own(self, module: ModuleType) -> None:
        topics.delete(self.cluster, [self.topic(name) for name in module.TOPICS])
        topics.delete_groups(self.cluster, tuple(f"{self._prefix}{name}-" for name in module.GROUPS))


def open_lab(number: str) -> Lab:
    """Open a lab: start brokers that are missing, and delete only this lab's own topics and groups.

    Raises BenchError if there is no such lab, or if the brokers cannot start.
    """
    module = _checks(number)
    for earlier in _opened_here():
        earlier.close()  # a cell that runs again must not leave members in a group
    cluster = Cluster()
    started = cluster.up()
    lab = Lab(number, cluster, module, secrets.token_hex(3))
    try:
        lab._own(module)
    except KafkaException as fault:
        raise BenchError(
            f"The brokers run, but did not answer in time ({fault.args[0].str()}): run this cell again, "
            "and `threebrokers doctor` if it says so twice."
        ) from fault
    woken = f" Broker {', '.join(map(str, started))} had to be started." if started else ""
    print(f"Lab {number} is open: three brokers at {cluster.bootstrap}.{woken}")
    return lab


def join_lab(number: str, opened: str) -> Lab:
    """Return a lab that another process has opened, with the same names; nothing is started or deleted."""
    return Lab(number, Cluster(), _checks(number), opened)


def _opened_here() -> list[Lab]:
    """Return the labs that this notebook holds in its variables."""
    shell = get_ipython()
    return [value for value in shell.user_ns.values() if isinstance(value, Lab)] if shell else []


def _checks(number: str) -> ModuleType:
    if not (isinstance(number, str) and re.fullmatch(r"[0-9]{2}", number)):
        raise BenchError(
            f'A lab is named by two digits as text, not by {number!r}: for example open_lab("01").'
        )
    try:
        return importlib.import_module(f"threebrokers.checks.lab{number}")
    except ModuleNotFoundError:
        raise BenchError(
            f"There is no lab {number} yet: see the folder labs/ for those that exist."
        ) from None
