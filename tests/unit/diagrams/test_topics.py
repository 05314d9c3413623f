"""Pictures of topics and logs: what they say in words, and what is drawn."""

from tests.pictures import classes, drawn
from threebrokers.diagrams.topics import log_picture, message_path, topic_picture
from threebrokers.kafka.log_reader import Log, Record
from threebrokers.kafka.state import PartitionState, TopicState

TOPIC = TopicState(
    "helloworld",
    (
        PartitionState("helloworld", 0, 2, 0, (2, 3, 1), (1, 2, 3)),
        PartitionState("helloworld", 1, 3, 0, (3, 1, 2), (1, 3)),
        PartitionState("helloworld", 2, None, 0, (1,), ()),
    ),
)


def test_a_topic_is_told_copy_by_copy() -> None:
    assert topic_picture(TOPIC).words.splitlines() == [
        "Partition 0: the leader is broker 2; replicas on brokers 1, 2, 3; in sync: 1, 2, 3.",
        "Partition 1: the leader is broker 3; replicas on brokers 1, 2, 3; in sync: 1, 3; not in sync: 2.",
        "Partition 2: there is no leader; replicas on brokers 1; in sync: none; not in sync: 1.",
    ]


def test_broker_0_can_lead() -> None:
    zero = TopicState("far", (PartitionState("far", 0, 0, 0, (0, 1), (0, 1)),))
    assert topic_picture(zero, (0, 1)).words == (
        "Partition 0: the leader is broker 0; replicas on brokers 0, 1; in sync: 0, 1."
    )
    row = ("partition 0", "★ leader", "✓ in sync")
    assert drawn(topic_picture(zero, (0, 1))) == ["broker 0", "broker 1", *row]
    assert drawn(message_path(zero))[4:] == ["producer", row[0], "→", *row[1:], "→", "consumer"]


def test_a_topic_is_drawn_as_partitions_by_brokers() -> None:
    assert drawn(topic_picture(TOPIC)) == [
        *("broker 1", "broker 2", "broker 3"),
        *("partition 0", "✓ in sync", "★ leader", "✓ in sync"),
        *("partition 1", "✓ in sync", "… behind", "★ leader"),
        *("partition 2: ✕ no leader", "… behind", "–", "–"),
    ]


def test_each_kind_of_replica_has_a_look_and_its_brokers_colour() -> None:
    found = classes(topic_picture(TOPIC))
    assert found["… behind"] == ["tb-box tb-late tb-b2", "tb-box tb-late tb-b1"]
    assert found["★ leader"] == ["tb-box tb-leader tb-b2", "tb-box tb-leader tb-b3"]
    assert {name.split()[1] for name in found["✓ in sync"]} == {"tb-sync"}


def test_a_broker_without_a_copy_is_still_a_column() -> None:
    one = TopicState("solo", (PartitionState("solo", 0, 5, 0, (5,), (5,)),))
    assert drawn(topic_picture(one))[:4] == ["broker 1", "broker 2", "broker 3", "broker 5"]


def test_messages_go_by_way_of_the_leaders() -> None:
    assert drawn(message_path(TOPIC, producers=("shop",))) == [
        *("write to the leader", "broker 1", "broker 2", "broker 3", "read from the leader"),
        *("shop", "partition 0", "→", "✓ in sync", "★ leader", "✓ in sync", "→", "consumer"),
        *("partition 1", "→", "✓ in sync", "… behind", "★ leader", "→"),
        *("partition 2: ✕ no leader", "… behind", "–", "–"),
    ]


def test_every_client_is_named_in_words() -> None:
    words = message_path(TOPIC, producers=("shop",), consumers=("alerts", "report")).words
    assert "shop: writes" in words
    assert "alerts: reads" in words
    assert "report: reads" in words


def test_the_path_needs_no_topic() -> None:
    assert drawn(message_path()).count("★ leader") == 3


def record(partition: int, offset: int) -> Record:
    return Record("t", partition, offset, None, f"hello <{offset}> & more".encode(), 0, "create")


