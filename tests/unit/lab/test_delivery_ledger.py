"""The program that readers take to work, without brokers, and how lab 10 runs it."""

import ast
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from threebrokers.lab.scenarios import validating
from threebrokers.lab.scenarios.validating import PACKED, PROGRAM, Verified
from threebrokers.lab.take_along import delivery_ledger
from threebrokers.lab.take_along.delivery_ledger import Row, compared


def acknowledged(number: int, at: float = 0.0, offset: int | None = 0) -> Row:
    return Row(number, at, 0, offset, None)


def test_it_needs_nothing_of_this_course():
    tree = ast.parse(PACKED.read_text("utf-8"))
    named = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    named |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in named if name.startswith("threebrokers")]


def test_what_is_all_there():
    rows = [acknowledged(n, at=n / 10, offset=n) for n in range(5)]
    found = compared(rows, dict.fromkeys(range(5), 1), {0: 0})
    assert (found.attempted, found.acknowledged, found.stored) == (5, 5, 5)
    assert [*found.lost, *found.twice, *found.failed, *found.no_report, *found.deleted] == []
    assert found.pause == pytest.approx(0.1)


def test_what_is_lost_twice_failed_silent_or_deleted():
    rows = [
        acknowledged(0, 1.0, offset=3),  # before what the topic still keeps
        acknowledged(1, 2.0, offset=9),
        acknowledged(2, 5.0, offset=10),
        acknowledged(3, 5.0, offset=None),  # acks=0 tells no offset
        Row(4, None, None, None, "_MSG_TIMED_OUT"),
        Row(5, None, None, None, "_MSG_TIMED_OUT"),
        Row(6, None, None, None, None),
    ]
    found = compared(rows, {2: 2, 5: 1}, {0: 5})
    assert (found.deleted, found.lost, found.twice) == ([0], [1, 3], [2])
    assert (found.failed, found.failed_and_stored, found.no_report) == ([4, 5], [5], [6])
    assert (found.attempted, found.acknowledged, found.stored) == (7, 4, 2)
    assert found.pause == 3.0
    told = Verified(str(found), 1)
    counted = ("attempted", "acknowledged", "stored", "lost", "twice", "failed", "no report", "deleted")
    assert [told.counts[name] for name in counted] == [7, 4, 2, 2, 1, 2, 1, 1]
    assert not told.is_whole


def test_a_whole_one_is_whole():
    assert Verified(str(compared([acknowledged(0)], {0: 1}, {})), 0).is_whole
    assert not Verified(
        str(compared([acknowledged(0), Row(1, None, None, None, None)], {0: 1}, {})), 0
    ).is_whole


def test_a_ledger_goes_on_and_belongs_to_one_topic(tmp_path: Path):
    with closing(delivery_ledger.opened(str(tmp_path / "x.db"))) as database:
        run, first = delivery_ledger.begun(database, "a")
        assert first == 0
        database.execute("INSERT INTO record (number) VALUES (7)")
        assert delivery_ledger.begun(database, "a") == (run, 8)
        with pytest.raises(SystemExit, match="of the topic a"):
            delivery_ledger.begun(database, "b")


class Producer:
    """A producer whose queue is full once, and which acknowledges some records and fails others."""

    def __init__(self, settings: Any) -> None:
        self.full, self.told = True, list[Any]()

    def produce(self, topic: str, text: bytes, on_delivery: Any) -> None:
        if self.full:
            self.full = False
            raise BufferError
        self.told.append(on_delivery)

    def poll(self, seconds: float) -> None:
        for told in self.told:
            told(None, SimpleNamespace(partition=lambda: 0, offset=lambda: 4))
        self.told.clear()

    def flush(self) -> None:
        for told in self.told:
            told(SimpleNamespace(name=lambda: "_MSG_TIMED_OUT"), None)


