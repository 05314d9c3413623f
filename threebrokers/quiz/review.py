"""Which questions of earlier labs are asked again: what was not known, then what was asked longest ago."""

from collections.abc import Mapping
from pathlib import Path

from threebrokers.progress import Answered
from threebrokers.quiz import question
from threebrokers.quiz.question import Question

COUNT = 3


def review(lab: str, known: Mapping[str, Answered], folder: Path | None = None) -> dict[str, Question]:
    """Return the questions that a lab ("05") begins with, by name; `known` are the learner's last answers.

    Those answered wrong come first, then those never asked, then the ones asked longest ago; each of
    another lab, while there are any. Raises LabError if a file is damaged.
    """
    earlier = [question.read(number, folder) for number in question.labs(folder) if number < lab]
    order = sorted(_turned(earlier), key=lambda name: _rank(known.get(name)))
    first: list[str] = []
    for name in order:
        if question.lab_of(name) not in map(question.lab_of, first):
            first.append(name)
    every = {name: one for questions in earlier for name, one in questions.items()}
    chosen = [*first, *(name for name in order if name not in first)][:COUNT]
    return {name: every[name] for name in chosen}


def _turned(earlier: list[dict[str, Question]]) -> list[str]:
    """Return the names, the last lab's first; each lab's begin one question later than those of the next.

    So somebody who answers none is asked others from lab to lab: 4.q1, 3.q2, 2.q3, then 5.q1, 4.q2, 3.q3.
    """
    names: list[str] = []
    for distance, questions in enumerate(reversed(earlier)):
        own = list(questions)
        turn = distance % len(own) if own else 0
        names += [*own[turn:], *own[:turn]]
    return names


def _rank(answered: Answered | None) -> tuple[int, float]:
    if answered is None:
        return 1, 0.0
    return (2 if answered.right else 0), answered.at.timestamp()
