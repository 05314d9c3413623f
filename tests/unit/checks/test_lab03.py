"""What lab 03's checks say of answers, without brokers."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from threebrokers.cells import Fault
from threebrokers.checks import lab03
from threebrokers.checks.expect import expect_choice
from threebrokers.checks.lab03 import damage, election, hidden, refused
from threebrokers.cluster.actions import Action
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.state import BrokerState, ClusterState, PartitionState, TopicState
from threebrokers.lab.attempt import _ended
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios import ORDERS
from threebrokers.lab.values import fitted


def partition(topic: str, number: int, leader: int | None, replicas: str, isr: str) -> PartitionState:
    return PartitionState(topic, number, leader, 0, tuple(map(int, replicas)), tuple(map(int, isr)))


# Broker 2 is away. One replica, two (both must be in sync), three (two must be): as many as in the lab.
FOUND = damage.Damage(
    (
        (partition("thumbnails", 0, 1, "1", "1"), 1),
        (partition("thumbnails", 1, None, "2", ""), 1),
        (partition("thumbnails", 2, 3, "3", "3"), 1),
        (partition("baskets", 0, 1, "12", "1"), 2),
        (partition("baskets", 1, 3, "23", "3"), 2),
        (partition("baskets", 2, 3, "31", "13"), 2),
        *((partition("stock", n, 1, order, "13"), 2) for n, order in enumerate(["123", "231", "312"] * 2)),
    )
)


def told(check, *answers) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers)
    return str(caught.value)


def test_the_right_counts_pass():
    damage.is_offline(FOUND, 1)
    damage.is_under_replicated(FOUND, 9)
    damage.is_under_minimum(FOUND, 3)


@pytest.mark.parametrize(
    ("check", "answer", "text"),
    [
        (damage.is_offline, 9, "have a replica on broker 2"),
        (damage.is_offline, 3, "are under min ISR, and some of them have a leader"),
        (damage.is_offline, 0, "`offline` is 0; 1 partition has no leader now"),
        (damage.is_under_replicated, 1, "lost their last replica in sync"),
        (
            damage.is_under_replicated,
            3,
            "3 is the number of topics with such partitions, or the number of partitions under",
        ),
        (damage.is_under_replicated, 8, "is what the brokers' own metric says"),
        (damage.is_under_replicated, 12, "is the number of all partitions"),
        (damage.is_under_replicated, 23, "is the number of replicas of these partitions"),
        (damage.is_under_replicated, 6, "is the number without those under min ISR"),
        (damage.is_under_replicated, 7, "`under_replicated` is 7"),
        (damage.is_under_replicated, 38, "only the partitions of these topics count"),
        (damage.is_under_minimum, 12, "at the minimum or under it"),
        (damage.is_under_minimum, 9, "is the number of under-replicated partitions"),
        (damage.is_under_minimum, 5, "but one topic asks for 1 only"),
        (damage.is_under_minimum, 2, "is what the brokers' own metric says"),
        (damage.is_under_minimum, 1, "partitions that are offline"),
        (damage.is_under_minimum, 0, "`under_min_isr` is 0"),
    ],
)
def test_a_wrong_count_is_recognised(check, answer: int, text: str):
    assert text in told(check, FOUND, answer)


def lab_with(*partitions: PartitionState, brokers: tuple[BrokerState, ...] = ()) -> Any:
    topics = tuple(
        TopicState(name, tuple(p for p in partitions if p.topic == name))
        for name in dict.fromkeys(p.topic for p in partitions)
    )
    state = ClusterState(0.0, brokers, topics=topics, last_response_at=0.0)
    return SimpleNamespace(topic=lambda name: name, cluster=SimpleNamespace(state=lambda names: state))


def test_the_damage_is_counted_while_broker_2_alone_is_away():
    there = [p for p, _ in FOUND.partitions]
    assert damage.damage_now(lab_with(*there)) == FOUND
    assert "one of the topics" in told(damage.damage_now, lab_with(*there[:3]))
    whole = [PartitionState(p.topic, p.id, 1, 0, p.replicas, p.replicas) for p in there]
    assert "all replicas of all partitions are in sync" in told(damage.damage_now, lab_with(*whole))
    coming = [replace(p, leader=p.leader or 2) for p in there]
    assert "broker 2 runs again: each partition has a leader" in told(damage.damage_now, lab_with(*coming))
    worse = [*there[:-1], partition("stock", 5, 1, "312", "1")]
    assert "broker 2 and 3 have replicas that are not in sync" in told(damage.damage_now, lab_with(*worse))


@pytest.mark.parametrize("answer", [(1, 1, 1), (2, 2, 0), (6, 0, 0)])
def test_the_numbers_of_one_topic_alone_are_recognised(answer: tuple[int, int, int]):
    names = {(1, 1, 1): "thumbnails", (2, 2, 0): "baskets", (6, 0, 0): "stock"}
    assert f"these are the numbers of '{names[answer]}' alone" in told(damage.is_of_all, FOUND, *answer)
    either = "that lost their last replica in sync" in told(damage.is_of_all, FOUND, *answer)
    assert either == (answer == (1, 1, 1))
    damage.is_of_all(FOUND, 9, 3, 1)
    damage.is_of_all(FOUND, *answer[:2], 4)


def test_partitions_that_were_used_up_by_the_first_sum_are_told_so():
    used_up = "`under_replicated` is right, and `under_min_isr` and `offline` are 0; each of the three"
    lab = lab_with(*(p for p, _ in FOUND.partitions))
    assert used_up in told(lab03.damage_counted._function, lab, 9, 0, 0)
    damage.is_each_counted(FOUND, 9, 3, 1)
    damage.is_each_counted(FOUND, 8, 0, 0)


def test_a_refused_write_is_told_from_other_errors(monkeypatch):
    plain: Any = object()
    right = KafkaError(KafkaError.NOT_ENOUGH_REPLICAS)
    refused.is_refused(plain, plain, [None, right])
    refused.is_refused(plain, plain, [KafkaException(right)])  # as str(…) or a raise may have left it
    assert "`errors` is empty; the error that" in told(refused.is_refused, plain, plain, [])
    for code, text in [
        (KafkaError._MSG_TIMED_OUT, "own time was over"),
        (KafkaError.REQUEST_TIMED_OUT, "waited for a follower in vain"),
        (KafkaError._UNKNOWN_TOPIC, "there is no topic of that name"),
        (KafkaError.NOT_LEADER_FOR_PARTITION, "the last error is NOT_LEADER"),
    ]:
        assert text in told(refused.is_refused, plain, plain, [KafkaError(code)])
    settings = {"retries": "0", "message.timeout.ms": "2000"}
    monkeypatch.setattr(refused, "client_setting", lambda client, name, default: settings.get(name, default))
    late = told(refused.is_refused, plain, plain, [KafkaError(KafkaError._MSG_TIMED_OUT)])
    assert "did not try again: nobody took the record at all" in late
    settings["message.timeout.ms"] = "1"
    hasty = told(refused.is_refused, plain, plain, [KafkaError(KafkaError._MSG_TIMED_OUT)])
    assert "the producer gave up after 1 ms" in hasty
    for odd in ("NOT_ENOUGH_REPLICAS", 19):
        assert "it should be the KafkaError itself" in told(refused.is_refused, plain, plain, [odd])


def test_a_producer_that_has_sent_nothing_was_refused_nothing():
    lab: Any = object()
    producer = LabProducer({}, {"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
    by_hand = [KafkaError(KafkaError.NOT_ENOUGH_REPLICAS)]
    assert "`writer` has sent nothing" in told(refused.is_refused, lab, producer, by_hand)


def test_an_error_that_no_report_has_brought_was_made_by_hand():
    lab: Any = object()
    producer = LabProducer({}, {"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
    producer.sent_at = 1.0
    by_hand = [KafkaError(KafkaError.NOT_ENOUGH_REPLICAS)]
    assert "no delivery report of `writer` has brought it" in told(refused.is_refused, lab, producer, by_hand)
    producer._reports.errors.add(KafkaError.NOT_ENOUGH_REPLICAS)
    refused.is_refused(lab, producer, by_hand)


def test_a_report_that_went_elsewhere_has_come():
    lab: Any = object()
    producer = LabProducer({}, {"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
    assert "`errors` is empty: no delivery report has come" in told(refused.is_refused, lab, producer, [])
    own: list[Any] = []
    producer._reports.told_to([], lambda error, message: own.append(error))(None, SimpleNamespace(topic=str))
    said = told(refused.is_refused, lab, producer, [])
    assert len(own) == 1
    assert "`errors` is empty, and your code was given 1 delivery report; the error that each" in said


def test_what_a_producer_with_other_acks_asks_for_is_named():
    lab: Any = object()
    for acks, text in ((0, "asks for nobody (acks=0)"), (1, "asks for the leader alone (acks=1)")):
        producer = LabProducer({"acks": acks}, {"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
        producer.sent_at = 1.0
        assert text in told(refused.is_refused, lab, producer, [None])
        by_hand = [KafkaError(KafkaError.NOT_ENOUGH_REPLICAS)]
        assert text in told(refused.is_refused, lab, producer, by_hand)


def test_each_word_has_an_answer_of_its_own():
    for name, right, words in (
        ("why", "promise", refused.NOT_WHY),
        ("waits_for", "replicas", hidden.NOT_WAITING),
    ):
        expect_choice(name, right, right, words)
        answers = {word: told(expect_choice, name, word, right, words) for word in [*words, "?"]}
        assert len(set(answers.values())) == len(words) + 1
        offered = ", ".join(sorted([right, *words]))  # in an order that does not tell which is right
        assert f"`{name}` is '?'; it should be one of {offered}." in answers["?"]
        expect_choice(name, f" {right.capitalize()}() ", right, words)


def test_the_two_ends_are_told_apart():
    hidden.are_the_ends(3, 0, 3, 0)
    hidden.are_the_ends(5, 2, 5, 2)  # who wrote something readable before may hide three as well
    assert "have changed places" in told(hidden.are_the_ends, 0, 3, 3, 0)
    same = told(hidden.are_the_ends, 0, 0, 3, 0)
    assert "`log_end_offset` is 0, which is the high watermark, not the log end offset" in same
    assert "and where the log ended before the records were stored;" in same
    assert "once more after flush(): the cell's `partition` is older" in same
    assert "is the offset of the last record" in told(hidden.are_the_ends, 2, 0, 3, 0)
    assert "`log_end_offset` is 7;" in told(hidden.are_the_ends, 7, 0, 3, 0)
    assert "`high_watermark` is 3" in told(hidden.are_the_ends, 3, 3, 3, 0)
    assert "`high_watermark` is None: no leader told it" in told(hidden.are_the_ends, 3, None, 3, 0)
    assert "is no offset of this log" in told(hidden.are_the_ends, 3, -1, 3, 0)


def test_three_records_are_hidden_and_no_more(monkeypatch):
    monkeypatch.setattr(hidden, "_in_transaction", lambda lab, watermark: False)
    lab = lab_with(partition("unseen", 0, 2, "231", "231"))
    lab.cluster.processes, lab.cluster.actions, lab.producers = dict, lambda since: [], list
    hidden.are_hidden(lab, 3, 0, "3")
    hidden.are_hidden(lab, 5, 2, "")
    assert "has stored nothing in 'unseen'; it should have three" in told(hidden.are_hidden, lab, 0, 0, "3")
    lab.producers = lambda: [SimpleNamespace(unreported=lambda topic: 3)]
    assert "3 records of your producer have no delivery report" in told(hidden.are_hidden, lab, 0, 0, "3")
    lab.cluster.actions = lambda since: [Action(1.0, "pause", 2)]
    assert "broker 2, which led 'unseen', was paused" in told(hidden.are_hidden, lab, 0, 0, "3")
    assert "everybody can read up to the leader's end" in told(hidden.are_hidden, lab, 3, 3, "3")
    assert "has 4 records that nobody can read" in told(hidden.are_hidden, lab, 4, 0, "3")
    assert "has 1 record that nobody can read" in told(hidden.are_hidden, lab, 1, 0, "3")
    assert "min.insync.replicas of 'unseen' is 2 now" in told(hidden.are_hidden, lab, 3, 3, "2")
    assert "and so many replicas have the records" in told(hidden.are_hidden, lab, 3, 0, "2")


def test_what_waits_for_a_broker_that_is_away_is_not_waited_for(monkeypatch):
    waited: list[str] = []

    def look_once(look: Any, *, what: str, within: float) -> Any:
        waited.append(what)
        return look()

    monkeypatch.setattr(hidden, "eventually", look_once)
    monkeypatch.setattr(hidden, "ends", lambda lab: (3, 3))
    monkeypatch.setattr(hidden, "_in_transaction", lambda lab, watermark: False)

    def lab(isr: str, **states: str) -> Any:
        made = lab_with(partition("unseen", 0, 2, "231", isr))
        processes = {n: SimpleNamespace(state=states.get(f"broker{n}", "up")) for n in (1, 2, 3)}
        made.cluster.processes, made.cluster.actions = lambda: processes, lambda since: []
        return made

    hidden.stay_hidden(lab("231", broker3="paused"), "3")
    hidden.stay_hidden(lab("231", broker1="down"), "3")
    assert not waited
    assert "all three replicas of 'unseen' are in sync again" in told(hidden.stay_hidden, lab("231"), "3")
    # With another min.insync.replicas, or an unknown one, they may become readable when it leaves the ISR.
    for least in ("2", ""):
        assert "everybody can read up to" in told(hidden.stay_hidden, lab("23", broker1="paused"), least)
    assert len(waited) == 3


def test_records_of_an_open_transaction_are_not_hidden_from_everybody():
    lab = lab_with(replace(partition("unseen", 0, 2, "231", "231"), last_stable_offset=0))
    assert "in an open transaction" in told(hidden.are_hidden, lab, 3, 3, "3")
    assert not hidden._in_transaction(lab, 0)
    hidden.are_hidden(lab, 3, 0, "3")


def test_a_leader_that_is_gone_is_named():
    brokers = (BrokerState(1, "down", 0.0), BrokerState(2, "up", 0.0), BrokerState(3, "paused", 0.0))
    lost = lab_with(partition("unseen", 0, None, "123", ""), brokers=brokers)
    said = told(hidden.ends, lost)
    assert "nobody tells where the log of 'unseen' ends: broker 1 is down, broker 3 is paused" in said


# As both outages leave 'work': broker 2 is in sync again, broker 3 is away.
WORK = tuple(
    partition("work", n, leader, "".join(map(str, order)), "12")
    for n, (order, leader) in enumerate(zip(ORDERS, (1, 1, 1, 2, 1, 2), strict=True))
)
AFTER = {0: 1, 1: 1, 2: 2, 3: 2, 4: 1, 5: 2}


def test_who_leads_after_the_election_is_known():
    assert {p.id: election.elected(p) for p in WORK} == AFTER
    election.are_right(WORK, AFTER)
    assert election.as_leaders([1, 1, 2, 2, 1, 2]) == AFTER


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({4: None}, "partition 4 is led by None in your answer; each has a leader after the election"),
        ({4: "1"}, "partition 4 is led by '1' in your answer; each has a leader after the election"),
        ({4: 3}, "partition 4 is led by broker 3 in your answer, and that is not in sync"),
        ({4: None}, "each has a leader after the election"),
        ({4: 2}, "its preferred leader, broker 3, is away"),
        ({2: 1}, "its preferred leader, broker 2, is in sync again"),
        ({0: 2}, "its preferred leader leads already"),
    ],
)
def test_a_wrong_leader_is_explained(change: dict[int, Any], text: str):
    assert text in told(election.are_right, WORK, AFTER | change)


def test_an_answer_names_each_partition_once():
    assert "says nothing of partition 0, 1, 3, 4 and 5" in told(election.as_leaders, {2: 2})
    assert "says nothing of partition 5" in told(election.as_leaders, [1, 1, 2, 2, 1])
    assert "has an entry for 6" in told(election.as_leaders, AFTER | {6: 1})
    assert "has an entry for 6, 9 and 10;" in told(election.as_leaders, AFTER | {10: 1, 9: 1, 6: 1})
    assert "says nothing of partition 0, 1" in told(
        election.as_leaders, {str(p): b for p, b in AFTER.items()}
    )


def test_pairs_are_no_leaders():
    pairs = "`after` holds (0, 1) where the number of a broker should be; it should be a dictionary"
    assert pairs in told(election.as_leaders, list(AFTER.items()))
    assert "`after` says nothing of partition 0" in told(election.as_leaders, {("work", 0): 1})
    hint = dict[int, int | None] | list[int | None]
    assert "it should be a dictionary or a list" in told(fitted, "after", iter(AFTER.items()), hint)


def test_the_election_waits_for_the_state_that_the_cell_has_made():
    assert election.before_election(lab_with(*WORK), "work") == WORK
    back = [PartitionState("work", p.id, p.leader, 0, p.replicas, (1, 2, 3)) for p in WORK]
    assert "all replicas of 'work' are in sync now" in told(election.before_election, lab_with(*back), "work")
    lost = [PartitionState("work", p.id, 1, 0, p.replicas, (1,)) for p in WORK]
    assert "broker 2 and 3 have replicas" in told(election.before_election, lab_with(*lost), "work")
    assert "are not those of the exercise" in told(election.before_election, lab_with(*WORK[:5]), "work")
    assert "the topic is named 'play'" in told(election.before_election, lab_with(*WORK), "play")


@pytest.mark.parametrize(
    ("partitions", "replicas", "least", "own", "text"),
    [
        (13, 2, 2, True, "'orders' keeps 2 replicas"),
        (13, 3, 3, True, "min.insync.replicas is 3 of 3 replicas"),
        (13, 3, 1, False, "min.insync.replicas is 1;"),
        (13, 3, 2, False, "because the whole cluster says so"),
        (12, 3, 2, True, "'orders' has 12 partitions"),
    ],
)
def test_a_topic_that_is_not_safe_is_refused(
    partitions: int, replicas: int, least: int, own: bool, text: str
):
    assert text in told(lab03.is_safe, "orders", partitions, replicas, least, own)


def test_a_safe_topic_passes():
    lab03.is_safe("orders", 13, 3, 2, own=True)


def test_who_sends_both_followers_away_is_told_that_one_is_enough():
    error = Fault(
        "LabError", "This takes the quorum away: of 3 voters only broker 2 would be left, so nothing"
    )
    said = str(_ended(error, lab03.records_hidden.errors))
    assert "one broker that is away is enough" in said
    assert "mend what it names" not in said
