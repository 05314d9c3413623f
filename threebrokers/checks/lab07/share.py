"""What lab 07 says of workers that share the jobs of a topic."""

import json
from collections import Counter, defaultdict
from typing import Any

from confluent_kafka import consistent, fnv1a, murmur2

from threebrokers.checks.expect import log_of
from threebrokers.checks.expect_clients import expect_consumer
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import jobs
from threebrokers.ledger import Balance
from threebrokers.text import listed

PARTITIONS = 6
WORKERS, LEAST = 3, 60  # records of 300: an even share is 100, and keys do not divide evenly
LEDGER = "`share_ledger.balance(jobs_topic)`"


def judge_share(lab: Lab, workers: list[Any]) -> None:
    """Raise NotYet unless three workers of one group did all jobs once, in order for each customer."""
    for place, worker in enumerate(workers):
        expect_consumer(f"workers[{place}]", worker)
    if len(workers) != WORKERS:
        raise NotYet(
            f"`workers` holds {len(workers)} consumers", "three are to share the work", "the list `workers`"
        )
    if len(set(map(id, workers))) < WORKERS:
        raise NotYet(
            "`workers` holds the same consumer more than once",
            "each of the three should be a consumer of its own",
            "the line that makes `workers`: share_ledger.consumer({…}) once for each",
        )
    topic = lab.topic("jobs")
    sent = log_of(lab, topic)
    _expect_all_sent(sent)
    balance = lab.join_ledger("jobs").balance(topic)
    _expect_numbered(balance, sent)
    _expect_by_the_group(workers)
    if balance.processed_again:
        groups = {str(w.config.get("group.id")) for w in workers if isinstance(w, LabConsumer)}
        raise NotYet(
            f"{len(balance.processed_again)} times a job was done that was done already"
            + (f": the workers are in {len(groups)} groups" if len(groups) > 1 else ""),
            "each job should be done once" + (", and each group gets everything" if len(groups) > 1 else ""),
            f"{LEDGER}, and `group.id`",
        )
    if balance.unprocessed:
        raise NotYet(
            f"{len(balance.unprocessed)} of {len(sent)} jobs were not done",
            "the three workers together should do all",
            f"{LEDGER}, and the settings of the workers",
        )
    _expect_together(sent)
    _expect_in_order(sent)
    _expect_even(_shares(workers, balance), sent)


def _expect_all_sent(sent: list[Record]) -> None:
    numbers = [_part(record, "job") for record in sent]
    wanted = len(jobs())
    if None in numbers:
        value = (sent[numbers.index(None)].value or b"").decode("utf-8", "replace")
        raise NotYet(
            f"`jobs_topic` holds {value!r:.60}",
            "the value of each record should be that of a job",
            "`produce(jobs_topic, job.value, key=…)`: the value comes before the key",
        )
    if len(set(numbers)) != wanted or len(numbers) != wanted:
        more = " (some of them twice)" if len(numbers) > len(set(numbers)) else ""
        raise NotYet(
            f"`jobs_topic` holds {len(numbers)} jobs{more}",
            f"it should hold each of the {wanted} once",
            "the loop over `jobs()`, and `producer.flush()` behind it",
        )


def _expect_numbered(balance: Balance, sent: list[Record]) -> None:
    if without := len(sent) - len(balance.stored):
        raise NotYet(
            f"{without} of {len(sent)} jobs were sent past the ledger, so nobody can tell who has done them",
            "a producer of the ledger should send all",
            "`producer = share_ledger.producer()`",
        )


def _expect_by_the_group(workers: list[Any]) -> None:
    if any(isinstance(worker, LabConsumer) and not worker.asked for worker in workers):
        raise NotYet(
            "not all of the workers have begun",
            "the three should do all jobs",
            "`work_together(lab, jobs_topic, share_ledger, workers)`, when all jobs are sent",
        )
    if any(isinstance(worker, LabConsumer) and not worker.subscribed for worker in workers):
        raise NotYet(
            "partitions were given out by hand, with assign()",
            "the group should share them out: if one of the three dies, the others must take over",
            "`subscribe()`, which `work_together(…)` calls for you",
        )


