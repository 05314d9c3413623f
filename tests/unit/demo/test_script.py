"""Every demo is whole: its acts can be done, its questions exist, and its recording holds all of it."""

import importlib

import pytest

from threebrokers.demo.played import load, path_of
from threebrokers.demo.script import numbers, script
from threebrokers.errors import LabError
from threebrokers.lab.names import all_names
from threebrokers.predictions.question import question_of
from tools.slides import outputs


@pytest.fixture(params=numbers())
def number(request):
    return request.param


def test_the_demos_that_there_are():
    assert numbers() == ["03", "04", "07", "10"]


def test_acts_are_functions_of_its_module_and_each_says_what_the_key_does(number):
    module = importlib.import_module(f"threebrokers.demo.acts.lab{number}")
    known = script(number)
    assert known.acts == list(dict.fromkeys(known.acts))
    for step in known.steps:
        assert bool(step.act) == bool(step.press)
        assert not step.act or callable(getattr(module, step.act))
        assert not step.timeline or step.timeline in known.acts


def test_a_question_is_asked_before_the_acts_that_answer_it_and_revealed_after_them(number):
    steps = script(number).steps
    for name in {step.reveal for step in steps if step.reveal}:
        assert name.startswith(f"{int(number)}.")
        assert question_of(name).answers
        [asked] = [place for place, step in enumerate(steps) if step.vote == name]
        [told] = [place for place, step in enumerate(steps) if step.reveal == name]
        assert any(step.act for step in steps[asked:told])
    assert steps[-1].reveal


def test_texts_are_short_enough_for_a_room(number):
    for step in script(number).steps:
        assert len(step.title) <= 50, step.title
        assert len(step.says) <= 130, step.says
        assert len(step.note) <= 190, step.note


def test_only_topics_and_groups_of_a_lab_are_made_so_opening_one_deletes_what_was_left(number):
    owned = all_names()
    assert set(script(number).topics) <= {topic for names in owned.values() for topic in names.topics}
    assert set(script(number).groups) <= set(owned[number].groups)


def test_its_recording_holds_every_act_small_and_with_the_answers(number):
    acts = load(path_of(number))
    assert list(acts) == script(number).acts
    assert path_of(number).stat().st_size < 60_000
    told = [one.line for act in acts.values() for one in act.told]
    answers = {line.words: line.value for line in told if line.kind == "truth"}
    assert set(answers) == {step.reveal for step in script(number).steps if step.reveal}
    for name, answer in answers.items():
        assert answer == outputs.truth(name)
    for act in acts.values():
        assert len(act.seen.states) > 5
        assert not act.seen.missed


def test_a_lab_without_a_demo_is_named_with_those_that_have_one():
    with pytest.raises(LabError, match="Lab '99' has no demo: choose one of 03, 04, 07 and 10"):
        script("99")
