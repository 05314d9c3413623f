"""The triangle of links: which sides are broken, and the same in words."""

import pytest

from tests.states import state
from threebrokers.cluster.actions import Action
from threebrokers.cluster.link_faults import Fault
from threebrokers.panel.links import is_broken, link_words, sides


def done(at, fault):
    return Action(at, fault.effect, fault.broker, fault.words)


def looks(*actions, **more):
    return [side["look"] for side in sides(state(9.0, **more), actions)]


def test_whole_links_are_told_in_one_word():
    drawn = sides(state(9.0), [])
    assert [side["ends"] for side in drawn] == [[1, 2], [1, 3], [2, 3]]
    assert link_words(drawn) == "links: all whole"
    assert not is_broken(drawn)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("cut", 3), "links: 1–2 whole, 1–3 cut, 2–3 cut"),
        (Fault("stall", 1, (2,)), "links: 1–2 stalled, 1–3 whole, 2–3 whole"),
        (Fault("slow", 2, ("brokers", 3), 12.5), "links: 1–2 slowed for records, 1–3 whole, 2–3 slowed"),
        (Fault("cut", 1, ("quorum",)), "links: 1–2 cut for metadata, 1–3 cut for metadata, 2–3 whole"),
    ],
)
def test_each_side_says_what_is_wrong_with_it(fault, words):
    drawn = sides(state(9.0), [done(1.0, fault)])
    assert link_words(drawn) == words
    assert is_broken(drawn)
    assert all(bool(side["sign"]) == (side["look"] != "whole") for side in drawn)


def test_a_broker_that_only_clients_have_lost_keeps_its_links():
    assert looks(done(1.0, Fault("cut", 1, ("clients",)))) == ["whole"] * 3


def test_mended_links_are_whole_and_others_stay_broken():
    cuts = [done(1.0, Fault("cut", 1, (2,))), done(2.0, Fault("cut", 3, (2,)))]
    assert looks(*cuts) == ["cut", "whole", "cut"]
    assert looks(*cuts, Action(3.0, "heal", 1)) == ["whole", "whole", "cut"]
    assert looks(*cuts, Action(10.0, "heal", 1)) == ["cut", "whole", "cut"], "that is later"
    assert looks(*cuts, Action(3.0, "heal", 1), done(4.0, Fault("cut", 1))) == ["cut", "cut", "cut"]


def test_where_nobody_is_no_link_is_used():
    assert looks(down=(2,)) == ["idle", "whole", "idle"]
    drawn = sides(state(9.0, down=(2,)), [])
    assert link_words(drawn) == "links: 1–2 idle: broker 2 is down, 1–3 whole, 2–3 idle: broker 2 is down"
    assert not is_broken(drawn)
