"""What lab 04's checks say of answers, without brokers."""

from dataclasses import replace
from inspect import signature
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.checks import lab04
from threebrokers.checks.lab04 import group, loss, quorum, silence, transfers
from threebrokers.cluster.actions import Action
from threebrokers.kafka.log_reader import Record
from threebrokers.kafka.state import ClusterState, GroupState, PartitionState, TopicState
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios import frozen_leader
from threebrokers.ledger.balance import Balance
from threebrokers.ledger.entries import Entry, Failure
from threebrokers.ledger.journal import Number
from threebrokers.recorder import Recording
from threebrokers.recorder.data import Burst, Flow, RecordingData


def told(check: Any, *answers: Any) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers)
    return str(caught.value)


def lab_with(*actions: Action) -> Any:
    return SimpleNamespace(cluster=SimpleNamespace(actions=lambda since: list(actions)))


def frozen(seconds: float, *actions: Action) -> Recording:
    """Return a recording of a consumer that hears nothing for so long after second 10."""
    bursts = (Burst(9.0, 10.0, 20), Burst(10.0 + seconds, 11.0 + seconds, 20))
    flow = Flow("consumer 1", "delivered", "sensor", 0, bursts)
    return Recording(RecordingData(9.0, 30.0, actions=actions, flows=(flow,)))


PAUSE = Action(10.0, "pause", 2)


def test_a_short_silence_passes_however_it_came():
    for settings in ({"socket.timeout.ms": 1000}, {}, {"anything": 1}):
        silence.judge_silence(lab_with(PAUSE), settings, frozen(4.9, PAUSE))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"session.timeout.ms": 1}, "how long the group waits"),
        ({"topic.metadata.refresh.interval.ms": 1}, "asks more often who leads"),
        ({"request.timeout.ms": 1}, "Java's name"),
        ({"socket.timeout.ms": 20000, "session.timeout.ms": 1}, "it waits 20000 ms for an answer"),
        ({}, "was silent for 9.0 s, as long as its leader; its silence should last 5 s at most"),
    ],
)
def test_a_long_silence_is_explained_by_the_setting(settings: dict[str, int], words: str):
    assert words in told(silence.judge_silence, lab_with(PAUSE), settings, frozen(9.0, PAUSE))


def test_a_recording_is_of_a_consumer_with_the_settings(monkeypatch):
    monkeypatch.setattr(silence, "measured_with", lambda recording: {"socket.timeout.ms": 2000})
    silence.judge_silence(lab_with(PAUSE), {"socket.timeout.ms": "2000"}, frozen(2.0, PAUSE))
    said = told(silence.judge_silence, lab_with(PAUSE), {"session.timeout.ms": 2000}, frozen(2.0, PAUSE))
    assert "of a consumer with {'socket.timeout.ms': '2000'}, and `settings` is" in said


def test_the_help_of_the_measurement_calls_its_answer_as_the_check_does():
    assert "-> 'Recording'" in str(signature(frozen_leader))


def test_a_silence_is_one_of_this_try():
    now = Action(50.0, "pause", 2)
    assert "is an earlier recording" in told(
        silence.judge_silence, lab_with(now), {"socket.timeout.ms": 1}, frozen(2.0, PAUSE)
    )
    assert "no broker was paused" in told(silence.judge_silence, lab_with(), {}, frozen(2.0, PAUSE))


LATE, NOT_LEADER = "_MSG_TIMED_OUT", "NOT_LEADER_FOR_PARTITION"


def balance(
    stored: range, *, acknowledged: range | None = None, failed: range = range(0), reason: str = NOT_LEADER
) -> Balance:
    def entries(numbers: range) -> list[Entry]:
        return [Entry(Number(1, n), 0, n) for n in numbers]

    return Balance(
        "transfers",
        attempted=[Number(1, n) for n in range(200)],
        acknowledged=entries(stored if acknowledged is None else acknowledged),
        failed=[Failure(Number(1, n), reason) for n in failed],
        stored=entries(stored),
    )


