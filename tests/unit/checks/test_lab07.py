"""What lab 07's checks say of answers, without brokers."""

import ast
import json
import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import consistent

from threebrokers.checks.lab07 import handover, joining, lag, moved, restart, share, slow, teams
from threebrokers.kafka.log_reader import Record
from threebrokers.kafka.state import PartitionState, TopicState
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios import jobs
from threebrokers.ledger.balance import Balance
from threebrokers.ledger.entries import Entry
from threebrokers.ledger.journal import Number
from threebrokers.recorder import Recording
from threebrokers.recorder.data import Burst, Flow, Holding, Mark, RecordingData


def told(check: Callable[..., object], *answers: Any, **named: Any) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers, **named)
    return str(caught.value)


def entries(numbers: range) -> list[Entry]:
    return [Entry(Number(1, n), n % 4, n // 4) for n in numbers]


# --- 7.1


def sent(key: Callable[[Any], str | None], place: Callable[[Any], int]) -> list[Record]:
    return [
        Record(
            "jobs",
            place(job),
            n,
            None if key(job) is None else str(key(job)).encode(),
            job.value.encode(),
            n,
            "",
        )
        for n, job in enumerate(jobs())
    ]


BY_CUSTOMER = sent(lambda job: job.customer, lambda job: int(job.customer.split()[1]) % 6)


def test_jobs_are_shared_evenly_and_by_customer():
    share._expect_all_sent(BY_CUSTOMER)
    share._expect_together(BY_CUSTOMER)
    share._expect_in_order(BY_CUSTOMER)
    share._expect_even([100, 120, 80], BY_CUSTOMER)


def test_customers_that_are_divided_are_told_with_the_key():
    without = sent(lambda job: None, lambda job: job.number % 6)
    assert "partitions (no record has a key)" in told(share._expect_together, without)
    numbered = sent(lambda job: str(job.number), lambda job: job.number % 6)
    assert "partitions (the key is the job)" in told(share._expect_together, numbered)


def test_a_hot_partition_is_told_with_the_key():
    hot = sent(lambda job: job.country, lambda job: 0 if job.country == "NO" else 1)
    share._expect_together(hot)
    said = told(share._expect_even, [270, 30, 0], hot)
    assert (
        "one worker has done 270 of 300 jobs: 270 of them are in one partition (the key is the country)"
        in said
    )


def test_an_uneven_share_of_keys_that_are_even_is_not_theirs():
    said = told(share._expect_even, [300, 0, 0], BY_CUSTOMER)
    assert "done 300 of 300 jobs, and not because of their keys: the three had not shared out" in said


def test_what_plain_consumers_did_only_the_keys_tell():
    share._expect_even([], BY_CUSTOMER)
    hot = sent(lambda job: job.country, lambda job: 0 if job.country == "NO" else 1)
    assert "of 300 jobs 270 are in one partition (the key is the country)" in told(
        share._expect_even, [], hot
    )


def test_a_partition_given_by_hand_is_told_beside_its_key():
    dealt = sent(lambda job: job.customer, lambda job: job.number % 6)
    assert "have one key and are in 2 partitions all the same; the key should choose" in told(
        share._expect_together, dealt
    )
    one = sent(lambda job: job.customer, lambda job: 0)
    assert "should do 60 or more. Look at: `partition=…` in `produce()`" in told(
        share._expect_even, [300, 0, 0], one
    )
    by_key = sent(lambda job: job.country, lambda job: consistent(job.country.encode(), 6))
    assert "Look at: `key=…`" in told(share._expect_even, [270, 30, 0], by_key)


def test_jobs_that_are_missing_or_there_twice():
    assert "`jobs_topic` holds 299 jobs; it should hold each of the 300 once" in told(
        share._expect_all_sent, BY_CUSTOMER[1:]
    )
    assert "601 jobs (some of them twice)" in told(
        share._expect_all_sent, [*BY_CUSTOMER, *BY_CUSTOMER, BY_CUSTOMER[0]]
    )
    odd = Record("jobs", 0, 0, None, b"\xff no JSON", 0, "")
    assert "`jobs_topic` holds '\ufffd no JSON'; the value" in told(share._expect_all_sent, [odd])
    swapped = [Record("jobs", 0, 0, b"{}", b"customer 7", 0, "")]
    assert "`jobs_topic` holds 'customer 7'" in told(share._expect_all_sent, swapped)


def test_the_same_key_for_all_is_told():
    same = sent(lambda job: "job.customer", lambda job: 3)
    assert "300 of them are in one partition (the key of each is 'job.customer')" in told(
        share._expect_even, [300, 0, 0], same
    )


def test_a_customers_jobs_are_sent_in_their_order():
    backwards = [replace(record, offset=n) for n, record in enumerate(reversed(BY_CUSTOMER))]
    said = told(share._expect_in_order, backwards)
    assert re.search(r"the jobs of 'customer \d+' stand in the order \d+, \d+ and \d+; a customer's", said)


def test_what_no_client_of_the_ledger_did_is_told():
    stored = entries(range(300))
    share._expect_numbered(Balance("jobs", stored=stored), BY_CUSTOMER)
    said = told(share._expect_numbered, Balance("jobs"), BY_CUSTOMER)
    assert "300 of 300 jobs were sent past the ledger" in said


def test_workers_that_did_not_begin_are_not_those_with_assign(monkeypatch):
    monkeypatch.setattr(share, "LabConsumer", SimpleNamespace)
    idle = [SimpleNamespace(asked=False, subscribed=())] * 3
    assert "not all of the workers have begun" in told(share._expect_by_the_group, idle)
    by_hand = [SimpleNamespace(asked=True, subscribed=())] * 3
    assert "with assign()" in told(share._expect_by_the_group, by_hand)


def test_one_consumer_is_not_three(monkeypatch):
    monkeypatch.setattr(share, "expect_consumer", lambda name, value: value)
    assert "the same consumer more than once" in told(share.judge_share, None, [SimpleNamespace()] * 3)


def test_three_consumers_are_asked_for():
    assert "`workers[0]` is None" in told(share.judge_share, None, [None])
    assert "`workers` holds 0 consumers" in told(share.judge_share, None, [])


# --- 7.2


RIGHT = {0: 400, 1: 10, 2: 0, 3: 40, 4: 50}
LATER = {0: 120, 1: 100, 2: 0, 3: 60, 4: 50}


def test_lags_of_both_moments():
    assert (lag.lags(later=False), lag.lags(later=True)) == (RIGHT, LATER)
    lag._judge("before", RIGHT, later=False)
    lag._judge("after", {**LATER, 9: 3}, later=True)
    lag.judge_worse([3, 1])


@pytest.mark.parametrize(
    ("answer", "later", "words"),
    [
        (
            {**RIGHT, 3: 1101},
            False,
            "where the group has committed nothing; the partition holds 40 records",
        ),
        ({**RIGHT, 3: 100}, False, "`before` says 100 for partition 3, as if its log began at 0; it begins"),
        ({**LATER, 3: 120}, True, "`after` says 120 for partition 3, as if its log began at 0; it begins"),
        ({**LATER, 3: 0}, True, "`after` says 0 for partition 3, where the group"),
        ({0: 1}, False, "says nothing of partition 1"),
        (LATER, False, "`before` holds the lags of an hour later"),
        ({0: 100, 1: 290, 2: 200, 3: 0, 4: 200}, False, "holds the committed offsets"),
        ({0: 500, 1: 300, 2: 200, 3: 100, 4: 250}, False, "holds the ends of the logs"),
        ({0: 420, 1: 130, 2: 60, 3: 60, 4: 70}, True, "were committed an hour before"),
        ({**LATER, 1: 99}, True, "`after` says 99 for partition 1; its lag is 100"),
    ],
)
def test_a_wrong_lag_has_its_reason(answer, later, words):
    assert words in told(lag._judge, "after" if later else "before", answer, later=later)


def test_times_are_no_lags():
    lab: Any = SimpleNamespace()
    said = told(lag.judge_lags, lab, {**RIGHT, 1: 0.6}, LATER)
    assert "`before` says 0.6 for partition 1, which is no number of records; a lag counts records" in said
    assert "`after` says 4.9 for partition 3" in told(lag.judge_lags, lab, RIGHT, {**LATER, 3: 4.9})


def test_two_hours_are_told(monkeypatch):
    monkeypatch.setattr(lag, "log_of", lambda lab, topic: [None] * 1770)
    lab: Any = SimpleNamespace(topic=lambda name: name)
    said = told(lag.judge_lags, lab, RIGHT, {**LATER, 0: 140})
    assert "more than one hour has passed: the topic holds 1770 records, and after an hour 1530" in said
    lag.judge_lags(lab, RIGHT, LATER)  # the second hour came when the answer was complete


@pytest.mark.parametrize(
    ("worse", "words"),
    [
        ([0], "partition 0, whose lag shrinks (400, then 120)"),
        ([1, 3, 4], "partition 4, whose lag stays as it is"),
        ([1], "leaves out partition 3, whose lag was 40 and is 60"),
        ([1, 3, 7], "`worse` has 7"),
        (["1"], "`worse` has 1; it should have numbers"),
    ],
)
def test_partitions_that_do_not_get_worse(worse, words):
    assert words in told(lag.judge_worse, worse)


def with_topics(*names: str) -> Any:
    """Return a lab whose cluster has these topics."""
    state = SimpleNamespace(topic=lambda name: name if name in names else None)
    cluster = SimpleNamespace(state=lambda topics: state)
    return SimpleNamespace(topic=lambda name: name, bootstrap="", cluster=cluster)


OTHERS = {0: 70, 1: 140, 2: 65, 3: 60, 4: 60}


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda group, topic: OTHERS, ""),
        (lambda group, topic: LATER, "returns 120 for partition 0 of another group, which has committed 450"),
        (
            lambda group, topic: {**OTHERS, 3: 0},
            "returns 0 for partition 3 of another group, which has commi",
        ),
        (lambda group, topic: None, "returns None for another group; it should return a dictionary"),
        (lambda group: OTHERS, "`lag_of(…)`, asked about another group, ended with TypeError"),
        (lambda group, topic: 1 / 0, "asked about another group, ended with ZeroDivisionError"),
    ],
)
def test_a_function_of_copied_numbers_is_found(monkeypatch, function, words):
    monkeypatch.setattr(lag, "other_reader", lambda lab, topic: "other")
    monkeypatch.setattr(
        lag, "end_offsets", lambda bootstrap, topic: dict(enumerate([520, 420, 260, 120, 270]))
    )
    lab = with_topics("backlog")
    if words:
        assert words in told(lag.judge_function, lab, function)
    else:
        lag.judge_function(lab, function)


