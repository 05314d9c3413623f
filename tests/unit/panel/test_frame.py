"""From a look to what is drawn, and to the same in words."""

import json
from dataclasses import replace

import pytest

from tests.states import after_a_kill, broker, failsafe, group, member, partition, state, topic
from threebrokers.cluster.actions import Action
from threebrokers.panel import cells
from threebrokers.panel.events import Event
from threebrokers.panel.frame import Scene, frame
from threebrokers.panel.text import words
from threebrokers.text import duration


def drawn(look, **more):
    made = frame(look, Scene(begun=0.0, **more))
    assert json.loads(json.dumps(made)) == made, "a frame is plain JSON"
    return made


def copies(look, row=0):
    return [(c["kind"], c["sign"], c["word"]) for c in drawn(look)["topics"][0]["rows"][row]["copies"]]


def test_all_is_well():
    made = drawn(state(12.4), events=[Event(3.0, "something")])
    assert made["time"] == "12.4 s"
    assert made["alarm"] == ""
    assert made["events"] == [{"at": "3.0 s", "words": "something", "kind": "note"}]
    one, two, _ = made["brokers"]
    assert (one["sign"], one["state"], one["quorum"], one["note"]) == ("●", "up", True, "")
    assert (two["leads"], two["memory"], two["quorum"]) == ("leads 5 of 13 partitions", "214 MB", False)
    assert one["can"] == ["cut", "kill", "pause", "stop"]
    [failsafe] = made["topics"]
    assert failsafe["summary"] == "13 partitions; all replicas in sync"
    assert copies(state()) == [("leader", "★", "leader"), ("sync", "✓", "in sync"), ("sync", "✓", "in sync")]


def test_what_was_seen_in_one_look_has_its_time_once():
    told = [Event(3.0, "one"), Event(3.0, "two", "bad"), Event(3.0, "done", "action"), Event(3.0, "three")]
    times = [event["at"] for event in drawn(state(4.0), events=told)["events"]]
    assert times == ["3.0 s", "", "3.0 s", "3.0 s"]


def test_a_broker_that_is_cut_off_is_not_shown_as_if_all_were_well():
    cut = Action(1.0, "cut", 2, "from the other brokers and the quorum")
    made = drawn(state(2.0), actions=[cut])
    two = made["brokers"][1]
    assert (two["sign"], two["word"], two["look"], two["state"]) == ("✂", "cut off", "cut", "up")
    assert two["note"] == "from the other brokers and the quorum"
    assert made["words"].splitlines()[-2:] == [
        "Broker 2: cut off from the other brokers and the quorum.",
        "Links: 1–2 cut, 1–3 whole, 2–3 cut.",
    ]
    assert [broker["can"] for broker in made["brokers"]][:2] == [
        ["cut", "kill", "pause", "stop"],
        ["heal", "kill", "pause", "stop"],
    ]
    slow = drawn(state(2.0), actions=[Action(1.0, "slow", 2, "5 ms each way from the clients")])
    assert (slow["brokers"][1]["word"], slow["brokers"][1]["look"]) == ("links slowed", "cut")
    healed = drawn(state(3.0), actions=[cut, Action(2.5, "heal", 2)])["brokers"][1]
    assert (healed["word"], healed["look"], healed["note"]) == ("up", "up", "")


def test_a_start_is_no_alarm():
    look = state(4.0, brokers=(broker(1), broker(2, "unknown", since=1.5), broker(3)))
    made = drawn(look, actions=[Action(1.0, "start", 2)])
    two = made["brokers"][1]
    assert (two["sign"], two["word"], two["look"]) == ("◔", "starting", "starting")
    assert two["note"] == "started by you 3.0 s ago, no answer yet"
    cells = [row["copies"][1] for row in made["topics"][0]["rows"]]
    assert {(cell["kind"], cell["sign"], cell["word"]) for cell in cells} == {("start", "◔", "starting")}
    assert "Broker 2: starting for 2.5 s." in made["words"].splitlines()
    assert "broker 2 is starting" in made["words"]
    assert drawn(look, busy={2: "starting …"})["brokers"][1]["word"] == "starting"
    later = replace(look, at=90.0, brokers=(broker(1), broker(2, "unknown", since=80.0), broker(3)))
    silent = drawn(later, actions=[Action(1.0, "start", 2)])["brokers"][1]
    assert (silent["word"], silent["note"]) == ("silent", "silent for 10 s"), "it has answered since"


