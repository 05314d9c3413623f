"""What lab 11's scenarios do without brokers: baskets, tables, and a function that is tried in five cases."""

from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from confluent_kafka import KafkaError, KafkaException

from threebrokers.errors import LabError
from threebrokers.kafka.batches import Batch
from threebrokers.kafka.state import PartitionState, TopicState
from threebrokers.kafka.transactions import TransactionNote
from threebrokers.lab.scenarios import costs, failing, partitions, transactions
from threebrokers.lab.scenarios.failing import CASES, tried_in_five_cases


def test_two_of_twelve_baskets_are_refused():
    refused = []
    for basket in transactions.baskets():
        try:
            basket.pay()
        except transactions.CardRefusedError as fault:
            refused.append(str(fault))
        assert basket.order().startswith(f"{basket.number}: ")
        assert basket.entry().startswith(f"{basket.number}: ")
    assert refused == [f"basket {n}: the bank refuses the card" for n in transactions.REFUSED]


def topic(*ends: tuple[int, int]) -> TopicState:
    places = [
        PartitionState("t", n, 1, 0, (1,), (1,), high_watermark=high, last_stable_offset=stable)
        for n, (stable, high) in enumerate(ends)
    ]
    return TopicState("t", tuple(places))


def cluster(state: TopicState | None) -> Any:
    told = SimpleNamespace(topic=lambda name: state, last_response_at=1.0)
    return SimpleNamespace(cluster=SimpleNamespace(state=lambda names: told))


def test_where_open_transactions_hold_readers_back():
    assert transactions.open_at(cluster(topic((3, 3), (2, 5), (0, 0))), "t") == {1: 2}
    assert transactions.open_at(cluster(None), "t") == {}
    assert transactions.end_of(cluster(topic((3, 3), (2, 5))), "t") == 8
    assert transactions.end_of(cluster(None), "t") == 0


def test_a_batch_is_a_row():
    data = Batch(1, 4, 3, 90, "none", 0, 0, is_transactional=True, producer_id=7, producer_epoch=2)
    mark = Batch(1, 7, 1, 78, "none", 0, 0, is_control=True, mark="COMMIT", is_transactional=True)
    assert transactions._row(data) == {
        "partition": 1,
        "offsets": "4–6",
        "what": "3 records",
        "in a transaction": "yes",
        "producer id": 7,
        "epoch": 2,
    }
    assert (transactions._row(mark)["offsets"], transactions._row(mark)["what"]) == ("7", "mark: COMMIT")
    assert transactions._row(Batch(0, 0, 1, 70, "none", 0, 0))["what"] == "1 record"


def test_which_topics_a_committed_transaction_had_written_into():
    places = frozenset({("a", 0), ("a", 1), ("__consumer_offsets", 2)})
    notes = [TransactionNote("x", state, 1, 0, 1, places, 1) for state in ("Ongoing", "PrepareCommit")]
    assert list(transactions.committed_parts(notes, ["a", "b"])) == [frozenset({"a"})]


def test_the_notes_are_read_when_the_last_transaction_is_over(monkeypatch: pytest.MonkeyPatch):
    notes = [
        TransactionNote("x", state, 1, 0, 1, frozenset({("a", 0)}), 1000 * second)
        for second, state in ((1, "Empty"), (5, "Ongoing"), (6, "PrepareCommit"), (7, "CompleteCommit"))
    ]
    looks = iter((notes[:3], notes))
    monkeypatch.setattr(transactions, "coordinator_notes", lambda lab, name: next(looks))
    lab: Any = SimpleNamespace(opened_at=4, cluster=SimpleNamespace(wait_for_markers=lambda: None))
    table = transactions.written_by_coordinator(lab, "x")
    assert list(table["state"]) == ["Ongoing", "PrepareCommit", "CompleteCommit"]
    assert list(table["partitions of the transaction"]) == ["a-0"] * 3


@pytest.mark.parametrize(
    ("text", "number"),
    [("", 0), ("van-a", 111972407), ("hello", 99162322), ("é😀", 1996812), ("zzzzzz", -685785664)],
)
def test_a_hash_is_that_of_java(text: str, number: int):
    assert transactions._java_hash(text) == number


