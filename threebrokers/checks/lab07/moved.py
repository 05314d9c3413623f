"""What lab 07 says of keys whose partition changes when a topic gets more partitions."""

from collections import defaultdict

from confluent_kafka import murmur2

from threebrokers.checks.expect import existing_topic, log_of
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.sharing import FEW, MORE
from threebrokers.text import counted

LOOK = "the client's own function: `consistent(key, partitions)`, which takes bytes"


def judge_moved(lab: Lab, moved: list[str]) -> int:
    """Return how many customers moved; NotYet unless these are named."""
    topic = lab.topic("customers")
    partitions = len(existing_topic(lab, topic).partitions)
    places: dict[str, list[int]] = defaultdict(list)
    for record in sorted(log_of(lab, topic), key=lambda record: record.timestamp):
        places[(record.key or b"").decode()].append(record.partition)
    if partitions != MORE or any(len(found) != 2 for found in places.values()):
        raise NotYet(
            f"'{topic}' has {partitions} partitions and {sum(map(len, places.values()))} records",
            f"it should have {MORE}, and two records of each customer",
            "the last line of the exercise's cell; run the whole cell again",
        )
    right = {name for name, (first, second) in places.items() if first != second}
    given = set(moved)
    if given == right:
        return len(right)
    raise _why(given, right, places)


def _why(given: set[str], right: set[str], places: dict[str, list[int]]) -> NotYet:
    names = set(places)
    if not given:
        return NotYet("`moved` is empty", f"{len(right)} of {len(names)} customers have moved", LOOK)
    if strange := given - names:
        return NotYet(
            f"`moved` has {sorted(map(str, strange))[0]!r}", "it should have names of customers", "`moved`"
        )
    if given == names:
        return NotYet(
            "`moved` has all customers",
            f"{len(names - right)} of them stay: for their keys both divisions leave the same rest",
            LOOK,
        )
    if given == {name for name, (_, second) in places.items() if second >= FEW}:
        return NotYet(
            "`moved` has those that go to the two new partitions",
            "others change from one old partition to another",
            LOOK,
        )
    if given == {name for name in names if murmur2(name.encode(), FEW) != murmur2(name.encode(), MORE)}:
        return NotYet(
            "`moved` has those that would move with Java's function (murmur2)",
            "this producer's partitioner uses CRC32",
            LOOK,
        )
    if given == names - right:
        return NotYet(
            "`moved` has those that stay", "it should have the others", "the sign between the two numbers"
        )
    wrong = sorted(given ^ right)
    name = wrong[0]
    first, second = places[name]
    did = f"went from partition {first} to {second}" if first != second else f"stayed in partition {first}"
    return NotYet(
        f"'{name}' {did}, and `moved` says otherwise ({counted(len(wrong), 'customer')} in all)",
        "all should be right",
        LOOK,
    )