def test_many_topics_are_closed_and_marked_as_many():
    several = tuple(topic(partition(0, 1), name=f"topic-{n}") for n in range(9))
    assert not drawn(state(topics=several[:8]))["many"]
    made = drawn(state(topics=several), opened={"topic-3": True})
    assert made["many"]
    assert [t["name"] for t in made["topics"] if t["open"]] == ["topic-3"]


def test_many_topics_have_their_sum():
    several = [topic(*failsafe().partitions, name=f"topic-{n}") for n in range(3)]
    assert drawn(state())["sums"] == ""
    assert drawn(state(topics=tuple(several)))["sums"] == "3 topics, 39 partitions: all replicas in sync"
    several[1] = topic(partition(0, None, ()), partition(1, 1, (1, 2)), name="topic-1")
    made = drawn(state(topics=tuple(several)))
    assert made["sums"] == "3 topics, 28 partitions: 1 without a leader, 2 with replicas out of sync"
    assert [t["trouble"] for t in made["topics"]] == [False, True, False]


def test_members_stand_in_the_order_of_their_numbers():
    members = [replace(member(f"m-{n:02}", n), client="reader") for n in range(11)]
    [told] = drawn(state(groups=(group(*members),)))["groups"]
    assert [m["name"] for m in told["members"]] == [f"reader {n}" for n in range(1, 12)]


def test_a_dead_broker_keeps_its_places():
    before, after = drawn(state(0)), drawn(after_a_kill(4.1), actions=[Action(0.0, "kill", 2)])
    two = after["brokers"][1]
    assert (two["sign"], two["state"], two["can"]) == ("✕", "down", ["start"])
    assert two["note"] == "killed by you 4.1 s ago"
    assert two["memory"] == "no process"
    assert [b["id"] for b in before["brokers"]] == [b["id"] for b in after["brokers"]]
    assert [r["id"] for r in before["topics"][0]["rows"]] == [r["id"] for r in after["topics"][0]["rows"]]
    assert after["topics"][0]["rows"][0]["isr"] == [2, 3]
    assert copies(after_a_kill(4.1))[1] == ("gone", "✕", "down")


def test_a_dead_broker_that_nobody_has_noticed_yet():
    look = state(1, brokers=(broker(1), broker(2, "down", registered=True, since=0.5), broker(3)))
    assert drawn(look)["brokers"][1]["note"] == "gone 0.5 s ago; still counted by the others"
    assert copies(look, 2)[1] == ("lost", "✕", "leader")
    assert drawn(look)["topics"][0]["rows"][2]["copies"][1]["sentence"] == (
        "is down, and is still listed as the leader"
    )


@pytest.mark.parametrize(
    ("word", "actions", "note"),
    [
        ("paused", [], "paused 3.0 s ago"),
        ("paused", [Action(1.5, "pause", 2)], "paused by you 2.5 s ago"),
        ("unknown", [], "silent for 3.0 s"),
        ("unknown", [Action(3.0, "start", 2)], "started by you 1.0 s ago, no answer yet"),
        ("up", [], "the others do not count it"),
        (
            "up",
            [Action(1, "cut", 2, "from the quorum")],
            "from the quorum; the others do not count it",
        ),
        ("up", [Action(1, "cut", 2), Action(2, "heal", 2)], "the others do not count it"),
        ("down", [Action(1, "pause", 2)], "gone 3.0 s ago"),
    ],
)
def test_what_a_card_notes(word, actions, note):
    brokers = (broker(1), broker(2, word, since=1.0, registered=False), broker(3))
    assert drawn(state(4.0, brokers=brokers), actions=actions)["brokers"][1]["note"] == note


