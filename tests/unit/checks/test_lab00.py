"""What lab 00's checks say of tries, without brokers."""

from types import SimpleNamespace

import pytest

from threebrokers import cells
from threebrokers.cells import Fault as Error
from threebrokers.checks import lab00
from threebrokers.cluster.actions import Action
from threebrokers.cluster.link_faults import Fault
from threebrokers.kafka.state import ClusterState, PartitionState, TopicState
from threebrokers.lab.attempt import _ended
from threebrokers.lab.exercise import NotAttempted, NotYet


def done(*kinds: str) -> list[Action]:
    """Return actions told as "kill 2"."""
    return [Action(float(n), kind.split()[0], int(kind.split()[1])) for n, kind in enumerate(kinds)]


@pytest.mark.parametrize(
    "kinds",
    [("kill 2",), ("kill 2", "start 2"), ("stop 2", "start 2", "kill 2"), ("kill 3", "start 3", "kill 2")],
)
def test_broker_2_was_killed_whatever_else_was_done(kinds):
    lab00._killed(done(*kinds))


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        (("kill 3", "start 3"), "you killed broker 3 and not broker 2"),
        (("stop 2", "start 2"), "stopped politely"),
        (("pause 2", "resume 2"), "only paused"),
        (("cut 2", "heal 2"), "only the links of broker 2 were broken"),
        (("pause 1",), "broker 2 was not killed"),
    ],
)
def test_what_was_done_in_place_of_it_is_named(kinds, text):
    with pytest.raises(NotYet, match=text):
        lab00._killed(done(*kinds))


LIFE = "starting\nKafka Server started\n"
ASKED = "Terminating process due to signal SIGTERM\n"


@pytest.mark.parametrize(
    ("log", "state", "kinds", "text"),
    [
        (LIFE * 2, "up", ("start 2",), "kill"),
        (LIFE + ASKED + LIFE, "up", ("start 2",), "stop"),
        (LIFE + ASKED + LIFE * 2, "up", ("start 2",), "kill"),
        (LIFE, "down", (), "kill"),
        (LIFE + ASKED, "down", (), "stop"),
        (LIFE * 2, "up", (), ""),
        (LIFE * 2, "up", ("start 1",), ""),
        (LIFE, "up", ("start 2",), ""),
    ],
)
def test_a_broker_that_the_system_ended_is_known_by_its_log(log, state, kinds, text, tmp_path):
    path = tmp_path / "broker-2.log"
    path.write_text(log)
    processes = {2: SimpleNamespace(state=state)}
    cluster = SimpleNamespace(log=lambda broker: path, processes=lambda: processes)
    assert lab00._ended_otherwise(SimpleNamespace(cluster=cluster), done(*kinds)) == text


def test_a_broker_that_the_system_ended_is_judged_as_if_a_button_had():
    lab00._killed(done("start 2"), "kill")
    with pytest.raises(NotYet, match="stopped politely"):
        lab00._killed(done("start 2"), "stop")


@pytest.mark.parametrize(
    ("faults", "text"),
    [
        ([], "up and not yet in sync"),
        ([Fault("cut", 3, ("clients",))], "up and not yet in sync"),
        ([Fault("cut", 2)], "its links to the others are broken"),
        ([Fault("stall", 1, (2,))], "its links to the others are broken"),
    ],
)
def test_a_broker_that_is_cut_off_is_told_from_one_that_catches_up(faults, text):
    for isr in ((1, 3), (1, 2, 3)):  # who was just cut off is still in the ISR
        found = PartitionState("ticks", 0, 1, 0, (1, 2, 3), isr)
        state = ClusterState(0.0, (), topics=(TopicState("ticks", (found,)),), last_response_at=0.0)
        lab = SimpleNamespace(
            topic=lambda name: name,
            cluster=SimpleNamespace(state=lambda names, state=state: state, faults=lambda: faults),
        )
        if len(isr) == 3 and "links" not in text:
            assert lab00._back(lab) == state.topics[0]
        else:
            with pytest.raises(NotYet, match=text):
                lab00._back(lab)


@pytest.mark.parametrize(("cell", "solves"), [("code-9", False), ("exercise-0-1", True), ("", True)])
def test_what_the_lesson_itself_does_later_is_no_answer(cell, solves, monkeypatch, tmp_path):
    history = cells.History([cells.CellRun(cell, "take_down(lab, 2, [notes])", -0.5, 1.5)])
    monkeypatch.setattr(cells, "history", lambda: history)
    monkeypatch.setattr(lab00, "_back", lambda lab: None)
    (tmp_path / "log").write_text(LIFE * 2)
    cluster = SimpleNamespace(
        actions=lambda since: done("kill 2", "start 2"),
        log=lambda broker: tmp_path / "log",
        processes=lambda: {n: SimpleNamespace(state="up") for n in (1, 2, 3)},
    )
    judge, answers = (
        lab00.broker_killed._function,
        (SimpleNamespace(cluster=cluster), SimpleNamespace(since=0)),
    )
    if solves:
        assert "broker 2 is in sync again" in judge(*answers)
    else:
        with pytest.raises(NotAttempted):
            judge(*answers)


@pytest.mark.parametrize("kinds", [(), ("start 2",), ("resume 2", "heal 1")])
def test_nothing_was_taken_away(kinds):
    with pytest.raises(NotAttempted):
        lab00._killed(done(*kinds))


@pytest.mark.parametrize(
    ("state", "code", "text"),
    [
        ("runs", None, "still runs.*only with brackets"),
        ("ended by itself", 0, "ended by itself"),
        ("failed (exit code 1)", 1, "failed before"),
        ("stopped on request (SIGTERM)", 143, "it was asked to stop"),
    ],
)
def test_a_program_that_was_not_killed(state, code, text, monkeypatch):
    monkeypatch.setattr(lab00, "END_SECONDS", 0.0)
    with pytest.raises(NotYet, match=text):
        lab00._judge_end(SimpleNamespace(state=state, exit_code=code))


@pytest.mark.parametrize("line", ["acknowledged: tick 3", "tick 3", "  tick   3 "])
def test_a_line_about_tick_3(line):
    assert lab00._about_tick_3(line)


@pytest.mark.parametrize("line", ["", "acknowledged: tick 13", "tick 3 and 4", "3"])
def test_a_line_about_something_else(line):
    assert not lab00._about_tick_3(line)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("The program clock did not write “tick 3” before its end (killed on purpose (SIGKILL))", "order of"),
        ("The program clock runs no more (ended by itself): run its cell to start it again", "waits for"),
        ("The program clock did not write “tick 33” before its end (ended by itself)", "mend what it names"),
    ],
    ids=["killed first", "waits for its end", "another one"],
)
def test_an_error_of_the_clock_is_told_with_its_way_out(error, text):
    said = str(_ended(Error("LabError", error, 4), lab00.clock_killed.errors))
    assert "ended in an error in line 4: The program clock" in said
    assert text in said.partition("Look at: ")[2]
