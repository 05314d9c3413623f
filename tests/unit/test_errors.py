"""A fault is told in one sentence, and keeps what happened and the next step apart."""

import pickle

import pytest

from threebrokers.errors import LabError


@pytest.mark.parametrize("next_step", ["start it", "start it."])
def test_what_and_next_step_are_one_sentence(next_step: str) -> None:
    fault = LabError("Broker 2 is down", next_step)
    assert (fault.what, fault.next_step) == ("Broker 2 is down", "start it")
    assert str(fault) == "Broker 2 is down: start it."
    assert fault._render_traceback_() == ["⚠ Broker 2 is down: start it."]


def test_a_whole_sentence_stays_as_it_is() -> None:
    fault = LabError("Kafka said: no.")
    assert (str(fault), fault.next_step) == ("Kafka said: no.", "")


def test_a_fault_of_another_process_keeps_both() -> None:
    fault = pickle.loads(pickle.dumps(LabError("Broker 2 is down", "start it")))
    assert (fault.what, fault.next_step) == ("Broker 2 is down", "start it")
