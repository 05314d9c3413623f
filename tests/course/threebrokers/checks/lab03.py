"""The checks of the sample lesson."""

from threebrokers.lab.exercise import exercise


@exercise("3.1", "Survive one broker")
def survives_one_broker(lab: object, topic: str) -> str:
    return "two copies are left."


@exercise("3.2", "Count twice")
def counts_twice(lab: object, first: int, second: int) -> str:
    return "both are there."
