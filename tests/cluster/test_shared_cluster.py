"""A cluster that is nobody's own, with rights for each prefix: labs, refusals, thirty learners at once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.shared_cluster import FIRST_LAB, SharedCluster, cells, enter, shared_cluster
from threebrokers.app.cli import app
from threebrokers.cluster import Cluster, process
from threebrokers.doctor import examine
from threebrokers.errors import LabError
from threebrokers.grading.kernel import Kernel, Reply
from threebrokers.kafka.log_reader import read_log
from threebrokers.waiting import quiet_wait

ANNA, STRANGER = "anna", "stranger"
LEARNERS = [f"learner{number:02}" for number in range(1, 31)]
RECORDS = 40
# Only the cells that are needed; all would take minutes.
LABS = {
    "01_hello_kafka": FIRST_LAB,
    "02_the_log": (
        *("code-44413127", "code-4f2832ea", "code-cac542b3", "code-ae2f1bef"),
        *("exercise-2-1", "check-2-1"),
    ),
}


@pytest.fixture(scope="module")
def shared(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedCluster]:
    users = [ANNA, STRANGER, *LEARNERS]
    with shared_cluster(tmp_path_factory.mktemp("shared"), users) as cluster:
        cluster.allow([ANNA, *LEARNERS])
        topic = NewTopic("teacher-news", num_partitions=1, replication_factor=1)
        owner = cluster.owner()
        for made in owner.create_topics([topic]).values():
            made.result()
        yield cluster


@pytest.fixture
def as_anna(shared: SharedCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(shared, monkeypatch, shared.client_file(ANNA))


def run(kernel: Kernel, name: str, text: str) -> Reply:
    reply = kernel.run(text, name, 240)
    assert not reply.error or reply.error in ("NotYoursError", "Skipped", "LabError", "KafkaException"), (
        f"{name}: {reply.error}: {reply.message}"
    )
    return reply


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_s_cells_run_with_the_prefix(shared, as_anna, tmp_path, lab):
    solved, texts = [], cells(lab)
    with Kernel(tmp_path) as kernel:
        for name in LABS[lab]:
            reply = kernel.run(texts[name], name, 240)
            assert not reply.error, f"{name}: {reply.error}: {reply.message}"
            solved += [reply.result] if name.startswith("check") else []
    assert all("✓" in said for said in solved)
    topics = shared.owner().list_topics(timeout=30).topics
    own = [name for name in topics if not name.startswith("__") and name != "teacher-news"]
    assert own
    assert all(name.startswith("anna-") for name in own)


def test_what_needs_power_over_brokers_is_skipped_and_its_recording_shown(shared, as_anna, tmp_path):
    before = {one.pid for one in process.marked(shared.mark)}
    with Kernel(tmp_path) as kernel:
        run(kernel, "code-1", "from threebrokers import open_lab\nlab = open_lab('04')")
        killed = run(kernel, "code-2", "with lab.record() as seen:\n    lab.cluster.kill(2)")
        run(kernel, "exercise-4-5", "takeover, after = seen, 3")
        checked = run(kernel, "check-4-5", "lab.check.group_goes_on(takeover, after)")
        foreign = run(
            kernel,
            "code-3",
            "from threebrokers.kafka.log_reader import read_log\nread_log(lab.bootstrap, 'teacher-news')",
        )
        tool = run(kernel, "code-4", "lab.cluster.tool('kafka-topics', '--create', '--topic', 'other')")
        hidden = run(kernel, "code-5", "print(lab, lab.cluster, lab.producer, vars(lab), lab.cluster.access)")
    assert killed.error == "NotYoursError"
    assert "is not yours, so broker 2 cannot be killed here" in killed.message
    assert any("application/vnd.jupyter.widget-view+json" in one for one in killed.displayed)
    assert "recorded" in killed.shown
    assert checked.error == "Skipped"
    assert "is not yours, so " in checked.message
    assert "does not let you touch this topic 'teacher-news'" in foreign.message
    assert "names that begin with 'anna-'" in tool.message
    assert "word-of" not in hidden.shown
    assert {one.pid for one in process.marked(shared.mark)} == before


def test_commands_speak_of_that_cluster_and_touch_nothing(shared, as_anna, capsys):
    assert app(["status"]) == 0
    told = capsys.readouterr().out
    assert "is not yours" in told
    assert told.count("elsewhere") == 3
    assert {finding.about: finding.ok for finding in examine()}["rights"]
    for command in ("up", "down", "reset"):
        assert app([command]) == 1
        assert "is not yours" in capsys.readouterr().err
    assert "teacher-news" in shared.owner().list_topics(timeout=30).topics


def test_a_wrong_password_and_no_rights_are_one_sentence_each(shared, monkeypatch, capsys):
    enter(shared, monkeypatch, shared.client_file(STRANGER, "something-else"))
    assert app(["status"]) == 1
    told = capsys.readouterr().err
    assert "does not accept this user and password" in told
    assert told.count("\n") == 1
    assert "something-else" not in told
    enter(shared, monkeypatch, shared.client_file(STRANGER))
    [finding] = [finding for finding in examine() if finding.about == "rights"]
    assert not finding.ok
    assert "does not let you touch this topic" in finding.what


def test_views_and_state_are_those_of_each_broker(shared, as_anna):
    cluster = Cluster()
    admin = cluster.admin()
    for made in admin.create_topics([NewTopic("anna-views", 3, 3)], request_timeout=60).values():
        made.result()
    producer = Producer(shared.settings(ANNA, "word-of-anna"))
    producer.produce("anna-views", "one", partition=0)
    assert producer.flush(60) == 0

    def all_tell() -> bool:
        return cluster.state(["anna-views"]).registered == {*cluster.views(["anna-views"])} == {1, 2, 3}

    assert quiet_wait(all_tell, 30)  # the machine is busy, and here each broker asks first who comes
    assert [record.value for record in read_log(cluster.bootstrap, "anna-views")] == [b"one"]
    with pytest.raises(LabError, match="teacher-news"):
        read_log(cluster.bootstrap, "teacher-news")


def test_thirty_learners_at_once_write_and_read_their_own_and_lose_nothing(shared):
    with ThreadPoolExecutor(len(LEARNERS)) as room:
        found = dict(zip(LEARNERS, room.map(lambda name: learn(shared, name), LEARNERS), strict=True))
    expected = [f"{n}" for n in range(RECORDS)]
    assert {name: own for name, (own, _) in found.items()} == dict.fromkeys(LEARNERS, expected)
    assert {other for _, other in found.values()} == {KafkaError.TOPIC_AUTHORIZATION_FAILED}


def learn(shared: SharedCluster, name: str) -> tuple[list[str], int]:
    """Write and read records as one learner; return what was read, and the refusal of another's topic."""
    settings = shared.settings(name, f"word-of-{name}")
    topic, other = f"{name}-orders", f"{LEARNERS[LEARNERS.index(name) - 1]}-orders"
    producer = Producer(settings | {"acks": "all"})
    admin = AdminClient(settings)
    [made] = admin.create_topics([NewTopic(topic, 1, 3)], request_timeout=120).values()
    made.result()
    for number in range(RECORDS):
        producer.produce(topic, f"{number}")
        producer.poll(0)
    assert producer.flush(120) == 0
    group = settings | {"group.id": f"{name}-reader", "auto.offset.reset": "earliest"}
    reader = Consumer(group | {"enable.partition.eof": True})
    try:
        reader.subscribe([topic])
        values: list[str] = []
        for message in iter(lambda: reader.poll(60), None):
            fault = message.error()
            if fault is None:
                values.append((message.value() or b"").decode())
            elif fault.code() == KafkaError._PARTITION_EOF:
                break
        refused = reader.list_topics(other, timeout=60).topics[other].error
        # Without idempotence a batch that is sent again, right after its topic was made, may be overtaken.
        return sorted(values, key=int), refused.code() if refused else 0
    finally:
        reader.close()
