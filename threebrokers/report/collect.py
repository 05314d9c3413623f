"""What a learner has done, lab by lab, and what is worth doing again: plain values, no HTML."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from threebrokers import progress, theme, workspace
from threebrokers.predictions import question as predictions
from threebrokers.progress import Answered, Guess
from threebrokers.quiz import question as quizzes
from threebrokers.restore import Outline, outline


@dataclass(frozen=True)
class Share:
    """How many of some things went well, of those that were done, of all that there are."""

    good: int
    done: int
    every: int


@dataclass(frozen=True)
class Lab:
    """One lab: its exercises as (number, title, look), shares of predictions and quiz, its minutes."""

    number: str
    title: str
    minutes: int
    exercises: tuple[tuple[str, str, theme.Look], ...]
    predictions: Share
    quiz: Share

    @property
    def solved(self) -> Share:
        """The share of its exercises that are solved."""
        looks = [look for _, _, look in self.exercises]
        return Share(looks.count(theme.GOOD), len(looks) - looks.count(theme.OPEN), len(looks))

    @property
    def is_begun(self) -> bool:
        """Whether anything of it was done."""
        return bool(self.solved.done or self.predictions.done or self.quiz.done)


@dataclass(frozen=True)
class Repeat:
    """Something to do again: in which lab, what it is, and what there is to learn from it."""

    lab: str
    what: str
    why: str


@dataclass(frozen=True)
class Report:
    """All labs, and what to repeat, in the order of the course."""

    labs: tuple[Lab, ...]
    repeat: tuple[Repeat, ...]

    @property
    def minutes_left(self) -> int:
        """The minutes of the labs that are not begun."""
        return sum(lab.minutes for lab in self.labs if not lab.is_begun)


def collect(only: str = "") -> Report:
    """Return the report of all labs, or of one ("03"). Raises LabError if a file of the course is damaged."""
    paths = {only: workspace.lab(only)} if only else workspace.labs()
    solved, tried, guesses, answers = (
        progress.solved(),
        progress.tried(),
        progress.guesses(),
        progress.answers(),
    )
    labs, repeat = [], []
    for number, path in paths.items():
        told = outline(path)
        asked, quiz = predictions.of_lab(number), quizzes.of_lab(number)
        exercises = tuple(
            (n, title, theme.exercise_look(n, solved, tried)) for n, title in told.exercises.items()
        )
        right = [guesses[name].right for name in asked if name in guesses]
        known = [answers[name].right for name in quiz if name in answers]
        shares = Share(sum(right), len(right), len(asked)), Share(sum(known), len(known), len(quiz))
        labs.append(Lab(number, told.title, told.minutes, exercises, *shares))
        repeat += [*_unsolved(number, told, solved, tried), *_missed(number, asked, guesses)]
        repeat += _unknown(number, quiz, answers)
    return Report(tuple(labs), tuple(repeat))


def _unsolved(lab: str, told: Outline, solved: Collection[str], tried: Collection[str]) -> Iterator[Repeat]:
    for number, title in told.exercises.items():
        if number in tried and number not in solved:
            yield Repeat(lab, f"Exercise {number}: {title}", "You tried it, and it is not solved yet.")


def _missed(
    lab: str, asked: Mapping[str, predictions.Question], guesses: Mapping[str, Guess]
) -> Iterator[Repeat]:
    for name, question in asked.items():
        guess = guesses.get(name)
        if guess and not guess.right:
            why = question.why.get(guess.answer, "")
            yield Repeat(
                lab, question.question, f"You predicted: {guess.answer}. It was: {guess.truth}. {why}"
            )


def _unknown(lab: str, quiz: quizzes.Questions, answers: Mapping[str, Answered]) -> Iterator[Repeat]:
    for name, question in quiz.items():
        last = answers.get(name)
        if last and not last.right:  # what is right is not told here: it comes again in a later lab
            why = question.why.get(last.answer, "")
            yield Repeat(lab, question.question, f"You answered: {last.answer}. {why}")