def sender(monkeypatch: pytest.MonkeyPatch, **config: Any) -> Any:
    monkeypatch.setattr(transfers, "is_numbered", lambda producer: True)
    monkeypatch.setattr(transfers, "LabProducer", SimpleNamespace)
    return SimpleNamespace(config={name.replace("_", "."): value for name, value in config.items()})


@pytest.mark.parametrize(
    ("config", "acknowledged", "reason", "words"),
    [
        ({"acks": 1}, range(150), "", "with acks=1: only the leader had them"),
        ({"acks": "0"}, range(200), "", "acks=0: nobody acknowledges"),
        ({"request_required_acks": 1}, range(150), "", "with acks=1"),
        ({"acks": "all"}, range(100), "", "100 records have no delivery report"),
        ({"message_timeout_ms": 1000}, range(100), LATE, "message.timeout.ms is 1000"),
        ({"delivery_timeout_ms": 900}, range(100), LATE, "message.timeout.ms is 900"),
        ({"message_timeout_ms": 60_000}, range(100), NOT_LEADER, "100 records failed (NOT_LEADER_FOR_PART"),
        ({"retries": 0}, range(100), NOT_LEADER, "failed at the first try (NOT_LEADER_FOR_PARTITION)"),
        ({"retries": 0, "message_timeout_ms": 60_000}, range(100), NOT_LEADER, "failed at the first try (N"),
        ({"retries": "0", "message_timeout_ms": 60_000}, range(100), LATE, "failed at the first try (_MSG"),
    ],
)
def test_what_is_missing_has_its_reason(monkeypatch, config, acknowledged, reason, words):
    failed = range(100, 200) if reason else range(0)
    found = balance(range(100), acknowledged=acknowledged, failed=failed, reason=reason)
    missing = list(range(100, 200))
    assert words in told(transfers._judge_missing, sender(monkeypatch, **config), found, missing)


def test_nothing_missing_and_nothing_twice_passes(monkeypatch):
    transfers._judge_missing(sender(monkeypatch), balance(range(200)), [])
    transfers._judge_twice(balance(range(200)), [])


def test_a_part_is_told_from_a_loss(monkeypatch):
    few = Balance("transfers", attempted=[Number(1, n) for n in range(20)])
    said = told(transfers._judge_missing, sender(monkeypatch), few, list(range(20, 200)))
    assert "only 20 of 200 records were sent through the ledger" in said


def test_values_that_the_loop_did_not_give_out_are_told_from_a_loss():
    values: tuple[bytes | None, ...] = (b"1", b"200", b"199", b"number 3", None)
    records = [Record("transfers", 0, n, None, value, 9_000, "create") for n, value in enumerate(values)]
    transfers._expect_numbers(records, [])
    transfers._expect_numbers([records[0], records[2]], [0])
    said = told(transfers._expect_numbers, records[:3], [0])
    assert "1 of 200 numbers is missing, and 1 record of the topic has another value, such as '200'" in said
    said = told(transfers._expect_numbers, records[3:], [0, 1])
    assert "2 of 200 numbers are missing, and 2 records of the topic have another value" in said
    assert "such as nothing" in told(transfers._expect_numbers, records[4:], [0])


def test_a_producer_without_the_ledger_is_told_so_and_not_that_it_failed(monkeypatch):
    producer, found = sender(monkeypatch, acks=1), Balance("transfers")
    monkeypatch.setattr(transfers, "is_numbered", lambda producer: False)
    assert "with acks=1: only the leader" in told(transfers._judge_missing, producer, found, [100])
    plain = sender(monkeypatch, retries=0)
    monkeypatch.setattr(transfers, "is_numbered", lambda producer: False)
    assert "`producer` is not one of the ledger" in told(transfers._judge_missing, plain, found, [100])


