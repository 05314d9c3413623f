"""Scenarios of lab 07 whose numbers the lesson says, as far as they need no brokers."""

from collections import Counter
from types import SimpleNamespace

from confluent_kafka import consistent

from threebrokers.lab.scenarios import bursts, mail

OWNERS = "AAAAABBBBCCCC"  # as `range` divides 13 partitions


class FakeLab:
    """A lab whose producer keeps what is sent, and whose second group commits all of it at once."""

    def __init__(self):
        self.sent = []
        self.cluster = SimpleNamespace(state=self.state)

    def fresh_topic(self, name, partitions):
        return name

    def producer(self, settings=None):
        def produce(topic, value, key=None, partition=None):
            self.sent.append((value, key))

        return SimpleNamespace(produce=produce, flush=lambda: 0)

    def state(self, topics, groups):
        done = dict(zip(groups, (0, len(self.sent)), strict=True))
        return SimpleNamespace(
            groups=[SimpleNamespace(name=g, committed=((*topics, 0, n),)) for g, n in done.items()]
        )


def share(count):
    lab = FakeLab()
    mail(lab, count)
    return {value: OWNERS[consistent(key.encode(), 13)] for value, key in lab.sent}


def test_seven_letters_come_to_all_three():
    assert sorted(Counter(share(7).values()).values()) == [2, 2, 3]


def test_the_answers_of_the_lesson_are_those_of_the_letters():
    lab = FakeLab()
    mail(lab, 25)
    places = Counter(consistent(key.encode(), 13) for _, key in lab.sent)
    assert Counter(share(25).values())["A"] == 8
    assert places[5] == 3
    assert places[10] > 0


def test_members_join_when_the_burst_is_over_and_it_ends_when_they_have_caught_up(monkeypatch):
    monkeypatch.setattr(bursts, "STEP_SECONDS", 0)
    lab, joined = FakeLab(), []

    def join(name):
        joined.append((name, len(lab.sent)))

    rows = bursts._sent(lab, "sales", ["one", "three"], SimpleNamespace(join=join))
    usual = 2 * 20
    assert joined == [(name, usual + 2 * 200 + 20) for name in "BC"]
    assert [lags for _, *lags in rows] == [[n, 0] for n in (0, 20, 40, 240, 440, 460)]
