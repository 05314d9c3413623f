"""What lab 01's checks say of topics and of readings, without brokers."""

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError

from threebrokers.cells import Fault
from threebrokers.checks import lab01
from threebrokers.checks.lab01 import readings, sending
from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.kafka.state import ClusterState, PartitionState, TopicState
from threebrokers.lab.attempt import _ended
from threebrokers.lab.exercise import NotYet
from tools import ROOT
from tools.lessons import lesson as lessons

PLACES = [(partition, offset) for partition in range(3) for offset in range(4 if partition == 0 else 3)]


def partitions(*replicas: tuple[int, ...]) -> tuple[PartitionState, ...]:
    return tuple(PartitionState("helloworld", n, who[0], 0, who, who) for n, who in enumerate(replicas))


@pytest.mark.parametrize("leaders", [(1, 2, 3), (3, 1, 2)])
def test_each_broker_leads_one_partition_and_has_all(leaders):
    lab01._laid_out("helloworld", partitions(*((n, *({1, 2, 3} - {n})) for n in leaders)))


@pytest.mark.parametrize(
    ("replicas", "text"),
    [
        ([(1, 2, 3)], "has 1 partition; not each of the three brokers could lead one"),
        ([(1, 2, 3), (2, 3, 1), (3, 1, 2), (1, 3, 2)], "has 4 partitions; some brokers would lead more"),
        ([(1, 2, 3), (2, 3), (3, 1, 2)], "has 2 replicas of each partition"),
        ([(1, 2, 3), (1, 3, 2), (3, 1, 2)], "broker 1 leads 2 partitions"),
    ],
)
def test_what_is_laid_out_otherwise(replicas, text):
    with pytest.raises(NotYet) as caught:
        lab01._laid_out("helloworld", partitions(*replicas))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("got", "text"),
    [
        (PLACES[:4], "4 of the 10 records: all of partition 0, and nothing of partitions 1 and 2"),
        (PLACES[:7], "7 of the 10 records: all of partitions 0 and 1, and nothing of partition 2"),
        (PLACES[:6], "`messages` holds 6 of the 10 records; your reading stopped before"),
        (
            PLACES[2:4],
            "begins at offset 2 in partition 0, with nothing of partitions 1 and 2; the first record",
        ),
        ([p for p in PLACES if p[1]], "7 of the 10 records, and begins at offset 1 in partitions 0, 1 and 2"),
    ],
)
def test_what_is_missing_is_named(got, text):
    missing = [place for place in PLACES if place not in got]
    assert text in str(readings.some_missing(object(), got, missing, "messages"))


def test_offsets_of_a_partition_must_rise():
    readings.is_in_order([(1, 0), (0, 0), (1, 1), (0, 1)])
    with pytest.raises(NotYet, match="partition 1 are not in the order"):
        readings.is_in_order([(1, 1), (0, 0), (1, 0)])


class Reader(LabConsumer):
    """A consumer that asks no broker: it tells how many records it was given, and what it was assigned."""

    def __init__(self, group: str, count: int, assigned: int = 0) -> None:
        super().__init__({"group.id": group}, {"bootstrap.servers": "127.0.0.1:1"})
        self.received, self.assigned = count, assigned

    def assignment(self) -> list[None]:
        return [None] * self.assigned


def lab_with(*consumers: Reader) -> Any:
    return SimpleNamespace(consumers=lambda: list(consumers), group=lambda name: f"{name}-0", opened="0")


@pytest.mark.parametrize("kept", [0, 6])
def test_records_that_came_and_were_not_kept_are_told(kept):
    text = f"was given 10 records, and `messages` holds {kept or 'none'} of the 10; each should be kept"
    assert text in str(readings.some_missing(Reader("g", 10), PLACES[:kept], PLACES[kept:], "messages"))


def test_another_member_that_has_got_the_rest_is_named():
    own, other = Reader("g", 4), Reader("g", 6)
    found = readings.shared(lab_with(own, other), own, "g", PLACES[:4])
    assert "another consumer of the group 'g' has got 6 of the 10 records" in str(found)
    assert readings.shared(lab_with(own, Reader("h", 6)), own, "g", PLACES[:4]) is None