def test_a_function_that_asks_about_one_topic_is_found(monkeypatch):
    ends = {"backlog": [520, 420, 260, 120, 270], "backlog-before": [500, 300, 200, 100, 250]}
    monkeypatch.setattr(lag, "other_reader", lambda lab, topic: f"other of {topic}")
    monkeypatch.setattr(lag, "end_offsets", lambda bootstrap, topic: dict(enumerate(ends[topic])))
    both = with_topics("backlog", "backlog-before")
    before = {0: 50, 1: 20, 2: 5, 3: 40, 4: 40}

    def right(group: str, topic: str) -> dict[int, int]:
        assert group == f"other of {topic}"
        return OTHERS if topic == "backlog" else before

    lag.judge_function(both, right)
    lag.judge_function(with_topics("backlog"), lambda group, topic: OTHERS)
    assert (
        "returns 70 for partition 0 of another topic, 'backlog-before', where the group that was asked "
        "about has committed 450; that lag is 50: the function should ask the brokers about the topic it is "
        "given"
    ) in told(lag.judge_function, both, lambda group, topic: OTHERS)


# --- 7.3 and 7.6


def recorded(*holdings: Holding, marks: tuple[Mark, ...], flows: tuple[Flow, ...] = ()) -> Recording:
    return Recording(RecordingData(0.0, 10.0, marks=marks, flows=flows, holdings=holdings))