def test_a_log_of_records_shows_offsets_and_text() -> None:
    picture = log_picture(
        [record(1, 0), record(0, 1), record(0, 0)], text=lambda r: (r.value or b"").decode()
    )
    assert drawn(picture) == [
        *("partition 0", "0", "hello <0> & more", "1", "hello <1> & more"),
        *("partition 1", "0", "hello <0> & more"),
    ]
    assert "Partition 0, offset 1: hello <1> & more" in picture.words.splitlines()


def test_a_log_shows_gaps_and_where_a_reader_is() -> None:
    picture = log_picture({0: [0, 1, 5, 7], 1: [], 2: [3]}, reads_next={0: 5, 2: 4})
    assert drawn(picture) == [
        *("partition 0", "0", "1", "no 2–4", "▶ next", "5", "no 6", "7"),
        *("partition 1", "empty"),
        *("partition 2", "3", "▶ next", "4"),
    ]
    assert picture.words.splitlines() == [
        "Partition 0: 4 records, offsets 0 to 7; read next: offset 5.",
        "Partition 1: no record.",
        "Partition 2: 1 record, offset 3; read next: offset 4.",
    ]


def test_a_partition_without_records_can_be_drawn_too() -> None:
    assert drawn(log_picture([record(1, 0)], partitions=range(2))) == [
        "partition 0",
        "empty",
        "partition 1",
        "0",
    ]


def test_empty_partitions_of_a_log_that_was_read_are_not_hidden() -> None:
    """Once a topic of 13 partitions was drawn with five rows, and no word about the other eight."""
    seven = [record(n, 0) for n in (0, 3, 5, 6, 7)]
    picture = log_picture(Log(seven, range(13)))
    assert drawn(picture)[-2:] == ["partitions 1, 2, 4 and 8–12", "empty"]
    assert picture.words.splitlines()[-1] == "Partitions 1, 2, 4 and 8–12: no record."
    assert drawn(log_picture(Log(seven[:1], range(2))))[-2:] == ["partition 1", "empty"]
    assert drawn(log_picture(Log([], [4]), partitions=[4])) == ["partition 4", "empty"]
    assert "empty" not in drawn(log_picture(seven)), "nobody knows"


def test_a_long_log_is_shortened_in_the_middle() -> None:
    assert drawn(log_picture({0: range(100)}, most=4)) == ["partition 0", "0", "1", "… 96 more …", "98", "99"]
    assert "… 96 more, 50 is next …" in drawn(log_picture({0: range(100)}, most=4, reads_next={0: 50}))


def test_a_long_log_keeps_its_words_short() -> None:
    many = [record(0, offset) for offset in range(10_000)]
    assert len(log_picture(many, text=lambda r: str(r.offset)).words.splitlines()) == 13


def test_a_notebook_gets_a_table_with_a_name_and_the_same_in_words() -> None:
    shown = topic_picture(TOPIC)._repr_mimebundle_()
    assert (
        '<figure class="tb-picture" aria-label="Where the replicas of &#x27;helloworld&#x27; are"'
        in (shown["text/html"])
    )
    assert (
        "<summary>The same in words</summary><ul><li>Partition 0: the leader is broker 2;"
        in shown["text/html"]
    )
    assert shown["text/plain"].splitlines()[1].startswith("Partition 0: the leader is broker 2;")


def test_only_brokers_have_the_colours_of_brokers() -> None:
    owned = {"★ leader", "✓ in sync", "… behind", "–", "broker 1", "broker 2", "broker 3"}
    for picture in (message_path(TOPIC), topic_picture(TOPIC), log_picture({0: [1]}, reads_next={0: 1})):
        coloured = {
            text
            for text, names in classes(picture).items()
            if any("tb-b" in f" {n}".replace("tb-box", "") for n in names)
        }
        assert coloured <= owned


def test_a_name_with_signs_of_html_is_shown_whole() -> None:
    assert "team: <shop>" in drawn(message_path(producers=("team: <shop>",)))