def test_each_record_is_noted_with_its_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any):
    monkeypatch.setattr(delivery_ledger, "Producer", Producer)
    monkeypatch.setattr(delivery_ledger.signal, "signal", lambda *_: None)
    file = str(tmp_path / "x.db")
    assert delivery_ledger.main(["send", "t", file, "acks=all", "--rate", "1000", "--seconds", "0.02"]) == 0
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("SELECT number, acknowledged IS NULL, error, at FROM record").fetchall()
    assert [row[0] for row in rows] == list(range(len(rows)))
    assert {row[2] for row in rows} <= {None, "_MSG_TIMED_OUT"}
    assert all((row[1] == 1) == (row[2] is not None) for row in rows)
    assert f"{len(rows)} records are in" in capsys.readouterr().out


def test_a_pause_lies_within_one_send():
    rows = [acknowledged(n, at=at) for n, at in enumerate([0.0, 1.0, 100.0, 102.0])]
    stored = dict.fromkeys(range(4), 1)
    assert compared(rows, stored, {}, [0, 2]).pause == 2.0
    assert compared(rows, stored, {}, [2]).pause == 2.0  # begun before `send` noted where it begins
    assert compared(rows, stored, {}).pause == 99.0


def test_each_send_is_noted(tmp_path: Path):
    file = ledger_of(tmp_path, 2)
    with closing(delivery_ledger.opened(file)) as database:
        delivery_ledger.begun(database, "t")
    assert delivery_ledger.read(file).begins == [0, 2]


def test_a_ledger_of_an_older_version_is_read(tmp_path: Path):
    file = ledger_of(tmp_path, 2)
    with closing(sqlite3.connect(file)) as database:
        database.execute("DROP TABLE begin_of_send")
    known = delivery_ledger.read(file)
    assert (known.topic, len(known.rows), known.begins) == ("t", 2, [])


def ledger_of(folder: Path, records: int) -> str:
    """Make a ledger of the topic "t" with so many acknowledged records."""
    file = str(folder / "x.db")
    with closing(delivery_ledger.opened(file)) as database:
        delivery_ledger.begun(database, "t")
        for number in range(records):
            database.execute("INSERT INTO record VALUES (?, 0, 0, 0, ?, NULL)", (number, number))
    return file


class Consumer:
    """A reader of a topic with one partition: it gives these messages, and then the end."""

    def __init__(self, error: KafkaError | None = None, messages: Any = (), partitions: Any = (0,)) -> None:
        self.error, self.messages, self.partitions = error, list(messages), partitions
        self.settings: Any = None

    def __call__(self, settings: Any) -> "Consumer":
        self.settings = settings
        return self

    def list_topics(self, topic: str, timeout: float) -> Any:
        told = SimpleNamespace(error=self.error, partitions=dict.fromkeys(self.partitions))
        return SimpleNamespace(topics={topic: told})

    def get_watermark_offsets(self, place: Any, timeout: float) -> tuple[int, int]:
        return 0, len(self.messages)

    def assign(self, places: Any) -> None: ...

    def close(self) -> None: ...

    def poll(self, seconds: float) -> Any:
        if not self.messages:
            return message(0, b"", KafkaError(KafkaError._PARTITION_EOF))
        return self.messages.pop(0)


def message(offset: int, value: bytes, error: KafkaError | None = None) -> Any:
    told = {"error": error, "partition": 0, "offset": offset, "value": value}
    return SimpleNamespace(**{name: lambda one=one: one for name, one in told.items()})


@pytest.mark.parametrize(
    ("consumer", "why"),
    [
        (Consumer(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED), partitions=()), "authorization failed"),
        (Consumer(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART), partitions=()), "[Uu]nknown topic"),
        (Consumer(partitions=()), "it has no partitions"),
    ],
)
def test_a_topic_that_cannot_be_read_has_lost_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, consumer: Consumer, why: str
):
    monkeypatch.setattr(delivery_ledger, "Consumer", consumer)
    with pytest.raises(SystemExit, match=f"The topic t cannot be read .*{why}.*may you read it"):
        delivery_ledger.verify(ledger_of(tmp_path, 3), {}, patience=0.1)