def hold(at: float, client: str, what: str, *partitions: int) -> Holding:
    return Holding(at, client, "g", what, tuple(("calls", p) for p in partitions))


def joined(stopped: float, first: float, settings: dict[str, Any], monkeypatch: Any) -> Recording:
    holdings = [hold(0, "A", "assigned", 1), hold(0, "B", "assigned", 2)]
    if stopped:
        holdings += [hold(2, "A", "revoked", 1), hold(2 + stopped, "A", "assigned", 1)]
    monkeypatch.setattr(joining, "joined_with", lambda recording: settings)
    flow = Flow("D", "delivered", "calls", 3, (Burst(2 + first, 2 + first, 1),))
    return recorded(*holdings, marks=(Mark(2.0, "D joins"), Mark(3.2, "C is free again")), flows=(flow,))


def test_nobody_stopped_and_the_newcomer_did_not_wait(monkeypatch):
    joining.judge_joining(SimpleNamespace(), joined(0, 0.4, {}, monkeypatch))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stopped", "first", "settings", "words"),
    [
        (1.1, 1.3, {}, "A and B held no partition for 1.1 s: with the default settings"),
        (1.1, 1.3, {"partition.assignment.strategy": "roundrobin"}, "with 'roundrobin' all members give up"),
        (0.9, 1.3, {"max.poll.interval.ms": 1000}, "max.poll.interval.ms bounds how long"),
        (1.1, 1.3, {"heartbeat.interval.ms": 50}, "heartbeat.interval.ms does not change that"),
        (
            0,
            1.3,
            {"partition.assignment.strategy": "cooperative-sticky"},
            "A and B went on, but D got its first",
        ),
    ],
)
def test_a_group_that_stops_is_explained_by_its_settings(stopped, first, settings, words, monkeypatch):
    assert words in told(
        joining.judge_joining, SimpleNamespace(), joined(stopped, first, settings, monkeypatch)
    )


