"""In a notebook on a cluster that is not the learner's: clients of confluent-kafka itself get in too."""

import functools
from collections.abc import Mapping
from typing import Any

import confluent_kafka
from confluent_kafka.admin import AdminClient

from threebrokers.kafka import access

COMPILED = ("Producer", "Consumer")  # nothing can be changed in these, so a class of our own takes their name


class _Kind(type):
    """What the client was before is of this class too: a check asks whether an answer is a Producer."""

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, cls.__mro__[1])


def fill_in() -> None:
    """Let whoever makes a client with the cluster's addresses get what the client's file says beside them.

    It concerns the names that are imported from now on; what the program itself sets comes first.
    """
    for name in COMPILED:
        kind = getattr(confluent_kafka, name)
        if not isinstance(kind, _Kind):
            told = {"__init__": _filled(kind.__init__), "__doc__": kind.__doc__}
            setattr(confluent_kafka, name, _Kind(name, (kind,), told))
    if not hasattr(AdminClient.__init__, "__wrapped__"):
        AdminClient.__init__ = _filled(AdminClient.__init__)  # type: ignore[method-assign]


def _filled(before: Any) -> Any:
    @functools.wraps(before)
    def begin(self: Any, *given: Any, **named: Any) -> None:
        if given and isinstance(given[0], Mapping):
            found = access.settings_for(str(given[0].get("bootstrap.servers", "")))
            given = ({**found, **given[0]}, *given[1:])
        before(self, *given, **named)

    return begin
