"""What a learner sees who types `lab`."""

from threebrokers.lab.card import CAN, Card

CARD = Card("04", {1: "up", 2: "down", 3: "paused"}, [("4.1", True), ("4.2", False)])


def test_a_lab_says_how_its_brokers_are_and_what_is_solved():
    first, brokers, exercises, *can = str(CARD).splitlines()
    assert first == "Lab 04"
    assert brokers.split(maxsplit=1) == ["brokers", "1 ● up   2 ✕ down   3 ❚❚ paused"]
    assert exercises.split(maxsplit=1) == ["exercises", "✓ 4.1   ○ 4.2"]
    assert len(can) == len(CAN)


def test_a_notebook_gets_the_same_as_a_table():
    html = CARD.as_html()
    assert "2 ✕ down" in html
    assert "<code>lab.watch(topic)</code>" in html
    assert html.count("<tr>") == 2 + len(CAN)


def test_what_is_not_known_is_said():
    assert "brokers                         not known" in str(Card("00", {}, []))
