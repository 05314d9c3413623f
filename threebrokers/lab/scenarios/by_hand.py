"""A client that speaks both versions of transactions by hand, and a record of it that comes late: for lab 11.

Kafka's own clients cannot hold back a request. This one makes it, keeps it, and sends it when it likes.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError
from confluent_kafka.admin import ConfigResource, ResourceType
from kafka.protocol.metadata import FindCoordinatorRequest, FindCoordinatorResponse
from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafka.record.memory_records import MemoryRecordsBuilder

from threebrokers.errors import LabError
from threebrokers.kafka.admin import change_config
from threebrokers.kafka.connection import Connections, Request
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab import changes
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import leader_of

if TYPE_CHECKING:
    import pandas as pd

# The versions of both requests tell a broker which version of transactions the client speaks.
PRODUCE, END = {1: 11, 2: 12}, {1: 4, 2: 5}
INIT, ADD, FIND = 4, 3, 4
TRANSACTIONS = 1  # what kind of coordinator is asked for
ANSWER_SECONDS, READY_SECONDS, TIMEOUT_MS = 5.0, 20.0, 900_000
# The coordinator is being elected or reads its topic, or the marks of the last transaction are on their way.
NOT_YET = {14, 15, 16, 19, 51}
VERIFICATION = "transaction.partition.verification.enable"


class HandMade:
    """A producer with a transactional.id, whose requests are made here; it writes to partition 0 of a topic.

    `version` is that of the protocol: in the second the coordinator returns a new epoch after each
    transaction, and a partition need not be announced.
    """

    def __init__(self, lab: Lab, name: str, topic: str, version: int, connections: Connections) -> None:
        self.lab, self.name, self.topic, self.version = lab, name, topic, version
        self._connections = connections
        self.sequence = 0
        self._leader = lab.cluster.address(leader_of(lab, topic))
        self._coordinator = self._found()
        asked = InitProducerIdRequest(
            transactional_id=name, transaction_timeout_ms=TIMEOUT_MS, producer_id=-1, producer_epoch=-1
        )
        told = self._ready(Request(asked, InitProducerIdResponse, INIT), lambda told: told.error_code)
        self.producer_id, self.epoch = told.producer_id, told.producer_epoch

    def begin(self) -> None:
        """Begin a transaction: tell the coordinator of the partition, in the first version."""
        if self.version > 1:
            return
        place = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(name=self.topic, partitions=[0])
        asked = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.name,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[place],
        )

        def code(told: Any) -> int:
            return int(told.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code)

        self._ready(Request(asked, AddPartitionsToTxnResponse, ADD), code)

    def record(self, text: str) -> Request:
        """Make the request that writes a record, with the next sequence number, to be sent at any time."""
        batch = MemoryRecordsBuilder(
            2, 0, 1000, 0, True, self.producer_id, self.epoch, self.sequence
        )  # magic, no compression, at most 1000 bytes, from offset 0, of a transaction
        batch.append(None, None, text.encode())
        batch.close()
        self.sequence += 1
        topic = ProduceRequest.TopicProduceData
        place = topic.PartitionProduceData(index=0, records=batch.buffer())
        asked = ProduceRequest(
            transactional_id=self.name,
            acks=-1,
            timeout_ms=int(1000 * ANSWER_SECONDS),
            topic_data=[topic(name=self.topic, partition_data=[place])],
        )
        return Request(asked, ProduceResponse, PRODUCE[self.version])

    def send(self, record: Request) -> str:
        """Send a record to the leader, and return the name of the error that it answers, or "stored"."""
        code = self._ask(self._leader, record).responses[0].partition_responses[0].error_code
        return "stored" if code == 0 else str(KafkaError(code).name())

    def write(self, text: str) -> None:
        """Write a record now. Raises LabError if it is refused."""
        record = self.record(text)
        self._ready(record, lambda told: told.responses[0].partition_responses[0].error_code, self._leader)

    def end(self, *, commit: bool) -> None:
        """End the transaction; in the second version the next one has the epoch that is returned."""
        asked = EndTxnRequest(
            transactional_id=self.name,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=commit,
        )
        told = self._ready(Request(asked, EndTxnResponse, END[self.version]), lambda told: told.error_code)
        if self.version > 1:
            self.producer_id, self.epoch, self.sequence = told.producer_id, told.producer_epoch, 0
        self.lab.cluster.wait_for_markers()

    def _found(self) -> str:
        """Return the address of this producer's coordinator."""
        asked = FindCoordinatorRequest(key_type=TRANSACTIONS, coordinator_keys=[self.name])
        request = Request(asked, FindCoordinatorResponse, FIND)
        told = self._ready(request, lambda told: told.coordinators[0].error_code, self._leader)
        return self.lab.cluster.address(told.coordinators[0].node_id)

    def _ready(self, request: Request, code: Callable[[Any], int], address: str = "") -> Any:
        """Ask until it is no longer too early, and return the response. Raises LabError if it is refused."""
        found: list[Any] = []

        def answered() -> bool:
            found[:] = [self._ask(address or self._coordinator, request)]
            return code(found[0]) not in NOT_YET

        self.lab.wait_until(answered, what="the coordinator of transactions", within=READY_SECONDS)
        if refused := code(found[0]):
            raise LabError(f"A broker refuses it: {KafkaError(refused).name()}", "run the cell again")
        return found[0]

    def _ask(self, address: str, request: Request) -> Any:
        found = self._connections.ask({address: [request]}, ANSWER_SECONDS)
        if address not in found:
            raise LabError(f"The broker at {address} does not answer", "run the cell again")
        return found[address][0]