def test_the_coordinator_leads_the_partition_that_the_hash_chooses(monkeypatch: pytest.MonkeyPatch):
    known = SimpleNamespace(partitions=[SimpleNamespace(leader=leader) for leader in (2, 3, None)])
    lab: Any = cluster(known)  # type: ignore[arg-type]
    assert transactions.coordinator_of_transactions(lab, "hello") == 3  # 99162322 % 3 is 1
    monkeypatch.setattr(partitions, "LEADER_SECONDS", 0)
    with pytest.raises(LabError, match="Nobody leads partition 2 of '__transaction_state'"):
        transactions.coordinator_of_transactions(lab, "b")  # 98 % 3 is 2


def test_a_coordinator_whose_broker_comes_back_is_waited_for():
    before, after = ([SimpleNamespace(leader=leader) for leader in (2, 3, last)] for last in (None, 1))
    told = iter([before, before, before, after])
    known = SimpleNamespace()
    lab: Any = cluster(known)  # type: ignore[arg-type]
    real = lab.cluster.state

    def state(topics: Any) -> Any:
        known.partitions = next(told)
        return real(topics)

    lab.cluster.state = state
    assert transactions.coordinator_of_transactions(lab, "b") == 1


class Writer:
    """A producer with one transaction at a time; what it commits goes into `log`."""

    log: ClassVar[dict[str, list[bytes]]] = {}
    successors: ClassVar[dict[str, "Writer"]] = {}
    frozen: ClassVar[set[int]] = set()  # the brokers from which nothing comes

    def __init__(self, config: dict[str, Any]) -> None:
        self.name, self.open, self.rows = config["transactional.id"], False, list[tuple[str, str]]()
        self.refused = False

    def init_transactions(self, timeout: float = -1) -> None:
        self.successors[self.name] = self

    def begin_transaction(self) -> None:
        self._expect(not self.open)
        self.open, self.refused = True, False

    def produce(self, topic: str, value: str) -> None:
        if len(value) >= failing.TOO_LARGE:
            raise KafkaException(Error("MSG_SIZE_TOO_LARGE"))
        self.rows.append((topic, value))
        self.refused = self.refused or (topic == "booked-strict" and len(value) > failing.LARGEST)

    def commit_transaction(self, timeout: float = -1) -> None:
        self._fenced()
        if 2 in self.frozen:
            raise KafkaException(Error("_TIMED_OUT", retriable=True))
        if self.refused:
            raise KafkaException(Error("_INCONSISTENT", requires_abort=True))
        self._expect(self.open)
        for topic, value in self.rows:
            self.log.setdefault(topic, []).append(value.encode())
        self.open, self.rows = False, []

    def abort_transaction(self, timeout: float = -1) -> None:
        self._fenced()
        self.open, self.rows = False, []

    def _fenced(self) -> None:
        if self.successors[self.name] is not self:
            raise KafkaException(Error("_FENCED", fatal=True))

    def _expect(self, holds: bool) -> None:
        if not holds:
            raise KafkaException(Error("_STATE"))


class Error:
    """What an error says of itself."""

    def __init__(
        self, name: str, *, retriable: bool = False, requires_abort: bool = False, fatal: bool = False
    ):
        self.name = lambda: name
        self.retriable, self.fatal = lambda: retriable, lambda: fatal
        self.txn_requires_abort = lambda: requires_abort


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Any:
    Writer.log, Writer.successors, Writer.frozen = {}, {}, set()
    monkeypatch.setattr(
        failing, "read_log", lambda _, name: [SimpleNamespace(value=v) for v in Writer.log.get(name, [])]
    )
    own = {"topic": lambda name: name, "fresh_topic": lambda name, **more: name}
    frozen = Writer.frozen
    monkeypatch.setattr(failing, "coordinator_of_transactions", lambda lab, name: 2)
    brokers = SimpleNamespace(pause=lambda n, force: frozen.add(n), resume=frozen.remove)
    return SimpleNamespace(producer=Writer, bootstrap="", cluster=brokers, **own)


