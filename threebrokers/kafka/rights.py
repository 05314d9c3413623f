"""What a cluster that is not the learner's does not allow, in one sentence each."""

from typing import Any

from threebrokers.errors import LabError, NotYoursError
from threebrokers.kafka.access import Access, chosen

# The words by which brokers, librdkafka and Java's clients say so, and the name of what may not be touched.
REFUSED = {
    "TOPIC_AUTHORIZATION_FAILED": "topic",
    "GROUP_AUTHORIZATION_FAILED": "group",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": "transactional.id",
}
POWER = "CLUSTER_AUTHORIZATION_FAILED"
WORDS = {  # Java names the class of an error, brokers say a sentence
    "TopicAuthorization": "TOPIC_AUTHORIZATION_FAILED",
    "Not authorized to access topics": "TOPIC_AUTHORIZATION_FAILED",
    "Topic authorization failed": "TOPIC_AUTHORIZATION_FAILED",
    "GroupAuthorization": "GROUP_AUTHORIZATION_FAILED",
    "Not authorized to access group": "GROUP_AUTHORIZATION_FAILED",
    "Group authorization failed": "GROUP_AUTHORIZATION_FAILED",
    "TransactionalIdAuthorization": "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    "Transactional Id authorization failed": "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    "ClusterAuthorization": POWER,
    "Cluster authorization failed": POWER,
}


def of_text(access: Access, text: str) -> LabError | None:
    """Return what to say of the words of a client or tool; None if they are not about rights."""
    names = (*REFUSED, POWER)
    found = next((name for name in names if name in text), None)
    found = found or next((name for words, name in WORDS.items() if words in text), None)
    return _told(access, found) if found else None


def of_fault(fault: BaseException, name: str = "") -> LabError | None:
    """Return what to say of an error of confluent-kafka; None if it is not about rights."""
    access = chosen()
    told: Any = fault.args[0] if fault.args else None
    if access is None or not hasattr(told, "name"):
        return None
    code = told.name()
    return _told(access, code, name) if code in REFUSED or code == POWER else None


def _told(access: Access, code: str, name: str = "") -> LabError:
    if code == POWER:
        return NotYoursError(
            f"The cluster at {access.bootstrap} does not allow this, which needs power over its brokers",
            "without THREEBROKERS_BOOTSTRAP the course uses three brokers of your own",
        )
    kind = REFUSED[code]
    named = f" {name!r}" if name else ""
    if name.startswith("__"):  # where the brokers themselves keep groups and transactions
        return NotYoursError(
            f"The cluster at {access.bootstrap} does not let you read {name!r}, a topic of its own",
            "without THREEBROKERS_BOOTSTRAP the course uses three brokers of your own",
        )
    return LabError(
        f"The cluster at {access.bootstrap} does not let you touch this {kind}{named}",
        f"use names that begin with {access.prefix!r}, as `lab.topic(…)` and `lab.group(…)` give them; if "
        "yours is refused, ask who runs that cluster for rights on this prefix",
    )