def test_a_record_that_is_read_again_is_there_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    file = ledger_of(tmp_path, 2)
    run = delivery_ledger.read(file).run
    one, other = (message(n, f"{run} {n}".encode()) for n in range(2))
    again = message(2, f"{run} 1".encode())
    consumer = Consumer(messages=[one, other, one, other, again])
    monkeypatch.setattr(delivery_ledger, "Consumer", consumer)
    found = delivery_ledger.verify(file, {}, patience=1)
    assert (found.stored, found.lost, found.twice) == (2, [], [1])
    assert consumer.settings["auto.offset.reset"] == "earliest"


BROKER = "bootstrap.servers=127.0.0.1:1"


def test_a_ledger_that_is_not_there_is_not_made(tmp_path: Path):
    with pytest.raises(SystemExit, match=r"x\.db is no ledger: give the name"):
        delivery_ledger.main(["verify", str(tmp_path / "x.db"), BROKER])
    assert not list(tmp_path.iterdir())


def test_another_programs_file_is_no_ledger_and_stays(tmp_path: Path):
    file = tmp_path / "x.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE a (b)")
    before = file.read_bytes()
    with pytest.raises(SystemExit, match="is no ledger"):
        delivery_ledger.main(["verify", str(file), BROKER])
    assert file.read_bytes() == before
    file.write_text("no database at all, but long enough to be taken for one by who reads the beginning" * 9)
    with pytest.raises(SystemExit, match=r"cannot be used \(file is not a database\)"):
        delivery_ledger.main(["verify", str(file), BROKER])


@pytest.mark.parametrize("what", ["send", "verify"])
def test_a_misspelt_setting_is_a_sentence(tmp_path: Path, what: str):
    file = str(tmp_path / "new.db") if what == "send" else ledger_of(tmp_path, 1)
    before = sorted(tmp_path.iterdir())
    words = [what, *(["t"] if what == "send" else []), file, "bootstrap.server=x"]
    with pytest.raises(SystemExit, match=r"A setting is refused .*bootstrap\.server.*: mend its name"):
        delivery_ledger.main(words)
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path):
    with pytest.raises(SystemExit, match=r"cannot be used \(unable to open database file\)"):
        delivery_ledger.main(["send", "t", str(tmp_path / "none" / "x.db"), BROKER])
    assert not list(tmp_path.iterdir())


def test_a_partition_without_a_leader_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    consumer = Consumer()

    def nobody_leads(place: Any, timeout: float) -> Any:
        raise KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE))

    monkeypatch.setattr(consumer, "get_watermark_offsets", nobody_leads)
    monkeypatch.setattr(delivery_ledger, "Consumer", consumer)
    with pytest.raises(
        SystemExit, match=r"Kafka refuses it .*[Ll]eader not available.*is each partition led"
    ):
        delivery_ledger.main(["verify", ledger_of(tmp_path, 1), BROKER])


@pytest.mark.parametrize("rate", ["0", "-1", "nan"])
def test_a_rate_is_above_0(tmp_path: Path, capsys: Any, rate: str):
    with pytest.raises(SystemExit):
        delivery_ledger.main(["send", "t", str(tmp_path / "x.db"), BROKER, f"--rate={rate}"])
    assert f"{rate} is no rate: give a number above 0" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_word_that_is_no_setting(capsys: Any):
    with pytest.raises(SystemExit):
        delivery_ledger.main(["verify", "x.db", "acks"])
    assert "acks is no setting: write name=value" in capsys.readouterr().err


def test_it_is_put_beside_the_notebooks_and_what_was_changed_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(validating, "root", lambda: tmp_path)
    monkeypatch.setattr(validating, "home", lambda: tmp_path / "home")
    assert validating.taken_along() == tmp_path / "home" / PROGRAM  # nobody has notebooks here
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / ".handed_out.json").write_text("{}")
    mine = validating.taken_along()
    assert mine == tmp_path / "work" / PROGRAM
    assert mine.read_bytes() == PACKED.read_bytes()
    mine.write_text("mine")
    validating.taken_along()
    assert mine.read_bytes() == PACKED.read_bytes()
    assert [path.read_text() for path in mine.parent.glob("*old*")] == ["mine"]
