"""What lab 03's checks say of answers, without brokers."""

import pytest
from confluent_kafka import KafkaError

from threebrokers.checks import lab03
from threebrokers.checks.expect import expect_choice
from threebrokers.kafka.state import PartitionState, TopicState
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios import is_balanced


def partition(topic: str, number: int, leader: int | None, replicas: str, isr: str) -> PartitionState:
    return PartitionState(topic, number, leader, 0, tuple(map(int, replicas)), tuple(map(int, isr)))


# Broker 2 is away: one copy, two copies (both must be in sync), three copies (two must be).
FOUND = [
    (partition("thumbnails", 0, 1, "1", "1"), 1),
    (partition("thumbnails", 1, None, "2", ""), 1),
    (partition("thumbnails", 2, 3, "3", "3"), 1),
    (partition("baskets", 0, 1, "12", "1"), 2),
    (partition("baskets", 1, 3, "23", "3"), 2),
    (partition("baskets", 2, 3, "31", "13"), 2),
    (partition("stock", 0, 1, "123", "13"), 2),
    (partition("stock", 1, 3, "231", "13"), 2),
]


def told(check, *answers) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers)
    return str(caught.value)


def test_the_right_counts_pass():
    lab03.is_offline(FOUND, 1)
    lab03.is_under_replicated(FOUND, 5)
    lab03.is_under_minimum(FOUND, 3)


@pytest.mark.parametrize(
    ("check", "answer", "text"),
    [
        (lab03.is_offline, 5, "have a replica on broker 2"),
        (lab03.is_offline, 0, "`offline` is 0; 1 partition has no leader now"),
        (lab03.is_under_replicated, 1, "lost their last replica, or their leader"),
        (lab03.is_under_replicated, 11, "is the number of replicas of these partitions"),
        (lab03.is_under_replicated, 4, "`under_replicated` is 4"),
        (lab03.is_under_minimum, 8, "at the minimum or under it"),
        (lab03.is_under_minimum, 0, "`under_min_isr` is 0"),
    ],
)
def test_a_wrong_count_is_recognised(check, answer: int, text: str):
    assert text in told(check, FOUND, answer)


def test_a_refused_write_is_told_from_other_errors():
    lab03.is_refused(None, None, [None, KafkaError(KafkaError.NOT_ENOUGH_REPLICAS)])  # type: ignore[arg-type]
    assert "no delivery report" in told(lab03.is_refused, None, None, [])
    for code, text in [
        (KafkaError._MSG_TIMED_OUT, "own time was over"),
        (KafkaError.REQUEST_TIMED_OUT, "waited for a follower in vain"),
        (KafkaError.NOT_LEADER_FOR_PARTITION, "the last error is NOT_LEADER"),
    ]:
        assert text in told(lab03.is_refused, None, None, [KafkaError(code)])
    assert "the last error is 'no'" in told(lab03.is_refused, None, None, ["no"])


def test_each_word_has_an_answer_of_its_own():
    for name, right, words in (
        ("why", "promise", lab03.NOT_WHY),
        ("waits_for", "replicas", lab03.NOT_WAITING),
    ):
        expect_choice(name, right, right, words)
        answers = {word: told(expect_choice, name, word, right, words) for word in [*words, "?"]}
        assert len(set(answers.values())) == len(words) + 1
        assert f"`{name}` is '?'; it should be one of {right}, " in answers["?"]


def test_the_two_ends_are_told_apart():
    lab03.is_hidden(3, 0)
    lab03.are_the_ends(3, 0, 3, 0)
    assert "has stored nothing" in told(lab03.is_hidden, 0, 0)
    assert "everybody can read" in told(lab03.is_hidden, 3, 3)
    assert "is the high watermark, not the log end offset" in told(lab03.are_the_ends, 0, 0, 3, 0)
    assert "is the offset of the last record" in told(lab03.are_the_ends, 2, 0, 3, 0)
    assert "`log_end_offset` is 7;" in told(lab03.are_the_ends, 7, 0, 3, 0)
    assert "`high_watermark` is 3" in told(lab03.are_the_ends, 3, 3, 3, 0)


def test_spread_is_about_the_first_replicas_only():
    order = ["123", "231", "312"]
    even = [partition("work", n, 1, order[n % 3], "123") for n in range(13)]
    assert is_balanced(TopicState("work", tuple(even)))
    assert not is_balanced(TopicState("work", tuple(even[:12])))
    by_hand = [partition("work", n, 1, "123", "123") for n in range(13)]
    assert not is_balanced(TopicState("work", tuple(by_hand)))