def test_another_recording_tells_nothing():
    other = recorded(marks=())
    assert "is no recording of newcomer" in told(joining.judge_joining, SimpleNamespace(), other)
    assert "is no recording of deploy" in told(restart.judge_restart, SimpleNamespace(), other)


def deployed(monkeypatch: Any, used: list[dict[str, Any]], *changes: Holding, back: bool = True) -> Recording:
    monkeypatch.setattr(restart, "deployed_with", lambda recording: {"A": [{}], "B": used})
    marks = (Mark(2.0, "B stops"), Mark(3.4, "B starts"))
    bursts = (Burst(1.0, 1.5, 9), Burst(4.0, 5.0, 9)) if back else (Burst(1.0, 1.5, 9),)
    flows = (Flow("B", "delivered", "deployed", 0, bursts),)
    return recorded(hold(0, "A", "assigned", 1), *changes, marks=marks, flows=flows)


def test_a_restart_that_a_did_not_notice(monkeypatch):
    nothing_new = hold(3.5, "A", "assigned")  # an empty list tells of somebody else
    restart.judge_restart(SimpleNamespace(), deployed(monkeypatch, [{}], nothing_new))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("used", "words"),
    [
        ([{}, {}], "changed 0.5 s after B stopped: a member without a name leaves"),
        ([{"group.instance.id": "b", "session.timeout.ms": 1000}] * 2, "for a session, which is 1000 ms"),
        (
            [{"group.instance.id": "b", "session.timeout.ms": 5000}] * 2,
            "on this busy machine the group heard",
        ),
        ([{"group.instance.id": "b1"}, {"group.instance.id": "b2"}], "under another name (b1, then b2)"),
    ],
)
def test_a_restart_that_a_noticed_has_its_reason(used, words, monkeypatch):
    change = hold(2.5, "A", "assigned", 2)
    assert words in told(restart.judge_restart, SimpleNamespace(), deployed(monkeypatch, used, change))


