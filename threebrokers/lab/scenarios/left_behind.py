"""Groups whose committed offset is not in the log any more, for lab 08."""

import time
from secrets import token_hex
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.readers import delete_before

if TYPE_CHECKING:
    import pandas as pd

START, END = 100, 130
PLACES = {"40, before the start": 40, "500, beyond the end": 500}
POLICIES: dict[str, dict[str, str]] = {
    "not set": {},
    **{policy: {"auto.offset.reset": policy} for policy in ("latest", "earliest", "error")},
}
READ_SECONDS = 20.0

# The charges of lab 08: of each partition 40, so many billed, and where its log begins now.
CHARGES = 40
BILLED = {0: 30, 1: 10, 2: 20}
STARTS = {0: 0, 1: 25, 2: 40}
# A member needs some tenths of a second to get its partitions, and to hear that its place is gone; on a busy
# machine, seconds.
ASSIGN_SECONDS, FIRST_SECONDS, QUIET_SECONDS = 30.0, 6.0, 3.0


def lost_places(lab: Lab) -> "pd.DataFrame":
    """Return what readers get first whose committed offset is gone, by place (columns) and reset policy.

    The log holds the offsets 100 to 129 when they start; then new records come.
    """
    import pandas as pd  # only where a table is shown

    topic = lab.fresh_topic("ferries")
    producer = lab.producer({"enable.idempotence": True, "linger.ms": 20})
    for number in range(END):
        producer.produce(topic, f"ferry {number}")
    producer.flush()
    delete_before(lab, topic, START)
    readers = {
        (policy, place): _reader(lab, topic, settings, offset)
        for policy, settings in POLICIES.items()
        for place, offset in PLACES.items()
    }
    got: dict[tuple[str, str], str] = {}

    def all_know() -> bool:
        # Who begins at the end gets nothing before something new comes.
        producer.produce(topic, "a new ferry")
        producer.flush()
        for key, reader in readers.items():
            if key not in got and (message := reader.poll(0.02)) is not None:
                got[key] = _first(message)
        return len(got) == len(readers)

    lab.wait_until(all_know, what="every reader to get something", within=READ_SECONDS)
    for reader in readers.values():
        reader.close()
    table = pd.DataFrame([[got[policy, place] for place in PLACES] for policy in POLICIES], list(POLICIES))
    return table.set_axis(list(PLACES), axis=1).rename_axis("auto.offset.reset")


def _reader(lab: Lab, topic: str, settings: dict[str, str], offset: int) -> LabConsumer:
    group = f"{lab.group('ferries')}-{token_hex(3)}"
    reader = lab.consumer({"group.id": group, "enable.auto.commit": False, **settings})
    reader.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    reader.subscribe([topic])
    return reader


def _first(message: Message) -> str:
    """Say what a reader's first message is."""
    fault, offset = message.error(), message.offset()
    if fault is not None:
        return f"error {fault.name()}"
    return "only what is new" if offset is None or offset >= END else f"offset {offset}"


class Charges:
    """Charges of cars in three partitions, and the group that bills them and was away for too long.

    `topic` is the topic's name and `group` the group's; `ledger` notes what is billed.
    """

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.topic, self.ledger = lab.fresh_topic("charges", partitions=len(BILLED)), lab.ledger("charges")
        self.group = f"{lab.group('billing')}-{token_hex(3)}"
        producer = self.ledger.producer({"enable.idempotence": True, "linger.ms": 20})
        for number in range(CHARGES):
            for partition in BILLED:
                producer.produce(self.topic, f"charge {number}", partition=partition)
        producer.flush()
        with Consumer({"bootstrap.servers": lab.bootstrap, "group.id": self.group}) as before:
            places = [TopicPartition(self.topic, p, offset) for p, offset in BILLED.items()]
            before.commit(offsets=places, asynchronous=False)
        for partition, start in STARTS.items():
            if start:
                delete_before(lab, self.topic, start, partition)

    def bill_all(self, worker: LabConsumer) -> int:
        """Bill what a worker gets, and return how many charges that were; then the worker leaves its group.

        It ends when all that is left for the group is billed, or nothing has come for 3 s; the worker has
        30 s to get its partitions, and then 6 s to get its first record. Raises KafkaException for an error
        among the records.
        """
        left = {(r.partition, r.offset) for r in read_log(self._lab.bootstrap, self.topic)}
        left -= {(partition, offset) for partition, end in BILLED.items() for offset in range(end)}
        count, placed, ends = 0, False, time.monotonic() + ASSIGN_SECONDS
        while left and time.monotonic() < ends and getattr(worker, "asked", True):
            for message in worker.consume(20, timeout=0.05):
                if (fault := message.error()) is not None:
                    raise KafkaException(fault)
                self.ledger.processed(message)
                left.discard((message.partition() or 0, message.offset() or 0))
                count, placed, ends = count + 1, True, time.monotonic() + QUIET_SECONDS
            if not placed and worker.assignment():
                placed, ends = True, time.monotonic() + FIRST_SECONDS
        worker.close()
        return count