def test_twice_by_the_client_is_told_from_twice_by_the_program():
    once = balance(range(200))
    again = Balance("transfers", stored=[*once.stored, Entry(Number(1, 50), 0, 200)])
    assert "1 number stands twice in the topic: the next leader had" in told(
        transfers._judge_twice, again, [50]
    )
    assert "2 numbers stand twice in the topic: your program" in told(transfers._judge_twice, once, [50, 51])


def test_what_failed_and_was_sent_again_by_hand_is_told_from_a_loop_that_sends_twice(monkeypatch):
    values = [*range(200), 150, 151, 20]  # 150 and 151 had failed, and 20 had not
    records = [Record("t", 0, n, None, str(of).encode(), 0, "create") for n, of in enumerate(values)]
    found = balance(range(203), acknowledged=range(150), failed=range(150, 152))
    producer, judge = sender(monkeypatch, message_timeout_ms=1000), transfers._expect_not_sent_after_failure
    said = told(judge, producer, found, records, [150, 151, 20])
    assert "3 numbers stand twice in the topic: of 2 of them the report said that it failed" in said
    assert "Look at: the lines that send a number again, and message.timeout.ms" in said
    judge(producer, found, records, [20])
    judge(producer, balance(range(203)), records, [150, 151, 20])
    by_client = [Entry(Number(1, 150), 0, 200), Entry(Number(1, 151), 0, 201)]
    copied = Balance("t", failed=found.failed, stored=[*balance(range(200)).stored, *by_client])
    judge(producer, copied, records[:202], [150, 151])


def test_what_readers_do_not_get_yet_is_waited_for(monkeypatch):
    at = iter([0, 0, 200])
    seen: list[int] = []

    def topic(lab: Any, name: str) -> Any:
        seen.append(next(at))
        part = PartitionState("t", 0, 3, 1, (3, 1), (3, 1), 0, seen[-1], ((1, 0), (3, 200)))
        return SimpleNamespace(partitions=[part])

    def log(lab: Any, name: str) -> list[Record]:
        return [Record("t", 0, n, None, str(n).encode(), 12_000, "create") for n in range(seen[-1])]

    monkeypatch.setattr(transfers, "existing_topic", topic)
    monkeypatch.setattr(transfers, "log_of", log)
    monkeypatch.setattr(transfers, "Producer", SimpleNamespace)
    lab = lab_with(Action(10.0, "kill", 2))
    lab.topic, lab.join_ledger = str, lambda name: SimpleNamespace(balance=lambda topic: balance(range(200)))
    lab.cluster.processes = lambda: {3: SimpleNamespace(state="up")}
    producer = sender(monkeypatch, acks=1)
    assert "sent after the leader was killed" in told(transfers.judge_transfers, lab, producer)
    at = iter([0] * 9)
    said = told(transfers._is_readable, lab, "transfers")
    assert "ends at offset 200, and readers get only what is before 0" in said


def test_nothing_failed_is_not_told_of_a_failure(monkeypatch):
    missing = list(range(100, 200))
    everything = balance(range(200))
    for config in ({}, {"message_timeout_ms": 1000}):
        said = told(transfers._judge_missing, sender(monkeypatch, **config), everything, missing)
        assert "100 of 200 numbers are missing, and every record that was sent is in the topic" in said
    lost = balance(range(100), acknowledged=range(200))
    assert "100 acknowledged records have been lost" in told(
        transfers._judge_missing, sender(monkeypatch), lost, missing
    )
    failed = balance(range(100), failed=range(100, 200))
    said = told(transfers._judge_missing, sender(monkeypatch, retries=2), failed, missing)
    assert "missing: 100 records failed (NOT_LEADER_FOR_PARTITION); an error" in said


@pytest.mark.parametrize(("value", "number"), [(b"7", 7), (b" 7 ", 7), (b"seven", None), (None, None)])
def test_a_number_is_read_from_its_record(value, number):
    assert transfers._number(SimpleNamespace(value=value)) == number  # type: ignore[arg-type]