@contextmanager
def hand_made(lab: Lab, name: str, version: int) -> Iterator[HandMade]:
    """Yield a hand-made producer with a fresh topic; its connections are closed at the end."""
    lab.cluster.expect_own("no request is made by hand here")
    topic = lab.fresh_topic(name, replication_factor=3)
    with closing(Connections()) as connections:
        yield HandMade(lab, lab.topic(name), topic, version, connections)


def late_record(lab: Lab) -> "pd.DataFrame":
    """Let a record of an aborted transaction arrive late, in both versions; return what became of it.

    The client writes a record, and a second one that is held back on its way. It aborts, and the second one
    arrives: in the middle of the client's next transaction, or (in the first version also) before it begins.
    """
    import pandas as pd  # only where a table is shown

    rows = {
        "version 1, in the next transaction": _late(lab, 1, inside=True),
        "version 1, before it": _late(lab, 1, inside=False),
        "version 2, in the next transaction": _late(lab, 2, inside=True),
    }
    return pd.DataFrame(rows).T


def _late(lab: Lab, version: int, *, inside: bool) -> dict[str, object]:
    with hand_made(lab, f"late-{version}", version) as client:
        first = client.epoch
        client.begin()
        client.write("taken back")
        late = client.record("taken back, and late")
        client.end(commit=False)
        answer = "" if inside else client.send(late)
        client.begin()
        answer = client.send(late) if inside else answer
        if answer != "stored":
            client.sequence -= version == 1  # nobody has seen it: the next record has its number
        second = client.epoch
        client.write("of the next transaction")
        client.end(commit=True)
        seen = [record.value.decode() for record in read_log(lab.bootstrap, client.topic) if record.value]
    return {"epochs": f"{first} and {second}", "the late record": answer, "a reader gets": ", ".join(seen)}


def hanging_transaction(lab: Lab) -> str:
    """Return a topic in which a transaction is open that no coordinator knows.

    A late record arrives when its transaction is over, while the leaders do not ask the coordinator.
    """
    with hand_made(lab, "hanging", 1) as client, changes.for_a_while(lab, VERIFICATION):
        _set_verification(lab, "false")
        client.begin()
        client.write("taken back")
        late = client.record("taken back, and late")
        client.end(commit=False)
        if (answer := client.send(late)) != "stored":
            raise LabError(f"The late record was refused ({answer})", "run the cell again")
        put_back(lab)
    return client.topic


def put_back(lab: Lab) -> None:
    """Let the leaders ask the coordinator again whether a transaction is open."""
    _set_verification(lab, None)


def _set_verification(lab: Lab, value: str | None) -> None:
    """Set it on each broker by itself, and wait until each says so; None is the default again."""
    brokers = [ConfigResource("broker", str(broker)) for broker in lab.cluster.brokers]
    for broker in brokers:  # a request may change one of them only
        change_config(lab.admin(), ResourceType.BROKER, broker.name, {VERIFICATION: value})

    def told() -> bool:
        found = [lab.admin().describe_configs([broker])[broker].result(ANSWER_SECONDS) for broker in brokers]
        return {entries[VERIFICATION].value for entries in found} == {value or "true"}

    lab.wait_until(told, what=f"the brokers to take {VERIFICATION}", within=READY_SECONDS)