def test_buttons_fit_the_state_and_say_what_they_cost():
    look = state(1, brokers=(broker(1), broker(2, "paused"), broker(3, "unknown")))
    made = drawn(look, costs={1: "the quorum", 2: "nothing can be taken from it"}, busy={3: "killing …"})
    assert [b["can"] for b in made["brokers"]] == [
        ["cut", "kill", "pause", "stop"],
        ["kill", "resume"],
        ["cut", "kill", "pause", "stop"],
    ]
    assert [b["cost"] for b in made["brokers"]] == ["the quorum", "", ""]
    assert made["brokers"][2]["busy"] == "killing …"


def test_a_follower_that_is_behind_says_by_how_many_records():
    p = partition(0, 1, (1, 2), log_end_offsets=((1, 340), (2, 338), (3, 300)), high_watermark=338)
    row = drawn(state(topics=(topic(p),)))["topics"][0]["rows"][0]
    assert [(c["kind"], c["behind"]) for c in row["copies"]] == [
        ("leader", ""),
        ("sync", "2"),
        ("late", "40"),
    ]
    assert row["copies"][2]["sentence"] == "is not in sync, 40 records behind the leader"
    assert row["numbers"] == {"start": "0", "committed": "–", "readable": "338", "end": "340"}
    assert row["short"]


def test_split_brain_and_a_partition_without_a_leader():
    look = state(topics=(topic(partition(0, 3, (2, 3), stale_leaders=(1,)), partition(1, None)),))
    assert copies(look)[0] == ("claim", "⚑", "stale")
    assert drawn(look)["topics"][0]["rows"][1]["leaderless"]
    assert drawn(look)["topics"][0]["summary"] == "2 partitions; 1 without a leader"


def test_a_copy_that_there_is_not():
    assert copies(state(topics=(topic(partition(0, 1, (1, 2), replicas=(1, 2))),)))[2] == ("none", "–", "")


def test_bars_keep_their_scale_while_records_come():
    def scale(end):
        row = partition(0, 1, high_watermark=end, log_end_offsets=((1, end),))
        return drawn(state(topics=(topic(row),)))["topics"][0]["scale"]

    assert [scale(end) for end in (0, 9, 11, 99, 120, 480, 501)] == [
        ["0", "10"],
        ["0", "10"],
        ["0", "20"],
        ["0", "100"],
        ["0", "200"],
        ["0", "500"],
        ["0", "1,000"],
    ]
    offsets = {"log_start_offset": 1_000_200, "high_watermark": 1_000_300}
    late = partition(0, 1, log_end_offsets=((1, 1_000_300),), **offsets)
    made = drawn(state(topics=(topic(late),)))["topics"][0]
    assert made["scale"] == ["1,000,200", "1,000,300"]
    assert made["rows"][0]["marks"] == {"start": 0.0, "committed": None, "readable": 100.0, "end": 100.0}


def test_a_deleted_topic_keeps_its_place_and_says_so():
    made = drawn(state(topics=()), topics=["failsafe", "orders"])
    assert [(t["name"], t["there"], t["rows"]) for t in made["topics"]] == [
        ("failsafe", False, []),
        ("orders", False, []),
    ]


def test_fifty_topics_are_folded_until_one_is_opened():
    look = state(topics=tuple(topic(*failsafe().partitions, name=f"topic-{n}") for n in range(50)))
    assert not any(t["open"] or t["rows"] for t in drawn(look)["topics"])
    opened = drawn(look, opened={"topic-7": True})["topics"]
    assert [t["name"] for t in opened if t["rows"]] == ["topic-7"]
    assert len(json.dumps(drawn(look))) < 20_000
    assert len(words(look).splitlines()) == 3 + 1 + 50
    assert drawn(state(), opened={"failsafe": False})["topics"][0]["rows"] == []