def test_whatever_is_no_producer_is_refused():
    assert "`producer` is None; it should be the producer" in told(transfers.judge_transfers, None, None)


def test_numbers_that_were_kept_back_until_the_kill_prove_nothing():
    at = [Record("transfers", 0, n, None, b"1", stamp, "create") for n, stamp in enumerate((9_000, 12_000))]
    transfers._expect_sent_meanwhile([], 10.0)
    transfers._expect_sent_meanwhile(at, 10.0)
    assert "sent after the leader was killed" in told(transfers._expect_sent_meanwhile, at[1:], 10.0)


def test_a_kill_before_the_first_number_or_after_the_last_one_proves_nothing(monkeypatch):
    part = PartitionState("t", 0, 3, 1, (3, 1), (3, 1), 0, 200, ((1, 200), (3, 200)))
    at = [Record("t", 0, n, None, str(n).encode(), 9_000 + n * 10, "create") for n in range(200)]
    monkeypatch.setattr(transfers, "existing_topic", lambda lab, name: SimpleNamespace(partitions=[part]))
    monkeypatch.setattr(transfers, "log_of", lambda lab, name: at)
    monkeypatch.setattr(transfers, "expect_flushed", lambda *values, look_at: None)
    monkeypatch.setattr(transfers, "Producer", SimpleNamespace)
    producer = sender(monkeypatch, acks=1)

    def killed(*times: float) -> Any:
        lab = lab_with(*(Action(time, "kill", 2) for time in times))
        lab.topic = str
        lab.join_ledger = lambda name: SimpleNamespace(balance=lambda topic: balance(range(200)))
        lab.cluster.processes = lambda: {3: SimpleNamespace(state="up")}
        return lab

    transfers.judge_transfers(killed(10.5), producer)
    transfers.judge_transfers(killed(8.0, 10.5, 12.0), producer)
    for times in ((12.0,), (8.0, 12.0)):
        said = told(transfers.judge_transfers, killed(*times), producer)
        assert "nobody was killed while your producer sent, so nothing could be lost" in said


def test_a_topic_without_records_or_mended_too_late_is_no_choice(monkeypatch):
    monkeypatch.setattr(loss, "expect_topic", lambda lab, topic, wanted: None)
    monkeypatch.setattr(loss, "setting_of", lambda lab, topic, name: SimpleNamespace(value="2"))
    cuts = [Action(1.0, "cut", 1), Action(2.0, "cut", 2)]
    sent = [Number(1, n) for n in range(3)]
    for found, words in (
        (Balance("bills"), "knows of no record for 'bills'"),
        (
            Balance("bills", attempted=sent, acknowledged=[Entry(n, 0, n.sequence) for n in sent]),
            "3 acknowledged records are lost, and now `bills` has settings that would have saved them",
        ),
    ):
        lab = lab_with(*cuts)
        lab.join_ledger = lambda name, found=found: SimpleNamespace(balance=lambda topic: found)
        assert words in told(loss.judge_choice, lab, "bills", "refused")


def test_the_price_is_the_one_that_was_paid():
    refused = Balance("bills", failed=[Failure(Number(1, 5), "NOT_ENOUGH_REPLICAS")])
    assert set(loss._paid(refused)) == {"waited"}
    assert set(loss._paid(Balance("bills"))) == {"refused"}


