"""The table of what is done to brokers, held against the cluster that does it."""

import inspect

import pytest

from threebrokers.cluster import Cluster
from threebrokers.cluster.actions import ACTION_KINDS, action_kind
from threebrokers.cluster.link_faults import STRENGTH

KINDS = [pytest.param(kind, id=kind.name) for kind in ACTION_KINDS.values()]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_a_method_and_asks_for_force_if_it_takes_a_broker_away(kind):
    parameters = inspect.signature(getattr(Cluster, kind.name)).parameters
    assert "broker" in parameters
    assert ("force" in parameters) == kind.takes_away


@pytest.mark.parametrize("kind", KINDS)
def test_what_does_harm_has_an_undo_that_does_none(kind):
    assert kind.harm == (kind.undo in ACTION_KINDS)
    assert not action_kind(kind.undo).harm
    assert action_kind(kind.undo).on_links == kind.on_links or not kind.harm


@pytest.mark.parametrize("kind", KINDS)
def test_a_button_is_there_where_it_changes_something(kind):
    assert not kind.leaves or kind.leaves not in kind.button_in
    given = inspect.signature(getattr(Cluster, kind.name)).parameters
    needed = {name for name, one in given.items() if one.default is inspect.Parameter.empty}
    assert not kind.button_in or needed <= {"self", "broker"}, "whoever presses a button chooses nothing else"


def test_links_are_cut_and_mended_by_a_button_and_all_else_by_code():
    buttons = {kind.name for kind in ACTION_KINDS.values() if kind.on_links and kind.button_in}
    assert buttons == {"cut", "heal"}


def test_what_is_wrong_with_links_is_done_by_an_action():
    assert {kind.name for kind in ACTION_KINDS.values() if kind.on_links and kind.harm} == STRENGTH.keys()


def test_a_kind_of_another_version_is_told_and_harms_nobody():
    kind = action_kind("melt")
    assert kind.sentence.format(2) == "you did 'melt' to broker 2"
    assert not kind.harm
