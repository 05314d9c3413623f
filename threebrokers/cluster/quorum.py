"""Which brokers answer now, and what it would cost the quorum to take one of them away."""

from threebrokers.cluster import link_faults
from threebrokers.cluster.engine import Engine
from threebrokers.cluster.settings import BROKERS
from threebrokers.errors import LabError

QUORUM = len(BROKERS) // 2 + 1


def answering(engine: Engine) -> list[int]:
    """Return the brokers that are up and reach another voter: others may take a question for ever."""
    try:
        apart = link_faults.alone(engine.faults())
    except LabError:  # who carries the links is gone: no broker reaches another
        apart = set(BROKERS)
    return [n for n, p in engine.processes().items() if p.state == "up" and n not in apart]


def impacts(up: set[int]) -> dict[int, str]:
    """Say of each broker what it would cost to take it away from those that are up; empty if nothing."""
    return {n: _impact(up, n) for n in BROKERS}


def unanswered(tool: str, up: list[int]) -> LabError:
    """Return what is said of a tool that got no answer because only these brokers are up."""
    there = ", ".join(map(str, up)) or "none"
    return LabError(
        f"{tool} got no answer: of {len(BROKERS)} brokers only {there} is up, and that is no quorum",
        "start the others with `lab.cluster.up()`, then run the cell again",
    )


def _impact(up: set[int], broker: int) -> str:
    rest = sorted(up - {broker})
    if broker not in up or len(up) < QUORUM or len(rest) >= QUORUM:
        return ""
    return (
        f"This takes the quorum away: of {len(BROKERS)} voters only broker {rest[0]} would be left, "
        "so nothing can be elected until one returns"
    )