def test_majorities():
    quorum.judge_failures({3: 1, 4: 1, 5: 2})
    quorum.judge_failures({3: 1, 4: 1, 5: 2, 7: 9})
    for may_fail, words in (
        ({3: 1, 4: 1}, "says nothing of 5 voters"),
        ({3: 2, 4: 1, 5: 2}, "with 2 of 3 gone one is left"),
        ({3: 1, 4: 2, 5: 2}, "with 2 of 4 gone 2 are left, and half is no majority"),
        ({3: 1, 4: 3, 5: 2}, "with 3 of 4 gone one is left"),
        ({3: 3, 4: 1, 5: 2}, "of 3 voters all would be gone; a majority of all voters must be left"),
        ({3: 4, 4: 1, 5: 2}, "of 3 voters all would be gone"),
        ({3: 1, 4: 1, 5: 3}, "3 is the majority of 5 itself"),
        ({3: 1, 4: 1, 5: 4}, "with 4 of 5 gone one is left"),
        ({3: 1, 4: 1, 5: 1}, "of 5 voters more than 1 may fail"),
        ({3: 0, 4: 1, 5: 2}, "of 3 voters more than 0 may fail"),
    ):
        assert words in told(quorum.judge_failures, may_fail), may_fail


@pytest.mark.parametrize(
    ("may_fail", "words"),
    [
        ({"3": 1, "4": 1, "5": 2}, "`a key of may_fail` is '3' (str); it should be a whole number, without"),
        ({3: "1", 4: "1", 5: "2"}, "`may_fail[3]` is '1' (str); it should be a whole number, without quotes"),
        ({3: 1, 4: 1, 5: "two"}, "`may_fail[5]` is 'two' (str); it should be a whole number"),
    ],
)
def test_voters_are_numbers(may_fail, words):
    recording = handed_over((5.0, None))
    answers = (status(3, 4), status(1, 5), may_fail, recording)
    assert words in told(lab04.controller_killed, SimpleNamespace(), *answers)


def status(leader: int, epoch: int) -> str:
    return f"ClusterId:   x\nLeaderId:   {leader}\nLeaderEpoch:   {epoch}\n"


def test_an_active_controller_was_killed_whatever_came_after():
    kill, start = Action(10.0, "kill", 3), Action(20.0, "start", 3)
    quorum.judge_controller(lab_with(kill), status(3, 4), status(1, 5))
    quorum.judge_controller(lab_with(kill, start), status(3, 4), status(3, 9))


@pytest.mark.parametrize(
    ("done", "after", "words"),
    [
        ([], status(3, 4), "no broker was killed by this try; broker 3 should be"),
        ([Action(10.0, "stop", 3)], status(1, 5), "broker 3 was stopped, and so it could hand over"),
        ([Action(10.0, "pause", 3)], status(1, 5), "broker 3 was paused, and its process is the same"),
        ([Action(10.0, "kill", 1)], status(3, 4), "broker 1 was killed; it should be broker 3"),
        ([Action(10.0, "kill", 3)], status(3, 4), "`before` tells of epoch 4 and `after` of epoch 4"),
        ([Action(10.0, "kill", 1)], status(1, 3), "the two have changed places"),
        ([Action(10.0, "kill", 3)], "Topic: a\tPartition: 0\tLeader: 1", "leaders of partitions"),
        ([Action(10.0, "kill", 3)], "127.0.0.1:9092 (id: 1)", "names any live broker"),
        ([Action(10.0, "kill", 3)], "NodeId\tDirectoryId\tLogEndOffset\tLag", "prints with --replication"),
        ([Action(10.0, "kill", 3)], "3", "`after` is not the output of the quorum's tool"),
    ],
)
def test_what_was_not_a_kill_of_the_active_controller(done, after, words):
    assert words in told(quorum.judge_controller, lab_with(*done), status(3, 4), after)


def handed_over(*ids: tuple[float, str | None]) -> Recording:
    """Return a recording in which broker 3 dies at 10, of states with a topic of this id, or without it."""
    states = tuple(
        ClusterState(at, (), topics=() if name is None else (TopicState("during", (), name),))
        for at, name in ids
    )
    return Recording(RecordingData(0.0, 30.0, states=states, actions=(Action(10.0, "kill", 3),)))


