"""From one look to the next, in words: on looks that were written by hand."""

from dataclasses import replace

from tests.states import LEADERS, after_a_kill, broker, failsafe, group, member, partition, state, topic
from threebrokers.cluster.actions import Action
from threebrokers.kafka.state import ClusterState
from threebrokers.panel.events import events
from threebrokers.panel.history import Story

KILL = Action(10.0, "kill", 2)


def told(before, after, *actions):
    return [event.words for event in events(before, after, actions)]


def with_brokers(at, *brokers, **more):
    return state(at, brokers=brokers, **more)


def test_the_first_look_says_how_things_are():
    assert told(None, state()) == ["all 3 brokers are up; broker 1 is the active controller"]
    assert told(None, state(down=(2,))) == ["broker 2 is down; broker 1 is the active controller"]
    assert told(None, state(down=(2, 3), quorum_leader=None)) == [
        "broker 2 is down, broker 3 is down",
        "the quorum is lost: only broker 1 of 3 voters is left, so nothing can be elected",
    ]


def test_nothing_happened():
    assert told(state(1), state(2)) == []
    grown = topic(*(replace(p, high_watermark=p.high_watermark + 9) for p in failsafe().partitions))
    assert told(state(1), state(2, topics=(grown,))) == []


def test_a_killed_broker_is_gone_noticed_and_replaced():
    gone = with_brokers(10.4, broker(1), broker(2, "down", registered=True), broker(3))
    assert told(state(9.9), gone, KILL) == ["you killed broker 2", "broker 2 is gone: its process has ended"]
    assert told(gone, after_a_kill(11.9), KILL) == [
        "the others no longer count broker 2, at most 1.9 s after the kill",
        "5 partitions of failsafe have a new leader, at most 1.9 s after the kill: "
        "2, 10, 12 → broker 1; 5, 7 → broker 3",
        "broker 2 is out of sync in all 13 partitions of failsafe, at most 1.9 s after the kill: "
        "2 of 3 replicas are left",
    ]


def test_an_act_long_ago_is_no_cause():
    assert told(state(59), after_a_kill(60), KILL)[1] == "the others no longer count broker 2"


def test_a_broker_comes_back_at_another_address():
    back = with_brokers(20.0, broker(1), broker(2, address="127.0.0.1:29999"), broker(3))
    assert told(
        replace(after_a_kill(19.5), topics=()), replace(back, topics=()), Action(18.0, "start", 2)
    ) == [
        "broker 2 is back at another address: 127.0.0.1:29999",
        "the others count broker 2 again, at most 2.0 s after the start",
    ]
    assert told(state(1), with_brokers(2, broker(1), broker(2, address="here:1"), broker(3))) == [
        "broker 2 has another address: here:1"
    ]


def test_states_of_a_broker():
    def change(old, new):
        [words] = told(
            *(
                with_brokers(at, broker(1), broker(2, s, registered=True), broker(3))
                for at, s in enumerate((old, new))
            )
        )
        return words

    assert change("up", "paused") == "broker 2 stands still: its process is there and answers nobody"
    assert change("paused", "up") == "broker 2 goes on"
    assert change("paused", "unknown") == "broker 2 goes on, and does not answer yet"
    assert change("up", "unknown") == "broker 2 answers nobody"
    assert change("unknown", "up") == "broker 2 answers"
    assert change("down", "unknown") == "broker 2 has a process again, which does not answer yet"
    assert change("down", "up") == "broker 2 is back"


def test_it_returns_in_sync():
    back = state(
        20.0,
        topics=(failsafe(tuple(p.leader for p in after_a_kill(0).topics[0].partitions), leader_epoch=1),),
    )
    assert told(replace(after_a_kill(19.5), brokers=state().brokers), back) == [
        "broker 2 is in sync again in all 13 partitions of failsafe"
    ]


def test_no_broker_answers():
    silent = with_brokers(
        13.0, *(broker(n, "unknown") for n in (1, 2, 3)), last_response_at=11.5, quorum_leader=None
    )
    assert told(replace(state(12.0), last_response_at=11.5), silent) == [
        "broker 1 answers nobody",
        "broker 2 answers nobody",
        "broker 3 answers nobody",
        "no broker answers: topics are shown as they were last seen",
    ]
    assert told(silent, replace(silent, at=14.0)) == []
    assert "brokers answer again" in told(silent, state(14.0))


def test_a_look_that_was_missed_is_no_news():
    assert (
        told(state(1), replace(state(1.5), last_response_at=1.0, brokers=tuple(broker(n) for n in (1, 2, 3))))
        == []
    )
    missed = state(2, quorum_leader=None)
    story = Story()
    for look in (state(1), missed, state(3)):
        story.see(look)
    assert [event.words for event in story.events] == [
        "all 3 brokers are up; broker 1 is the active controller"
    ]
    assert story.state.quorum_leader == 1


def test_the_quorum_has_another_leader():
    assert told(state(9), state(12, quorum_leader=3), Action(10, "pause", 1)) == [
        "you paused broker 1",
        "broker 3 is the active controller now, not broker 1, at most 2.0 s after the pause",
    ]