def test_who_comes_back_must_work(monkeypatch):
    said = told(restart.judge_restart, SimpleNamespace(), deployed(monkeypatch, [{}], back=False))
    assert "B got no record after its start" in said


# --- 7.4 and 7.5


def clinic(balance: Balance, *, thrown_out: bool = False, committed: int = 24) -> Any:
    return SimpleNamespace(
        lab=SimpleNamespace(committed={("clinic", "scans"): {0: committed}}),
        ledger=SimpleNamespace(balance=lambda topic: balance),
        thrown_out=thrown_out,
        scans="scans",
        group="clinic",
        settings={"group.id": "clinic", "heartbeat.interval.ms": 200},
        examined=[entry.offset for entry in balance.processed],
    )


def examined(processed: range, again: int = 0, delivered: int = 24) -> Balance:
    done = entries(processed)
    return Balance(
        "scans",
        delivered=entries(range(delivered)),
        processed=[*done, *done[:again]],
        stored=entries(range(24)),
        committed=entries(range(24)),
    )


def worker(monkeypatch: Any, **config: Any) -> Any:
    monkeypatch.setattr(slow, "expect_consumer", lambda name, value: value)
    monkeypatch.setattr(slow, "LabConsumer", SimpleNamespace)
    monkeypatch.setattr(slow, "committed", lambda lab, group, topic: lab.committed[group, topic])
    monkeypatch.setattr(slow, "_times", lambda lab, clinic: ({}, []))
    settings = {name.replace("_", "."): value for name, value in config.items()}
    return SimpleNamespace(config=settings, subscribed=("scans",))


def test_a_worker_that_stayed(monkeypatch):
    slow.judge_slow(SimpleNamespace(), worker(monkeypatch), clinic(examined(range(24))))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("config", "found", "words"),
    [
        (
            {"max_poll_interval_ms": 1000},
            clinic(examined(range(24), again=9), thrown_out=True),
            "thrown out of its group, and 9 scans were examined twice: it did not poll for longer than "
            "max.poll.interval.ms (1000)",
        ),
        (
            {"heartbeat_interval_ms": 100},
            clinic(examined(range(24), again=9), thrown_out=True),
            "heartbeats come from a thread",
        ),
        (
            {"session_timeout_ms": 1500},
            clinic(examined(range(24), again=9), thrown_out=True),
            "9 scans were examined twice: the session ends if heartbeats stop",
        ),
        ({}, clinic(examined(range(24)), thrown_out=True), "a crash would have lost the rest"),
        ({}, clinic(examined(range(12))), "12 of 24 scans were not examined; less work is no cure"),
        ({}, clinic(examined(range(24), again=2)), "2 times a scan was examined again"),
        ({}, clinic(examined(range(24)), committed=20), "the group has not committed all scans"),
        ({}, clinic(examined(range(0), delivered=0)), "no scan was delivered"),
    ],
)
def test_a_worker_that_did_not_do_it(config, found, words, monkeypatch):
    assert words in told(slow.judge_slow, SimpleNamespace(), worker(monkeypatch, **config), found)


def test_a_scan_is_examined_before_it_is_committed():
    done = {0: 1000, 1: 1150, 2: 1300}
    slow._expect_work_first(done, [(1, 1000), (2, 1150), (3, 1900)])
    slow._expect_work_first(done, [(1, 950), (3, 1280)])  # the broker's clock is behind
    said = told(slow._expect_work_first, done, [(1, 1000), (3, 1190)])
    assert "the group had committed 3 when scan 2 was not examined yet" in said


def test_a_new_worker_for_each_turn_was_not_thrown_out(monkeypatch):
    found = clinic(replace(examined(range(24)), delivered_by={1: 8, 2: 8, 3: 8}), thrown_out=True)
    said = told(slow.judge_slow, SimpleNamespace(), worker(monkeypatch), found)
    assert "3 consumers have worked, one after the other" in said


def test_work_that_was_only_noted_is_told(monkeypatch):
    found = clinic(examined(range(24)))
    found.examined.clear()
    assert "nobody had examined them" in told(slow.judge_slow, SimpleNamespace(), worker(monkeypatch), found)