def _expect_together(sent: list[Record]) -> None:
    places: dict[str, set[int]] = defaultdict(set)
    for record in sent:
        places[str(_part(record, "customer"))].add(record.partition)
    if divided := [name for name, found in places.items() if len(found) > 1]:
        count = len(places[divided[0]])
        if len({record.key for record in sent if _part(record, "customer") == divided[0]} - {None}) == 1:
            raise NotYet(
                f"the jobs of '{divided[0]}' have one key and are in {count} partitions all the same",
                "the key should choose the partition, so that one worker does a customer's jobs in order",
                "`partition=…` in `produce()`, before which no key counts, and the producer's `partitioner`",
            )
        raise NotYet(
            f"the jobs of '{divided[0]}' are in {count} partitions ({_key_of(sent)})",
            "all jobs of a customer should be in one, so that one worker does them in their order",
            "`key=…` in `produce()`",
        )


def _expect_in_order(sent: list[Record]) -> None:
    rows: dict[str, list[int]] = defaultdict(list)
    for record in sent:
        rows[str(_part(record, "customer"))].append(_part(record, "job"))
    if mixed := [name for name, row in rows.items() if row != sorted(row)]:
        raise NotYet(
            f"the jobs of '{mixed[0]}' stand in the order {listed(rows[mixed[0]])}",
            "a customer's jobs should be done in the order of their numbers",
            "the order in which you send what `jobs()` returns",
        )


def _shares(workers: list[Any], balance: Balance) -> list[int]:
    """Return how many jobs each worker has done; a plain consumer does not tell, but the ledger may."""
    if all(isinstance(worker, LabConsumer) for worker in workers):
        return [worker.received for worker in workers]
    return list(balance.delivered_by.values())


def _expect_even(shares: list[int], sent: list[Record]) -> None:
    """Raise NotYet unless each worker has done its share. What plain consumers did, only the keys tell."""
    if len(shares) == WORKERS and min(shares) >= LEAST:
        return
    counts = sorted(Counter(record.partition for record in sent).values(), reverse=True)
    even = len(counts) == PARTITIONS and sum(counts[-(PARTITIONS // WORKERS) :]) >= LEAST
    if even and not shares:
        return
    most = f"one worker has done {max(shares)} of {len(sent)} jobs" if shares else f"of {len(sent)} jobs"
    wanted = f"each of the three should do {LEAST} or more"
    if even:
        raise NotYet(
            f"{most}, and not because of their keys: the three had not shared out the partitions when the "
            "work began",
            wanted,
            "`work_together(lab, jobs_topic, share_ledger, workers)`, which waits for that",
        )
    by_hand = any(record.key and record.partition not in _chosen(record.key) for record in sent)
    raise NotYet(
        f"{most}{': ' if shares else ' '}{counts[0]}{' of them' if shares else ''} are in one partition "
        f"({_key_of(sent)})",
        wanted,
        "`partition=…` in `produce()`, before which no key counts" if by_hand else "`key=…` in `produce()`",
    )


def _chosen(key: bytes) -> set[int]:
    """Return where the client's partitioners store a key."""
    return {choose(key, PARTITIONS) for choose in (consistent, murmur2, fnv1a)}


def _key_of(sent: list[Record]) -> str:
    first = sent[0]
    if first.key is None:
        return "no record has a key"
    text = first.key.decode("utf-8", "replace")
    if all(record.key == first.key for record in sent):
        return f"the key of each is {text!r:.40}"
    parts = _parts(first)
    return next((f"the key is the {name}" for name, value in parts.items() if str(value) == text), "its key")


def _part(record: Record, name: str) -> Any:
    return _parts(record).get(name)


def _parts(record: Record) -> dict[str, Any]:
    try:
        return dict(json.loads(record.value or b"{}"))
    except (ValueError, TypeError):
        return {}
