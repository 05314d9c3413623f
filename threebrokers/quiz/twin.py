"""A quiz without a kernel: as text, and as HTML that folds the answers away."""

from threebrokers import theme
from threebrokers.quiz.question import Question, Questions
from threebrokers.text import as_html

NOTHING = "There is no question yet: the first ones come at the end of lab 00."


def text(questions: Questions) -> str:
    """Return the questions and the answers to choose from, the same in every run."""
    return "\n\n".join(map(_asked, questions.values())) or NOTHING


def page(questions: Questions) -> str:
    """Return the same as HTML, with what is right, and why, in a part that opens."""
    return f"<div>{''.join(map(_shown, questions.values())) or NOTHING}</div>"


def _asked(question: Question) -> str:
    return "\n".join([question.question, *(f"{theme.OPEN.sign} {one.answer}" for one in question.answers)])


def _shown(question: Question) -> str:
    answers = "".join(f"<li>{as_html(answer.answer)}</li>" for answer in question.answers)
    why = "".join(f"<li>{_told(question, answer.answer)}</li>" for answer in question.answers)
    folded = f"<details><summary>Answer</summary><ul>{why}</ul></details>"
    return f"<p><b>{as_html(question.question)}</b></p><ul>{answers}</ul>{folded}"


def _told(question: Question, answer: str) -> str:
    right = answer == question.truth
    sign, word = (theme.GOOD.sign, "right") if right else (theme.BAD.sign, "wrong")
    return f"{sign} <b>{as_html(answer)}</b> ({word}): {as_html(question.why[answer])}"
