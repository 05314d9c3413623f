"""The quizzes: questions at the end of a lab, and some of them again at the start of later labs."""

from threebrokers.quiz.quiz import Quiz
from threebrokers.quiz.review import review

__all__ = ["Quiz", "review"]