def test_the_quorum_is_without_a_leader_for_a_moment():
    gone = with_brokers(10.4, broker(1, "down", registered=True), broker(2), broker(3), quorum_leader=None)
    kill = Action(10.0, "kill", 1)
    assert told(state(9.9), gone, kill)[-1] == "there is no active controller now: the voters must elect one"
    assert told(gone, replace(gone, at=11.0, last_response_at=11.0, quorum_leader=3), kill) == [
        "broker 3 is the active controller now, at most 1.0 s after the kill"
    ]


def test_a_topic_is_deleted_made_and_made_anew():
    assert told(state(1), state(2, topics=())) == ["failsafe was deleted"]
    assert told(state(1, topics=()), state(2)) == ["failsafe is here: 13 partitions"]
    empty = failsafe(high_watermark=0, log_end_offsets=((1, 0), (2, 0), (3, 0)))
    assert told(state(1), state(2, topics=(empty,))) == ["failsafe was deleted and made anew: 13 partitions"]
    more = topic(*failsafe().partitions, partition(13, 1))
    assert told(state(1), state(2, topics=(more,))) == ["failsafe has 14 partitions now, not 13"]


def test_a_partition_loses_its_leader_and_finds_one():
    alone = state(2, topics=(failsafe((None, *LEADERS[1:]), isr=(1, 2, 3)),))
    assert told(state(1), alone) == ["partition 0 of failsafe has no leader: nobody can write or read there"]
    back = state(3, topics=(failsafe((3, *LEADERS[1:]), isr=(1, 2, 3), leader_epoch=1),))
    assert told(alone, back) == ["1 partition of failsafe has a leader again: 0 → broker 3"]


def test_an_unclean_election_says_what_is_missing():
    before = state(1, topics=(topic(partition(0, 1, (1,), log_end_offsets=((1, 60), (2, 48)))),))
    after = state(2, topics=(topic(partition(0, 2, (2,), leader_epoch=1, log_end_offsets=((2, 48),))),))
    words = told(before, after)
    assert "broker 2 leads partition 0 of failsafe although it was not in sync" in words
    assert "partition 0 of failsafe goes on at offset 48, but its old leader had reached 60" in words


def test_a_split_brain_is_told():
    before, after = (
        topic(partition(0, 3, (2, 3), leader_epoch=5, stale_leaders=claims)) for claims in ((), (1,))
    )
    assert told(state(1, topics=(before,)), state(2, topics=(after,))) == [
        "broker 1 still believes that it leads partition 0 of failsafe: broker 3 does"
    ]
    assert told(state(1, topics=(after,)), state(2, topics=(before,))) == [
        "broker 1 no longer believes that it leads partition 0 of failsafe"
    ]


def test_fifty_topics_are_told_in_one_line():
    def fifty(look: ClusterState):
        names = [f"topic-{n}" for n in range(50)]
        return replace(look, topics=tuple(topic(*look.topics[0].partitions, name=name) for name in names))

    words = told(fifty(state(9.5)), fifty(after_a_kill(12)), KILL)
    assert words == [
        "you killed broker 2",
        "broker 2 is gone: its process has ended",
        "the others no longer count broker 2, at most 2.0 s after the kill",
        "250 partitions of 50 topics have a new leader, at most 2.0 s after the kill: "
        "150 → broker 1; 100 → broker 3",
        "broker 2 is out of sync in 650 partitions of 50 topics, at most 2.0 s after the kill: "
        "2 of 3 replicas are left",
    ]


def test_a_group_shares_anew():
    def look(at, *members, **more):
        return state(at, groups=(group(*members, **more),))

    alone = look(1, member("a", *range(13)))
    both = look(2, member("a", *range(7)), member("b", *range(7, 13)))
    assert told(alone, both) == [
        "alerts: b joined",
        "alerts shared its partitions anew: a has failsafe 0–6; b has failsafe 7–12",
    ]
    assert told(both, alone)[0] == "alerts: b left"
    assert told(alone, look(2, state="Empty")) == ["alerts: a left; nobody is left"]
    assert told(alone, look(2, member("a", *range(13)), coordinator=3)) == [
        "alerts: broker 3 coordinates this group now"
    ]
    silent = look(2, member("a", *range(13)), state="no coordinator", coordinator=None)
    assert told(alone, silent) == ["alerts: no coordinator answers"]


def test_members_with_the_same_name_are_told_apart():
    members = [replace(member(f"worker-{n}", n), client="worker") for n in (1, 2)]
    words = told(state(1, groups=(group(),)), state(2, groups=(group(*members),)))
    assert words[0] == "alerts: worker 1, worker 2 joined"


def test_a_story_puts_a_late_act_where_it_belongs():
    story = Story()
    story.see(state(9.5))
    story.see(after_a_kill(12))
    story.hear(KILL)
    assert [event.words for event in story.events][1] == "you killed broker 2"
    story.hear(Action(13, "cut", 3, "from the clients"))
    assert story.events[-1].words == "you cut broker 3 off from the clients"


def test_a_story_keeps_the_latest():
    story = Story()
    story.see(state(0))
    for n in range(500):
        story.hear(Action(float(n), "slow", 1, f"{n}"))
    assert len(story.events) == 60
    assert story.events[-1].words.endswith(" 499")