def test_a_group_that_went_back_too_late_is_told_so():
    late = Reader("g", 0, assigned=3)
    late.subscribed = ("postcards",)
    assert "had got its partitions before that" in str(readings.came_late(late, {0: 0, 1: 0, 2: 0}))
    assert readings.came_late(late, {0: 4, 1: 3, 2: 3}) is None
    assert readings.came_late(Reader("g", 0, assigned=3), {0: 0}) is None


def test_a_place_behind_the_end_is_told_with_the_end():
    log = [SimpleNamespace(partition=partition) for partition, _ in PLACES]
    said = str(readings.beyond_the_end(log, {0: 10, 1: 3, 2: 10}))
    assert "offset 10 in partitions 0 and 2, and partition 0 ends at offset 4" in said
    assert readings.beyond_the_end(log, {0: 4, 1: 3, 2: 0}) is None


@pytest.mark.parametrize(
    ("code", "place"),
    [
        (KafkaError._AUTO_OFFSET_RESET, "auto.offset.reset"),
        (KafkaError._UNKNOWN_TOPIC, "the name of the topic"),
        (KafkaError._ALL_BROKERS_DOWN, "what you keep"),
    ],
)
def test_an_error_among_the_records_says_where_to_look(code, place, monkeypatch):
    monkeypatch.setattr(readings, "messages_only", lambda name, values, look_at: values)
    error = SimpleNamespace(str=lambda: "no offset", code=lambda: code)
    record: Any = SimpleNamespace(error=lambda: error)
    with pytest.raises(NotYet, match=f"Look at: {place}"):
        readings.messages_of([record], "messages", "letters", "what you keep")


@pytest.mark.parametrize(
    ("others", "done", "is_right"),
    [
        (["collectors-1"], {0: 4}, True),
        (["collectors-1"], {}, True),  # somebody deleted the group to begin anew
        ([], {0: 4}, True),
        ([], {}, False),
        (["collectors-2"], {0: 4}, False),
        (["visitors"], {0: 4}, True),
    ],
)
def test_the_group_of_the_first_reading(others, done, is_right):
    told = (lab_with(), "collectors-1", "postcards", others, done)
    if is_right:
        readings.has_read_before(*told)
    else:
        with pytest.raises(NotYet, match="'collectors-1' has not read 'postcards' before"):
            readings.has_read_before(*told)


def test_a_literal_in_place_of_the_name_is_told_with_its_value():
    with pytest.raises(NotYet, match="group 'visitors'; it should be 'visitors-1', the new group"):
        readings.is_of_group(Reader("visitors", 0), "visitors-1", "visitors", "the new group")


