"""The reasons why a consumer gets nothing, on facts written by hand: those that real brokers rarely show."""

import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests import states
from threebrokers.kafka.state import ClusterState, GroupState
from threebrokers.why_empty import Answer, explain, reasons
from threebrokers.why_empty.explain import gathered
from threebrokers.why_empty.facts import Client, Facts, Place

ALL = (*reasons.AT_ONCE, *reasons.AFTER_WATCHING)
PLACE = Place(0, 1, (1, 2, 3), start=0, end=9, readable=9, stable=9, committed=9, holder="me")
MINE = Client(member="me", assigned=frozenset({0}), subscribed=("orders",), reset="earliest")
GROUP = GroupState("alerts", "Stable", 1, (states.member("me", 0),), ())
FACTS = Facts("orders", GROUP, names=("orders", "__consumer_offsets"), places=(PLACE,), client=MINE)


def answered(facts: Facts) -> Answer:
    found = reasons.first(ALL, facts)
    assert found is not None
    return found


def with_place(**more: Any) -> Facts:
    return replace(FACTS, places=(replace(PLACE, **more),))


def with_client(**more: Any) -> Facts:
    return replace(FACTS, client=replace(MINE, **more))


@pytest.mark.parametrize(
    ("facts", "cause", "words"),
    [
        (FACTS, "all read", "committed the end in partition 0"),
        (replace(FACTS, client=None), "all read", "everywhere"),
        (with_place(committed=3, position=9), "all read", "this consumer has read"),
        (replace(FACTS, heard=False), "no broker", "threebrokers up"),
        (replace(FACTS, exists=False, places=()), "no topic", "There is no topic 'orders'"),
        (with_place(leader=None, start=None), "no leader", "ask again"),
        (with_place(leader=2, start=None), "no leader", "is led by broker 2, which cannot be asked"),
        (replace(FACTS, group=replace(GROUP, coordinator=None)), "no coordinator", "ask again"),
        (with_place(end=0, readable=0, stable=0, committed=None), "no records", "nothing was ever written"),
        (with_place(start=9), "deleted", "9 offsets were given out"),
        (replace(FACTS, group=replace(GROUP, state="Reconciling")), "rebalancing", "poll()"),
        (replace(FACTS, group=replace(GROUP, members=())), "thrown out", "session.timeout.ms"),
        (with_client(closed=True), "closed", "lab.consumer"),
        (with_client(member="", assigned=frozenset()), "not joined", "300000 here"),
        (with_client(subscribed=("prices",)), "not subscribed", "'prices', and not to 'orders'"),
        (with_client(subscribed=("ord.*",)), "no pattern", "begin with ^: subscribe(['^ord.*'])"),
        (with_client(subscribed=("(", "prices")), "not subscribed", "and not to 'orders'"),
        (with_client(assigned=frozenset()), "not polled", "inside poll()"),
        (with_place(committed=77), "out of range", "goes on from the start"),
        (with_place(committed=4), "unread", "5 records wait in partition 0"),
        (
            replace(with_place(committed=4), barren=frozenset({0})),
            "aborted",
            "5 offsets up to the end of partition 0",
        ),
        (with_place(committed=4, stable=4), "transaction", "5 records wait"),
        (with_place(end=12), "not copied", "3 records in partition 0 may not be read yet"),
        (replace(with_place(committed=None), client=replace(MINE, reset="latest")), "latest", "9 records"),
        (replace(with_place(committed=None), client=replace(MINE, reset="error")), "no offset", "=error"),
        (replace(with_place(committed=None), client=None), "latest", "with earliest it gets them all"),
        (replace(with_place(committed=4), client=None, moved=frozenset({0})), "moving", "does read"),
        (replace(with_place(committed=4), client=None, moved=frozenset()), "unread", "Member me holds"),
    ],
)
def test_the_reason(facts: Facts, cause: str, words: str) -> None:
    found = answered(facts)
    assert found.cause == cause
    assert words in found.text
    assert found.text.endswith(".")
    assert "\n" not in found.text


def test_a_broker_that_is_down_is_named_with_its_start() -> None:
    facts = replace(
        with_place(leader=None, start=None, replicas=(2,)), brokers=states.state(down=(2,)).brokers
    )
    assert "Broker 2 is down: start it with `lab.cluster.start(2)`" in answered(facts).text


def test_open_transactions_do_not_hold_back_who_reads_everything() -> None:
    facts = with_place(committed=9, stable=4)
    assert answered(replace(facts, client=replace(MINE, isolation="read_uncommitted"))).cause == "all read"
    assert answered(facts).cause == "transaction"


