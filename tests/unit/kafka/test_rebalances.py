"""Listeners of a subscription: interceptors hear what the program hears, and nothing else changes."""

from typing import Any

import pytest
from confluent_kafka import TopicPartition

from threebrokers.kafka.interceptors import ConsumerInterceptor
from threebrokers.kafka.rebalances import heard

PLACES = [TopicPartition("beat", 1)]


class Noted(ConsumerInterceptor):
    def __init__(self, notes: list[Any]) -> None:
        self.notes = notes

    def on_assigned(self, partitions: Any) -> None:
        self.notes.append(("assigned", partitions))

    def on_revoked(self, partitions: Any, *, lost: bool) -> None:
        self.notes.append(("lost" if lost else "revoked", partitions))


@pytest.fixture
def notes() -> list[Any]:
    return []


def test_interceptors_hear_every_rebalance_without_a_listener(notes):
    told = heard([Noted(notes)], {}, set())
    for name in ("on_assign", "on_revoke", "on_lost"):
        told[name](None, [TopicPartition(name, 0)])
    assert [what for what, _ in notes] == ["assigned", "revoked", "lost"]


def test_a_partition_is_held_until_the_program_has_done_its_part(notes):
    own = {
        name: lambda consumer, places, name=name: notes.append(name) for name in ("on_assign", "on_revoke")
    }
    told = heard([Noted(notes)], own, set())
    told["on_assign"](None, PLACES)
    told["on_revoke"](None, PLACES)
    assert notes == [("assigned", PLACES), "on_assign", "on_revoke", ("revoked", PLACES)]


def test_a_loss_is_a_revocation_for_a_program_that_does_not_tell_them_apart(notes):
    own = {"on_revoke": lambda consumer, places: notes.append("own")}
    heard([Noted(notes)], own, set())["on_lost"](None, PLACES)
    assert notes == ["own", ("lost", PLACES)]


def test_a_listener_that_fails_is_heard_all_the_same(notes):
    def fail(consumer, places):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        heard([Noted(notes)], {"on_revoke": fail}, set())["on_revoke"](None, PLACES)
    assert notes == [("revoked", PLACES)]


@pytest.mark.parametrize("own", [{"on_assign": None}, {"on_revoke": 3}])
def test_what_is_no_function_is_left_for_the_client_to_refuse(notes, own):
    assert heard([Noted(notes)], own, set()) == own


def test_an_unknown_argument_is_left_for_the_client_to_refuse(notes):
    assert "on_assigned" in heard([Noted(notes)], {"on_assigned": print}, set())


def test_what_is_held_is_known_without_asking_the_client(notes):
    held: set[tuple[str, int]] = set()
    told = heard([], {}, held)
    told["on_assign"](None, [TopicPartition("beat", 1), TopicPartition("beat", 2)])
    told["on_revoke"](None, PLACES)
    assert held == {("beat", 2)}
    told["on_lost"](None, [TopicPartition("beat", 2)])
    assert held == set()
