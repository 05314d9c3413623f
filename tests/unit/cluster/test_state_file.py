"""The bench's state file, ports and folders."""

import json
import os
import shutil
import socket

import pytest
from filelock import Timeout

from threebrokers import paths, store
from threebrokers.cluster import log_dirs, ports, settings, state_file
from threebrokers.cluster.process import Identity
from threebrokers.cluster.state_file import SavedState
from threebrokers.errors import LabError

PORTS = {n: {name: 100 * n + i for i, name in enumerate(settings.LISTENERS)} for n in settings.BROKERS}


@pytest.fixture(autouse=True)
def _own_claims(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)


def test_what_is_saved_is_loaded(tmp_path):
    here = SavedState("abc", PORTS, {2: Identity(77, "12 ticks", "-Dmark")})
    state_file.save(tmp_path, here)
    assert state_file.load(tmp_path) == here
    assert [p.name for p in tmp_path.iterdir()] == ["cluster.json"]


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"ports": {}}', '{"cluster_id": "a", "ports": 3, "brokers": {}}']
)
def test_a_missing_or_damaged_state_file_is_an_empty_bench(tmp_path, damage):
    assert state_file.load(tmp_path) == SavedState()
    (tmp_path / "cluster.json").write_text(damage)
    assert state_file.load(tmp_path) == SavedState()


def test_a_state_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    state_file.save(tmp_path, SavedState("old"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "write_whole", full)
    with pytest.raises(LabError, match=r"the disk is full\): free some space"):
        state_file.save(tmp_path, SavedState("new"))
    assert state_file.load(tmp_path).cluster_id == "old"


def test_a_bench_that_somebody_else_changes_is_waited_for_and_named(tmp_path, monkeypatch):
    monkeypatch.setattr(state_file, "LOCK_SECONDS", 0.1)
    with state_file.locked(tmp_path), pytest.raises(LabError, match="Another command"):  # noqa: SIM117
        with state_file.locked(tmp_path):
            pass


def test_another_lock_that_is_waited_for_inside_is_not_taken_for_the_own_one(tmp_path):
    with pytest.raises(Timeout, match=r"other\.lock"), state_file.locked(tmp_path):
        raise Timeout("other.lock")


def test_who_chooses_ports_for_ever_is_named(tmp_path, monkeypatch):
    ports.claim(tmp_path)
    monkeypatch.setattr(ports, "LOCK_SECONDS", 0.1)
    book = store.JsonFile(next(tmp_path.glob("threebrokers-*/ports.json")), dict)
    with (
        book.locked(1),
        pytest.raises(LabError, match=r"has been choosing ports for more than 0\.1 s: end it"),
        state_file.locked(tmp_path),
    ):
        ports.claim(tmp_path)


def test_ports_are_remembered_and_two_homes_never_share_one(tmp_path):
    homes = [tmp_path / name for name in ("a", "b")]
    for home in homes:
        home.mkdir()
    first, second = (ports.claim(home) for home in homes)
    assert ports.claim(homes[0]) == first
    assert not _flat(first) & _flat(second)
    assert len(_flat(first)) == 9


def test_a_home_that_is_gone_gives_its_ports_back(tmp_path):
    home, other = tmp_path / "a", tmp_path / "b"
    home.mkdir()
    other.mkdir()
    first = ports.claim(home)
    home.rmdir()
    assert ports.claim(other) == first


def test_a_port_that_is_in_use_is_not_chosen(tmp_path):
    home = tmp_path / "a"
    home.mkdir()
    first = ports.claim(home)
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stranger.bind((ports.HOST, first[2]["REPL"]))
        stranger.listen()
        assert ports.answers(first[2]["REPL"])
        assert first[2]["REPL"] not in _flat(ports.claim(home))


def test_a_port_of_spark_that_is_in_use_moves_a_home_but_not_for_its_own_cluster(tmp_path, monkeypatch):
    home = tmp_path / "a"
    home.mkdir()
    first, running = ports.claim(home), {f"-Dthreebrokers.spark={home}"}
    monkeypatch.setattr(ports.process, "marked", lambda mark: [mark] if mark in running else [])
    with socket.create_server((ports.HOST, ports.spark(first) + 1)):
        assert ports.claim(home) == first
        running.clear()
        assert ports.claim(home) != first


def test_own_ports_that_are_still_closing_are_waited_for(tmp_path, monkeypatch):
    home = tmp_path / "a"
    home.mkdir()
    first = ports.claim(home)
    closing = iter([False] * 4)
    real = ports.is_free
    monkeypatch.setattr(
        ports, "is_free", lambda port: next(closing, True) if port == first[2]["REPL"] else real(port)
    )
    assert ports.claim(home) == first


def test_a_port_that_somebody_listens_at_is_not_waited_for(tmp_path, monkeypatch):
    home = tmp_path / "a"
    home.mkdir()
    first, looks = ports.claim(home), []

    def waited(look, within):
        looks.append(look())
        return looks[-1]

    monkeypatch.setattr(ports, "quiet_wait", waited)
    with socket.create_server((ports.HOST, first[2]["REPL"])):
        assert ports.claim(home) != first
    assert looks == [True]


@pytest.mark.parametrize("kind", ["link", "file", "open", "another user's"])
def test_a_folder_for_claims_that_somebody_else_may_write_to_is_passed_over(tmp_path, monkeypatch, kind):
    names = [tmp_path / f"threebrokers-{os.getuid()}{end}" for end in ("", *(f"-{n}" for n in range(2, 10)))]
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    real = paths._is_private
    monkeypatch.setattr(
        paths, "_is_private", lambda folder: real(folder) and not (folder / "of another user").exists()
    )

    def take(folder):
        if kind == "link":
            folder.symlink_to(theirs)
        elif kind == "file":
            folder.touch()
        else:
            folder.mkdir(mode=0o700)
            folder.chmod(0o777 if kind == "open" else 0o700)
            (folder / "of another user").touch()

    take(names[0])
    ports.claim(tmp_path)
    assert (names[1] / "ports.json").is_file()
    shutil.rmtree(names[1])
    for folder in names[1:]:
        take(folder)
    with pytest.raises(LabError, match=r"you alone may write to.*set TMPDIR to a folder of your own"):
        ports.claim(tmp_path)
    assert list(theirs.iterdir()) == []


@pytest.mark.parametrize("mode", [0o700, 0o770])
def test_the_folder_of_the_login_session_comes_first_if_it_is_safe(tmp_path, monkeypatch, mode):
    session = tmp_path / "session"
    session.mkdir()
    session.chmod(mode)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(session))
    ports.claim(tmp_path)
    assert (session / "threebrokers" / "ports.json").exists() == (mode == 0o700)


