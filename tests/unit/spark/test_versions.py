"""A day with two versions of a query: what is compared, what the office sends, and what is said of it."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from confluent_kafka import KafkaError

from threebrokers.errors import LabError
from threebrokers.spark import office, versions
from threebrokers.spark.office import Office, key_of
from threebrokers.spark.versions import Day, is_before, keys_of_both
from threebrokers.waiting import quiet_wait


def query(**places: int) -> SimpleNamespace:
    ends = {"live": {part.removeprefix("p"): end for part, end in places.items()}}
    progress = {"sources": [{"endOffset": ends}]} if places else None
    return SimpleNamespace(lastProgress=progress, isActive=True)


def log(*keys: str) -> list[SimpleNamespace]:
    return [SimpleNamespace(key=key.encode()) for key in keys]


LAB: Any = SimpleNamespace(bootstrap="", topic=lambda name: name)


def test_versions_are_compared_up_to_where_both_have_read(monkeypatch):
    logs = {"v1": log("0-1", "0-7", "1-2"), "v2": log("0-1", "0-3", "1-2", "1-9")}
    monkeypatch.setattr(versions, "read_log", lambda bootstrap, topic: logs[topic])
    both: Any = {"v1": query(p0=8, p1=3), "v2": query(p0=5, p1=10)}
    assert keys_of_both(LAB, both) == [{"0-1", "1-2"}, {"0-1", "0-3", "1-2"}]
    both["v2"] = query()  # it has read nothing yet
    assert keys_of_both(LAB, both) == [set(), set()]


def test_a_place_is_before_an_offset_of_its_own_partition():
    assert is_before("1-19", {0: 3, 1: 20})
    assert not is_before("1-20", {0: 30, 1: 20})
    assert not is_before("2-0", {0: 30})


def test_a_query_that_ends_before_it_has_read_all_is_told():
    ended: Any = SimpleNamespace(lastProgress=None, isActive=False, exception=lambda: None)
    with pytest.raises(LabError, match=r"The query ended \(it was stopped\)"):
        versions._read_to(ended, "live", {0: 1})
    versions._read_to(ended, "live", {0: 0})


def test_a_day_knows_which_topics_its_queries_read(monkeypatch):
    one = query(p0=3)
    one.id, one.runId, one.stop, one.exception = "one", "run 1", lambda: None, lambda: None
    other: Any = SimpleNamespace(id="two", runId="run 2", isActive=True, stop=lambda: None)
    other.lastProgress = {"sources": [{"endOffset": {"trips": {"0": 3}}}]}
    session = SimpleNamespace(streams=SimpleNamespace(active=[one, other]))
    there: Any = SimpleNamespace(changes=[], topic="v1", sent={}, left_out=0)
    arrivals: Any = SimpleNamespace(count=3, stop=lambda: None, finish=lambda: None)
    monkeypatch.setattr(versions, "send", lambda *_: None)
    monkeypatch.setattr(versions, "end_offsets", lambda *_: {0: 3})
    monkeypatch.setattr(versions, "Arrivals", lambda *_: arrivals)
    monkeypatch.setattr(versions, "Office", lambda *_: nullcontext(there))
    monkeypatch.setattr(versions, "java_runs", lambda: False)
    monkeypatch.setattr(versions.connect, "answers", lambda: False)
    monkeypatch.setattr(versions.connect, "in_use", lambda: session)
    version_1: Any = SimpleNamespace(start=lambda: one)
    day = versions.live_day(LAB, "live", version_1, lambda old, office: None)
    assert day.reads == {"one": {"live"}, "two": {"trips"}}


def test_what_is_said_of_a_day():
    change = office.Change("v2", frozenset(), {}, 640)
    sent = {"0-1": "v1", "0-2": "v1", "0-3": "v2"}
    day = Day(883, {}, ("", ""), {}, {}, (change,), "v2", sent, 1)
    assert repr(day).splitlines() == [
        "883 departures have come in.",
        "The office changed over to v2 after 640 of them.",
        "It has sent 3 vouchers: 2 from v1 and 1 from v2.",
        "It left out 1 record whose key it had sent already.",
    ]


class Reader:
    """A consumer of logs in memory."""

    logs: ClassVar[dict[str, list[bytes]]] = {}

    def __init__(self, settings: object) -> None:
        self.places: list[Any] = []

    def assign(self, places: list[Any]) -> None:
        self.places = places

    def assignment(self) -> list[Any]:
        return self.places

    def position(self, places: list[Any]) -> list[Any]:
        return places

    def consume(self, most: int, seconds: float) -> list[Any]:
        found = []
        for place in self.places:
            keys = self.logs[place.topic][place.offset :][:most]
            place.offset += len(keys)
            found += [SimpleNamespace(error=lambda: None, key=lambda key=key: key) for key in keys]
        return found

    def close(self) -> None:
        pass


def test_the_office_sends_each_key_once_whatever_it_reads(monkeypatch):
    Reader.logs = {"v1": [b"0-1", b"0-2"], "v2": [b"0-0", b"0-1", b"0-2", b"0-3"]}
    monkeypatch.setattr(office, "Consumer", Reader)
    monkeypatch.setattr(office, "end_offsets", lambda bootstrap, topic: {0: len(Reader.logs[topic])})
    monkeypatch.setattr(office, "start_offsets", lambda bootstrap, topic: {0: 0})
    monkeypatch.setattr(
        office, "read_log", lambda bootstrap, topic: log(*(key.decode() for key in Reader.logs[topic]))
    )
    monkeypatch.setattr(office.client_settings, "reader", lambda *words: {})
    with Office(LAB, "v1", lambda: {"one": "run"}, lambda: 7) as there:
        assert quiet_wait(lambda: len(there.sent) == 2, 10)
        there.reads("v1")  # it does already
        there.reads("v2")
    assert there.sent == {"0-1": "v1", "0-2": "v1", "0-0": "v2", "0-3": "v2"}
    assert there.left_out == 2
    [change] = there.changes
    assert (change.topic, change.held, change.running, change.arrived) == (
        "v2", frozenset({"0-0", "0-1", "0-2", "0-3"}), {"one": "run"}, 7,
    )  # fmt: skip


@pytest.mark.parametrize("own", [None, KeyboardInterrupt, NameError])
def test_an_office_that_could_not_send_all_says_so_unless_the_learner_s_own_fault_is_told(monkeypatch, own):
    def gone(bootstrap: str, topic: str) -> dict[int, int]:
        raise LabError("Topic 'v1' could not be read to its end", "look")

    monkeypatch.setattr(office, "Consumer", Reader)
    monkeypatch.setattr(office, "end_offsets", gone)
    monkeypatch.setattr(office.client_settings, "reader", lambda *words: {})
    there = Office(LAB, "v1", dict, lambda: 7)

    def day() -> None:
        with there:
            if own:
                raise own("theirs")

    words = "theirs" if own else r"has not sent all vouchers .*could not be read to its end"
    with pytest.raises(own or LabError, match=words):
        day()
    assert not there._thread.is_alive()


class Sender:
    """A producer whose brokers take so many records, and refuse or keep waiting all others."""

    takes, refuses, breaks = 0, False, ""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.told, self.waiting, self.taken = settings["on_delivery"], 0, 0
        if self.breaks:
            raise ValueError(self.breaks)

    def produce(self, topic: str, value: bytes, key: bytes) -> None:
        self.waiting += 1

    def poll(self, seconds: float) -> None:
        while self.waiting and (self.taken < self.takes or self.refuses):
            refused = self.taken >= self.takes
            self.waiting -= 1
            self.taken += 1
            self.told(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED) if refused else None, None)

    def flush(self, seconds: float) -> int:
        self.poll(seconds)
        return self.waiting


@pytest.fixture
def sender(monkeypatch):
    monkeypatch.setattr(office, "Producer", Sender)
    monkeypatch.setattr(office, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(office, "HELD", 2)
    monkeypatch.setattr(office, "send", lambda lab, topic, messages: None)
    monkeypatch.setattr(office.client_settings, "shared", lambda bootstrap: {})
    for name, value in (("takes", 8), ("refuses", False), ("breaks", "")):
        monkeypatch.setattr(Sender, name, value)
    return Sender


def arrivals() -> office.Arrivals:
    made = office.Arrivals(LAB, "live", [(b"key", b"value")] * 10, 600)
    made._thread.join()  # two are left for the end
    return made


def test_all_departures_are_in_the_topic_at_the_end(sender):
    made = arrivals()
    assert made.count == 608
    made.finish()
    assert made.count == 610


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"takes": 5}, "3 were still waiting after 30 s"),
        ({"takes": 5, "refuses": True}, "Topic authorization failed"),
        ({"takes": 0, "breaks": "no such setting"}, "ValueError: no such setting"),
    ],
)
def test_departures_that_did_not_come_in_are_told_and_not_counted(sender, setting, told):
    for name, value in setting.items():
        setattr(sender, name, value)
    made = arrivals()
    assert made.count == 600 + setting["takes"]
    with pytest.raises(LabError, match=rf"^Not all departures came into 'live' \(.*{told}.*\): run the cell"):
        made.finish()


def test_keys_are_text():
    assert [key_of(key) for key in (b"0-1", "0-1", None)] == ["0-1", "0-1", ""]