def test_a_topic_was_made_while_nobody_could_make_one():
    killed = Action(10.0, "kill", 3)
    for seen in (
        [(5.0, None), (12.0, "a")],
        [(5.0, None), (12.0, "")],  # nobody told its id
        [(5.0, "old"), (11.0, "old"), (12.0, "new")],  # made twice
    ):
        quorum.judge_handover(handed_over(*seen), killed, "during")
    for seen, words in (
        ([(5.0, None), (12.0, None)], "no topic 'during' was made after the kill"),
        ([(5.0, None), (9.0, "a"), (12.0, "a")], "was made before the active controller died"),
    ):
        assert words in told(quorum.judge_handover, handed_over(*seen), killed, "during"), seen
    quorum.judge_handover(
        handed_over((5.0, None), (12.0, "a")), Action(2.0, "kill", 3), "during"
    )  # and again
    other = Action(50.0, "kill", 3)
    assert "has not recorded how broker 3 was killed" in told(
        quorum.judge_handover, handed_over((5.0, None)), other, "during"
    )


def watched(*coordinators: tuple[float, int], done: tuple[Action, ...], offset: int = 20) -> Recording:
    places = (("readings", 0, offset),)
    states = tuple(
        ClusterState(at, (), groups=(GroupState("readers-1", "Stable", broker, committed=places),))
        for at, broker in coordinators
    )
    return Recording(RecordingData(0.0, 30.0, states=states, actions=done))


def judged(recording: Recording, done: tuple[Action, ...], after: int, now: int, offset: int) -> Any:
    group_now = GroupState("readers-1", "Stable", now)
    state = SimpleNamespace(groups=(group_now,))
    cluster = SimpleNamespace(actions=lambda since: list(done), state=lambda topics, groups: state)
    lab: Any = SimpleNamespace(cluster=cluster, topic=lambda name: name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group, "committed", lambda lab, name, topic: {0: offset})
        return group.judge_coordinator(lab, recording, after)


def test_a_recording_that_has_not_begun_saw_no_group():
    done = (Action(10.0, "kill", 2),)
    idle = SimpleNamespace(begun=False)
    assert "did not record the group" in told(judged, idle, done, 3, 3, 40)


def test_a_coordinator_died_and_the_group_went_on():
    done = (Action(10.0, "kill", 2),)
    recording = watched((5.0, 2), (13.0, 3), done=done)
    judged(recording, done, 3, 3, 40)
    judged(recording, done, 3, 2, 40)  # leadership went back later
    assert "`next_one` is the broker that you killed" in told(judged, recording, done, 2, 3, 40)
    assert "the coordinator is not broker 1" in told(judged, recording, done, 1, 3, 40)
    assert "committed offset 20 when its coordinator died, and 20 in" in told(
        judged, recording, done, 3, 3, 20
    )
    assert "it is back, and coordinates again" in told(judged, recording, done, 2, 2, 40)
    read_before = watched((5.0, 2), (13.0, 3), done=done, offset=40)
    assert "committed offset 40 when its coordinator died" in told(judged, read_before, done, 3, 3, 40)
    judged(read_before, done, 3, 3, 60)


def test_what_was_not_a_kill_of_the_coordinator():
    kill, stop = Action(10.0, "kill", 1), Action(10.0, "stop", 2)
    seen = watched((5.0, 2), done=(kill,))
    said = told(judged, seen, (kill,), 3, 3, 40)
    assert "broker 1 did not coordinate the group 'readers-1'; that is the broker which" in said
    assert "it was broker 2. Look at: coordinator_of(lab, group), with the whole name of the group" in said
    states = tuple(replace(state, quorum_leader=1) for state in seen.states)
    told_more = Recording(RecordingData(0.0, 30.0, states=states, actions=(kill,)))
    said = told(judged, told_more, (kill,), 3, 3, 40)
    assert "did not coordinate the group 'readers-1': it was the active controller; that" in said
    assert "was stopped, and so" in told(judged, watched((5.0, 2), done=(stop,)), (stop,), 3, 3, 40)
    assert "nobody was killed while the recording ran" in told(
        judged, watched((5.0, 2), done=()), (kill,), 3, 3, 40
    )