def test_work_counts_whoever_made_the_consumer(monkeypatch):
    other = clinic(examined(range(24), delivered=0))
    slow.judge_slow(SimpleNamespace(), worker(monkeypatch), other)  # type: ignore[arg-type]


def test_a_worker_without_a_group_is_told_so(monkeypatch):
    alone = worker(monkeypatch)
    alone.subscribed = ()
    found = clinic(examined(range(24)), thrown_out=True)
    assert "the worker is in no group" in told(slow.judge_slow, SimpleNamespace(), alone, found)
    slow.judge_slow(SimpleNamespace(), alone, clinic(examined(range(24))))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "thrown_out", "words"),
    [
        (
            "worker.assign([TopicPartition(clinic.scans, 0, 0)])\nwhile done < 24:\n    pass",
            False,
            "in no group",
        ),
        ("worker.assign([place])\nwhile clinic.open:\n    pass", True, "in no group"),
        ("work(worker)", True, "in no group"),
        ("work(worker)", False, ""),
        ("worker.subscribe([clinic.scans])\nworker.unsubscribe()", False, ""),
        ("worker.subscribe([t])\nworker.unsubscribe()", True, "was thrown out of its group"),
    ],
)
def test_the_text_tells_whether_a_worker_was_in_a_group(monkeypatch, source, thrown_out, words):
    monkeypatch.setattr(slow, "attempt", lambda: SimpleNamespace(code=ast.parse(source)))
    alone = worker(monkeypatch)
    alone.subscribed = ()
    found = clinic(examined(range(24)), thrown_out=thrown_out)
    if words:
        assert words in told(slow.judge_slow, SimpleNamespace(), alone, found)
    else:
        slow.judge_slow(SimpleNamespace(), alone, found)  # type: ignore[arg-type]


def waits(consumer: Any, partitions: list[Any]) -> None:
    consumer.commit(asynchronous=False)


def test_who_gives_partitions_up_waits_for_the_commit():
    def at_positions(consumer: Any, partitions: list[Any]) -> None:
        places = [place for place in consumer.position(partitions) if place.offset >= 0]
        consumer.commit(offsets=places, asynchronous=False)

    def by_hand(consumer: Any, partitions: list[Any]) -> None:
        if (
            consumer.committed(consumer.assignment())[0].offset
            < consumer.get_watermark_offsets(partitions)[1]
        ):
            consumer.commit(None, None, False)

    def unknown(consumer: Any, partitions: list[Any]) -> None:
        consumer.list_topics()

    for right in (waits, at_positions, by_hand, unknown, lambda consumer, partitions: None):
        handover.expect_awaited(right, "handover")
    for wrong in (lambda c, p: c.commit(), lambda c, p: (print(p), c.commit(offsets=c.position(p)))):
        assert "`on_revoke` does not wait for its commit" in told(handover.expect_awaited, wrong, "handover")


def test_a_hand_over_is_judged_by_the_ledger():
    def lab_with(balance: Balance) -> Any:
        return SimpleNamespace(
            topic=lambda name: name, join_ledger=lambda name: SimpleNamespace(balance=lambda topic: balance)
        )

    everything = entries(range(200))
    whole = Balance(
        "handover",
        attempted=[e.number for e in everything],
        processed=everything,
        committed=everything,
        stored=everything,
    )
    handover.judge_handover(lab_with(whole), waits)
    again = Balance(
        "handover",
        attempted=whole.attempted,
        processed=[*everything, everything[1], everything[5], everything[2]],
        committed=everything,
        stored=everything,
    )
    assert "3 records of partitions 1 and 2 were done twice" in told(
        handover.judge_handover, lab_with(again), waits
    )
    last = Balance(
        "handover",
        attempted=whole.attempted,
        processed=[*everything, everything[1], everything[2]],
        committed=everything,
        stored=everything,
    )
    assert "the last record of partitions 1 and 2 was done twice" in told(
        handover.judge_handover, lab_with(last), waits
    )
    assert "A and B have done nothing yet" in told(
        handover.judge_handover, lab_with(Balance("handover")), waits
    )
    two = replace(whole, attempted=[*whole.attempted, *whole.attempted])
    assert "this ledger holds more than one try: 400 records were sent" in told(
        handover.judge_handover, lab_with(two), waits
    )
    skipped = replace(whole, processed=everything[:-3])
    assert "3 of 200 records were left out" in told(handover.judge_handover, lab_with(skipped), waits)