def right(producer: Any, rows: Any) -> str:
    try:
        producer.begin_transaction()
        for where, text in rows:
            producer.produce(where, text)
        while True:
            try:
                producer.commit_transaction(10)
                return "booked"
            except KafkaException as fault:
                if not fault.args[0].retriable():
                    raise
    except KafkaException as fault:
        if fault.args[0].fatal():
            raise
        producer.abort_transaction()
        return "aborted"


def test_what_is_right_in_each_case(lab):
    calm, late, refused, replaced, large = (tried_in_five_cases(lab, right).cases[name] for name in CASES)
    assert (calm.returned, calm.seen, calm.goes_on) == ("booked", 2, True)
    assert (late.returned, late.seen, late.goes_on) == ("booked", 2, True)
    assert (refused.returned, refused.seen, refused.goes_on) == ("aborted", 0, True)
    assert (replaced.error, replaced.seen, replaced.again) == ("_FENCED", 0, False)
    assert (large.returned, large.seen, large.goes_on) == ("aborted", 0, True)


def test_who_tries_for_ever_is_stopped(lab):
    def stubborn(producer: Any, rows: Any) -> str:
        while True:
            try:
                producer.begin_transaction()
                for where, text in rows:
                    producer.produce(where, text)
                producer.commit_transaction(10)
                return "booked"
            except Exception:  # noqa: S112
                continue

    cases = tried_in_five_cases(lab, stubborn).cases
    assert [name for name, case in cases.items() if case.again] == list(CASES[1:])


def test_who_gives_up_without_an_abort_leaves_a_producer_that_cannot_go_on(lab):
    def careless(producer: Any, rows: Any) -> str:
        producer.begin_transaction()
        for where, text in rows:
            producer.produce(where, text)
        try:
            producer.commit_transaction(10)
        except KafkaException:
            return "aborted"
        return "booked"

    cases = tried_in_five_cases(lab, careless).cases
    assert [case.goes_on for case in cases.values()] == [True, False, False, True, False]
    assert cases[CASES[4]].error == "MSG_SIZE_TOO_LARGE"
    assert repr(cases[CASES[4]]).endswith("readers get 0 of its 2 records; its transaction is still open")


def test_an_error_of_produce_may_reach_the_caller_after_an_abort(lab):
    def careful(producer: Any, rows: Any) -> str:
        producer.begin_transaction()
        try:
            for where, text in rows:
                producer.produce(where, text)
        except KafkaException:
            producer.abort_transaction()
            raise
        producer.commit_transaction(10)
        return "booked"

    large = tried_in_five_cases(lab, careful).cases[CASES[4]]
    assert (large.error, large.seen, large.goes_on) == ("MSG_SIZE_TOO_LARGE", 0, True)


def test_what_cannot_be_called_is_not_tried(lab):
    assert tried_in_five_cases(lab, ...).cases == {}


def test_an_error_without_a_name_is_told_by_its_class(lab):
    assert failing._error_name(KafkaException(KafkaError(KafkaError._STATE))) == "_STATE"
    assert failing._error_name(ValueError("x")) == ""


class Line:
    """A producer and a reader in one: what is produced is read, after a record of an earlier transaction."""

    def __init__(self) -> None:
        self.records = [costs.SMALL]

    def produce(self, topic: str, value: str, partition: int) -> None:
        self.records.append(value.encode())

    def poll(self, seconds: float) -> Any:
        if not self.records:
            return None
        value = self.records.pop(0)
        return SimpleNamespace(error=lambda: None, value=lambda: value)

    def begin_transaction(self) -> None:
        pass

    def commit_transaction(self, seconds: float) -> None:
        pass


def test_only_records_of_this_round_are_timed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(costs, "SECONDS", 0.05)
    producer, reader = Line(), Line()
    reader.records = producer.records
    producer.poll = lambda seconds: None  # type: ignore[method-assign]
    waits = costs._waits(producer, reader, "t", 0.01)  # type: ignore[arg-type]
    assert waits
    assert all(0 <= wait < 1000 for wait in waits)
