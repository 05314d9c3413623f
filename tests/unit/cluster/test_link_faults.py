"""Faults of links as values: whom they concern, which one holds, what healing leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threebrokers.cluster import link_faults
from threebrokers.cluster.actions import Action
from threebrokers.cluster.link_faults import Fault, apart_since, told
from threebrokers.errors import LabError


def broken(*faults):
    return {f"{s}>{t} {name}" for s, t, name in link_faults.effects(faults)}


def test_a_broker_cut_off_loses_the_others_and_the_quorum_both_ways_and_keeps_its_clients():
    links = broken(Fault("cut", 2))
    assert {"1>2 REPL", "3>2 REPL", "2>1 REPL", "2>3 REPL", "2>1 CONTROLLER", "1>2 CONTROLLER"} <= links
    assert "broker>2 REPL" in links  # somebody who does not tell its number
    assert not {link for link in links if link.startswith("client")}
    assert not {link for link in links if "2" not in link}
    assert not {link for link in links if link.startswith("2>2")}


def test_each_kind_of_traffic_is_broken_apart():
    assert broken(Fault("cut", 2, ("clients",))) == {
        f"client>2 {n}" for n in ("CLIENT", "REPL", "CONTROLLER")
    }
    assert {link.split()[1] for link in broken(Fault("cut", 2, ("brokers",)))} == {"REPL"}
    assert {link.split()[1] for link in broken(Fault("cut", 2, ("quorum",)))} == {"CONTROLLER"}


def test_one_peer_is_cut_off_and_no_other():
    links = broken(Fault("cut", 2, (3,)))
    assert {"2>3 REPL", "3>2 REPL", "2>3 CONTROLLER", "3>2 CONTROLLER"} <= links
    assert not {link for link in links if "1" in link or link.startswith("client")}
    assert links == broken(Fault("cut", 3, (2,)))


def test_the_stronger_fault_holds_and_the_later_delay():
    cut, stall = Fault("cut", 2, ("clients",)), Fault("stall", 2, ("clients",))
    slow, slower = Fault("slow", 2, ("clients",), 20), Fault("slow", 2, ("clients",), 90)
    link = ("client", 2, "CLIENT")
    assert link_faults.effects([cut, stall, slow])[link] == ("cut", 0, 0)
    assert link_faults.effects([stall, slow])[link] == ("stall", 0, 0)
    assert link_faults.effects([slower, slow])[link] == ("slow", 20, 20)
    assert link_faults.effects([slow, slower])[link] == ("slow", 90, 90)
    late = Fault("slow", 2, ("clients",), 30, answers=True)
    assert link_faults.effects([slow, late])[link] == ("slow", 0, 30)
    assert link_faults.effects([]) == {}


def test_healing_a_broker_mends_what_touches_it_by_number():
    faults = [Fault("cut", 2), Fault("slow", 3, (2,), 5), Fault("stall", 1, ("clients",))]
    assert link_faults.healed(faults, 2) == [faults[2]]
    assert link_faults.healed(faults, 1) == faults[:2]
    assert link_faults.healed(faults, None) == []
    two = Fault("cut", 1, (2, 3))
    assert link_faults.healed([two], 2) == [Fault("cut", 1, (3,))]


def test_who_reaches_no_other_voter_does_not_count():
    assert link_faults.alone([Fault("cut", 2)]) == {2}
    assert link_faults.alone([Fault("stall", 2, ("quorum",))]) == {2}
    assert link_faults.alone([Fault("cut", 2, (1, 3))]) == {2}
    assert link_faults.alone([Fault("cut", 2, (1,))]) == set()
    assert link_faults.alone([Fault("cut", 2, ("brokers", "clients"))]) == set()
    assert link_faults.alone([Fault("slow", 2, ("quorum",), 50)]) == set()
    assert link_faults.alone([Fault("cut", 2), Fault("cut", 1)]) == {1, 2, 3}


@given(st.lists(st.builds(Fault, st.sampled_from(["cut", "stall", "slow"]), st.sampled_from([1, 2, 3]))))
def test_no_fault_is_between_a_broker_and_itself_and_healing_all_leaves_nothing(faults):
    assert not [link for link in link_faults.effects(faults) if link[0] == str(link[1])]
    assert link_faults.effects(link_faults.healed(faults, None)) == {}


def test_what_was_asked_for_is_understood_or_refused_in_a_sentence():
    assert link_faults.chosen(2, None) == ("brokers", "quorum")
    assert link_faults.chosen(2, "clients") == ("clients",)
    assert link_faults.chosen(2, 3) == (3,)
    assert link_faults.chosen(2, [1, "clients"]) == (1, "clients")
    for wrong in ("client", 2, 4, True, 1.5, ["quorum", "leader"]):
        with pytest.raises(LabError, match="Broker 2 has no link from"):
            link_faults.chosen(2, wrong)
    with pytest.raises(LabError, match="names nobody"):
        link_faults.chosen(2, [])
    for ms in (0, -5, 20_000):
        with pytest.raises(LabError, match=f"slower by {ms} ms"):
            link_faults.slowness(2, ("clients",), ms)


def test_a_fault_is_told_in_words():
    assert Fault("cut", 2).words == "from the other brokers and the quorum"
    assert Fault("cut", 2, (3, "clients")).words == "from broker 3 and the clients"
    assert link_faults.slowness(2, ("clients",), 50).words == "50 ms each way from the clients"
    late = link_faults.slowness(2, ("clients",), 50, answers=True)
    assert late.words == "50 ms answers only from the clients"


def test_who_is_apart_from_all_the_others_and_since_when():
    usual = Fault("cut", 1).words
    actions = [
        Action(1.0, "cut", 1, usual),
        Action(2.0, "cut", 2, "from the other brokers"),
        Action(3.0, "stall", 3, usual),
        Action(4.0, "cut", 3, usual),
        Action(5.0, "heal", 1),
    ]
    assert apart_since(actions, 0.5) == {}
    assert apart_since(actions, 4.5) == {1: 1.0, 3: 3.0}
    assert apart_since(actions, 5.0) == {3: 3.0}


@pytest.mark.parametrize(
    "fault",
    [
        Fault("cut", 1),
        Fault("slow", 2, ("clients", 3), 12.5),
        Fault("slow", 2, ("clients",), 4000, answers=True),
        Fault("stall", 3, ("quorum",)),
        Fault("cut", 2, ("brokers", 1, "quorum")),
    ],
)
def test_a_fault_is_known_by_the_words_of_its_action(fault):
    assert told(Action(1.0, fault.effect, fault.broker, fault.words)) == fault


def test_what_is_mended_is_no_longer_broken():
    actions = [Action(1.0, "cut", 1), Action(2.0, "slow", 1, "5 ms each way from the clients")]
    assert link_faults.broken(actions, 0.5) == []
    assert link_faults.broken(actions, 3.0) == [Fault("cut", 1), Fault("slow", 1, ("clients",), 5)]
    assert link_faults.broken([*actions, Action(4.0, "heal", 2)], 5.0) == link_faults.broken(actions, 3.0)
    assert link_faults.broken([*actions, Action(4.0, "heal", 1), Action(5.0, "melt", 1)], 6.0) == []
