"""What lab 09 says of the cleanup policy that somebody has chosen for each topic of a factory."""

from collections.abc import Mapping
from typing import Any

from threebrokers.lab.exercise import NotYet

DELETE, COMPACT, BOTH = "delete", "compact", "compact,delete"
RIGHT = {
    "stage-state": COMPACT,
    "readings": DELETE,
    "audit": DELETE,
    "baskets": BOTH,
    "repairs": DELETE,
}
LOOK = "the table of the topics, above"
# For each topic, what each other policy does to it.
WHY = {
    "stage-state": {
        DELETE: "a stage that was quiet for longer than retention.ms is unknown to whoever starts",
        BOTH: "the last state of a stage goes, too, when it is older than retention.ms",
    },
    "readings": {
        COMPACT: "of each sensor only the newest temperature is left, and the boards show three days",
        BOTH: "of each sensor only the newest temperature is left, and the boards show three days",
    },
    "audit": {
        COMPACT: "of each person only the newest action is left, and none may be missing",
        BOTH: "of each person only the newest action is left, and none may be missing",
    },
    "baskets": {
        DELETE: "every change of a basket is kept for 30 days, and a service that starts reads them all",
        COMPACT: "the basket of a customer who never comes back is kept for ever",
    },
    "repairs": {
        COMPACT: "the brokers refuse records without a key",
        BOTH: "the brokers refuse records without a key",
    },
}


def judge_policies(policies: Mapping[str, Any]) -> None:
    """Raise NotYet unless each topic has the policy that does what its readers need."""
    if missing := [topic for topic in RIGHT if topic not in policies]:
        raise NotYet(f"`policies` says nothing of '{missing[0]}'", "each of the five needs one", LOOK)
    if strange := [topic for topic in policies if topic not in RIGHT]:
        raise NotYet(
            f"`policies` has {strange[0]!r:.40}", "it should have the five topics of the table", LOOK
        )
    for topic, right in RIGHT.items():
        chosen = spelt(policies[topic])
        if chosen == right:
            continue
        if chosen not in (DELETE, COMPACT, BOTH):
            words = ", ".join(f'"{policy}"' for policy in (COMPACT, BOTH, DELETE))
            raise NotYet(
                f"'{topic}' has the policy {policies[topic]!r:.40}", f"it should be one of {words}", LOOK
            )
        raise NotYet(f"with '{chosen}' for '{topic}', {WHY[topic][chosen]}", "another one is needed", LOOK)


def spelt(policy: object) -> str:
    """Return a policy as Kafka's pages spell it: "delete, compact" and ["compact", "delete"] are both."""
    parts = policy if isinstance(policy, list | tuple | set | frozenset) else str(policy).split(",")
    names = {str(part).strip().lower() for part in parts}
    return ",".join(sorted(names))
