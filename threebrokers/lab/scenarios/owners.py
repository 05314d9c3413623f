"""A worker hangs in its transaction, and its partition goes to a worker with another name, for lab 11."""

import time
from typing import Any

from confluent_kafka import KafkaException, Message, TopicPartition

from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.lab import Lab

# A stays away from poll() for longer than PATIENCE_MS, and is thrown out; its transaction may last longer. B
# has 30 s, so that a busy machine does not throw it out.
PATIENCE_MS, TRANSACTION_MS, UNHURRIED_MS = 1500, 5000, 30_000
CALL_SECONDS, RECORD_SECONDS = 10.0, 60.0
READ_AGAIN_SECONDS = 10.0
GETS, WORKS = "B has the partition (s)", "B gets its first record (s)"
TOLD, SEEN = "A is told", "readers get"


def second_owner(lab: Lab, *, sent: bool) -> dict[str, Any]:
    """Let A hang in its transaction until B, with another transactional.id, has done A's record; then wake A.

    `sent` says whether A has already sent its offset when it hangs; its transaction may last 5 s. Returned
    are two times (s, since A hung), the name of the error that A gets, and who has written what readers of
    committed records get.
    """
    letters, replies = lab.fresh_topic("till-letters"), lab.fresh_topic("till-replies", replication_factor=3)
    writer = lab.producer({"linger.ms": 0})
    writer.produce(letters, "a letter")
    writer.flush()
    group = f"{lab.group('owners')}-{time.time_ns()}"
    a, b = (_Worker(lab, group, letters, replies, name) for name in "AB")
    a.take()
    a.begin()
    if sent:
        a.send_offset()
    hung = time.monotonic()
    b.take()
    found: dict[str, Any] = {GETS: round(b.assigned - hung, 1), WORKS: round(b.got - hung, 1)}
    b.begin()
    b.send_offset()
    b.producer.commit_transaction(CALL_SECONDS)
    found[TOLD] = a.wakes(sent)
    found[SEEN] = _writers(lab, replies)
    a.consumer.close()
    b.consumer.close()
    return found


class _Worker:
    """One member of the group, and the producer that writes its replies."""

    def __init__(self, lab: Lab, group: str, letters: str, replies: str, name: str) -> None:
        own = {"group.id": group, "client.id": name, "auto.offset.reset": "earliest"}
        patience = PATIENCE_MS if name == "A" else UNHURRIED_MS
        clocks = {"session.timeout.ms": patience, "max.poll.interval.ms": patience}
        self.lab, self.name, self.letters, self.replies = lab, name, letters, replies
        self.consumer: LabConsumer = lab.consumer(
            own | clocks | {"heartbeat.interval.ms": PATIENCE_MS // 8, "enable.auto.commit": False}
        )
        named = {"transactional.id": lab.topic(f"owner-{name}"), "transaction.timeout.ms": TRANSACTION_MS}
        self.producer: LabProducer = lab.producer(named | {"linger.ms": 0})
        self.producer.init_transactions(CALL_SECONDS)
        self.assigned = self.got = 0.0
        self.letter: Message | None = None

    def take(self) -> None:
        """Subscribe, and wait for the first record; note when the partition came, and when the record."""
        self.consumer.subscribe([self.letters])

        def came() -> bool:
            message = self.consumer.poll(0.05)
            if not self.assigned and self.consumer.assignment():
                self.assigned = time.monotonic()
            if message is not None and message.error() is None:
                self.letter, self.got = message, time.monotonic()
            return self.letter is not None

        self.lab.wait_until(came, what=f"{self.name} to get a record", within=RECORD_SECONDS)

    def begin(self) -> None:
        """Begin a transaction, and write the reply in it."""
        self.producer.begin_transaction()
        self.producer.produce(self.replies, self.name)
        self.producer.flush(CALL_SECONDS)

    def send_offset(self) -> None:
        """Send the offset of the next letter into the transaction."""
        assert self.letter is not None
        offset = (self.letter.offset() or 0) + 1
        place = TopicPartition(self.letters, 0, offset)
        group = self.consumer.consumer_group_metadata()
        self.producer.send_offsets_to_transaction([place], group, CALL_SECONDS)

    def wakes(self, sent: bool) -> str:
        """Go on where it hung; return the name of the error that comes, or "committed"."""
        try:
            if not sent:
                self.send_offset()
            self.producer.commit_transaction(CALL_SECONDS)
        except KafkaException as fault:
            error = fault.args[0]
            if error.txn_requires_abort():
                self.producer.abort_transaction(CALL_SECONDS)
            return str(error.name())
        return "committed"


def _writers(lab: Lab, replies: str) -> str:
    """Return who has written what can be read, as soon as every transaction has ended."""

    def readable() -> list[str]:
        values = [(record.value or b"").decode() for record in read_log(lab.bootstrap, replies)]
        return values if "B" in values else []

    return ", ".join(
        lab.wait_until(readable, what="the marks of the transactions", within=READ_AGAIN_SECONDS)
    )
