"""Exercise 13.5: how many records a query that has stopped would have to read, by partition."""

from collections.abc import Mapping

from threebrokers.lab.exercise import NotYet

LOOK_AT = "end_offsets(…), and endOffset in query.lastProgress"


def compare_waiting(waiting: Mapping[int, int], place: Mapping[int, int], ends: Mapping[int, int]) -> None:
    """Raise NotYet unless `waiting` is end minus place for each partition; `place` is where the query is."""
    right = {partition: end - place.get(partition, 0) for partition, end in ends.items()}
    if dict(waiting) == right:
        return
    if set(waiting) != set(right):
        raise NotYet(
            f"`waiting` has the partitions {sorted(waiting)}",
            f"it should have {sorted(right)}, as whole numbers",
            LOOK_AT,
        )
    if not any(waiting.values()):
        raise NotYet(
            "`waiting` says 0 everywhere: that was so when the query's last batch ended",
            "records have come since; only the brokers know where the topic ends now",
            LOOK_AT,
        )
    if dict(waiting) == dict(ends):
        raise NotYet(
            "`waiting` is the end of each partition", "what the query has read does not wait", LOOK_AT
        )
    if dict(waiting) == dict(place):
        raise NotYet(
            "`waiting` is where the query stands in each partition",
            "what lies between that place and the end waits",
            LOOK_AT,
        )
    partition = next(one for one in right if waiting[one] != right[one])
    raise NotYet(
        f"`waiting` says {waiting[partition]} for partition {partition}",
        f"the query's place is {place.get(partition, 0)} and the end is {ends[partition]}",
        LOOK_AT,
    )