def test_a_consumer_with_a_pattern_may_mean_this_topic() -> None:
    assert answered(with_client(subscribed=("^ord.*",))).cause == "all read"


def test_partitions_given_by_hand_need_no_group() -> None:
    by_hand = Client(assigned=frozenset({0}), reset="earliest")
    group = GroupState("alerts", "Dead", None)
    assert answered(replace(FACTS, group=group, client=by_hand)).cause == "all read"


def test_a_forgotten_member_among_several() -> None:
    other = states.member("other", 1)
    places = PLACE, replace(PLACE, id=1, committed=4, holder="other")
    group = replace(GROUP, members=(*GROUP.members, other))
    facts = replace(FACTS, group=group, places=places, moved=frozenset())
    assert answered(facts).cause == "forgotten"
    assert "5 records wait in partition 1, and member other" in answered(facts).text
    assert answered(replace(facts, moved=frozenset({1}))).cause == "all read"


def test_who_is_sent_to_the_end_because_its_offset_is_gone_is_not_forgotten() -> None:
    other = states.member("other", 1)
    places = PLACE, replace(PLACE, id=1, start=5, committed=1, holder="other")
    group = replace(GROUP, members=(*GROUP.members, other))
    facts = replace(FACTS, client=None, group=group, places=places, moved=frozenset())
    assert answered(facts).cause == "out of range"


def test_the_table_says_who_holds_what() -> None:
    places = PLACE, replace(PLACE, id=1, leader=None, start=None, committed=None, holder="")
    shown = repr(Answer("x", "Why.", replace(FACTS, places=places)))
    assert shown.splitlines() == [
        "Why.",
        "",
        "partition  leader  start  end  readable  stable  committed  lag  held by",
        "0          1       0      9    9         9       9          0    this consumer",
        "1          –       –      9    9         9       –          –    nobody",
    ]


def test_the_coordinator_is_who_leads_the_groups_partition() -> None:
    offsets = states.topic(*(states.partition(n, n + 1) for n in range(3)), name="__consumer_offsets")
    # As Kafka 4.3.1's own coordinators: measured with three brokers.
    for name, partition in (("gw", 0), ("nogroup", 2)):
        facts = gathered(states.state(topics=(offsets,)), name, "orders", name)
        assert facts.index is not None
        assert facts.index.id == partition


def cluster_of(*told: ClusterState) -> Any:
    """Return a cluster whose polls tell this, one after the other, and the last one for ever.

    Broker 2 is silent where a state tells nothing of the partitions that it leads.
    """
    left = list(told)

    def look(*_: object) -> ClusterState:
        state = left.pop(0) if len(left) > 1 else left[0]
        leads = [p for t in state.topics for p in t.partitions if p.leader == 2]
        poller.silent = frozenset({2} if any(p.log_start_offset is None for p in leads) else ())
        return state

    poller = SimpleNamespace(poll=look, silent=frozenset[int](), close=int)
    return SimpleNamespace(poller=lambda: poller)


def test_nobody_answers_because_nobody_runs() -> None:
    silent = cluster_of(states.state(down=(1, 2, 3), last_response_at=None))
    found = explain(silent, "alerts", "orders", settle=0)
    assert found.cause == "no broker"
    assert "start them" in str(found)


def test_brokers_that_run_and_are_silent_may_be_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = states.state(last_response_at=None)
    found = explain(cluster_of(silent, silent, states.state()), "alerts", "orders", settle=0)
    assert found.cause == "no topic", "it was asked until somebody answered"
    monkeypatch.setattr(sys.modules[gathered.__module__], "BUSY_SECONDS", 0.1)
    found = explain(cluster_of(silent), "alerts", "orders", settle=0)
    assert found.cause == "no broker"
    assert "3 brokers run and did not answer" in str(found)


@pytest.mark.parametrize("known", ["up", "unknown"])  # it was heard within the last second, or not
@pytest.mark.parametrize(("counted", "cause"), [(True, "no records"), (False, "no leader")])
def test_a_leader_that_runs_and_is_counted_may_be_busy(known: str, counted: bool, cause: str) -> None:
    unasked = states.topic(states.partition(0, 2, log_start_offset=None, log_end_offsets=()), name="orders")
    brokers = (states.broker(1), states.broker(2, known, registered=counted), states.broker(3))
    silent = states.state(topics=(unasked,), brokers=brokers)
    empty = states.partition(0, 2, high_watermark=0, log_end_offsets=((2, 0),))
    answers = states.state(topics=(states.topic(empty, name="orders"),))
    found = explain(cluster_of(silent, silent, answers), "alerts", "orders", settle=0)
    assert found.cause == cause
