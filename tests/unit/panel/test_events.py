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
        "the quorum is lost: of 3 voters only broker 1 is left, so nothing can be elected",
    ]


def test_broker_0_can_be_the_active_controller():
    far = with_brokers(0.0, broker(0), broker(1), quorum_leader=0)
    assert told(None, far) == ["all 2 brokers are up; broker 0 is the active controller"]


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
    unknown = [broker(n, "unknown", registered=True) for n in (1, 2, 3)]
    silent = with_brokers(13.0, *unknown, last_response_at=11.5, quorum_leader=None)
    assert told(replace(state(12.0), last_response_at=11.5), silent) == [
        "broker 1 answers nobody",
        "broker 2 answers nobody",
        "broker 3 answers nobody",
        "no broker answers: topics are shown as they were last seen",
    ]
    assert told(silent, replace(silent, at=14.0)) == []
    assert "brokers answer again" in told(silent, state(14.0))


def test_whom_the_others_have_stopped_counting_meanwhile_is_told_when_they_answer_again():
    paused = broker(2, "paused", registered=True)
    silent = with_brokers(
        13.0, broker(1, "unknown", registered=True), paused, broker(3, "unknown", registered=True),
        last_response_at=11.5,
    )  # fmt: skip
    heard = with_brokers(13.7, broker(1), replace(paused, registered=False), broker(3))
    pause = Action(10.7, "pause", 2)
    assert "the others no longer count broker 2, at most 3.0 s after the pause" in told(silent, heard, pause)
    never = replace(silent, last_response_at=None)
    assert not any("count" in words for words in told(never, heard, pause))


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
    assert told(state(11), state(12, quorum_leader=3), Action(10, "pause", 1)) == [
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
    one, other = (state(n, topics=(replace(failsafe(), id=f"{n}"),)) for n in (1, 2))
    assert told(one, other) == ["failsafe was deleted and made anew: 13 partitions"]
    more = topic(*failsafe().partitions, partition(13, 1))
    assert told(state(1), state(2, topics=(more,))) == ["failsafe has 14 partitions now, not 13"]


def test_a_partition_loses_its_leader_and_finds_one():
    alone = state(2, topics=(failsafe((None, *LEADERS[1:]), isr=(1, 2, 3)),))
    assert told(state(1), alone) == ["partition 0 of failsafe has no leader: nobody can write or read there"]
    back = state(3, topics=(failsafe((3, *LEADERS[1:]), isr=(1, 2, 3), leader_epoch=1),))
    assert told(alone, back) == ["1 partition of failsafe has a leader again: 0 → broker 3"]


def story_of(*looks, actions=()):
    story = Story()
    for action in actions:
        story.hear(action)
    for look in looks:
        story.see(look)
    return [event.words for event in story.events]


def of_one(at, leader, epoch, isr, **more):
    """A look at one partition; `ends` are the log end offsets of brokers 1, 2, …"""
    ends = tuple(enumerate(more.pop("ends", (60, 60, 60)), 1))
    known = {"leader_epoch": epoch, "high_watermark": min(end for n, end in ends if n in isr), **more}
    of_all = {name: known.pop(name) for name in ("brokers", "quorum_leader") if name in known}
    return state(at, topics=(topic(partition(0, leader, isr, log_end_offsets=ends, **known)),), **of_all)


def test_an_unclean_election_says_what_is_missing():
    before = of_one(1, 1, 0, (1,), ends=(60, 48))
    after = of_one(2, 2, 1, (2,), ends=(60, 48))
    assert story_of(before, after)[1:] == [
        "1 partition of failsafe has a new leader: 0 → broker 2",
        "unclean election in partition 0 of failsafe: broker 2 leads and was not in sync; "
        "records are lost: readable up to offset 60 before, 48 now",
        "broker 1 is out of sync in partition 0 of failsafe: 1 of 3 replicas is left",
    ]


def test_a_loss_that_is_seen_later_is_told_later():
    """The new leader has not answered yet when it is first told that it leads."""
    all_looks = {"ends": (60, 48), "brokers": (broker(1, "down"), broker(2), broker(3)), "quorum_leader": 3}
    before = [of_one(at, 1, 0, (1,), **all_looks) for at in (1, 1.5)]
    first = of_one(2, 2, 1, (2,), high_watermark=None, **all_looks)
    words = story_of(*before, first, of_one(2.5, 2, 1, (2,), **all_looks))
    assert [line for line in words if "unclean" in line or "lost" in line] == [
        "unclean election in partition 0 of failsafe: broker 2 leads and was not in sync",
        "records of partition 0 of failsafe are lost: readable up to offset 60 before, 48 now",
    ]


def test_a_broker_that_came_back_and_leads_within_one_look_was_not_elected_out_of_sync():
    """Four of six calm failovers were once told so: it joined the ISR, and was then elected as preferred."""
    kill, start = Action(10.0, "kill", 1), Action(12.5, "start", 1)
    away = [of_one(at, 2, 1, (2, 3)) for at in (12.0, 13.0)]
    assert story_of(*away, of_one(13.5, 1, 2, (1, 2, 3)), actions=[kill, start])[3:] == [
        "1 partition of failsafe has the preferred leader now: 0 → broker 1",
        "broker 1 is in sync again in partition 0 of failsafe, at most 1.0 s after the start",
    ]


def test_a_preferred_election_is_not_the_doing_of_an_old_kill():
    """Broker 2 was killed and started; 18 s later leadership went from it to broker 1."""
    actions = [Action(1.0, "kill", 2), Action(4.0, "start", 2)]
    assert story_of(of_one(19.0, 2, 1, (1, 2, 3)), of_one(19.2, 1, 2, (1, 2, 3)), actions=actions)[-1] == (
        "1 partition of failsafe has the preferred leader now: 0 → broker 1"
    )
    assert story_of(of_one(19.0, 2, 1, (1, 2, 3)), of_one(19.2, 3, 2, (1, 3)), actions=actions)[-2:] == [
        "1 partition of failsafe has a new leader: 0 → broker 3",
        "broker 2 is out of sync in partition 0 of failsafe: 2 of 3 replicas are left",
    ]


def test_of_several_elections_no_cause_is_told():
    looks = [of_one(19.0, 2, 1, (1, 2, 3)), of_one(21.0, 3, 3, (1, 3))]
    words = story_of(*looks, actions=[Action(18.0, "kill", 2)])
    assert "1 partition of failsafe has a new leader, after 2 elections: 0 → broker 3" in words


def test_what_may_have_come_before_the_action_is_not_told_as_its_doing():
    """Between these two looks broker 2 was killed, and left the ISR: nobody saw which came first."""
    out = state(10.4, topics=(failsafe(isr=(1, 3)),))
    assert told(state(9.9), out, KILL)[-1].startswith(
        "broker 2 is out of sync in all 13 partitions of failsafe:"
    )
    stop = Action(10.0, "stop", 2)
    assert "at most 0.4 s after the stop" in told(state(9.9), out, stop)[-1], "who stops leaves at once"


def test_an_action_that_was_undone_is_no_cause():
    out = state(10.9, topics=(failsafe(isr=(1, 3)),))
    actions = [KILL, Action(10.2, "start", 2)]
    assert "after the" not in told(state(10.5), out, *actions)[-1]
    cut_then_kill = [Action(9.0, "cut", 2), KILL, Action(10.1, "heal", 2)]
    assert "at most 0.9 s after the kill" in told(state(10.5), out, *cut_then_kill)[-1]


def test_what_a_new_leader_does_not_have_was_readable_by_nobody():
    before = of_one(1, 1, 0, (1, 2, 3), ends=(60, 48, 50))
    after = of_one(2, 2, 1, (2, 3), ends=(60, 48, 48))
    words = story_of(before, after)
    assert "partition 0 of failsafe goes on at offset 48, but its old leader had reached 60" in words
    assert "broker 3 cut its log of partition 0 of failsafe back from offset 50 to 48" in words
    assert not [line for line in words if "unclean" in line]


def test_a_log_that_still_grows_is_not_told_as_shorter():
    """Broker 2 told its log end as a follower, a moment before it was asked to lead."""
    before = of_one(1, 1, 0, (1, 2, 3), ends=(60, 48, 48))
    after = of_one(2, 2, 1, (2, 3), ends=(60, 59, 48), high_watermark=None)
    assert "goes on at" not in " ".join(story_of(before, after))


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
    both = topic(*(partition(n, leader, stale_leaders=(3,)) for n, leader in enumerate((1, 2))))
    alone = topic(partition(0, 1), partition(1, 2))
    assert told(state(1, topics=(alone,)), state(2, topics=(both,))) == [
        "broker 3 still believes that it leads all 2 partitions of failsafe: brokers 1 and 2 do"
    ]


def test_fifty_topics_are_told_in_one_line():
    def fifty(look: ClusterState):
        names = [f"topic-{n}" for n in range(50)]
        return replace(look, topics=tuple(topic(*look.topics[0].partitions, name=name) for name in names))

    words = told(fifty(state(10.5)), fifty(after_a_kill(12)), KILL)
    assert words == [
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