# --- 7.7 and 7.8


TEAMS = {"state 1": "s", "state 2": "s", "budget": "b", "audit": "a"}


def test_copies_share_a_group_and_others_do_not(monkeypatch):
    read = {"s": 60, "b": 60, "a": 60}
    monkeypatch.setattr(teams, "existing_topic", lambda lab, topic: None)
    monkeypatch.setattr(teams, "_last_run", lambda lab: "17")
    monkeypatch.setattr(teams, "committed", lambda lab, group, topic: {0: read[group.split("-")[-1]]})
    lab: Any = SimpleNamespace(topic=lambda name: name, group=lambda name: f"{name}-x")
    teams.judge_teams(lab, TEAMS)
    for changed, words in (
        ({"state 2": "t"}, "'state 1' is in 's' and 'state 2' in 't'"),
        ({"budget": "a"}, "'budget' shares the group 'a' with 'audit'"),
        (
            dict.fromkeys(TEAMS, "all"),
            "'budget' shares the group 'all' with 'state 1', 'state 2' and 'audit'",
        ),
    ):
        assert words in told(teams.judge_teams, lab, {**TEAMS, **changed})
    assert "says nothing of 'audit'" in told(
        teams.judge_teams, lab, {"state 1": "s", "state 2": "s", "budget": "b"}
    )
    read["b"] = 59
    assert "the group 'b' has read 59 of 60 records" in told(teams.judge_teams, lab, TEAMS)


@pytest.fixture
def customers(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, int]]:
    """Ten customers, two rounds: six move, two of them to the new partitions."""
    places = {f"customer {n}": (n % 6, n % 8) for n in range(12)}
    log = [
        Record("customers", where[turn], turn, name.encode(), b"x", turn, "")
        for name, where in places.items()
        for turn in (0, 1)
    ]
    topic = TopicState("customers", tuple(PartitionState("customers", p, 1, 0, (1,), (1,)) for p in range(8)))
    monkeypatch.setattr(moved, "existing_topic", lambda lab, name: topic)
    monkeypatch.setattr(moved, "log_of", lambda lab, name: log)
    return places


LAB: Any = SimpleNamespace(topic=lambda name: name)


def test_the_keys_that_moved(customers):
    right = [name for name, (first, second) in customers.items() if first != second]
    assert moved.judge_moved(LAB, right) == len(right) == 6
    for answer, words in (
        ([], "`moved` is empty; 6 of 12 customers have moved"),
        (list(customers), "`moved` has all customers; 6 of them stay"),
        (["customer 6", "customer 7"], "those that go to the two new partitions"),
        (sorted(set(customers) - set(right)), "`moved` has those that stay"),
        (["Anna"], "`moved` has 'Anna'"),
        (right[1:], "went from partition 0 to 6, and `moved` says otherwise (1 customer in all)"),
        ([*right, "customer 1"], "'customer 1' stayed in partition 1"),
    ):
        assert words in told(moved.judge_moved, LAB, answer), answer


def test_without_the_second_round_nothing_has_moved(customers, monkeypatch):
    monkeypatch.setattr(moved, "log_of", lambda lab, name: [])
    few = TopicState("customers", (PartitionState("customers", 0, 1, 0, (1,), (1,)),))
    monkeypatch.setattr(moved, "existing_topic", lambda lab, name: few)
    assert "has 1 partitions and 0 records" in told(moved.judge_moved, LAB, ["customer 1"])


def test_a_value_of_a_job_can_be_read_again():
    job = jobs()[0]
    assert json.loads(job.value) == {"job": 0, "customer": job.customer, "country": job.country}