def test_no_broker_answers():
    silent = state(
        20.0, brokers=tuple(broker(n, "unknown", since=11.0) for n in (1, 2, 3)), last_response_at=11.0
    )
    assert drawn(silent)["alarm"] == (
        "No broker has answered for 9.0 s: topics and groups are shown as they were then"
    )
    assert len(drawn(silent)["topics"][0]["rows"]) == 13
    assert drawn(replace(silent, last_response_at=None, topics=()))["alarm"] == "No broker has answered yet"
    assert drawn(state(down=(2, 3)))["alarm"].startswith("The quorum is lost")


def test_a_group_and_who_reads_what():
    readers = group(member("a", *range(7)), member("b", *range(7, 13)), member("idle"))
    made = drawn(state(groups=(readers,)))
    [told] = made["groups"]
    assert told["summary"] == "stable; broker 1 coordinates it; lag 1,376"
    assert [(m["name"], m["share"], m["lag"]) for m in told["members"]] == [
        ("a", "failsafe 0–6", "767"),
        ("b", "failsafe 7–12", "609"),
        ("idle", "nothing", "–"),
    ]
    row = made["topics"][0]["rows"][8]
    assert (row["reader"], row["lag"], row["numbers"]["committed"]) == ("b", "106", "250")
    unknown = replace(readers, name="none", state="Dead", members=(), committed=(), coordinator=None)
    assert drawn(state(groups=(unknown,)))["groups"][0]["summary"] == "there is no such group yet"


def test_the_same_in_words():
    p = partition(0, 3, (3,), stale_leaders=(1,), high_watermark=290, log_end_offsets=((3, 300), (1, 310)))
    look = state(
        9.0,
        brokers=(broker(1), broker(2, "down", since=1.0), broker(3)),
        topics=(topic(p),),
        groups=(group(member("a", 0)),),
    )
    assert words(look).splitlines() == [
        "Broker 1: up at 127.0.0.1:19092, leads 0 of 1 partitions.",
        "Broker 2: down for 8.0 s.",
        "Broker 3: up at 127.0.0.1:39092, leads 1 of 1 partitions.",
        "The active controller is broker 1.",
        "Topic failsafe: 1 partition; 1 with fewer than 3 replicas in sync.",
        "failsafe, partition 0: broker 3 leads; in sync: 3; "
        "broker 1 believes that it leads, but a newer leader was elected; broker 2 is down; "
        "readable up to offset 290; the log ends at 300; alerts is 40 behind.",
        "Group alerts: stable; broker 1 coordinates it; lag 40.",
        "alerts, member a: reads failsafe 0.",
    ]
    assert "No broker has answered for 3.0 s: the rest is from then." in words(
        replace(look, last_response_at=6.0)
    )


def test_durations():
    assert [duration(s) for s in (-1, 0.04, 9.94, 12.3, 99.4, 190)] == [
        "0.0 s",
        "0.0 s",
        "9.9 s",
        "12 s",
        "99 s",
        "3 min 10 s",
    ]


def test_a_group_that_nobody_has_joined_yet_is_no_trouble():
    unused = replace(group(state="no coordinator", coordinator=None), members=(), committed=())
    calm = state(1, groups=(unused,))
    assert cells.group_summary(calm, unused) == "nobody has joined it yet"
    trouble = "no coordinator answers"
    used = replace(unused, committed=(("failsafe", 0, 3),))
    assert cells.group_summary(state(1, groups=(used,)), used).startswith(trouble)
    away = replace(calm, brokers=(*calm.brokers[:-1], replace(calm.brokers[-1], state="down")))
    assert cells.group_summary(away, unused) == trouble  # who coordinates it may be the one that is away