def test_a_link_among_the_claims_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("{}")
    home = tmp_path / "a"
    home.mkdir()
    ports.claim(home)
    book = next(tmp_path.glob("threebrokers-*/ports.json"))
    book.unlink()
    book.symlink_to(precious)
    ports.claim(home)
    assert precious.read_text() == "{}"


def test_no_free_port_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(ports, "is_free", lambda port: False)
    with pytest.raises(LabError, match="No block of 27 free ports was found from 11092 to 14979"):
        ports.claim(tmp_path)


def test_damaged_claims_are_forgotten(tmp_path):
    home = tmp_path / "a"
    home.mkdir()
    ports.claim(home)
    next(tmp_path.glob("threebrokers-*/ports.json")).write_text("{")
    assert len(_flat(ports.claim(home))) == 9


def test_ports_stay_below_those_that_systems_hand_out(tmp_path):
    highest = max(_flat(ports._block(ports.BENCHES - 1)))
    assert highest < 32768
    blocks = [_flat(ports._block(k)) for k in range(ports.BENCHES)]
    assert len(set().union(*blocks)) == 9 * ports.BENCHES


def test_a_broker_is_configured_for_loopback_and_by_the_table():
    addresses = SavedState(ports=PORTS).addresses()
    told = settings.properties(2, addresses, "/somewhere")
    assert told["listeners"] == "CLIENT://127.0.0.1:200,REPL://127.0.0.1:201,CONTROLLER://127.0.0.1:202"
    assert told["controller.quorum.voters"] == "1@127.0.0.1:102,2@127.0.0.1:202,3@127.0.0.1:302"
    assert told["offsets.topic.replication.factor"] == "3"
    # Choosing these is the learner's exercise, so they stay as Kafka has them.
    assert not told.keys() & {"num.partitions", "default.replication.factor", "min.insync.replicas"}
    assert settings.as_text({"a": "b\\c"}) == "a=b\\\\c\n"


def test_every_setting_has_a_reason_and_stands_once():
    names = [setting.name for setting in settings.TABLE]
    assert len(names) == len(set(names))
    for setting in settings.TABLE:
        assert len(setting.why.split()) >= 3, setting
        assert setting.here != setting.default or "kept" in setting.why, setting


def test_ids_are_as_kafka_writes_them():
    ids = {log_dirs.kafka_id() for _ in range(200)}
    assert len(ids) == 200
    assert all(len(text) == 22 and not text.startswith("-") for text in ids)


def test_state_file_is_readable_by_people(tmp_path):
    state_file.save(tmp_path, SavedState("abc", PORTS, {1: Identity(1, "2 ticks")}))
    text = (tmp_path / "cluster.json").read_text()
    assert json.loads(text)["brokers"] == {"1": {"pid": 1, "start": "2 ticks", "mark": ""}}
    assert '\n "cluster_id": "abc",\n' in text


def _flat(claimed):
    return {port for of_broker in claimed.values() for port in of_broker.values()}
