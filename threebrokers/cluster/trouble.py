"""What keeps brokers from answering now, in words, and what brings them back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from threebrokers.cluster.actions import Action, action_kind
from threebrokers.cluster.cluster import Cluster
from threebrokers.cluster.link_faults import Fault
from threebrokers.cluster.process import BrokerProcess
from threebrokers.errors import LabError
from threebrokers.text import listed

ALL = "lab.cluster.up()"


@dataclass(frozen=True)
class Trouble:
    """Brokers that are away, as a sentence without its end ("broker 2 is paused"), and what brings them back.

    `cure` is what a notebook runs for that: it changes no topic, record or group. Empty if only time helps.
    """

    what: str
    cure: str
    brokers: frozenset[int]


def trouble(cluster: Cluster, since: float = 0.0) -> Trouble | None:
    """Say which brokers are away now; None if all run, are registered and have their links.

    The cure is for those to which something was done after `since` (s since 1970): what was done before
    belongs to the experiment. It is for all of them if nothing was done after that. Takes as long as
    `Cluster.state` if nothing is known to be wrong with any.
    """
    if cluster.access:
        found = _unregistered(cluster)
        return found and replace(found, cure="")
    actions = cluster.actions()
    try:
        faults = cluster.faults()
    except LabError as fault:
        return Trouble(fault.what[0].lower() + fault.what[1:], _code([ALL]), frozenset())
    away = _links(faults) | _processes(cluster.processes(), actions)
    if not away:
        return _unregistered(cluster)
    later = {action.broker for action in actions if action.at > since and action_kind(action.kind).harm}
    to_cure = sorted(set(away) & later or set(away))
    cures = [away[number][1] for number in to_cure]
    if len(away) == len(cluster.processes()):
        cures = [ALL]
    return Trouble(_told(away, len(cluster.processes())), _code(cures), frozenset(away))


def _told(away: Mapping[int, tuple[str, str]], of: int) -> str:
    """Say how the brokers are, those in the same state together."""
    phrases = []
    for state in dict.fromkeys(words for _, (words, _) in sorted(away.items())):
        numbers = sorted(number for number, (words, _) in away.items() if words == state)
        several = "all brokers" if len(numbers) == of else f"brokers {listed(numbers)}"
        phrases.append(f"{several} are {state}" if len(numbers) > 1 else f"broker {numbers[0]} is {state}")
    return listed(phrases)


def _processes(
    processes: Mapping[int, BrokerProcess], actions: Sequence[Action]
) -> dict[int, tuple[str, str]]:
    """Return how each broker is whose process cannot answer, and its cure."""
    found = {}
    for number, process in processes.items():
        if process.state == "paused":
            found[number] = "paused", f"lab.cluster.resume({number})"
        elif process.state != "up":
            done = [action_kind(action.kind) for action in actions if action.broker == number]
            last = next((kind for kind in reversed(done) if not kind.on_links), None)
            how = f" ({last.past})" if last and last.leaves == "down" else ""
            found[number] = f"down{how}", f"lab.cluster.start({number})"
    return found


def _links(faults: Sequence[Fault]) -> dict[int, tuple[str, str]]:
    """Return how each broker is whose links let nothing pass, and its cure."""
    words = {"cut": "cut off {}", "stall": "behind links that are stalled, {}"}
    return {
        fault.broker: (words[fault.effect].format(fault.words), f"lab.cluster.heal({fault.broker})")
        for fault in faults
        if fault.effect in words
    }


def _unregistered(cluster: Cluster) -> Trouble | None:
    state = cluster.state([])  # one that is only busy answers a moment later
    late = [broker.id for broker in state.brokers if broker.state != "up" or not broker.registered]
    if not late:
        return None
    who = f"broker {late[0]} does" if len(late) == 1 else f"brokers {listed(late)} do"
    return Trouble(f"{who} not answer yet", "", frozenset(late))


def _code(cures: Sequence[str]) -> str:
    return listed([f"`{cure}`" for cure in cures])
