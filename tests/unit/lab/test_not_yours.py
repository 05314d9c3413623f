"""What is skipped on a cluster that is not the learner's, and what is shown instead."""

from types import SimpleNamespace

import pytest

from threebrokers import cells
from threebrokers.cells import CellRun, Fault, History
from threebrokers.errors import LabError, NotYoursError
from threebrokers.lab import not_yours, recorded
from threebrokers.lab.outcomes import NotYet, Skipped

REFUSAL = Fault(
    "NotYoursError", "The cluster at a:1 is not yours, so broker 2 cannot be killed here: without …"
)
WRONG = NotYet("it is 3", "it should be 4", "the cell")


def run(cell: str, source: str, fault: Fault | None = None) -> CellRun:
    return CellRun(cell, source, 1.0, 2.0, fault)


@pytest.fixture
def after(monkeypatch):
    def ran(*runs: CellRun) -> None:
        checking = CellRun("check-4-1", "lab.check.answered(answer)", 3.0)
        monkeypatch.setattr(cells, "history", lambda: History([*runs, checking]))

    return ran


def skipped(said: Exception = WRONG) -> Skipped | None:
    return not_yours.skipped("4.1", "answered", said)


def test_an_exercise_whose_own_cell_was_refused_is_skipped(after):
    after(run("exercise-4-1", "answer = lab.cluster.kill(2)", REFUSAL))
    assert "4.1 is skipped" in str(skipped())
    assert "broker 2 cannot be killed here." in str(skipped())


def test_so_is_one_that_uses_what_a_refused_cell_could_not_make(after):
    after(
        run("code-1", "with lab.record() as seen:\n    lab.cluster.kill(2)", REFUSAL),
        run("code-2", "gap = seen.longest_gap('leader')", Fault("LabError", "it has none")),
        run("exercise-4-1", "answer = gap.seconds", Fault("NameError", "name 'gap' is not defined")),
    )
    assert isinstance(skipped(), Skipped)


def test_one_that_uses_nothing_of_it_is_judged(after):
    after(run("code-1", "gap = lab.cluster.kill(2)", REFUSAL), run("exercise-4-1", "answer = 3"))
    assert skipped() is None


def test_one_whose_value_was_made_afresh_is_judged(after):
    after(
        run("code-1", "topic = lab.cluster.kill(2)", REFUSAL),
        run("code-2", "topic = 'orders'"),
        run("exercise-4-1", "answer = topic"),
    )
    assert skipped() is None


def test_a_check_that_itself_asks_for_power_is_skipped(after):
    after(run("exercise-4-1", "answer = 3"))
    assert isinstance(skipped(NotYoursError("The cluster is not yours, so it is not stopped")), Skipped)


def test_settings_of_brokers_that_are_refused_count_too(after):
    text = 'KafkaError{code=CLUSTER_AUTHORIZATION_FAILED,val=31,str="Broker: Cluster authorization failed"}'
    after(run("exercise-4-1", "answer = future.result()", Fault("KafkaException", text)))
    assert "needs power over its brokers" in str(skipped())


def test_another_trouble_stays_what_it_is(after):
    after(run("exercise-4-1", "answer = lab.cluster.kill(2)", REFUSAL))
    assert skipped(LabError("The brokers did not answer")) is None


@pytest.mark.parametrize(
    ("number", "kind", "done"), [("04", "kill", "kill"), ("04", "cut", "cut"), ("04", "", "stop")]
)
def test_the_recording_of_the_experiment_is_found_by_what_was_asked(number, kind, done):
    found = recorded.recording(number, kind)
    assert found is not None
    assert found.actions[0].kind == done


def test_a_lab_without_such_an_experiment_shows_nothing():
    assert recorded.recording("01", "kill") is None
    assert recorded.recording("03", "kill") is None


def test_what_is_shown_is_said_first_and_the_one_before_goes(monkeypatch):
    told, closed = [], []
    monkeypatch.setattr(recorded, "tell", told.append)
    panels = iter(
        [SimpleNamespace(close=lambda: closed.append(1)), SimpleNamespace(close=lambda: closed.append(2))]
    )
    monkeypatch.setattr(
        recorded, "recording", lambda number, kind: SimpleNamespace(replay=lambda: next(panels))
    )
    show = recorded.Shown("04")
    show(NotYoursError("not yours", kind="kill"))
    show(NotYoursError("not yours", kind="kill"))
    assert (len(told), closed) == (4, [1])