def test_what_a_producer_tells_of_no_reports():
    producer = LabProducer({}, {"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
    assert "produce() was given no function" in str(sending.no_record(producer, [None]))
    producer.produce("greeting", "hi", on_delivery=lambda error, message: None)
    assert "second of the two things" in str(sending.no_record(producer, [None]))
    assert producer.unreported_topics() == ["greeting"]
    told = str(sending.no_reports([producer], 0, 0, ["greeting"]))
    assert "records for 'greeting' still wait in the producer, and none is in `greetings`" in told
    producer.discard()


@pytest.mark.parametrize(
    ("stored", "told", "late", "text"),
    [
        (11, 11, 0, "the topic holds 11 records"),
        (10, 1, 0, "the topic holds all 10 records, and `reports` only 1 report"),
        (10, 4, 6, "`reports` holds 4 reports, and 6 are still to come"),
        (10, 20, 0, "`reports` holds 20 reports, and the topic 10 records; there should be one"),
        (9, 9, 0, "`reports` holds 9 reports; it should hold 10"),
    ],
)
def test_records_and_reports_are_counted(stored, told, late, text):
    sending.is_counted(10, 10, 0)
    with pytest.raises(NotYet, match=text):
        sending.is_counted(stored, told, late)


def test_one_reading_under_two_names_is_told_so():
    one: list[Any] = [object(), object()]
    other: Any = object()
    readings.is_another_reading(one, [other])
    with pytest.raises(NotYet, match="`again` holds what `first` holds; `first` should be the first reading"):
        readings.is_another_reading(one, one[1:])


def test_a_first_reading_that_lacks_records_is_not_told_of_another_topic(monkeypatch):
    log: list[Any] = [SimpleNamespace(timestamp=n) for n in range(10)]
    first: list[Any] = [
        SimpleNamespace(partition=lambda p=p: p, offset=lambda o=o: o, timestamp=lambda n=n: (1, n))
        for n, (p, o) in enumerate(PLACES)
    ]
    monkeypatch.setattr(lab01, "messages_only", lambda name, values, look_at: values)
    monkeypatch.setattr(lab01, "ten_greetings", lambda lab, topic: log)
    monkeypatch.setattr(lab01, "expect_consumer", lambda name, value: value)
    lab, judge = SimpleNamespace(topic=str), lab01.read_again._function
    for kept in (0, 7):
        with pytest.raises(NotYet, match=f"`first` holds {kept} of the 10 records; the first reading should"):
            judge(lab, "collectors-1", first[:kept], [], None)
    with pytest.raises(NotYet, match="are not those of the first reading"):
        judge(lab, "collectors-1", [*first[:9], first[0]], [], None)


class Groups:
    """Stands in for lab 01: a group reads eleven records once, and none after that."""

    def __init__(self) -> None:
        self.compared: list[str] = []
        self.have_read = {"reports"}

    def group(self, name: str) -> str:
        return name

    def read(self, topic: str, group: str, most: int, seconds: int) -> list[None]:
        count = 0 if group in self.have_read else most
        self.have_read.add(group)
        return [None] * count


def test_a_second_run_of_the_second_reading_has_a_new_group_again():
    cells = lessons.read(ROOT / "lessons/01_hello_kafka.py").cells
    code = next(cell.source for cell in cells if "guess_1d.compare" in cell.source)
    lab = Groups()
    names = {"lab": lab, "read": lab.read, "hello": "hello"}
    for _ in range(2):
        exec(code, names | {"guess_1d": SimpleNamespace(compare=lab.compared.append)})  # noqa: S102
    assert lab.compared == ["0 and 11"] * 2


def test_reports_of_the_same_record_are_told_so(monkeypatch):
    same = SimpleNamespace(partition=lambda: 0, offset=lambda: 0, latency=lambda: 0.1)
    monkeypatch.setattr(lab01, "existing_topic", lambda lab, name: None)
    monkeypatch.setattr(lab01, "log_of", lambda lab, name: PLACES)
    monkeypatch.setattr(lab01, "messages_of", lambda values, *words: values)
    lab = SimpleNamespace(topic=str, producers=list)
    with pytest.raises(NotYet, match="they are of 1 record only"):
        lab01.greetings_sent._function(lab, "greetings", (), [same] * 10)
    sending.is_of_each(PLACES)
    with pytest.raises(NotYet, match="holds 10 reports, and they are of 1 record only; each record should"):
        sending.is_of_each(PLACES[:1] * 10)


@pytest.mark.parametrize(
    ("there", "text"),
    [
        (["helloworld"], "`helloworld` is 'letters'; it should be 'helloworld', and a topic of that name is"),
        ([], "the topic is named 'letters'; it should be 'helloworld'. Look at: the name in NewTopic"),
    ],
)
def test_a_name_of_another_topic_is_told_with_the_line_that_is_wrong(there: list[str], text: str):
    topics = tuple(TopicState(name, partitions((1, 2, 3))) for name in there)
    state = ClusterState(0.0, (), topics=topics, last_response_at=0.0)
    lab: Any = SimpleNamespace(cluster=SimpleNamespace(state=lambda names: state))
    assert text in str(lab01._other_name(lab, "letters", "helloworld"))


def test_an_error_of_the_client_is_told_with_its_reason():
    text = _ended(
        Fault("AttributeError", "'str' object has no attribute 'topic'"), lab01.topic_created.errors
    )
    assert "create_topics([…]) takes objects of NewTopic, and text is none" in str(text)
    early = 'KafkaError{code=_UNKNOWN_PARTITION,val=-190,str="Failed to seek to offset 0: Local: Unknown part'
    seek = _ended(Fault("KafkaException", early), lab01.read_again.errors)
    assert "seek() works only while the consumer holds the partition" in str(seek)
