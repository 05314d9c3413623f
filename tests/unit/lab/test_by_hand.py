"""The client that is made by hand: what it sends in each version, without brokers."""

from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.errors import LabError
from threebrokers.kafka.batches import batches_in
from threebrokers.lab.scenarios import by_hand
from threebrokers.lab.scenarios.by_hand import HandMade

SAID = SimpleNamespace(
    error_code=0,
    coordinators=[SimpleNamespace(error_code=0, node_id=2)],
    producer_id=7,
    producer_epoch=4,
    results_by_topic_v3_and_below=[
        SimpleNamespace(results_by_partition=[SimpleNamespace(partition_error_code=0)])
    ],
    responses=[SimpleNamespace(partition_responses=[SimpleNamespace(error_code=0)])],
)


class Brokers:
    """Connections whose other ends answer all alike, and which note what was asked, and whom."""

    def __init__(self, *answers: Any) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.answers = list(answers)

    def ask(self, requests: Any, within: float) -> dict[str, list[Any]]:
        ((address, (request,)),) = requests.items()
        self.asked.append((address, request))
        request.framed(1)  # it can be encoded
        return {address: [self.answers.pop(0) if self.answers else SAID]}

    @property
    def names(self) -> list[str]:
        return [type(request.message).__name__.removesuffix("Request") for _, request in self.asked]


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(by_hand, "leader_of", lambda lab, topic: 3)
    cluster = SimpleNamespace(address=lambda broker: f"broker-{broker}", wait_for_markers=lambda: None)

    def wait_until(look: Any, what: str, within: float) -> None:
        for _ in range(5):
            if look():
                return
        raise LabError(what)

    return SimpleNamespace(cluster=cluster, wait_until=wait_until)


@pytest.mark.parametrize(
    ("version", "asked", "versions"),
    [
        (1, ["FindCoordinator", "InitProducerId", "AddPartitionsToTxn", "Produce", "EndTxn"], (11, 4)),
        (2, ["FindCoordinator", "InitProducerId", "Produce", "EndTxn"], (12, 5)),
    ],
)
def test_what_a_transaction_asks(lab, version: int, asked: list[str], versions: tuple[int, int]):
    brokers = Brokers()
    client = HandMade(lab, "x", "t", version, brokers)  # type: ignore[arg-type]
    client.begin()
    client.write("hello")
    client.end(commit=True)
    assert brokers.names == asked
    assert (brokers.asked[-2][1].version, brokers.asked[-1][1].version) == versions
    assert [address for address, _ in brokers.asked[-2:]] == ["broker-3", "broker-2"]
    assert client.sequence == (1 if version == 1 else 0)  # a new epoch begins at 0


def test_a_record_has_its_numbers_and_can_wait(lab):
    brokers = Brokers()
    client = HandMade(lab, "x", "t", 1, brokers)  # type: ignore[arg-type]
    late, next_one = client.record("late"), client.record("next")
    assert client.sequence == 2
    batches = [
        next(batches_in(bytes(record.message.topic_data[0].partition_data[0].records)))
        for record in (late, next_one)
    ]
    assert [(b.producer_id, b.producer_epoch, b.is_transactional, b.records) for b in batches] == [
        (7, 4, True, 1)
    ] * 2
    assert len(brokers.asked) == 2
    assert client.send(late) == "stored"


def test_who_is_asked_too_early_is_asked_again_and_a_refusal_is_told(lab):
    early = SimpleNamespace(**{**vars(SAID), "coordinators": [SimpleNamespace(error_code=15)]})
    brokers = Brokers(early, SAID, SAID)
    client = HandMade(lab, "x", "t", 2, brokers)  # type: ignore[arg-type]
    assert brokers.names == ["FindCoordinator", "FindCoordinator", "InitProducerId"]
    brokers.answers = [SimpleNamespace(error_code=47)]
    with pytest.raises(LabError, match="refuses it: INVALID_PRODUCER_EPOCH"):
        client.end(commit=True)
    refused = SimpleNamespace(
        responses=[SimpleNamespace(partition_responses=[SimpleNamespace(error_code=47)])]
    )
    brokers.answers = [refused]
    assert client.send(client.record("old")) == "INVALID_PRODUCER_EPOCH"
