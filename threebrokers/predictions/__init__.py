"""Predictions: chosen before the run, compared after it."""

from threebrokers.predictions.prediction import VERDICT, Prediction, Verdict
from threebrokers.predictions.question import question_of

__all__ = ["VERDICT", "Prediction", "Verdict", "question_of"]
