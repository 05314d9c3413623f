"""Unclean elections: what states prove, and what they only look like."""

from dataclasses import replace

import pytest

from threebrokers.kafka.elections import Elections, UncleanElection
from threebrokers.kafka.state import BrokerState, ClusterState, PartitionState, TopicState


def look(
    at, leader, epoch, isr, *, high=None, elr=(), down=(), paused=(), quorum=1, topic_id="a", replicas=(2, 3)
):
    """A state of one partition that brokers 2 and 3 keep; broker 1 is the active controller."""
    states = {n: "down" if n in down else "paused" if n in paused else "up" for n in (1, 2, 3)}
    p = PartitionState("t", 0, leader, epoch, replicas, tuple(isr), high_watermark=high, elr=tuple(elr))
    return ClusterState(
        at=at,
        brokers=tuple(BrokerState(n, state, 0.0) for n, state in states.items()),
        quorum_leader=quorum,
        topics=(TopicState("t", (p,), topic_id),),
        last_response_at=at,
        asked_at=round(at - 0.1, 3),
    )


def proved(*states, apart=()):
    """What these states prove; `apart` holds (broker, since)."""
    elections = Elections()
    since = [{n: at for n, at in apart if at <= state.at} for state in states]
    return [e for state, gone in zip(states, since, strict=True) for e in elections.see(state, gone)]


def told(*states, **more):
    return [(e.leader, e.leader_epoch, e.readable_before, e.readable_after) for e in proved(*states, **more)]


def test_what_could_be_read_has_gone_back():
    first = look(1, 2, 4, [2], high=15)
    assert proved(first, look(2, 3, 5, [3], high=5)) == [UncleanElection(2, "t", 0, 3, 5, 15, 5)]


def test_it_is_told_once():
    states = [look(1, 2, 4, [2], high=15), *(look(n, 3, 5, [3], high=5 + n) for n in range(2, 9))]
    assert told(*states) == [(3, 5, 15, 7)]


def test_what_could_be_read_is_remembered_while_the_old_leader_is_silent():
    silent = [look(n, 2, 4, [2], down=[2]) for n in (2, 3)]
    assert told(look(1, 2, 4, [2], high=15), *silent, look(4, 3, 6, [3], high=5)) == [(None, 6, 15, 5)]


def test_nobody_is_named_if_two_elections_lie_between():
    assert told(look(1, 2, 4, [2], high=15), look(9, 2, 6, [2, 3], high=5)) == [(None, 6, 15, 5)]


def test_a_time_without_a_leader_is_no_election_of_anybody():
    gone = look(2, None, 5, [], elr=[2], down=[2])
    assert told(look(1, 2, 4, [2], high=15), gone, look(3, 3, 6, [3])) == [(3, 6, None, None)]
    named = [look(1, 2, 4, [2], high=15), replace(gone, quorum_leader=None), look(3, 3, 6, [3], high=5)]
    assert told(*named) == [(3, 6, 15, 5)]


def test_a_return_and_a_preferred_election_between_two_states_are_clean():
    """Broker 2 was out of sync, joined the ISR and was elected: the panel once called that unclean."""
    before = look(1, 3, 4, [3], high=15)
    for isr in ([2, 3], [2]):
        assert told(before, look(1.5, 2, 5, isr, high=15)) == []
        assert told(before, look(1.5, 2, 5, isr)) == []


def test_a_clean_stop_just_after_the_return_is_clean():
    """Nothing but the ISR tells it from an unclean election, so nothing is told."""
    assert told(look(1, 2, 4, [2], high=15), look(1.5, 3, 5, [3], high=15, down=[2])) == []


def test_a_leader_that_is_down_lets_nobody_in():
    down = [look(n, 2, 4, [2], down=[2]) for n in (1.5, 2, 2.5)]
    assert told(look(1, 2, 4, [2]), *down, look(3, 3, 5, [3], down=[2])) == [(3, 5, None, None)]
    paused = [look(n, 2, 4, [2], paused=[2]) for n in (1.5, 2, 2.5)]
    assert told(*paused, look(3, 3, 5, [3], paused=[2])) == [(3, 5, None, None)]


@pytest.mark.parametrize(
    "states",
    [
        pytest.param([look(2.5, 2, 4, [2], down=[2])], id="asked once: what it told may be older"),
        pytest.param([look(n, 2, 4, [2, 3], down=[2]) for n in (2, 2.5)], id="in the ISR"),
        pytest.param([look(n, 2, 4, [2], elr=[3], down=[2]) for n in (2, 2.5)], id="in the ELR"),
        pytest.param(
            [look(n, 2, 4, [2], down=[2], quorum=None) for n in (2, 2.5)], id="no active controller"
        ),
        pytest.param([look(n, 2, 4, [2], down=[2], paused=[1]) for n in (2, 2.5)], id="it is frozen"),
        pytest.param(
            [look(n, 2, 4, [2], down=[2] if n < 2.4 else []) for n in (1.5, 2, 2.5)], id="it came back"
        ),
        pytest.param([look(n, 2, 3, [2], down=[2]) for n in (2, 2.5)], id="another election between"),
    ],
)
def test_what_is_no_proof(states):
    assert told(*states, look(3, 3, 5, [3], down=[2])) == []


def test_a_leader_that_was_given_back_may_have_let_somebody_in():
    down = [look(n, 2, 4, [2], down=[2]) for n in (1.5, 2, 2.5)]
    assert told(*down, look(3, 3, 5, [3])) == []


def test_a_leader_that_is_cut_off_from_all_lets_nobody_in():
    states = [look(n, 2, 4, [2]) for n in (1, 1.5, 2, 2.5)]
    after = look(3, 3, 5, [3])
    assert told(*states, after, apart=[(2, 1.2)]) == [(3, 5, None, None)]
    assert told(*states, after, apart=[(2, 2.2)]) == [], "asked once since then"
    assert told(*states, after) == []


def test_while_nobody_leads_nobody_joins():
    led = look(1, 2, 4, [2])
    alone = look(2, None, 5, [2], down=[2])
    assert told(led, alone, look(3, 3, 6, [3], down=[2])) == [(3, 6, None, None)]
    assert told(led, alone, look(3, 2, 6, [2])) == []
    assert told(led, alone, look(3, 3, 8, [3])) == [], "broker 2 may have led meanwhile"
    assert told(led, look(2, None, 5, [], elr=[3], down=[2]), look(3, 3, 6, [3])) == []


def test_the_last_known_leader_may_lead_when_nobody_is_safe():
    led = look(1, 2, 4, [2])
    assert told(led, look(2, None, 5, [], down=[2]), look(3, 2, 6, [2])) == []
    gone = look(2, None, 5, [], elr=[3], down=[2, 3])
    assert told(led, gone, look(3, 2, 6, [2])) == []
    assert told(gone, look(3, 2, 6, [2])) == [], "nobody knows who led last"


def test_another_topic_of_the_same_name_begins_anew():
    assert told(look(1, 2, 4, [2], high=15), look(2, 3, 5, [3], high=0, topic_id="b")) == []
    assert told(look(1, 2, 4, [2], high=15), look(2, 3, 0, [3], high=0)) == []


def test_old_news_is_not_looked_at():
    elections = Elections()
    assert elections.see(look(1, 2, 4, [2], high=15)) == []
    assert elections.see(replace(look(2, 3, 5, [3], high=5), last_response_at=1.0)) == []
