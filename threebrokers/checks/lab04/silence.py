"""What lab 04's check says of a consumer whose leader froze."""

from collections.abc import Mapping
from typing import Any

from threebrokers.checks.expect_actions import expect_action
from threebrokers.cluster.actions import Action
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import measured_with
from threebrokers.recorder import Recording

SILENT_SECONDS = 5.0
DOCS = "the client's settings with 'timeout' in their name: https://docs.confluent.io/platform/current/clients/librdkafka/html/md_CONFIGURATION.html"
CALL = "frozen = frozen_leader(lab, settings)"
PATIENCE = "socket.timeout.ms"
# Settings that learners take for the patience, and what they are about.
OTHERS = {
    "session.timeout.ms": "session.timeout.ms says how long the group waits for a silent member",
    "heartbeat.interval.ms": "heartbeat.interval.ms says how often a member tells its group that it lives",
    "max.poll.interval.ms": "max.poll.interval.ms says how long the group waits for the next poll()",
    "topic.metadata.refresh.interval.ms": "the consumer asks more often who leads, but it asks the broker "
    "that it is connected to, and that one is frozen",
    "metadata.max.age.ms": "the consumer keeps what it knows about leaders for a shorter time, but it asks "
    "the broker that it is connected to, and that one is frozen",
    "fetch.wait.max.ms": "fetch.wait.max.ms says how long the broker may keep a request, and a frozen "
    "broker keeps it for ever",
    "request.timeout.ms": "request.timeout.ms is Java's name; a consumer of this client has no such setting",
    "reconnect.backoff.ms": "to connect again sooner helps when a connection has broken, and this one stands",
    "reconnect.backoff.max.ms": "to connect sooner helps when a connection has broken, and this one stands",
}


def judge_silence(lab: Lab, settings: Mapping[Any, Any], frozen: Recording) -> None:
    """Raise NotYet unless the consumer was silent for 5 s at most while its leader was frozen in this try."""
    pause = _pause(lab, frozen)
    _expect_same(settings, frozen)
    silent = frozen.longest_gap("delivered", after=pause).seconds
    if silent <= SILENT_SECONDS:
        return
    said = f"the consumer was silent for {silent:.1f} s"
    wanted = f"its silence should last {SILENT_SECONDS:g} s at most"
    if PATIENCE in settings:
        raise NotYet(
            f"{said}: it waits {settings[PATIENCE]} ms for an answer, and looks for the next leader then",
            wanted,
            f"a shorter {PATIENCE}",
        )
    for name, words in OTHERS.items():
        if name in settings:
            raise NotYet(f"{said}: {words}", wanted, DOCS)
    raise NotYet(f"{said}, as long as its leader", wanted, DOCS)


def _expect_same(settings: Mapping[Any, Any], frozen: Recording) -> None:
    """Raise NotYet if the recording is of a consumer that had other settings."""
    measured = measured_with(frozen)
    if measured is None or _texts(measured) == _texts(settings):
        return
    raise NotYet(
        f"`frozen` is the recording of a consumer with {_texts(measured) or 'no settings'}, "
        f"and `settings` is {_texts(settings)}",
        "it should be measured with just these settings",
        CALL,
    )


def _texts(settings: Mapping[Any, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in settings.items()}


def _pause(lab: Lab, frozen: Recording) -> Action:
    """Return the moment when the leader was frozen on the recording, in this try."""
    told = expect_action(lab, "pause", CALL)
    same = [action for action in frozen.actions if action.kind == "pause" and action.at >= told.at - 0.01]
    if not same:
        raise NotYet("`frozen` is an earlier recording", "it should be the one of this try", CALL)
    return same[-1]
